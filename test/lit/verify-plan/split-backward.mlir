// Backwards in halves: faults that only their being two makes.
// RUN: mtc compile gpt2-nano --pp 2 --mbs 2 --gbs 8 --schedule zb-h1 --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt --verify-plan %t.mlir -o /dev/null

// a weight gradient that is left out
// RUN: sed -e '/run @stage1_bwd_weight microbatch 2/d' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=LEFT-OUT
// LEFT-OUT: expected "stage1_bwd_weight" for microbatch 2, found no such row

// what the input gradient of another microbatch saved
// RUN: sed -e 's/\(@stage1_bwd_weight microbatch 1 slots .*split = \)1/\10/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OTHER-SPLIT
// OTHER-SPLIT: expected "stage1_bwd_weight" of microbatch 1 to find its value in slot 0 of pool split

// what the forward of another microbatch saved
// RUN: sed -e 's/\(@stage1_bwd_weight microbatch 1 slots .*operand = \)1/\10/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OTHER-OPERAND
// OTHER-OPERAND: expected "stage1_bwd_weight" of microbatch 1 to find its value in slot 0 of pool operand

// a weight gradient before its input gradient
// RUN: sed -e 's/@stage1_bwd_input microbatch 3/@X microbatch 3/;s/@stage1_bwd_weight microbatch 3/@stage1_bwd_input microbatch 3/;s/@X microbatch 3/@stage1_bwd_weight microbatch 3/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: expected "stage1_bwd_weight" of microbatch 3 to find its value in slot 1 of pool split

// a gradient that both halves add to
// RUN: sed -e '/func.func @stage0_bwd_weight() attributes {pipe.fragment/,/return/{/rt.gemm.*beta = true/{h;p;x}}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: once per microbatch, found it added 2 times
