// The shape of timelines. One fault each, planted in a plan that is accepted.

// microbatches in another order
// RUN: sed -e '/@train/,/@eval/s/"stage1_\(.*\)" microbatch 0/"stage1_\1" microbatch 9/' -e '/@train/,/@eval/s/"stage1_\(.*\)" microbatch 1/"stage1_\1" microbatch 0/' -e '/@train/,/@eval/s/"stage1_\(.*\)" microbatch 9/"stage1_\1" microbatch 1/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=MICROBATCHES-IN-ANOTHER-ORDER
// MICROBATCHES-IN-ANOTHER-ORDER: expected microbatches in ascending order, because "stage1_bwd" accumulates, found microbatch 0 after 1

// a microbatch twice
// RUN: sed -e 's/"stage0_bwd" microbatch 1/"stage0_bwd" microbatch 0/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-MICROBATCH-TWICE
// A-MICROBATCH-TWICE-DAG: expected "stage0_bwd" once per microbatch, found microbatch 0 again
// A-MICROBATCH-TWICE-DAG: expected "stage0_bwd" for microbatch 1 of chunk 0, found no such row

// no apply
// RUN: sed -e '/run "stage1_apply"/d' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NO-APPLY
// NO-APPLY: expected train to end with the fragments reduce and apply

// an update in the middle
// RUN: sed -e 's/\(.*run "stage1_bwd" microbatch 0.*\)/\1\n      rt.step run "stage1_apply" microbatch -1 chunk 0 slots [-1, -1, -1, -1, -1, -1]/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AN-UPDATE-IN-THE-MIDDLE
// AN-UPDATE-IN-THE-MIDDLE: expected reduce and apply only at the end of train, found "stage1_apply" in "train"

// a fragment that does not exist
// RUN: sed -e 's/run "stage1_eval" microbatch 1/run "stage1_eva" microbatch 1/' %S/Inputs/pipeline.mlir \
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
