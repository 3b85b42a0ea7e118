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
// A-SHAPE-THAT-IS-NOT-THE-MODELS: expected shape, shard and split of "layers.1.w" as in mtc.params, found others

// shards that do not add up
// RUN: sed -e 's/"layers.0.w" bucket 0 start 0 shape \[8\] local \[4\]/"layers.0.w" bucket 0 start 0 shape [8] local [8]/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SHARDS-THAT-DO-NOT-ADD-UP
// SHARDS-THAT-DO-NOT-ADD-UP: expected shards of 8 elements in total, found 2 of 8

// a shard split over another axis than the model's
// RUN: sed -e '/rt.param "layers.0.w"/s/split_dim = 0/split_axis = "dp", split_dim = 0/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-SHARD-SPLIT-OVER-ANOTHER-AXIS
// A-SHARD-SPLIT-OVER-ANOTHER-AXIS: expected shape, shard and split of "layers.0.w" as in mtc.params, found others

// a shard split over an axis that gradients are summed over
// RUN: sed -e '/"layers.0.w"/s/split_axis = "tp", //' -e '/"layers.0.w"/s/split_dim = 0/split_axis = "dp", split_dim = 0/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-SHARD-OF-A-DATA-AXIS
// A-SHARD-OF-A-DATA-AXIS: expected the same "layers.0.w" on every dp rank, as its gradient is summed over them, found it split

// a row that does not say which axis splits
// RUN: sed -e 's/split_axis = "tp", split_dim = 0 : i64},/split_dim = 0 : i64},/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-SPLIT-WITHOUT-ITS-AXIS
// A-SPLIT-WITHOUT-ITS-AXIS: expected name, shape, local and split_dim in every row of mtc.params, and split_axis if it is split

// a split over an axis that no mesh has: no rank has a part
// RUN: sed -e '/rt.param "layers.0.w"/s/split_dim = 0/split_axis = "xp", split_dim = 0/' -e 's/split_axis = "tp"/split_axis = "xp"/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AN-AXIS-THAT-NO-MESH-HAS
// AN-AXIS-THAT-NO-MESH-HAS: expected shards of 8 elements in total, found 1 of 4

// ZeRO shards that are not all
// RUN: sed -e 's/rt.bucket 0 elements 128 unpadded 68 shard 64/rt.bucket 0 elements 128 unpadded 68 shard 32/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ZERO-SHARDS-THAT-ARE-NOT-ALL
// ZERO-SHARDS-THAT-ARE-NOT-ALL: expected 2 shards of together 128 elements, found shards of 32

// no list of parameters
// RUN: sed -e 's/mtc.params/mtc.weights/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NO-LIST-OF-PARAMETERS
// NO-LIST-OF-PARAMETERS: expected the attribute mtc.params (written by cut-stages)

// a row without a name
// RUN: sed -e 's/{name = "layers.0.w", /{/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-ROW-WITHOUT-A-NAME
// A-ROW-WITHOUT-A-NAME: expected name, shape, local and split_dim in every row of mtc.params

// a parameter listed twice
// RUN: sed -e 's/{name = "layers.0.w", /{name = "layers.1.w", /' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-PARAMETER-LISTED-TWICE
// A-PARAMETER-LISTED-TWICE-DAG: expected each parameter once in mtc.params, found "layers.1.w" again
// A-PARAMETER-LISTED-TWICE-DAG: expected a parameter of the model, found "layers.0.w"

// a shard split on the wrong dimension
// RUN: sed -e 's/"layers.0.w" bucket 0 start 0 shape \[8\] local \[4\]/"layers.0.w" bucket 0 start 0 shape [2, 4] local [2, 2]/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-SHARD-SPLIT-ON-THE-WRONG-DIMENSION
// A-SHARD-SPLIT-ON-THE-WRONG-DIMENSION: expected dimension 0 of the shard to be 2 / 2, found 2

// a parameter twice on a stage
// RUN: sed -e '/@stage1 stage/,$s/rt.param "layers.1.w"/rt.param "embed.tokens"/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-PARAMETER-TWICE-ON-A-STAGE
// A-PARAMETER-TWICE-ON-A-STAGE: expected parameter "embed.tokens" once on stage 1, found it again

// a layer too many
// RUN: sed -e 's/layers = 2 : i64/layers = 1 : i64/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-LAYER-TOO-MANY
// A-LAYER-TOO-MANY: expected layers 0 to 0, found layer 1

// other layers than the strategy says
// RUN: sed -e 's/layers = 2 : i64/layers = 2 : i64, layers_per_stage = array<i64: 2, 0>/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OTHER-LAYERS-THAN-THE-STRATEGY-SAYS
// OTHER-LAYERS-THAN-THE-STRATEGY-SAYS-DAG: expected 2 layers on stage 0, found 1
// OTHER-LAYERS-THAN-THE-STRATEGY-SAYS-DAG: expected 0 layers on stage 1, found 1

// a bucket twice
// RUN: sed -e '/@stage1 stage/,$s/rt.bucket 1 /rt.bucket 0 /' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-BUCKET-TWICE
// A-BUCKET-TWICE-DAG: expected each bucket once, found bucket 0 again
// A-BUCKET-TWICE-DAG: expected a bucket of stage 1, found bucket 1

// ZeRO against the strategy
// RUN: sed -e 's/zero = 1 : i64/zero = 0 : i64/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ZERO-AGAINST-THE-STRATEGY
// ZERO-AGAINST-THE-STRATEGY: expected zero false as the strategy says, found otherwise

// a second use of nothing
// RUN: sed -e 's/second_use_of 1/second_use_of 5/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-SECOND-USE-OF-NOTHING
// A-SECOND-USE-OF-NOTHING: expected the second use of a bucket of parameters of the same size, found bucket 5

// another end of the parameters
// RUN: sed -e 's/unpadded 68/unpadded 69/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ANOTHER-END-OF-THE-PARAMETERS
// ANOTHER-END-OF-THE-PARAMETERS: expected parameters to end at 69 of 128 elements, found their end at 68

// a bucket between lines
// RUN: sed -e '/@stage1 stage/,$s/exp_avg_sq_offset = 384/exp_avg_sq_offset = 388/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-BUCKET-BETWEEN-LINES
// A-BUCKET-BETWEEN-LINES: expected an offset in multiples of 64 bytes in the arena optimizer, found 388

// an arena that is too small for its buckets
// RUN: sed -e 's/array<i64: 4096, 4096, 4096/array<i64: 4096, 4096, 512/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AN-ARENA-THAT-IS-TOO-SMALL-FOR-ITS-BUCKETS
// AN-ARENA-THAT-IS-TOO-SMALL-FOR-ITS-BUCKETS: expected an arena optimizer of at least 640 bytes, found 512

// no ZeRO against the strategy
// RUN: sed -e 's/shard 64 zero true/shard 64 zero false/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NO-ZERO-AGAINST-THE-STRATEGY
// NO-ZERO-AGAINST-THE-STRATEGY: expected zero true as the strategy says, found otherwise

// a tied table in the middle of the pipeline
// RUN: mtc compile gpt2-nano --tp 1 --pp 4 --dp 1 --mbs 1 --gbs 8 --compile-to=plan-memory -o %t.mlir
// RUN: sed -e 's/rt.param "layers.1.norm1.bias"/rt.param "embed.tokens"/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-TIED-TABLE-IN-THE-MIDDLE
// A-TIED-TABLE-IN-THE-MIDDLE: expected copies of "embed.tokens" on the first and last stage only (group embd), found one on stage 1
