// The update is checked by what it does to elements, not by its shape: other
// programs than those of shard-optimizer that do the same are accepted.

// an all-reduce in place of a reduce-scatter: every rank has the sums of all shards
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/reduce_scatter %3 group dp count 64/all_reduce %3 group dp count 128/' %S/Inputs/grid.mlir \
// RUN:   | mtc-opt --verify-plan -o /dev/null

// a second use added where there are parameters, not in the padding
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/start 0 count 128 shard 64/start 0 count 64 shard 64/' %S/Inputs/grid.mlir \
// RUN:   | mtc-opt --verify-plan -o /dev/null

// a gather done twice
// RUN: sed -e '/func.func @stage0_apply/,/return/s/.*all_gather.*/&\n&/' %S/Inputs/grid.mlir \
// RUN:   | mtc-opt --verify-plan -o /dev/null

// a norm counted in two ranges
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/.*rt.norm accumulate of %18.*/      %b, %l, %n = rt.flat_range start 40 count 24 shard 64\n      %w = rt.offset_view %17 by %b : memref<128xf32> -> memref<128xf32>\n&\n      rt.norm accumulate of %w : memref<128xf32> length %n/' \
// RUN:   -e '/func.func @stage0_reduce/,/return/s/%n16 = rt.flat_range start 0 count 64/%n16 = rt.flat_range start 0 count 40/' %S/Inputs/grid.mlir \
// RUN:   | mtc-opt --verify-plan -o /dev/null

// halves of a parameter that both ends share, in the same order on both
// RUN: sed -e '/_reduce/,/return/s/.*all_reduce %1 group embedding.*/      %h = rt.view grads at 64 : memref<32xf32>\n      rt.collective all_reduce %h group embedding count 32 : (memref<32xf32>) -> ()\n      %i = rt.view grads at 192 : memref<32xf32>\n      rt.collective all_reduce %i group embedding count 32 : (memref<32xf32>) -> ()/' %S/Inputs/pipeline.mlir \
// RUN:   | mtc-opt --verify-plan -o /dev/null

// a sum over tp of the one parameter of a bucket that is partial
// RUN: sed -e '/rt.param "norm"/s/partial <dp>/partial <tp, dp>/' \
// RUN:   -e '/func.func @stage0_reduce/,/return/s/reduce_scatter %2 group dp count 64\(.*\)/all_reduce %2 group dp count 128\1\n      %h = rt.view grads at 256 : memref<4xf32>\n      rt.collective all_reduce %h group tp count 4 : (memref<4xf32>) -> ()/' %S/Inputs/grid.mlir \
// RUN:   | mtc-opt --verify-plan -o /dev/null
