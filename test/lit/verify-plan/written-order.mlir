// A schedule that somebody wrote says in which order microbatches are added: here back and
// forth. Rows follow it, and not the numbers.
// RUN: rm -rf %t && mkdir %t && printf 'F0 F1 F2 B1 B0 B2\nF0 F1 F2 B1 B0 B2\n' > %t/mine.txt
// RUN: mtc compile gpt2-nano --pp 2 --gbs 3 --schedule %t/mine.txt --compile-to verify-plan -o %t/plan.mlir
// RUN: sed -e 's/run @stage0_bwd microbatch 1/run @stage0_bwd microbatch 9/' -e 's/run @stage0_bwd microbatch 0/run @stage0_bwd microbatch 1/' -e 's/run @stage0_bwd microbatch 9/run @stage0_bwd microbatch 0/' %t/plan.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s
// CHECK: expected microbatches in the order of the schedule's slots, because "stage0_bwd" accumulates, found microbatch 0 in the place of 1
//
// The last to run, not the last by number, sums gradients over ranks.
// RUN: mtc compile gpt2-nano --pp 2 --dp 2 --gbs 6 --overlap grad-reduce --schedule %t/mine.txt --compile-to verify-plan -o - | FileCheck %s --check-prefix=LAST
// RUN: printf 'F0 F1 F2 B2 B0 B1\nF0 F1 F2 B2 B0 B1\n' > %t/mine.txt
// RUN: mtc compile gpt2-nano --pp 2 --dp 2 --gbs 6 --overlap grad-reduce --schedule %t/mine.txt --compile-to verify-plan -o - | FileCheck %s --check-prefix=ONE
// LAST: run @stage0_bwd_last microbatch 2
// ONE: run @stage0_bwd_last microbatch 1

// Slots of other phases than a stage has fragments of say no order.
// RUN: sed -e '1,/mtc.config/s/"F0 F1 F2 B1 B0 B2"/"F0 F1 F2 I1 W1 I0 W0 I2 W2"/g' %t/plan.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SLOTS
// SLOTS: expected as many rows of "stage0_bwd" as the schedule has slots of its phase and chunk, 0, found 3
