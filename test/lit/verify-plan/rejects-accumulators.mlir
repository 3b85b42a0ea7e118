// Sums of a step. One fault each, planted in a plan that is accepted.

// a gradient added twice
// RUN: sed -e '/func.func @stage1_bwd/,/return/s/.*rt.launch @scatter.*/&\n&/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GRADIENT-TWICE
// GRADIENT-TWICE: 'rt.launch' expected backward to add to the gradient of "embed.tokens" once per microbatch, found it added 2 times

// a kernel that adds twice
// RUN: sed -e '/rt.kernel @scale_grad/,/^    }/s/.*rt.accumulate.*/&\n&/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=KERNEL-TWICE
// KERNEL-TWICE: expected backward to add to the gradient of "layers.0.w" once per microbatch, found it added 2 times

// gradients added forward
// RUN: sed -e '/func.func @stage1_fwd/,/return/s/\(.*rt.launch @loss\)(%\([0-9]*\), %\([0-9]*\), %[0-9]*)\(.*\)/      %g = rt.view grads at 64 : memref<16x4xf32>\n      rt.launch @scatter(%\3, %g, %\2) args() writes [1] : (memref<16xi32>, memref<16x4xf32>, memref<16x4xf32>) -> ()\n&/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=FORWARD
// FORWARD: expected only backward fragments to add to gradients, found "stage1_fwd" at offset 64

// a loss added twice
// RUN: sed -e '/func.func @stage1_fwd/,/return/s/.*rt.launch @loss.*/&\n&/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=LOSS-TWICE
// LOSS-TWICE: expected forward of stage 1 to add to the loss once per microbatch, found it added 2 times

// no loss in eval
// RUN: sed -e '/func.func @stage1_eval/,/return/{/rt.launch @loss/d}' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NO-LOSS
// NO-LOSS: 'rt.program' expected eval of stage 1 to add to the loss once per microbatch, found it added 0 times

// a loss of the first stage
// RUN: sed -e '/func.func @stage0_fwd/,/return/s/.*rt.launch @gather.*/      %l = rt.view grads at 320 : memref<f32>\n&\n      rt.launch @loss(%3, %1, %l) args() writes [2] : (memref<16x4xf32>, memref<16xi32>, memref<f32>) -> ()/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=FIRST-STAGE
// FIRST-STAGE: expected forward of stage 0 to add to the loss never, found it added 1 times

// a loss added backward
// RUN: sed -e '/func.func @stage1_bwd/,/return/s/.*rt.launch @scatter(\(.*\), .*, \(.*\)) args.*/      %l = rt.view grads at 320 : memref<f32>\n&\n      rt.launch @loss(\2, \1, %l) args() writes [2] : (memref<16x4xf32>, memref<16xi32>, memref<f32>) -> ()/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=BACKWARD
// BACKWARD: expected no backward fragment to add to the loss, found one
