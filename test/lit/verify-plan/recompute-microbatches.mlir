// REQUIRES: avx512
// Some microbatches in flight are computed again: faults that only two forms make.
// RUN: mtc compile gpt2-nano --gemm onednn --pp 2 --mbs 4 --gbs 16 --recompute microbatches=1 --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt --verify-plan %t.mlir -o /dev/null

// Stage 0 has two microbatches in flight: 1 and 3 are computed again. Stage 1 has one,
// and no other form.
// RUN: FileCheck %s --check-prefix=PLAN --input-file=%t.mlir
// PLAN: rt.program @stage0
// PLAN: rt.timeline @train
// PLAN: run @stage0_fwd microbatch 0
// PLAN: run @stage0_fwd_recompute microbatch 1 slots <{{.*}}saved_again = 0
// PLAN: run @stage0_bwd microbatch 0
// PLAN: run @stage0_bwd_recompute microbatch 1 slots <{{.*}}saved_again = 0
// PLAN: rt.program @stage1
// PLAN-NOT: func.func @stage1_fwd()
// PLAN-NOT: func.func @stage1_bwd()

// a backward of the form of which the forward was not
// RUN: sed -e 's/run @stage0_bwd_recompute microbatch 1/run @stage0_bwd microbatch 1/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: expected a slot of pool saved, which this row uses, found none

// the same, with a slot that a forward of its form filled, of another microbatch
// RUN: sed -e 's/run @stage0_bwd_recompute microbatch 1 slots <\(.*\)saved_again = 0>/run @stage0_bwd microbatch 1 slots <\1saved = 0>/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SLOT
// SLOT: expected "stage0_bwd" of microbatch 1 to find its value in slot 0 of pool saved

// inputs loaded where the forward does not look for them
// RUN: sed -e 's/load microbatch 1 slots <send_activation = 1, saved_again = 0>/load microbatch 1 slots <send_activation = 1, saved = 0>/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=LOAD
// LOAD: expected "stage0_fwd_recompute" of microbatch 1 to find its value in slot 0 of pool saved_again

// a gradient that one form does not add
// RUN: sed -e '/func.func @stage0_bwd_recompute() attributes {pipe.fragment/,/return/{/rt.gemm .* m 64 n 256 k 128 {beta = true/d}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GRADIENT
// GRADIENT: 'rt.param' expected backward to add to the gradient of "{{.*}}", found no op that does

// a microbatch that no form runs
// RUN: sed -e '/run @stage0_bwd_recompute microbatch 3/d' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ROW
// ROW: 'rt.timeline' expected "stage0_bwd" for microbatch 3, found no such row
