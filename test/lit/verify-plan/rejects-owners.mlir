// Parameters, layers and shards are owned once. One fault each, planted in a plan that is accepted.

// a parameter without an owner
// RUN: sed -e '/@stage0 stage/,/@stage1 stage/s/"embed.tokens" use 0/"embed.tokens" use 2/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-PARAMETER-WITHOUT-AN-OWNER
// A-PARAMETER-WITHOUT-AN-OWNER: expected exactly one owner of parameter "embed.tokens", found 0 on 2 stages

// a parameter with two owners
// RUN: sed -e 's/"embed.tokens" use 1/"embed.tokens" use 0/' %S/Inputs/pipeline.mlir \
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
// RUN: sed -e '/@stage1 stage/,$s/bucket 1 start 0/bucket 0 start 2/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=PARAMETERS-THAT-OVERLAP
// PARAMETERS-THAT-OVERLAP: expected "embed.tokens" from element 4 of bucket 0 or later, found 2

// buckets that overlap
// RUN: sed -e 's/grad_offset = 64 : i64/grad_offset = 0 : i64/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=BUCKETS-THAT-OVERLAP
// BUCKETS-THAT-OVERLAP: expected bytes of its own in the arena grads, from 16 or later, found 0

// a gradient that is summed over the axis that splits its parameter
// RUN: sed -e '/"layers.0.w"/s/{"tp"}/{"dp"}/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-SHARD-OF-A-DATA-AXIS
// A-SHARD-OF-A-DATA-AXIS: 'rt.param' expected a gradient that is partial over ranks that have the same of its parameter, found "layers.0.w" partial over dp

// a split over an axis whose ranks have two pieces each
// RUN: sed -e '/"layers.0.w"/s/{"tp"}/{"cp"}/' -e 's/"tp" = 2/"cp" = 2/' -e 's/tp = 2, cp = 1/tp = 1, cp = 2/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=PIECES
// PIECES: expected the same "layers.0.w" on every cp rank, which have two pieces of what they split, found it split

// ZeRO shards that are not all
// RUN: sed -e 's/rt.bucket 0 elements 128 unpadded 68 shard 64/rt.bucket 0 elements 128 unpadded 68 shard 32/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ZERO-SHARDS-THAT-ARE-NOT-ALL
// ZERO-SHARDS-THAT-ARE-NOT-ALL: expected 2 shards of together 128 elements, found shards of 32

// a parameter listed twice
// RUN: sed -e 's/<name = "layers.0.w"/<name = "layers.1.w"/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-PARAMETER-LISTED-TWICE
// A-PARAMETER-LISTED-TWICE-DAG: expected each parameter of the model once, found "layers.1.w" again
// A-PARAMETER-LISTED-TWICE-DAG: expected a parameter of the model (pipe.parameter), found "layers.0.w"

// a parameter twice on a stage
// RUN: sed -e '/@stage1 stage/,$s/rt.param "layers.1.w"/rt.param "embed.tokens"/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-PARAMETER-TWICE-ON-A-STAGE
// A-PARAMETER-TWICE-ON-A-STAGE: expected parameter "embed.tokens" once on stage 1, found it again

// a layer too many
// RUN: sed -e 's/layers = 2,/layers = 1,/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-LAYER-TOO-MANY
// A-LAYER-TOO-MANY: expected layers 0 to 0, found layer 1

// a parameter of another layer than its stage has: the record says which, whatever its name
// RUN: sed -e '/<name = "layers.0.w"/s/tfm.layer = 1/tfm.layer = 2/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OF-ANOTHER-LAYER
// OF-ANOTHER-LAYER-DAG: expected each layer on one stage, found layer 1 on stages 0 and 1
// OF-ANOTHER-LAYER-DAG: expected layer 0 on a stage, found it on none

// other layers than the strategy says
// RUN: sed -e 's/layers_per_stage = .1, 1./layers_per_stage = [2, 0]/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OTHER-LAYERS-THAN-THE-STRATEGY-SAYS
// OTHER-LAYERS-THAN-THE-STRATEGY-SAYS-DAG: expected 2 layers on stage 0, found 1
// OTHER-LAYERS-THAN-THE-STRATEGY-SAYS-DAG: expected 0 layers on stage 1, found 1

// a bucket twice
// RUN: sed -e '/@stage1 stage/,$s/rt.bucket 1 /rt.bucket 0 /' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-BUCKET-TWICE
// A-BUCKET-TWICE-DAG: expected each bucket once, found bucket 0 again
// A-BUCKET-TWICE-DAG: expected a bucket of stage 1, found bucket 1

// a second use of nothing
// RUN: sed -e 's/second_use_of 1/second_use_of 5/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-SECOND-USE-OF-NOTHING
// A-SECOND-USE-OF-NOTHING: expected the second use of a bucket of parameters of the same size, found bucket 5

// another end of the parameters
// RUN: sed -e 's/unpadded 68/unpadded 69/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ANOTHER-END-OF-THE-PARAMETERS
// ANOTHER-END-OF-THE-PARAMETERS: expected parameters to end at 69 of 128 elements, found their end at 68

// a bucket between lines
// RUN: sed -e '/@stage1 stage/,$s/i64: 128, 384/i64: 128, 388/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-BUCKET-BETWEEN-LINES
// A-BUCKET-BETWEEN-LINES: expected an offset in multiples of 64 bytes in the arena optimizer, found 388

// an arena that is too small for its buckets
// RUN: sed -e 's/array<i64: 4096, 4096, 4096/array<i64: 4096, 4096, 512/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AN-ARENA-THAT-IS-TOO-SMALL-FOR-ITS-BUCKETS
// AN-ARENA-THAT-IS-TOO-SMALL-FOR-ITS-BUCKETS: expected an arena optimizer of at least 640 bytes, found 512

// an arena that is too small for the step
// RUN: sed -e 's/, 4096, 0>, loss_offset/, 64, 0>, loss_offset/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AN-ARENA-THAT-IS-TOO-SMALL-FOR-THE-STEP
// AN-ARENA-THAT-IS-TOO-SMALL-FOR-THE-STEP: expected an arena step of at least 1008 bytes, found 64

// a tied table in the middle of the pipeline
// RUN: mtc compile gpt2-nano --tp 1 --pp 4 --dp 1 --mbs 1 --gbs 8 --compile-to=plan-memory -o %t.mlir
// RUN: sed -e 's/rt.param "layers.1.norm1.bias"/rt.param "embed.tokens"/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-TIED-TABLE-IN-THE-MIDDLE
// A-TIED-TABLE-IN-THE-MIDDLE: expected copies of "embed.tokens" on the first and last stage only (group embedding), found one on stage 1

// no parameters at all
// RUN: sed -e '/pipe.parameter/d' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NO-PARAMETERS-AT-ALL
// NO-PARAMETERS-AT-ALL-DAG: expected a parameter of the model (pipe.parameter), found "layers.0.w"
// NO-PARAMETERS-AT-ALL-DAG: expected layer 0 on a stage, found it on none

// a bucket without offsets
// RUN: sed -e 's/grad_offset = 64 : i64, //' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-BUCKET-WITHOUT-A-PLACE
// A-BUCKET-WITHOUT-A-PLACE: expected the offsets of its parameters, gradients and states (written by plan-memory), found some missing

// a state that the optimizer does not have
// RUN: sed -e 's/states = \["exp_avg", /states = ["momentum", /' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ANOTHER-STATE
// ANOTHER-STATE: expected the states exp_avg, exp_avg_sq, once each, found momentum, exp_avg_sq

// a state lost
// RUN: sed -e 's/i64: 128, 384>/i64: 128>/' -e '/128>/s/, "exp_avg_sq"\]/]/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-STATE-LOST
// A-STATE-LOST: expected the states exp_avg, exp_avg_sq, once each, found exp_avg

// a use twice
// RUN: sed -e '/@stage1 stage/,$s/"embed.tokens" use 1/"embed.tokens" use 0/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-USE-TWICE
// A-USE-TWICE: expected each use of "embed.tokens" on one stage, found use 0 again

// layers of fewer stages than there are
// RUN: sed -e 's/layers_per_stage = .[0-9, ]*./layers_per_stage = [2]/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TOO-FEW-STAGES
// TOO-FEW-STAGES: expected layers_per_stage of mtc.config to have 2 entries, found 1

// a tied table of which one use is missing, as where its accumulation got lost
// RUN: sed -e '/"embed.tokens"/s/uses 2/uses 3/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-USE-THAT-IS-MISSING
// A-USE-THAT-IS-MISSING: expected the uses 0 to 2 of "embed.tokens" on the stages, found 2 of them and 0 others

// RUN: sed -e '/"embed.tokens"/s/ uses 2//' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-USE-TOO-MANY
// A-USE-TOO-MANY: expected the uses 0 to 0 of "embed.tokens" on the stages, found 1 of them and 1 others

// layers that run in another order
// RUN: sed -e 's/tfm.layer = 1/tfm.layer = x/;s/tfm.layer = 2/tfm.layer = 1/;s/tfm.layer = x/tfm.layer = 2/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ANOTHER-ORDER
// ANOTHER-ORDER-DAG: expected layer 0 on stage 0 (layers_per_stage of mtc.config), found it on stage 1
// ANOTHER-ORDER-DAG: expected layer 1 on stage 1 (layers_per_stage of mtc.config), found it on stage 0
