// Where views lie. One fault each, planted in a plan that is accepted.

// outside the arena
// RUN: sed -e 's/array<i64: 4096, 4096, 4096, 4096, 4096,/array<i64: 4096, 4096, 4096, 1088, 4096,/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OUTSIDE-THE-ARENA
// OUTSIDE-THE-ARENA: expected bytes inside the arena activations of 1088 bytes, found bytes 576 to 1152 (2 slots)

// a workspace that is too small
// RUN: sed -e 's/4096, 4096, 0>, loss/640, 4096, 0>, loss/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-WORKSPACE-THAT-IS-TOO-SMALL
// A-WORKSPACE-THAT-IS-TOO-SMALL: expected bytes inside the arena workspace of 640 bytes, found bytes 512 to 768

// between cache lines
// RUN: sed -e '/func.func @stage0_eval/,/return/s/workspace at 256/workspace at 260/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=BETWEEN-CACHE-LINES
// BETWEEN-CACHE-LINES: expected offset and stride in multiples of 64 bytes in the arena workspace, found offset 260 and stride 0

// a slot of the workspace
// RUN: sed -e '/func.func @stage0_eval/,/return/s/workspace at 256 :/workspace at 256 slot of saved stride 64 :/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-SLOT-OF-THE-WORKSPACE
// A-SLOT-OF-THE-WORKSPACE: expected no slot in the arena workspace, found one

// activations without a pool
// RUN: sed -e '/func.func @stage0_eval/,/return/s/ slot of send_activation stride 256//' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ACTIVATIONS-WITHOUT-A-POOL
// ACTIVATIONS-WITHOUT-A-POOL: expected a slot in the arena activations, found none

// two strides in a pool
// RUN: sed -e '/func.func @stage0_bwd/,/return/s/stride 320/stride 384/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TWO-STRIDES-IN-A-POOL
// TWO-STRIDES-IN-A-POOL: expected one stride in pool saved, 320, found 384

// a slot that reaches into the next
// RUN: sed -e 's/stride 320/stride 256/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-SLOT-THAT-REACHES-INTO-THE-NEXT
// A-SLOT-THAT-REACHES-INTO-THE-NEXT: expected the views of a slot of pool saved inside one stride of 256 bytes, found bytes 512 to 832

// pools that overlap
// RUN: sed -e '/@stage0 stage/,/@stage1 stage/s/activations at 256 slot of recv_gradient/activations at 128 slot of recv_gradient/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=POOLS-THAT-OVERLAP
// POOLS-THAT-OVERLAP: expected pools that share no bytes, found recv_gradient at 128 to 384 and send_activation at 0 to 256

// a weight that is none
// RUN: sed -e '/func.func @stage0_fwd/,/return/s/params at 0 /params at 4 /' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-WEIGHT-THAT-IS-NONE
// A-WEIGHT-THAT-IS-NONE: expected a parameter of stage 0, found 16 bytes at 4 where none of this size lies

// a gradient that is none
// RUN: sed -e '/func.func @stage0_bwd/,/return/s/grads at 64 /grads at 68 /' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-GRADIENT-THAT-IS-NONE
// A-GRADIENT-THAT-IS-NONE: expected the accumulator of a parameter or the loss of stage 0, found 256 bytes at 68 where none of this size lies

// a forward that writes a weight
// RUN: sed -e '/func.func @stage0_eval/,/return/s/workspace at 256/params at 64/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-FORWARD-THAT-WRITES-A-WEIGHT
// A-FORWARD-THAT-WRITES-A-WEIGHT: expected only apply to write parameters, found "stage0_eval" at offset 64

// an update beside its bucket
// RUN: sed -e '/func.func @stage0_apply/,/return/s/optimizer at 384/optimizer at 448/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AN-UPDATE-BESIDE-ITS-BUCKET
// AN-UPDATE-BESIDE-ITS-BUCKET: expected bytes of one bucket in the arena optimizer, found 448 to 704

// a gradient that is written over
// RUN: sed -e '/func.func @stage0_bwd/,/return/s/@scatter(%13, %14, %15) args() writes \[1\] : (memref<16xi32>, memref<16x4xf32>, memref<16x4xf32>)/@gather(%13, %15, %14) args() writes [2] : (memref<16xi32>, memref<16x4xf32>, memref<16x4xf32>)/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-GRADIENT-THAT-IS-WRITTEN-OVER
// A-GRADIENT-THAT-IS-WRITTEN-OVER: expected microbatches to add to gradients, found a write over the accumulator at offset 64

// a launch that names another operand than the kernel writes
// RUN: sed -e '/func.func @stage0_eval/,/return/s/\(@gather.*\)writes \[2\]/\1writes [1]/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ANOTHER-IS-WRITTEN
// ANOTHER-IS-WRITTEN: 'rt.launch' expected in writes the operands that kernel "gather" writes, found others

// a buffer that is smaller than its kernel
// RUN: sed -e '/func.func @stage0_eval/,/return/s/memref<16xi32>/memref<8xi32>/g' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-BUFFER-THAT-IS-SMALLER-THAN-ITS-KERNEL
// A-BUFFER-THAT-IS-SMALLER-THAN-ITS-KERNEL: expected a buffer of 16 elements for operand 'memref<8xi32>' of kernel "gather", found 8

// a receive over a send of its exchange
// RUN: sed -e '/@stage0 stage/,/@stage1 stage/s/tag = <value = gradient, microbatch = 0, virtual_stage = 1>, offset = 256/tag = <value = gradient, microbatch = 0, virtual_stage = 1>, offset = 192/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-RECEIVE-OVER-A-SEND-OF-ITS-EXCHANGE
// A-RECEIVE-OVER-A-SEND-OF-ITS-EXCHANGE: expected buffers of one exchange apart, because its transfers run at once, found a receive that overlaps bytes 0 to 256

// moments outside of apply
// RUN: sed -e '/func.func @stage0_eval/,/return/s/workspace at 256/optimizer at 128/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=MOMENTS-OUTSIDE-OF-APPLY
// MOMENTS-OUTSIDE-OF-APPLY: expected only apply to touch moments, found "stage0_eval" at offset 128

// a view that moves at run time
// RUN: sed -e '/func.func @stage0_eval/,/return/s/%6 = .*/&\n      %by = rt.affine <1000000000> : i64\n      %moved = rt.offset_view %6 by %by : memref<16x4xf32> -> memref<16x4xf32>/;/func.func @stage0_eval/,/return/s/@scale(%4, %5, %6)/@scale(%4, %5, %moved)/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-VIEW-THAT-MOVES
// A-VIEW-THAT-MOVES: 'rt.offset_view' expected moved views only in reduce and apply, and in sums of gradients, found one in "stage0_eval"

// an offset that wraps
// RUN: sed -e '/func.func @stage0_eval/,/return/s/workspace at 256/workspace at 9223372036854775744/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AN-OFFSET-THAT-WRAPS
// AN-OFFSET-THAT-WRAPS: expected bytes inside the arena workspace of 4096 bytes, found bytes 9223372036854775744 to 9223372036854775807

// a view whose bytes are not a number
// RUN: sed -e '/func.func @stage0_eval/,/return/s/%6 = .*/%6 = rt.view workspace at 256 : memref<4611686018427387904x4xf32>/;/func.func @stage0_eval/,/return/s/\(@scale(%4.*, \)memref<16x4xf32>) -/\1memref<4611686018427387904x4xf32>) -/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-VIEW-THAT-IS-TOO-LARGE
// A-VIEW-THAT-IS-TOO-LARGE: expected bytes inside the arena workspace of 4096 bytes, found bytes 256 to 9223372036854775807

// a kernel that reads an accumulator and writes over it
// RUN: sed -e '/rt.kernel @scale /,/rt.store/s/ *%x = rt.load 0 : f32/&\n      %old = rt.load 2 : f32/' -e '/func.func @stage0_bwd/,/return/s/rt.launch @scatter(%12, %13, %14).*/%w = rt.view params at 256 : memref<4xf32>\n      rt.launch @scale(%14, %w, %13) args() writes [2] : (memref<16x4xf32>, memref<4xf32>, memref<16x4xf32>) -> ()/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=READ-AND-WRITTEN-OVER
// READ-AND-WRITTEN-OVER: expected microbatches to add to gradients, found a write over the accumulator at offset 512

// an input that nobody fills
// RUN: sed -e '/rt.input_slot/s/"labels"/"dp"/' -e 's/pipe.input "labels"/pipe.input "dp"/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AN-INPUT-THAT-NOBODY-FILLS
// AN-INPUT-THAT-NOBODY-FILLS: expected an input that the data loader fills, ids, labels, loss_weights, gradient_weights or document_starts, found "dp"
