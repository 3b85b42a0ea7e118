// The fragments reduce and apply. One fault each, planted in a plan that is accepted.

// gradients that are not reduced
// RUN: sed -e '/func.func @stage0_reduce/,/return/{/reduce_scatter %3/d}' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GRADIENTS-THAT-ARE-NOT-REDUCED
// GRADIENTS-THAT-ARE-NOT-REDUCED: 'rt.launch' expected sums of two uses of a parameter that are summed over ranks, not over stages, and not in the norm yet, found elements 0 to 64 of bucket 1 to be partial sums over dp

// the loss not reduced
// RUN: sed -e '/func.func @stage0_reduce/,/return/{/all_reduce %1/d}' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=THE-LOSS-NOT-REDUCED
// THE-LOSS-NOT-REDUCED: 'func.func' expected the loss to be summed over all ranks, found partial sums over dp

// a use that is not added
// RUN: sed -e '/func.func @stage0_reduce/,/return/{/rt.launch @add/d}' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-USE-THAT-IS-NOT-ADDED
// A-USE-THAT-IS-NOT-ADDED: 'rt.norm' expected whole gradients of owned parameters in the norm, once, found elements 0 to 64 of bucket 1 to be sums without the use in bucket 2

// a tied gradient that no stage adds up
// RUN: sed -e '/group embedding/d' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-TIED-GRADIENT-THAT-NO-STAGE-ADDS-UP
// A-TIED-GRADIENT-THAT-NO-STAGE-ADDS-UP: 'rt.norm' expected whole gradients of owned parameters in the norm, once, found elements 0 to 64 of bucket 1 to be sums of one of the stages that share it

// a norm range counted twice
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/\(rt.norm accumulate of %15.*\)/\1\n      \1/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-NORM-RANGE-COUNTED-TWICE
// A-NORM-RANGE-COUNTED-TWICE: 'rt.norm' expected whole gradients of owned parameters in the norm, once, found elements 64 to 68 of bucket 0 to be in it already

// a norm range that is too short
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/start 0 count 64 shard/start 0 count 60 shard/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-NORM-RANGE-THAT-IS-TOO-SHORT
// A-NORM-RANGE-THAT-IS-TOO-SHORT: 'func.func' expected all of "embed.tokens" to be in the norm, found elements 60 to 64 of bucket 1 to be whole sums

// padding in the norm
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/start 0 count 64 shard/start 0 count 65 shard/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=PADDING-IN-THE-NORM
// PADDING-IN-THE-NORM: 'rt.norm' expected whole gradients of owned parameters in the norm, once, found elements 64 to 65 of bucket 1 to be padding

// a replicated weight counted on every tp rank
// RUN: sed -e 's/ among <tp>//' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-REPLICATED-WEIGHT-COUNTED-ON-EVERY-TP-RANK
// A-REPLICATED-WEIGHT-COUNTED-ON-EVERY-TP-RANK: 'rt.norm' expected the norm to count "norm" among tp ranks (all have the same), found it on every one

// a split weight counted among tp ranks
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/start 0 count 4 shard 64$/start 0 count 4 shard 64 among <tp>/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-SPLIT-WEIGHT-COUNTED-AMONG-TP-RANKS
// A-SPLIT-WEIGHT-COUNTED-AMONG-TP-RANKS: 'rt.norm' expected the norm to count "layers.0.w" on every tp rank (each has a part), found it among them

// an update that one dp rank makes for all
// RUN: sed -e '/func.func @stage0_apply/,/return/s/\(rt.flat_range.*\)/\1 among <dp>/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AN-UPDATE-ON-ONE-DP-RANK
// AN-UPDATE-ON-ONE-DP-RANK: 'rt.launch' expected every dp rank to work on its part of bucket 0, found a part of that on each

// a range that only some of the ranks that share heads have
// RUN: sed -e '/func.func @stage0_apply/,/return/s/\(rt.flat_range.*\)/\1 among <kv>/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AN-UPDATE-ON-ONE-KV-RANK
// AN-UPDATE-ON-ONE-KV-RANK: 'rt.launch' expected every kv rank to work on its part of bucket 0, found a part of that on each

// a range of another shard
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/start 0 count 4 shard 64/start 0 count 4/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-RANGE-OF-ANOTHER-SHARD
// A-RANGE-OF-ANOTHER-SHARD: 'rt.norm' expected the view of a whole buffer of a bucket, moved by an rt.flat_range inside of it (by its second result for states and accumulators of a shard, by its first for others) in shards of 64 (0: not sharded), found another

// a second copy in the norm
// RUN: sed -e '/func.func @stage1_reduce/,/return/s/\(.*norm_reduce.*\)/      %a, %l, %n = rt.flat_range start 0 count 64\n      %m = rt.offset_view %1 by %a : memref<64xf32> -> memref<64xf32>\n      rt.norm accumulate of %m : memref<64xf32> length %n\n\1/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-SECOND-COPY-IN-THE-NORM
// A-SECOND-COPY-IN-THE-NORM: 'rt.norm' expected whole gradients of owned parameters in the norm, once, found elements 0 to 64 of bucket 1 to be a copy, which another stage counts

// a norm before its reduction
// RUN: sed -e '/func.func @stage0_reduce/,/return/{/group embedding/d;s/\(.*norm_reduce.*\)/      rt.collective all_reduce %1 group embedding count 64 : (memref<64xf32>) -> ()\n\1/}' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-NORM-BEFORE-ITS-REDUCTION
// A-NORM-BEFORE-ITS-REDUCTION: 'rt.norm' expected whole gradients of owned parameters in the norm, once, found elements 0 to 64 of bucket 1 to be sums of one of the stages that share it

// a parameter that is not updated
// RUN: sed -e '/func.func @stage0_apply/,/return/s/start 64 count 4/start 64 count 3/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-PARAMETER-THAT-IS-NOT-UPDATED
// A-PARAMETER-THAT-IS-NOT-UPDATED: 'func.func' expected all of "norm" to be updated on every rank, found elements 67 to 68 of bucket 0 to be what was there before the step

// moments that move like parameters
// RUN: sed -e '/func.func @stage0_apply/,/return/s/by %local1 /by %at1 /' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=MOMENTS-THAT-MOVE-LIKE-PARAMETERS
// MOMENTS-THAT-MOVE-LIKE-PARAMETERS: 'rt.launch' expected the view of a whole buffer of a bucket, moved by an rt.flat_range inside of it (by its second result for states and accumulators of a shard, by its first for others) in shards of 64 (0: not sharded), found another

// shards that are not gathered
// RUN: sed -e '/func.func @stage0_apply/,/return/{0,/all_gather/{/all_gather/d}}' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SHARDS-THAT-ARE-NOT-GATHERED
// SHARDS-THAT-ARE-NOT-GATHERED: 'func.func' expected all of "layers.0.w" to be updated on every rank, found elements 0 to 4 of bucket 0 to be what was there before the step

// accumulators that are not cleared
// RUN: sed -e '/func.func @stage0_apply/,/return/{/rt.zero %32/d}' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ACCUMULATORS-THAT-ARE-NOT-CLEARED
// ACCUMULATORS-THAT-ARE-NOT-CLEARED: 'func.func' expected all of "embed.tokens" to be cleared for the next step, found elements 0 to 64 of bucket 2 to be whole sums

// a use that backward forgets
// RUN: sed -e '/func.func @stage0_bwd/,/return/s/grads at 1024/grads at 512/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-USE-THAT-BACKWARD-FORGETS
// A-USE-THAT-BACKWARD-FORGETS: expected backward to add to the gradient of "embed.tokens", found no op that does

// gradients over another group
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/reduce_scatter %3 group dp/reduce_scatter %3 group tp/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GRADIENTS-OVER-ANOTHER-GROUP
// GRADIENTS-OVER-ANOTHER-GROUP: 'rt.collective' expected sums over tp, dp, cp or kv, or over embedding, scatters and gathers over dp, and the norm over all, found reduce_scatter over tp

// gradients reduced twice
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/.*reduce_scatter %3.*/&\n&/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GRADIENTS-REDUCED-TWICE
// GRADIENTS-REDUCED-TWICE: 'rt.collective' expected sums of one use over the other ranks along dp only, before anything reads them, found elements 0 to 64 of bucket 1 to be whole sums

// another gradient over embedding
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/.*norm reset/      %e = rt.view grads at 0 : memref<4xf32>\n      rt.collective all_reduce %e group embedding count 4 : (memref<4xf32>) -> ()\n&/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ANOTHER-GRADIENT-OVER-EMBEDDING
// ANOTHER-GRADIENT-OVER-EMBEDDING: 'rt.collective' expected whole sums of a parameter that both ends of the pipeline share, once, found elements 0 to 4 of bucket 0 to be of "layers.0.w", which no other stage has

// a maximum over embedding
// RUN: sed -e 's/all_reduce %1 group embedding/all_reduce_max %1 group embedding/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-MAXIMUM-OVER-EMBEDDING
// A-MAXIMUM-OVER-EMBEDDING: 'rt.collective' expected sums over tp, dp, cp or kv, or over embedding, scatters and gathers over dp, and the norm over all, found all_reduce_max over embedding

// something else reduced
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/grads at 1536/grads at 516/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SOMETHING-ELSE-REDUCED
// SOMETHING-ELSE-REDUCED: 'rt.collective' expected sums of one use over the other ranks along dp only, before anything reads them, found elements 1 to 2 of bucket 1 to be whole sums

// uses added in the wrong direction
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/@add(%\([0-9]*\), %\([0-9]*\))/@add(%\2, %\1)/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=USES-ADDED-IN-THE-WRONG-DIRECTION
// USES-ADDED-IN-THE-WRONG-DIRECTION: 'rt.norm' expected whole gradients of owned parameters in the norm, once, found elements 0 to 64 of bucket 1 to be sums without the use in bucket 2

// a norm without the loss
// RUN: sed -e '/rt.norm check/d' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-NORM-WITHOUT-THE-LOSS
// A-NORM-WITHOUT-THE-LOSS: 'func.func' expected the norm to check the loss, so that every rank stops where it is not finite, found a norm without it

// a norm that checks something else
// RUN: sed -e '/func.func @stage1_reduce/,/return/s/%loss = rt.view grads at 320/%loss = rt.view grads at 0/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-CHECK-OF-A-GRADIENT
// A-CHECK-OF-A-GRADIENT: 'rt.norm' expected the whole loss to be checked in the norm, found elements 0 to 1 of bucket 0 to be no loss

// a norm that checks the loss of one replica
// RUN: sed -e '/func.func @stage0_reduce/,/return/{/all_reduce %1 /d;s/.*norm_reduce.*/&\n      rt.collective all_reduce %1 group dp count 1 : (memref<f32>) -> ()/}' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-CHECK-OF-A-PART
// A-CHECK-OF-A-PART: 'rt.norm' expected the whole loss to be checked in the norm, found elements 0 to 1 of the loss to be partial sums over dp

// a norm of another length
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/length %n13/length %n10/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-NORM-OF-ANOTHER-LENGTH
// A-NORM-OF-ANOTHER-LENGTH: 'rt.norm' expected the length of the rt.flat_range that moves its views, found another

// a norm that is not reset
// RUN: sed -e '/rt.norm reset/d' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-NORM-THAT-IS-NOT-RESET
// A-NORM-THAT-IS-NOT-RESET: 'rt.norm' expected the norm in the order reset, accumulate and check, norm_reduce, finish, found check at another time

// parameters cleared
// RUN: sed -e '/func.func @stage0_apply/,/return/s/grads at 1024 : memref<128xf32>/params at 512 : memref<128xf32>/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=PARAMETERS-CLEARED
// PARAMETERS-CLEARED: 'rt.zero' expected only gradients to be cleared, found elements 0 to 64 of bucket 1 to be what is updated

// half of the accumulators cleared
// RUN: sed -e '/func.func @stage0_apply/,/return/{/%32/s/128xf32/64xf32/}' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=HALF-OF-THE-ACCUMULATORS-CLEARED
// HALF-OF-THE-ACCUMULATORS-CLEARED: 'func.func' expected padding to be cleared for the next step, found elements 64 to 128 of bucket 2 to be whole sums

// gathered over tp
// RUN: sed -e '/func.func @stage0_apply/,/return/s/\(all_gather.*\)group dp/\1group tp/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GATHERED-OVER-TP
// GATHERED-OVER-TP: 'rt.collective' expected sums over tp, dp, cp or kv, or over embedding, scatters and gathers over dp, and the norm over all, found all_gather over tp

// cleared before the update
// RUN: sed -e '/func.func @stage0_apply/,/return/s/.*apply.*/&\n      %z = rt.view grads at 0 : memref<128xf32>\n      rt.zero %z : (memref<128xf32>) -> ()/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=CLEARED-BEFORE-THE-UPDATE
// CLEARED-BEFORE-THE-UPDATE: 'rt.launch' expected whole gradients for the update, found elements 0 to 4 of bucket 0 to be zero

// a norm in apply
// RUN: sed -e '/func.func @stage0_apply/,/return/s/.*return/      rt.norm finish\n&/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-NORM-IN-APPLY
// A-NORM-IN-APPLY: 'rt.norm' expected the norm in the order reset, accumulate and check, norm_reduce, finish, found finish at another time

// a reduction of gradients that were moved by a range
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/.*reduce_scatter %3 .*/      %a, %l, %n = rt.flat_range start 0 count 128 shard 64\n      %m = rt.offset_view %3 by %a : memref<128xf32> -> memref<128xf32>\n      rt.collective reduce_scatter %m group dp count 64 : (memref<128xf32>) -> ()/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=MOVED-GRADIENTS
// MOVED-GRADIENTS: 'rt.collective' expected a count of elements that the view has on every rank, found 128

// a moved loss
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/.*all_reduce %1 .*/      %a, %l, %n = rt.flat_range start 0 count 128 shard 64\n      %m = rt.offset_view %1 by %a : memref<f32> -> memref<f32>\n      rt.collective all_reduce %m group dp count 1 : (memref<f32>) -> ()/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-MOVED-LOSS
// A-MOVED-LOSS: 'rt.collective' expected the view of a whole buffer of a bucket, moved by an rt.flat_range inside of it (by its second result for states and accumulators of a shard, by its first for others) in shards of 0 (0: not sharded), found another

// a view of another size
// RUN: sed -e '/func.func @stage0_reduce/,/return/{/%3 = /s/128xf32/64xf32/;/reduce_scatter %3/s/128xf32/64xf32/}' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=HALF-A-BUCKET
// HALF-A-BUCKET: 'rt.collective' expected a count of elements that the view has on every rank, found 128

// uses added over another length
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/.*@add.*/      %a, %l, %n = rt.flat_range start 0 count 4 shard 64\n      rt.launch @add(%7, %9) args(%n) writes [0] : (memref<128xf32>, memref<128xf32>) -> ()/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=USES-ADDED-OVER-ANOTHER-LENGTH
// USES-ADDED-OVER-ANOTHER-LENGTH: 'rt.launch' expected the length of the rt.flat_range that moves its views, found another

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
// HALF-OF-A-SHARD-REDUCED: 'rt.collective' expected each rank along dp to have its shard of a bucket afterwards, found other parts

// a use reduced after it is added
// RUN: sed -e '/reduce_scatter %4/d' -e 's/.*rt.launch @add.*/&\n      rt.collective reduce_scatter %4 group dp count 64 : (memref<128xf32>) -> ()/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-USE-REDUCED-AFTER-IT-IS-ADDED
// A-USE-REDUCED-AFTER-IT-IS-ADDED: 'rt.launch' expected sums of two uses of a parameter that are summed over ranks, not over stages, and not in the norm yet, found elements 0 to 64 of bucket 1 to be added to partial sums over dp

// uses added after the norm
// RUN: sed -e '/rt.launch @add/d' -e 's/.*rt.norm accumulate of %18.*/&\n      rt.launch @add(%7, %9) args(%n5) writes [0] : (memref<128xf32>, memref<128xf32>) -> ()/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=USES-ADDED-AFTER-THE-NORM
// USES-ADDED-AFTER-THE-NORM: 'rt.norm' expected whole gradients of owned parameters in the norm, once, found elements 0 to 64 of bucket 1 to be sums without the use in bucket 2

// gradients reduced over one replica
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/.*norm reset/      %e = rt.view grads at 0 : memref<4xf32>\n      rt.collective all_reduce %e group dp count 4 : (memref<4xf32>) -> ()\n&/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GRADIENTS-REDUCED-OVER-ONE-REPLICA
// GRADIENTS-REDUCED-OVER-ONE-REPLICA: 'rt.collective' expected sums of one use over the other ranks along dp only, before anything reads them, found elements 0 to 4 of bucket 0 to be whole sums

// a gather where nothing is sharded
// RUN: sed -e '/func.func @stage0_apply/,/return/s/.*rt.zero %19.*/&\n      rt.collective all_gather %2 group dp count 4 : (memref<4xf32>) -> ()/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-GATHER-WHERE-NOTHING-IS-SHARDED
// A-GATHER-WHERE-NOTHING-IS-SHARDED: 'rt.collective' expected a gather of the shards of a whole bucket, found one of other parts

// parameters gathered at another place
// RUN: sed -e '/func.func @stage0_apply/,/return/s/.*all_gather %29 .*/      %a, %l, %n = rt.flat_range start 0 count 128 shard 64\n      %m = rt.offset_view %29 by %a : memref<128xf32> -> memref<128xf32>\n      rt.collective all_gather %m group dp count 64 : (memref<128xf32>) -> ()/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GATHERED-ELSEWHERE
// GATHERED-ELSEWHERE: 'rt.collective' expected a count of elements that the view has on every rank, found 128

// accumulators cleared at another place
// RUN: sed -e '/func.func @stage0_apply/,/return/s/.*rt.zero %31 .*/      %a, %l, %n = rt.flat_range start 0 count 128 shard 64\n      %m = rt.offset_view %31 by %a : memref<128xf32> -> memref<128xf32>\n      rt.zero %m : (memref<128xf32>) -> ()/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=CLEARED-ELSEWHERE
// CLEARED-ELSEWHERE: 'rt.zero' expected a count of elements that the view has on every rank, found 128

// a GEMM in apply
// RUN: sed -e '/func.func @stage0_apply/,/return/s/.*return/      %a = rt.view workspace at 0 : memref<4xf32>\n      rt.gemm %a, %a into %a m 2 n 2 k 2 {ta = false, tb = false, beta = false} : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()\n&/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-GEMM-IN-APPLY
// A-GEMM-IN-APPLY: 'rt.gemm' expected launches, collectives, steps of the norm and clearing in the update, found this

// a norm of parameters
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/%17 = rt.view grads at 512/%17 = rt.view params at 512/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-NORM-OF-PARAMETERS
// A-NORM-OF-PARAMETERS: 'rt.norm' expected the norm of gradients, found other bytes

// a norm that is not finished
// RUN: sed -e '/func.func @stage0_reduce/,/return/{/rt.norm finish/d}' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-NORM-THAT-IS-NOT-FINISHED
// A-NORM-THAT-IS-NOT-FINISHED: 'func.func' expected the norm to be reset, reduced over all ranks and finished, found it unfinished

// an update by a kernel over rows
// RUN: sed -e '/rt.kernel @adamw/s/rows 1 cols -1/rows 16 cols 4/' -e 's/rt.launch @adamw(\(.*\)) args(%n[0-9]*)/rt.launch @adamw(\1) args()/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-KERNEL-OVER-ROWS
// A-KERNEL-OVER-ROWS: 'rt.launch' expected a kernel over a flat range, which works on each element alone, found "adamw"

// states of another bucket
// RUN: sed -e '/func.func @stage0_apply/,/return/s/%24 = rt.view optimizer at 512/%24 = rt.view optimizer at 0/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=STATES-OF-ANOTHER-BUCKET
// STATES-OF-ANOTHER-BUCKET: 'rt.launch' expected an update of one bucket, found another beside bucket 1

// a kernel that adds something else
// RUN: sed -e '/rt.kernel @add /,/}/s/%x = rt.load 1 : f32/%y = rt.load 1 : f32\n      %x = arith.addf %y, %y : f32/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-KERNEL-THAT-ADDS-SOMETHING-ELSE
// A-KERNEL-THAT-ADDS-SOMETHING-ELSE: 'rt.launch' expected sums of two uses of a parameter, or updates, found operand 0 to be neither

// gradients added to parameters
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/%6 = rt.view grads at 512/%6 = rt.view params at 512/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GRADIENTS-ADDED-TO-PARAMETERS
// GRADIENTS-ADDED-TO-PARAMETERS: 'rt.launch' expected sums of gradients, found other bytes

// a use added twice
// RUN: sed -e 's/.*rt.launch @add.*/&\n&/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-USE-ADDED-TWICE
// A-USE-ADDED-TWICE: 'rt.launch' expected sums of two uses of a parameter that are summed over ranks, not over stages, and not in the norm yet, found elements 0 to 64 of bucket 1 to be added out of the order of uses

// an update that does not read the gradient
// RUN: sed -e '/rt.kernel @adamw/,/}/s/arith.subf %\(.\), %g/arith.subf %\1, %\1/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AN-UPDATE-WITHOUT-GRADIENT
// AN-UPDATE-WITHOUT-GRADIENT: to be updated without its gradient

// a parameter updated twice
// RUN: sed -e '/func.func @stage0_apply/,/return/s/.*rt.launch @adamw(%21.*/&\n&/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-PARAMETER-UPDATED-TWICE
// A-PARAMETER-UPDATED-TWICE: 'rt.launch' expected what was there before the step for the update, found elements 0 to 64 of bucket 1 to be what is updated

// a workspace cleared
// RUN: sed -e '/func.func @stage0_apply/,/return/s/%32 = rt.view grads at 1024/%32 = rt.view workspace at 1024/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-WORKSPACE-CLEARED
// A-WORKSPACE-CLEARED: 'rt.zero' expected views of a bucket or of the loss, found workspace at 1024, of 512 bytes

// halves of a shared parameter, added in another order by the other stage
// RUN: sed -e '/@stage0_reduce/,/return/s/.*all_reduce %1 group embedding.*/      %h = rt.view grads at 64 : memref<32xf32>\n      rt.collective all_reduce %h group embedding count 32 : (memref<32xf32>) -> ()\n      %i = rt.view grads at 192 : memref<32xf32>\n      rt.collective all_reduce %i group embedding count 32 : (memref<32xf32>) -> ()/' \
// RUN:   -e '/@stage1_reduce/,/return/s/.*all_reduce %1 group embedding.*/      %h = rt.view grads at 192 : memref<32xf32>\n      rt.collective all_reduce %h group embedding count 32 : (memref<32xf32>) -> ()\n      %i = rt.view grads at 64 : memref<32xf32>\n      rt.collective all_reduce %i group embedding count 32 : (memref<32xf32>) -> ()/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=HALVES-IN-ANOTHER-ORDER
// HALVES-IN-ANOTHER-ORDER: 'rt.collective' expected the same elements of the same parameters on both ends of the pipeline, found others than on the first stage

// a norm of shards that one dp rank counts
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/start 0 count 4 shard 64$/start 0 count 4 shard 64 among <dp>/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SHARDS-COUNTED-AMONG-DP-RANKS
// SHARDS-COUNTED-AMONG-DP-RANKS: 'rt.norm' expected the norm to count "layers.0.w" on every dp rank (each counts its part), found it among them

// gradients reduced as integers
// RUN: sed -e '/func.func @stage0_reduce/,/return/{/%3 = /s/128xf32/128xi32/;/reduce_scatter %3/s/128xf32/128xi32/}' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GRADIENTS-AS-INTEGERS
// GRADIENTS-AS-INTEGERS: 'rt.collective' expected elements of type 'f32', as bucket 1 has them there, found 'memref<128xi32>'

// two more uses in one bucket, one of which is never added
// RUN: sed -e 's/rt.param "embed.tokens" use 1 bucket 2 start 0/&\n    rt.param "embed.tokens" use 2 bucket 2 start 64/; s/rt.bucket 2 elements 128 unpadded 64/rt.bucket 2 elements 128 unpadded 128/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TWO-USES-IN-ONE-BUCKET
// TWO-USES-IN-ONE-BUCKET: 'rt.param' expected the uses of "embed.tokens" in buckets of their own, found two in bucket 2

// the loss summed over stages
// RUN: sed -e '/@stage0_reduce/,/return/s/.*all_reduce %1 group embedding.*/&\n      %h = rt.view grads at 0 : memref<1xf32>\n      rt.collective all_reduce %h group embedding count 1 : (memref<1xf32>) -> ()/' \
// RUN:   -e '/@stage1_reduce/,/return/s/.*all_reduce %1 group embedding.*/&\n      %h = rt.view grads at 320 : memref<1xf32>\n      rt.collective all_reduce %h group embedding count 1 : (memref<1xf32>) -> ()/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=THE-LOSS-OVER-STAGES
// THE-LOSS-OVER-STAGES: found elements 0 to 1 of the loss to be no gradient
