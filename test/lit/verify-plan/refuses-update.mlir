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
// A-USE-THAT-IS-NOT-ADDED: expected the second use in bucket 2 to be added once to bucket 1, found 0 times

// a tied gradient that no stage adds up
// RUN: sed -e '/group "embd"/d' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-TIED-GRADIENT-THAT-NO-STAGE-ADDS-UP
// A-TIED-GRADIENT-THAT-NO-STAGE-ADDS-UP: expected gradients of bucket 1, which both ends share, to be reduced over embd, found no collective that does

// a norm range counted twice
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/\(rt.norm "accumulate" of %15.*\)/\1\n      \1/' %S/Inputs/grid.mlir \
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
// RUN: sed -e 's/only_tp0 = true/only_tp0 = false/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-REPLICATED-WEIGHT-COUNTED-ON-EVERY-TP-RANK
// A-REPLICATED-WEIGHT-COUNTED-ON-EVERY-TP-RANK: expected only_tp0 true where "norm" is counted in the norm (the same on every tp rank), found false

// a split weight counted on one tp rank
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/start 0 count 4 shard 64 {only_tp0 = false/start 0 count 4 shard 64 {only_tp0 = true/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-SPLIT-WEIGHT-COUNTED-ON-ONE-TP-RANK
// A-SPLIT-WEIGHT-COUNTED-ON-ONE-TP-RANK: expected only_tp0 false where "layers.0.w" is counted in the norm (split over tp), found true

// a range of another shard
// RUN: sed -e '/func.func @stage0_reduce/,/return/s/start 0 count 4 shard 64/start 0 count 4 shard 0/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-RANGE-OF-ANOTHER-SHARD
// A-RANGE-OF-ANOTHER-SHARD: expected a range of shards of 64 elements (0: not sharded), found 0

// a second copy in the norm
// RUN: sed -e '/func.func @stage1_reduce/,/return/s/\(.*norm_reduce.*\)/      %a, %l, %n = rt.flat_range start 0 count 64 shard 0 {only_tp0 = false, only_dp0 = false}\n      %m = rt.offset_view %1 by %a : memref<64xf32> -> memref<64xf32>\n      rt.norm "accumulate" of %m : memref<64xf32> length %n\n\1/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-SECOND-COPY-IN-THE-NORM
// A-SECOND-COPY-IN-THE-NORM: expected only elements of owned parameters to be counted in the norm, found elements 0 to 64 of bucket 1

// a norm before its reduction
// RUN: sed -e '/func.func @stage0_reduce/,/return/{/group "embd"/d;s/\(.*norm_reduce.*\)/      rt.collective all_reduce %1 group "embd" count 64 : (memref<64xf32>) -> ()\n\1/}' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-NORM-BEFORE-ITS-REDUCTION
// A-NORM-BEFORE-ITS-REDUCTION: expected gradients to be final before the norm reads them, found bucket 1 reduced afterwards

// a parameter that is not updated
// RUN: sed -e '/func.func @stage0_apply/,/return/s/start 64 count 4/start 64 count 3/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-PARAMETER-THAT-IS-NOT-UPDATED
// A-PARAMETER-THAT-IS-NOT-UPDATED: expected every element of "norm" to be updated, found elements 67 to 68 of bucket 0 left out

// moments that move like parameters
// RUN: sed -e '/func.func @stage0_apply/,/return/s/by %local1 /by %at1 /' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=MOMENTS-THAT-MOVE-LIKE-PARAMETERS
// MOMENTS-THAT-MOVE-LIKE-PARAMETERS: expected parameter, gradient and both moments of one bucket, moved and measured by one rt.flat_range

// shards that are not gathered
// RUN: sed -e '/func.func @stage0_apply/,/return/{0,/all_gather/{/all_gather/d}}' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SHARDS-THAT-ARE-NOT-GATHERED
// SHARDS-THAT-ARE-NOT-GATHERED: expected the parameters of bucket 0 to be gathered over dp, found no collective that does

// accumulators that are not cleared
// RUN: sed -e '/func.func @stage0_apply/,/return/{/rt.zero %32/d}' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ACCUMULATORS-THAT-ARE-NOT-CLEARED
// ACCUMULATORS-THAT-ARE-NOT-CLEARED:  to be cleared for the next step, found them left

// a use that backward forgets
// RUN: sed -e '/func.func @stage0_bwd/,/return/s/arena 1 offset 1024/arena 1 offset 512/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-USE-THAT-BACKWARD-FORGETS
// A-USE-THAT-BACKWARD-FORGETS: expected backward to add to the gradient of "embed.tokens", found no op that does
