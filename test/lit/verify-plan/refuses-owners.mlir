// Parameters, layers and shards are owned once. One fault each, planted in a plan that is accepted.

// a parameter without an owner
// RUN: sed -e '/@stage0 stage/,/@stage1 stage/s/\(rt.param "embed.tokens".*\)owner = true/\1owner = false/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-PARAMETER-WITHOUT-AN-OWNER
// A-PARAMETER-WITHOUT-AN-OWNER: expected exactly one owner of parameter "embed.tokens", found 0 on 2 stages

// a parameter with two owners
// RUN: sed -e 's/\(rt.param "embed.tokens".*\)owner = false/\1owner = true/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-PARAMETER-WITH-TWO-OWNERS
// A-PARAMETER-WITH-TWO-OWNERS: expected exactly one owner of parameter "embed.tokens", found 2 on 2 stages

// a lost parameter
// RUN: sed -e '/rt.param "layers.1.w"/d' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-LOST-PARAMETER
// A-LOST-PARAMETER-DAG: expected exactly one owner of parameter "layers.1.w", found 0 on 0 stages
// A-LOST-PARAMETER-DAG: expected layer 1 on a stage, found it on none

// a layer on two stages
// RUN: sed -e 's/rt.param "layers.1.w"/rt.param "layers.0.w"/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-LAYER-ON-TWO-STAGES
// A-LAYER-ON-TWO-STAGES: expected each layer on one stage, found layer 0 on stages 0 and 1

// parameters that overlap
// RUN: sed -e '/@stage1 stage/,$s/"embed.tokens" bucket 1 start 0/"embed.tokens" bucket 0 start 2/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=PARAMETERS-THAT-OVERLAP
// PARAMETERS-THAT-OVERLAP: expected "embed.tokens" from element 4 of bucket 0 or later, found 2

// buckets that overlap
// RUN: sed -e 's/grad_offset = 64 : i64/grad_offset = 0 : i64/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=BUCKETS-THAT-OVERLAP
// BUCKETS-THAT-OVERLAP: expected bytes of its own in the arena grads, from 16 or later, found 0

// a shape that is not the model's
// RUN: sed -e 's/"layers.1.w" bucket 0 start 0 shape \[4\]/"layers.1.w" bucket 0 start 0 shape [5]/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-SHAPE-THAT-IS-NOT-THE-MODELS
// A-SHAPE-THAT-IS-NOT-THE-MODELS: expected shape, shard and split dimension of "layers.1.w" as in mtc.params, found others

// shards that do not add up
// RUN: sed -e 's/"layers.0.w" bucket 0 start 0 shape \[8\] local \[4\]/"layers.0.w" bucket 0 start 0 shape [8] local [8]/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SHARDS-THAT-DO-NOT-ADD-UP
// SHARDS-THAT-DO-NOT-ADD-UP: expected shards of 8 elements in total, found 2 of 8

// ZeRO shards that are not all
// RUN: sed -e 's/rt.bucket 0 elements 128 unpadded 68 shard 64/rt.bucket 0 elements 128 unpadded 68 shard 32/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ZERO-SHARDS-THAT-ARE-NOT-ALL
// ZERO-SHARDS-THAT-ARE-NOT-ALL: expected 2 shards of together 128 elements, found shards of 32
