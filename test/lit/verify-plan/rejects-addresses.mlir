// Where a call of attention is in the whole model: one fault each, planted in the first call
// of a compiled plan, whose tensor form has the same fault.
// RUN: mtc compile gpt2-nano --tp 2 --cp 2 --dp 2 --mbs 2 --gbs 8 --compile-to=lower-calls -o %t.mlir
// RUN: mtc compile %t.mlir --from lower-calls --compile-to=verify-plan -o /dev/null

// head and tail of the sequence exchanged
// RUN: sed -E '0,/rt\.attention/s/(rt\.attention.*positions )(%[0-9]+), (%[0-9]+)/\1\3, \2/' %t.mlir > %t.positions.mlir
// RUN: not mtc compile %t.positions.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=POSITIONS
// POSITIONS: layers.0.attn.core: error: 'rt.attention' expected the first query of the head to be #rt.affine<8 * cp>, found #rt.affine<-8 * cp + 24>
// POSITIONS: layers.0.attn.core: error: 'rt.attention' expected the first query of the tail to be #rt.affine<-8 * cp + 24>, found #rt.affine<8 * cp>

// ... where each query has a document, too
// RUN: mtc compile gpt2-nano --cp 2 --mbs 2 --gbs 8 --reset-attention --compile-to=lower-calls -o %t.documents.mlir
// RUN: sed -E '0,/rt\.attention/s/(rt\.attention.* within .*positions )(%[0-9]+), (%[0-9]+)/\1\3, \2/' %t.documents.mlir > %t.within.mlir
// RUN: not mtc compile %t.within.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=POSITIONS

// every rank draws for the heads of the first one, and for the samples of the first replica
// RUN: sed -E 's/rt\.affine <2 \* tp> : i64 (loc\("layers\.0\.attn\.core"\))/rt.affine <0> : i64 \1/' %t.mlir > %t.head.mlir
// RUN: not mtc compile %t.head.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=HEAD
// HEAD: layers.0.attn.core: error: 'rt.attention' expected the first head to be #rt.affine<2 * tp>, found #rt.affine<0>
// RUN: sed -E 's/rt\.affine <2 \* dp \+ (4 \* microbatch \+ sample> : i64 loc\("layers\.0\.attn\.core"\))/rt.affine <\1/' %t.mlir > %t.sample.mlir
// RUN: not mtc compile %t.sample.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAMPLE
// SAMPLE: layers.0.attn.core: error: 'rt.attention' expected the first sample to be #rt.affine<2 * dp + 4 * microbatch + sample>, found #rt.affine<4 * microbatch + sample>

// neither a replica's samples nor all
// RUN: mtc compile %t.mlir --from lower-calls --compile-to=plan-memory -o %t.plan.mlir
// RUN: sed 's/micro = 2, microbatches = 2, global = 8/micro = 8, microbatches = 2, global = 32/' %t.plan.mlir \
// RUN:   | not mtc-opt --verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAMPLES
// SAMPLES: 'rt.attention' expected the 8 samples of a rank or all 16 of a microbatch, found 2

// Where dp splits the heads, a replica has all samples and heads of its own.
// RUN: mtc compile gpt2-nano --strategy %S/Inputs/split-heads.toml --compile-to=lower-calls -o %t.own.mlir
// RUN: mtc compile %t.own.mlir --from lower-calls --compile-to=verify-plan -o /dev/null
// RUN: sed -E 's/rt\.affine <4 \* microbatch \+ sample> : i64 (loc\("layers\.0\.attn\.core"\))/rt.affine <2 * dp + 4 * microbatch + sample> : i64 \1/' %t.own.mlir > %t.own-sample.mlir
// RUN: not mtc compile %t.own-sample.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALL
// ALL: layers.0.attn.core: error: 'rt.attention' expected the first sample to be #rt.affine<4 * microbatch + sample>, found #rt.affine<2 * dp + 4 * microbatch + sample>
// RUN: sed -E 's/rt\.affine <2 \* dp> : i64 (loc\("layers\.0\.attn\.core"\))/rt.affine <0> : i64 \1/' %t.own.mlir > %t.own-head.mlir
// RUN: not mtc compile %t.own-head.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=OWN
// OWN: layers.0.attn.core: error: 'rt.attention' expected the first head to be #rt.affine<2 * dp>, found #rt.affine<0>

// What dp cuts of all samples is no part along tp, which has as many ranks.
// RUN: mtc compile gpt2-nano --strategy %S/Inputs/split-ffn.toml --tp 2 --compile-to=lower-calls -o %t.cut.mlir
// RUN: mtc compile %t.cut.mlir --from lower-calls --compile-to=verify-plan -o /dev/null
// RUN: sed -E 's/rt\.affine <dp> : i64 (loc\("layers\.0\.mlp\.residual"\))/rt.affine <tp> : i64 \1/' %t.cut.mlir > %t.cut-tp.mlir
// RUN: not mtc compile %t.cut-tp.mlir --from lower-calls --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: layers.0.mlp.residual: error: 'rt.launch' expected the element of the rank's part to be {{[0-9]+}}·dp + {{.*}}, found {{[0-9]+}}·tp +
