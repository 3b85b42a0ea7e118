// Where kernels are in the whole model: one fault each, planted in a compiled plan whose
// tensor form has the same fault. A number is followed through the body of its kernel.
// RUN: mtc compile gpt2-nano --tp 2 --cp 2 --dp 2 --sp --mbs 2 --gbs 8 --compile-to=lower-calls -o %t.mlir
// RUN: mtc compile %t.mlir --from lower-calls --compile-to=verify-plan -o /dev/null

// a rank looks up tokens as if it had the first rows of the table
// RUN: sed -E 's/rt\.affine <128 \* tp>( : i64 loc\("embed\.tokens"\))/rt.affine <0>\1/' %t.mlir > %t.tokens.mlir
// RUN: not mtc compile %t.tokens.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=TOKENS
// TOKENS: embed.tokens: error: 'rt.launch' expected the row of the table of "embed.tokens" to be -128·tp + loaded0, as the sizes of the model and of the rank's part say, found loaded0

// ... and adds gradients there
// RUN: sed -E 's/rt\.affine <128 \* tp>( : i64 loc\(fused\["embed\.positions", "embed\.tokens"\])/rt.affine <64 * tp>\1/' %t.mlir > %t.gradient.mlir
// RUN: not mtc compile %t.gradient.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=GRADIENT
// GRADIENT: embed.positions, embed.tokens: error: 'rt.launch' expected the row of the table of "embed.tokens" to be -128·tp + loaded3, as the sizes of the model and of the rank's part say, found -64·tp + loaded3

// ranks along cp have the pieces of others: of the table of positions, and of random words
// RUN: sed -E 's/rt\.affine <8 \* cp>( : i64 loc\(fused\["embed)/rt.affine <-8 * cp + 24>\1/' %t.mlir > %t.pieces.mlir
// RUN: not mtc compile %t.pieces.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=PIECES
// PIECES: embed.positions, embed.dropout: error: 'rt.launch' expected the element of the table of "embed.positions" to be 1536·tp - 1024·tp·cp + 512·cp + 64·row%8 + col, as the sizes of the model and of the rank's part say, found 1536 + 1536·tp - 1024·tp·cp - 512·cp + 64·row%8 + col
// PIECES: embed.positions, embed.dropout: error: 'rt.launch' expected the number of a random word in its sample to be 1536·tp - 1024·tp·cp + 512·cp + 64·row%8 + col, as the sizes of the model and of the rank's part say, found 1536 + 1536·tp

// parts along tp of a layer's words overlap
// RUN: sed -E 's/rt\.affine <8 \* tp>( : i64 loc\(fused\["layers\.0\.mlp\.down)/rt.affine <4 * tp>\1/' %t.mlir > %t.parts.mlir
// RUN: not mtc compile %t.parts.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=PARTS
// PARTS: layers.0.mlp.down, layers.0.mlp.residual: error: 'rt.launch' expected the number of a random word in its sample to be

// replicas draw the same words, and all runs
// RUN: sed -E 's/rt\.affine <2 \* dp \+ (4 \* microbatch \+ sample>( : i64 loc\(fused\["layers\.0\.mlp))/rt.affine <\1/' %t.mlir > %t.sample.mlir
// RUN: not mtc compile %t.sample.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAMPLE
// SAMPLE: layers.0.mlp.down, layers.0.mlp.residual: error: 'rt.launch' expected the sample of random words to be 2·dp + 4·microbatch + sample + row/8, as the sizes of the model and of the rank's part say, found 4·microbatch + sample + row/8
// RUN: sed -E 's/rt\.affine <seed>( : i64 loc\("embed\.dropout")/rt.affine <0>\1/' %t.mlir > %t.seed.mlir
// RUN: not mtc compile %t.seed.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=SEED
// SEED: embed.dropout: error: 'rt.launch' expected the seed of random words to be seed, as the sizes of the model and of the rank's part say, found 0

// a position that others read is of another piece
// RUN: sed -E 's/rt\.affine <8 \* cp>( : i64 loc\("embed\.positions)/rt.affine <16 * cp>\1/' %t.mlir > %t.position.mlir
// RUN: not mtc compile %t.position.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=POSITION
// POSITION: embed.positions: error: 'rt.launch' expected the position that an element is to be 8·cp - 16·cp·col/8%2 + col%8 + 24·col/8%2, as the sizes of the model and of the rank's part say, found 16·cp - 16·cp·col/8%2 + col%8 + 24·col/8%2

// labels are compared with the logits of another rank, and padding is where there is none
// RUN: sed -E 's/rt\.affine <128 \* tp>( : i64 loc\("loss"\))/rt.affine <64 * tp>\1/' %t.mlir > %t.label.mlir
// RUN: not mtc compile %t.label.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=LABEL
// LABEL: loss: error: 'rt.launch' expected the logit that a label is compared with to be 128·tp + col, as the sizes of the model and of the rank's part say, found 64·tp + col
// RUN: sed -E 's/rt\.affine <128 \* tp>( : i64 loc\(fused\["head")/rt.affine <0>\1/' %t.mlir > %t.padding.mlir
// RUN: not mtc compile %t.padding.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=PADDING
// PADDING: head, loss: error: 'rt.launch' expected the logit that may be of no token to be 128·tp + col, as the sizes of the model and of the rank's part say, found col
// RUN: sed 's/arith.constant 250 : i32/arith.constant 240 : i32/' %t.mlir > %t.vocabulary.mlir
// RUN: not mtc compile %t.vocabulary.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=VOCABULARY
// VOCABULARY: head, loss: error: 'rt.launch' expected the number of tokens to be 250, as the sizes of the model and of the rank's part say, found 240

// Kernels beside collectives, and those that cut a rank's part out of a whole: what a rank
// adds to a gather, where each element of the whole then comes from, which is summed for
// whom, and what a rank takes of the sum.
// RUN: sed -E 's/rt\.affine <-4 \* cp>( : i64 loc\("layers\.0\.attn\.core"\))/rt.affine <0>\1/' %t.mlir > %t.placed.mlir
// RUN: not mtc compile %t.placed.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=PLACED
// PLACED: layers.0.attn.core: error: 'rt.launch' expected the element that the rank adds to what is gathered to be -1024·cp + 256·row + col, as the shapes of the part and the whole say, found 256·row + col
// RUN: sed '/rt.kernel @kernel35 /,/rt.kernel @kernel36 /s/arith.constant 3 : i32/arith.constant 2 : i32/' %t.mlir > %t.gathered.mlir
// RUN: not mtc compile %t.gathered.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=GATHERED
// GATHERED: layers.0.attn.core: error: 'rt.launch' expected the gathered element to be 1024·row%2 - 2048·row%2·row/2%2 + 1280·row/2%2 + 512·row/4 {{.*}}, found 1024·row%2 - 2048·row%2·row/2%2 + 256·row/2%2 + 512·row/4
// RUN: sed '/rt.kernel @kernel36 /,/rt.kernel @kernel37 /s/arith.constant -2 : i32/arith.constant -1 : i32/' %t.mlir > %t.packed.mlir
// RUN: not mtc compile %t.packed.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=PACKED
// PACKED: layers.3.attn.core: error: 'rt.launch' expected the element to be summed to be 768·row%2 - 512·row%2·row/4 + 1024·row/2%2 + 256·row/4 {{.*}}, found 768·row%2 - 256·row%2·row/4 + 1024·row/2%2 + 256·row/4
// RUN: sed -E 's/rt\.affine <2 \* tp>( : i64 loc\("layers\.0\.mlp\.down"\))/rt.affine <-2 * tp + 2>\1/' %t.mlir > %t.taken.mlir
// RUN: not mtc compile %t.taken.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=TAKEN
// TAKEN: layers.0.mlp.down: error: 'rt.launch' expected the element that the rank has of what was summed to be 1024·tp + 512·row + col, as the shapes of the part and the whole say, found 1024 - 1024·tp + 512·row + col
// RUN: mtc compile gpt2-nano --tp 4 --sp --mbs 2 --gbs 8 --compile-to=lower-calls -o %t.sp.mlir
// RUN: sed -E 's/rt\.affine <tp>( : i64 loc\("embed\.positions"\))/rt.affine <0>\1/' %t.sp.mlir > %t.sliced.mlir
// RUN: not mtc compile %t.sliced.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=SLICED
// SLICED: embed.positions: error: 'rt.launch' expected the element of the rank's part to be 512·tp + col%64 + 64·col/64, as the shapes of the part and the whole say, found col%64 + 64·col/64

// positions in documents: what the start of a document is taken off is a position of the rank,
// in a kernel that looks up the table, in the one that sums its gradient, and in one that writes
// positions for others
// RUN: mtc compile gpt2-nano --tp 2 --cp 2 --mbs 2 --gbs 8 --reset-positions --compile-to=lower-calls -o %t.documents.mlir
// RUN: mtc compile %t.documents.mlir --from lower-calls --compile-to=verify-plan -o /dev/null
// RUN: sed -E 's/rt\.affine <8 \* cp>( : i64 loc\(fused\["embed\.positions)/rt.affine <16 * cp>\1/' %t.documents.mlir > %t.begins.mlir
// RUN: not mtc compile %t.begins.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=BEGINS
// BEGINS: embed.positions, embed.dropout: error: 'rt.launch' expected the element of the table of "embed.positions" to be
// RUN: sed -E 's/rt\.affine <8 \* cp>( : i64 loc\("embed\.positions)/rt.affine <16 * cp>\1/' %t.documents.mlir > %t.summed.mlir
// RUN: not mtc compile %t.summed.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=SUMMED
// SUMMED: embed.positions: error: 'rt.launch' expected the element of the table of "embed.positions" to be
// RUN: mtc compile gpt2-nano --tp 2 --cp 2 --sp --mbs 2 --gbs 8 --reset-positions --compile-to=lower-calls -o %t.written.mlir
// RUN: sed -E 's/rt\.affine <8 \* cp>( : i64 loc\("embed\.positions)/rt.affine <16 * cp>\1/' %t.written.mlir > %t.others.mlir
// RUN: not mtc compile %t.others.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHERS
// OTHERS: embed.positions: error: 'rt.launch' expected the position that an element is to be

// two tables of one shape, whose gradients one kernel adds to accumulators: each has its own rows
// RUN: mtc compile gpt2-nano --tp 2 --gbs 8 --dtype bf16 --grad-dtype bf16 --set model.vocab=60 --set model.padded_vocab=64 --compile-to=lower-calls -o %t.shape.mlir
// RUN: mtc compile %t.shape.mlir --from lower-calls --compile-to=verify-plan -o /dev/null
// RUN: sed -E 's/rt\.affine <32 \* tp>( : i64 loc\(fused\["embed\.dropout", "embed\.positions")/rt.affine <0>\1/' %t.shape.mlir > %t.rows.mlir
// RUN: not mtc compile %t.rows.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: embed.dropout, embed.positions, embed.tokens: error: 'rt.launch' expected the row of the table of "embed.tokens" to be -32·tp + loaded2, as the sizes of the model and of the rank's part say, found loaded2
