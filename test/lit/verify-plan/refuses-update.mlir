// The fragments reduce and apply. One fault each, planted in a plan that is accepted.

// gradients that are not reduced
// RUN: sed -e '/func.func @stage0_reduce/,/return/{/reduce_scatter %3/d}' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GRADIENTS-THAT-ARE-NOT-REDUCED
// GRADIENTS-THAT-ARE-NOT-REDUCED: expected gradients of bucket 1 to be reduced over dp, found no collective that does

// the loss not reduced
// RUN: sed -e '/func.func @stage0_reduce/,/return/{/all_reduce %1/d}' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=THE-LOSS-NOT-REDUCED
// THE-LOSS-NOT-REDUCED: expected 1 reductions of the loss over dp on stage 0, found 0

// a use that is not added
// RUN: sed -e '/func.func @stage0_reduce/,/return/{/rt.launch @add/d}' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-USE-THAT-IS-NOT-ADDED
// A-USE-THAT-IS-NOT-ADDED-DAG: expected the second use in bucket 2 to be added once to bucket 1, found 0 times
// A-USE-THAT-IS-NOT-ADDED-DAG: expected all uses of bucket 1 in the gradients that the norm reads, found 1 not added

// a tied gradient that no stage adds up
// RUN: sed -e '/group embd/d' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-TIED-GRADIENT-THAT-NO-STAGE-ADDS-UP
// A-TIED-GRADIENT-THAT-NO-STAGE-ADDS-UP: expected gradients of bucket 1, which both ends share, to be reduced over embd, found no collective that does

// a norm range counted twice
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/\(rt.norm accumulate of %15.*\)/\1\n      \1/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-NORM-RANGE-COUNTED-TWICE
// A-NORM-RANGE-COUNTED-TWICE: expected every element of "norm" to be counted in the norm once, found elements 64 to 68 of bucket 0 again

// a norm range that is too short
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/start 0 count 64 shard/start 0 count 60 shard/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-NORM-RANGE-THAT-IS-TOO-SHORT
// A-NORM-RANGE-THAT-IS-TOO-SHORT: expected every element of "embed.tokens" to be counted in the norm, found elements 60 to 64 of bucket 1 left out

// padding in the norm
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/start 0 count 64 shard/start 0 count 65 shard/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=PADDING-IN-THE-NORM
// PADDING-IN-THE-NORM: expected only elements of owned parameters to be counted in the norm, found elements 64 to 65 of bucket 1

// a replicated weight counted on every tp rank
// RUN: sed -e 's/ once <tp>//' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-REPLICATED-WEIGHT-COUNTED-ON-EVERY-TP-RANK
// A-REPLICATED-WEIGHT-COUNTED-ON-EVERY-TP-RANK: expected a range on one tp rank where "norm" is counted in the norm (the same on every tp rank), found it on every

// a split weight counted on one tp rank
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/start 0 count 4 shard 64$/start 0 count 4 shard 64 once <tp>/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-SPLIT-WEIGHT-COUNTED-ON-ONE-TP-RANK
// A-SPLIT-WEIGHT-COUNTED-ON-ONE-TP-RANK: expected a range on every tp rank where "layers.0.w" is counted in the norm (split over tp), found it on one

// an update that one dp rank makes for all
// RUN: sed -e '/func.func @stage0_apply/,/return/s/\(rt.flat_range.*\)/\1 once <dp>/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AN-UPDATE-ON-ONE-DP-RANK
// AN-UPDATE-ON-ONE-DP-RANK: expected a range on every dp rank where "layers.0.w" is updated (every dp rank does its part), found it on one

// a range that only some stages have
// RUN: sed -e '/func.func @stage0_apply/,/return/s/\(rt.flat_range.*\)/\1 once <pp>/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AN-UPDATE-ON-ONE-STAGE
// AN-UPDATE-ON-ONE-STAGE: expected a range on every pp rank where "layers.0.w" is updated (every pp rank does its part), found it on one

// a range of another shard
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/start 0 count 4 shard 64/start 0 count 4/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-RANGE-OF-ANOTHER-SHARD
// A-RANGE-OF-ANOTHER-SHARD: expected a range of shards of 64 elements (0: not sharded), found 0

// a second copy in the norm
// RUN: sed -e '/func.func @stage1_reduce/,/return/s/\(.*norm_reduce.*\)/      %a, %l, %n = rt.flat_range start 0 count 64\n      %m = rt.offset_view %1 by %a : memref<64xf32> -> memref<64xf32>\n      rt.norm accumulate of %m : memref<64xf32> length %n\n\1/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-SECOND-COPY-IN-THE-NORM
// A-SECOND-COPY-IN-THE-NORM: expected only elements of owned parameters to be counted in the norm, found elements 0 to 64 of bucket 1

// a norm before its reduction
// RUN: sed -e '/func.func @stage0_reduce/,/return/{/group embd/d;s/\(.*norm_reduce.*\)/      rt.collective all_reduce %1 group embd count 64 : (memref<64xf32>) -> ()\n\1/}' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-NORM-BEFORE-ITS-REDUCTION
// A-NORM-BEFORE-ITS-REDUCTION: expected gradients to be final before the norm reads them, found bucket 1 reduced afterwards

// a parameter that is not updated
// RUN: sed -e '/func.func @stage0_apply/,/return/s/start 64 count 4/start 64 count 3/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-PARAMETER-THAT-IS-NOT-UPDATED
// A-PARAMETER-THAT-IS-NOT-UPDATED: expected every element of "norm" to be updated, found elements 67 to 68 of bucket 0 left out

// moments that move like parameters
// RUN: sed -e '/func.func @stage0_apply/,/return/s/by %local1 /by %at1 /' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=MOMENTS-THAT-MOVE-LIKE-PARAMETERS
// MOMENTS-THAT-MOVE-LIKE-PARAMETERS: expected parameter, gradient and states of one bucket, moved and measured by one rt.flat_range, found another launch

// shards that are not gathered
// RUN: sed -e '/func.func @stage0_apply/,/return/{0,/all_gather/{/all_gather/d}}' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SHARDS-THAT-ARE-NOT-GATHERED
// SHARDS-THAT-ARE-NOT-GATHERED: expected the parameters of bucket 0 to be gathered over dp, found no collective that does

// accumulators that are not cleared
// RUN: sed -e '/func.func @stage0_apply/,/return/{/rt.zero %32/d}' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ACCUMULATORS-THAT-ARE-NOT-CLEARED
// ACCUMULATORS-THAT-ARE-NOT-CLEARED: expected the accumulators of bucket 2 to be cleared for the next step, found them left

// a use that backward forgets
// RUN: sed -e '/func.func @stage0_bwd/,/return/s/grads at 1024/grads at 512/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-USE-THAT-BACKWARD-FORGETS
// A-USE-THAT-BACKWARD-FORGETS: expected backward to add to the gradient of "embed.tokens", found no op that does

// gradients over another group
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/reduce_scatter %3 group dp/reduce_scatter %3 group tp/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GRADIENTS-OVER-ANOTHER-GROUP
// GRADIENTS-OVER-ANOTHER-GROUP: expected gradients to be reduced over dp or embd, found group "tp"

// an all-reduce in place of a reduce-scatter
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/reduce_scatter %3/all_reduce %3/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AN-ALL-REDUCE-IN-PLACE-OF-A-REDUCE-SCATTER
// AN-ALL-REDUCE-IN-PLACE-OF-A-REDUCE-SCATTER: expected reduce_scatter over dp, found all_reduce

// gradients reduced twice
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/.*reduce_scatter %3.*/&\n&/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GRADIENTS-REDUCED-TWICE
// GRADIENTS-REDUCED-TWICE: expected gradients of bucket 1 to be reduced over dp once, found 2 times

// another gradient over embd
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/.*norm reset/      %e = rt.view grads at 0 : memref<4xf32>\n      rt.collective all_reduce %e group embd count 4 : (memref<4xf32>) -> ()\n&/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ANOTHER-GRADIENT-OVER-EMBD
// ANOTHER-GRADIENT-OVER-EMBD: expected one reduction over embd of gradients that both ends share, found another of bucket 0

// a maximum over embd
// RUN: sed -e 's/all_reduce %1 group embd/all_reduce_max %1 group embd/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-MAXIMUM-OVER-EMBD
// A-MAXIMUM-OVER-EMBD: expected all_reduce over embd, found all_reduce_max

// something else reduced
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/grads at 1536/grads at 516/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SOMETHING-ELSE-REDUCED
// SOMETHING-ELSE-REDUCED: expected to reduce the loss over dp or the gradients of a bucket, found neither

// uses added in the wrong direction
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/@add(%\([0-9]*\), %\([0-9]*\))/@add(%\2, %\1)/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=USES-ADDED-IN-THE-WRONG-DIRECTION
// USES-ADDED-IN-THE-WRONG-DIRECTION: expected only launches that add the gradients of a second use to those of its parameter, found another

// a part of a use added
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/start 0 count 128 shard 64/start 0 count 64 shard 64/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-PART-OF-A-USE-ADDED
// A-PART-OF-A-USE-ADDED: expected the range of all 128 elements of bucket 1 in shards of 64, found another

// a norm of another length
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/length %n13/length %n10/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-NORM-OF-ANOTHER-LENGTH
// A-NORM-OF-ANOTHER-LENGTH: expected a flat range of the gradients of parameters, moved and measured by the same rt.flat_range, found another

// a norm that is not reset
// RUN: sed -e '/rt.norm reset/d' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-NORM-THAT-IS-NOT-RESET
// A-NORM-THAT-IS-NOT-RESET: expected the norm in the steps reset, accumulate .., norm_reduce, finish, found 5 steps, 1 of them elsewhere

// parameters cleared
// RUN: sed -e '/func.func @stage0_apply/,/return/s/grads at 1024 : memref<128xf32>/params at 512 : memref<128xf32>/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=PARAMETERS-CLEARED
// PARAMETERS-CLEARED: expected only gradients to be cleared, found other bytes

// half of the accumulators cleared
// RUN: sed -e '/func.func @stage0_apply/,/return/{/%32/s/128xf32/64xf32/}' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=HALF-OF-THE-ACCUMULATORS-CLEARED
// HALF-OF-THE-ACCUMULATORS-CLEARED: expected all 128 accumulators of bucket 2 to be cleared, found 64

// gathered twice
// RUN: sed -e '/func.func @stage0_apply/,/return/s/.*all_gather.*/&\n&/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GATHERED-TWICE
// GATHERED-TWICE: expected bucket 0 to be gathered once, found it again

// gathered over tp
// RUN: sed -e '/func.func @stage0_apply/,/return/s/\(all_gather.*\)group dp/\1group tp/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GATHERED-OVER-TP
// GATHERED-OVER-TP: expected only all_gather over dp of the shards of a bucket in apply, found all_gather over tp

// cleared before the update
// RUN: sed -e '/func.func @stage0_apply/,/return/s/.*apply.*/&\n      %z = rt.view grads at 0 : memref<128xf32>\n      rt.zero %z : (memref<128xf32>) -> ()/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=CLEARED-BEFORE-THE-UPDATE
// CLEARED-BEFORE-THE-UPDATE: expected bucket 0 to be updated before it is gathered and its gradients cleared, found it updated afterwards

// a norm in apply
// RUN: sed -e '/func.func @stage0_apply/,/return/s/.*return/      rt.norm finish\n&/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-NORM-IN-APPLY
// A-NORM-IN-APPLY: expected only updates, gathers and clearing in apply, found this

// a reduction of gradients that were moved by a range
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/.*reduce_scatter %3 .*/      %a, %l, %n = rt.flat_range start 0 count 128 shard 64\n      %m = rt.offset_view %3 by %a : memref<128xf32> -> memref<128xf32>\n      rt.collective reduce_scatter %m group dp count 64 : (memref<128xf32>) -> ()/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=MOVED-GRADIENTS
// MOVED-GRADIENTS: expected the view of all of bucket 1, found one moved by rt.offset_view

// a moved loss
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/.*all_reduce %1 .*/      %a, %l, %n = rt.flat_range start 0 count 128 shard 64\n      %m = rt.offset_view %1 by %a : memref<f32> -> memref<f32>\n      rt.collective all_reduce %m group dp count 1 : (memref<f32>) -> ()/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-MOVED-LOSS
// A-MOVED-LOSS: expected to reduce the loss over dp or the gradients of a bucket, found neither

// a view of another size
// RUN: sed -e '/func.func @stage0_reduce/,/return/{/%3 = /s/128xf32/64xf32/;/reduce_scatter %3/s/128xf32/64xf32/}' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=HALF-A-BUCKET
// HALF-A-BUCKET: expected the view of all 512 bytes of bucket 1, found 256

// uses added over another length
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/.*@add.*/      %a, %l, %n = rt.flat_range start 0 count 4 shard 64\n      rt.launch @add(%7, %9) args(%n) writes [] : (memref<128xf32>, memref<128xf32>) -> ()/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=USES-ADDED-OVER-ANOTHER-LENGTH
// USES-ADDED-OVER-ANOTHER-LENGTH: expected both uses to be moved, and their addition measured, by one rt.flat_range, found another length

// a collective of a layer that all ranks have lost
// RUN: sed -e '/func.func @stage0_fwd/,/return/{/rt.collective all_reduce/d}' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-LOST-COLLECTIVE
// A-LOST-COLLECTIVE: expected the 1 collectives that the shardings need (rt.collectives), found 0; the first that is missing or changed is {count = 64 : i64, group = "tp", kind = "all_reduce", serves = "embed.tokens"}

// a collective of another kind on all ranks
// RUN: sed -e '/func.func @stage0_eval/,/return/s/rt.collective all_reduce/rt.collective all_reduce_max/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ANOTHER-KIND
// ANOTHER-KIND: expected the 1 collectives that the shardings need (rt.collectives), found 1; the first that is missing or changed is

// a collective that no sharding asked for
// RUN: sed -e '/func.func @stage0_eval/,/return/s/.*rt.collective all_reduce.*/&\n&/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-COLLECTIVE-TOO-MANY
// A-COLLECTIVE-TOO-MANY: expected the 1 collectives that the shardings need (rt.collectives), found 2

// half of a shard reduced
// RUN: sed -e 's/reduce_scatter %3 group dp count 64/reduce_scatter %3 group dp count 32/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=HALF-OF-A-SHARD-REDUCED
// HALF-OF-A-SHARD-REDUCED: expected a count of 64, what a rank has of bucket 1, found 32

// a use reduced after it is added
// RUN: sed -e '/reduce_scatter %4/d' -e 's/.*rt.launch @add.*/&\n      rt.collective reduce_scatter %4 group dp count 64 : (memref<128xf32>) -> ()/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-USE-REDUCED-AFTER-IT-IS-ADDED
// A-USE-REDUCED-AFTER-IT-IS-ADDED-DAG: expected gradients of bucket 2 to be reduced over dp first, found uses added before
// A-USE-REDUCED-AFTER-IT-IS-ADDED-DAG: expected each use to be reduced over dp before uses are added, found bucket 2 reduced afterwards

// uses added after the norm
// RUN: sed -e '/rt.launch @add/d' -e 's/.*rt.norm accumulate of %18.*/&\n      rt.launch @add(%7, %9) args(%n5) writes [] : (memref<128xf32>, memref<128xf32>) -> ()/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=USES-ADDED-AFTER-THE-NORM
// USES-ADDED-AFTER-THE-NORM: expected uses of bucket 1 to be added before the norm and embd, found them added after

// gradients reduced over one replica
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/.*norm reset/      %e = rt.view grads at 0 : memref<4xf32>\n      rt.collective all_reduce %e group dp count 4 : (memref<4xf32>) -> ()\n&/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GRADIENTS-REDUCED-OVER-ONE-REPLICA
// GRADIENTS-REDUCED-OVER-ONE-REPLICA: expected gradients of bucket 0 to be reduced over dp never, with one replica, found 1 times

// a gather where nothing is sharded
// RUN: sed -e '/func.func @stage0_apply/,/return/s/.*rt.zero %19.*/&\n      rt.collective all_gather %2 group dp count 4 : (memref<4xf32>) -> ()/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-GATHER-WHERE-NOTHING-IS-SHARDED
// A-GATHER-WHERE-NOTHING-IS-SHARDED: expected no collective in apply, found all_gather over dp

// parameters gathered at another place
// RUN: sed -e '/func.func @stage0_apply/,/return/s/.*all_gather %29 .*/      %a, %l, %n = rt.flat_range start 0 count 128 shard 64\n      %m = rt.offset_view %29 by %a : memref<128xf32> -> memref<128xf32>\n      rt.collective all_gather %m group dp count 64 : (memref<128xf32>) -> ()/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GATHERED-ELSEWHERE
// GATHERED-ELSEWHERE: 'rt.collective' expected the view of all of bucket 1, found one moved by rt.offset_view

// accumulators cleared at another place
// RUN: sed -e '/func.func @stage0_apply/,/return/s/.*rt.zero %31 .*/      %a, %l, %n = rt.flat_range start 0 count 128 shard 64\n      %m = rt.offset_view %31 by %a : memref<128xf32> -> memref<128xf32>\n      rt.zero %m : (memref<128xf32>) -> ()/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=CLEARED-ELSEWHERE
// CLEARED-ELSEWHERE: 'rt.zero' expected the view of all of bucket 1, found one moved by rt.offset_view
