// Gradients that the first microbatch stores and nobody clears: faults planted in the plan of
// a compiled model, two stages.
// RUN: mtc compile gpt2-nano --tp 1 --pp 2 --dp 1 --mbs 2 --gbs 8 --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt --verify-plan %t.mlir -o /dev/null

// added to what the step before left
// RUN: sed -e '/^    func.func @stage1_bwd/,/return/s/stores_first, //' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ADDED
// ADDED: expected all of "layers.2.attn.qkv.weight" to be cleared for the next step
// ADDED-SAME: to be whole sums

// a clear too few, of what a kernel sums
// RUN: sed -e '/^    func.func @stage1_apply/,/return/{/rt.zero/{x;s/^/x/;/^x$/{x;d};x}}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=KEPT
// KEPT: to be cleared for the next step

// a microbatch that comes before the first
// RUN: sed -e 's/run @stage1_bwd microbatch 0/run @stage1_bwd microbatch 9/' -e 's/run @stage1_bwd microbatch 1/run @stage1_bwd microbatch 0/' -e 's/run @stage1_bwd microbatch 9/run @stage1_bwd microbatch 1/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: expected microbatch 0 before others, because "stage1_bwd" stores its gradients (stores_first), found microbatch 1

// a value of the fragment
// RUN: sed -e '/^    func.func @stage1_fwd/,/return/s/beta = false,/beta = true, stores_first,/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: expected the first microbatch to store (stores_first) only the gradient of a parameter, in a backward, found other bytes in "stage1_fwd"

// A schedule that somebody wrote, whose first microbatch is another: all is cleared.
// RUN: mtc compile gpt2-nano --pp 2 --mbs 2 --gbs 16 --schedule %S/../../integration/schedules/own-order.txt --compile-to=plan-memory -o - | FileCheck %s --check-prefix=WRITTEN
// WRITTEN-NOT: stores_first

// one form of a backward that adds, where the others store
// RUN: mtc compile gpt2-nano --tp 1 --pp 1 --dp 2 --mbs 2 --gbs 8 --overlap grad-reduce --compile-to=plan-memory -o %t-forms.mlir
// RUN: mtc-opt --verify-plan %t-forms.mlir -o /dev/null
// RUN: sed -e '/^    func.func @stage0_bwd_last/,/return/s/stores_first, //' %t-forms.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: expected all of "layers.3.mlp.down.weight" to be cleared for the next step

// On a GPU the library may add in another order where it does not add to c: all is cleared.
// RUN: mtc compile gpt2-nano --mbs 2 --gbs 4 --target cuda:sm_90 --compile-to=plan-memory -o - | FileCheck %s --check-prefix=WRITTEN
