// The shape of timelines. One fault each, planted in a plan that is accepted.

// microbatches in another order
// RUN: sed -e '/@train/,/@eval/s/@stage1_\([a-z]*\) microbatch 0/@stage1_\1 microbatch 9/' -e '/@train/,/@eval/s/@stage1_\([a-z]*\) microbatch 1/@stage1_\1 microbatch 0/' -e '/@train/,/@eval/s/@stage1_\([a-z]*\) microbatch 9/@stage1_\1 microbatch 1/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=MICROBATCHES-IN-ANOTHER-ORDER
// MICROBATCHES-IN-ANOTHER-ORDER: expected microbatches in ascending order, because "stage1_bwd" accumulates, found microbatch 0 after 1

// a microbatch twice
// RUN: sed -e 's/@stage0_bwd microbatch 1/@stage0_bwd microbatch 0/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-MICROBATCH-TWICE
// A-MICROBATCH-TWICE-DAG: expected "stage0_bwd" once per microbatch, found microbatch 0 again
// A-MICROBATCH-TWICE-DAG: expected "stage0_bwd" for microbatch 1, found no such row

// no apply
// RUN: sed -e '/run @stage1_apply/d' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NO-APPLY
// NO-APPLY: expected train to end with the fragments reduce and apply, found another row in place of reduce

// an update in the middle
// RUN: sed -e 's/\(.*run @stage1_bwd microbatch 0.*\)/\1\n      rt.step run @stage1_apply/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AN-UPDATE-IN-THE-MIDDLE
// AN-UPDATE-IN-THE-MIDDLE: expected reduce and apply only at the end of train, found "stage1_apply" in "train"

// a fragment that does not exist
// RUN: sed -e 's/run @stage1_eval microbatch 1/run @stage1_eva microbatch 1/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-FRAGMENT-THAT-DOES-NOT-EXIST
// A-FRAGMENT-THAT-DOES-NOT-EXIST: expected a fragment of this program, found "stage1_eva"

// an entry on one stage only
// RUN: sed -e '/@stage1 stage/,$s/@eval/@test/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AN-ENTRY-ON-ONE-STAGE-ONLY
// AN-ENTRY-ON-ONE-STAGE-ONLY: expected a timeline "eval" on every stage, found none on stage 1

// a stage without a program
// RUN: sed -e 's/pp = 2/pp = 3/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-STAGE-WITHOUT-A-PROGRAM
// A-STAGE-WITHOUT-A-PROGRAM: expected a program of stage 2, found none

// a fragment without a phase
// RUN: sed -e 's/pipe.fragment = #pipe.fragment<stage = 1, chunk = 0, phase = eval>, //' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-FRAGMENT-WITHOUT-A-PHASE
// A-FRAGMENT-WITHOUT-A-PHASE: expected a fragment of stage 1 (pipe.fragment), found another function

// no sizes of arenas
// RUN: sed -e 's/arenas = /arena_sizes = /' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NO-SIZES-OF-ARENAS
// NO-SIZES-OF-ARENAS: expected arenas with 7 sizes, and loss_offset (written by plan-memory)

// no configuration
// RUN: sed -e 's/mtc.config = #/mtc.strategy = #/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NO-CONFIGURATION
// NO-CONFIGURATION: expected the module attribute mtc.config, found none

// a stage that there is not
// RUN: sed -e 's/rt.program @stage1 stage 1/rt.program @stage1 stage 2/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-STAGE-THAT-THERE-IS-NOT
// A-STAGE-THAT-THERE-IS-NOT: expected each stage of 0 to 1 once, found stage 2

// eval in train
// RUN: sed -e 's/\(.*\)run @stage1_fwd microbatch 1\(.*\)/&\n\1run @stage1_eval microbatch 1\2/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=EVAL-IN-TRAIN
// EVAL-IN-TRAIN: expected forward and backward fragments in "train", found "stage1_eval"

// a microbatch too many
// RUN: sed -e 's/@stage0_eval microbatch 1/@stage0_eval microbatch 2/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-MICROBATCH-TOO-MANY
// A-MICROBATCH-TOO-MANY: expected a microbatch of 0 to 1, found 2

// a fragment that nobody runs
// RUN: sed -e '/run @stage1_eval/d' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-FRAGMENT-THAT-NOBODY-RUNS
// A-FRAGMENT-THAT-NOBODY-RUNS: expected every fragment in a timeline, found no row that runs "stage1_eval"

// a kernel that does not exist
// RUN: sed -e 's/rt.launch @loss/rt.launch @lost/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-KERNEL-THAT-DOES-NOT-EXIST
// A-KERNEL-THAT-DOES-NOT-EXIST: expected a kernel of this program, found "lost"

// a kernel with other operands
// RUN: sed -e 's/rt.launch @loss/rt.launch @adamw/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-KERNEL-WITH-OTHER-OPERANDS
// A-KERNEL-WITH-OTHER-OPERANDS: expected a buffer for each of 4 operands of kernel "adamw", found 3

// a buffer of another type
// RUN: sed -e '/func.func @stage1_eval/,/return/s/16xi32/16xf32/g' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-BUFFER-OF-ANOTHER-TYPE
// A-BUFFER-OF-ANOTHER-TYPE: expected elements of type 'i32' as kernel "loss" has them, found 'memref<16xf32>'

// a train of one row
// RUN: sed -e '/@stage1 stage/,${/@train/,/@eval/{/@stage1_apply/!{/rt.step/d;/rt.exchange/d}}}' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-TRAIN-OF-ONE-ROW
// A-TRAIN-OF-ONE-ROW: expected train to end with the fragments reduce and apply, found too few rows for reduce

// training in eval
// RUN: sed -e 's/@stage1_eval microbatch 1/@stage1_fwd microbatch 1/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TRAINING-IN-EVAL
// TRAINING-IN-EVAL: expected eval fragments in "eval", found "stage1_fwd"

// an operand that has no bytes
// RUN: sed -e '/func.func @stage0_eval/,/return/s/ *return/      %f = rt.step_field lr : memref<1xf32>\n      rt.zero %f : (memref<1xf32>) -> ()\n&/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AN-OPERAND-THAT-HAS-NO-PLACE
// AN-OPERAND-THAT-HAS-NO-PLACE: expected operands made by rt.view, found 'memref<1xf32>'

// a fragment with an argument
// RUN: sed -e 's/@stage0_eval()/@stage0_eval(%ids: memref<16xi32>)/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-FRAGMENT-WITH-AN-ARGUMENT
// A-FRAGMENT-WITH-AN-ARGUMENT: error: expected a fragment to be a function of one block without arguments and results, found another

// a fragment without a body
// RUN: sed -e 's/^    func.func @stage0_eval/    func.func private @declared() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = eval>}\n&/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-FRAGMENT-WITHOUT-A-BODY
// A-FRAGMENT-WITHOUT-A-BODY: error: expected a fragment to be a function of one block without arguments and results, found another

// a fragment of two blocks
// RUN: sed -e '/func.func @stage0_eval/,/return/s/ *return/      cf.br ^bb1\n    ^bb1:\n&/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-FRAGMENT-OF-TWO-BLOCKS
// A-FRAGMENT-OF-TWO-BLOCKS: error: expected a fragment to be a function of one block without arguments and results, found another

// a row that is neither a step nor an exchange
// RUN: sed -e 's/\(.*run @stage1_bwd microbatch 0.*\)/\1\n      rt.norm reset/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-ROW-OF-ANOTHER-KIND
// A-ROW-OF-ANOTHER-KIND: 'rt.norm' expected rows that are rt.step or rt.exchange, found another op

// a load of a microbatch that does not exist
// RUN: sed -e '0,/rt.step load microbatch 0/s/rt.step load microbatch 0/rt.step load microbatch 7/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-LOAD-OF-NONE
// A-LOAD-OF-NONE: 'rt.step' expected to load a microbatch of 0 to 1, found 7

// a microbatch that is loaded twice
// RUN: sed -e '0,/rt.step load microbatch 1/s/rt.step load microbatch 1/rt.step load microbatch 0/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-LOAD-TWICE
// A-LOAD-TWICE: 'rt.step' expected to load each microbatch once, found 0 again

// a chunk that a stage does not have
// RUN: sed -e 's/stage = 1, chunk = 0, phase = backward/stage = 1, chunk = 1, phase = backward/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ANOTHER-CHUNK
// ANOTHER-CHUNK: expected a chunk of 0 to 0, of which mtc.config has 1, found chunk 1

// rows repeated
// RUN: sed -e 's/\(.*@stage1_bwd microbatch 1.*\)/&\n&/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=REPEATED-ROWS
// REPEATED-ROWS: expected "stage1_bwd" once per microbatch, found microbatch 1 again

// an update of one microbatch
// RUN: sed -e 's/run @stage1_apply/& microbatch 0/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AN-UPDATE-OF-ONE-MICROBATCH
// AN-UPDATE-OF-ONE-MICROBATCH: expected the update once for all microbatches, found microbatch 0
