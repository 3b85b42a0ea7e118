// RUN: mtc compile gpt2-nano --pp 2 --dp 2 --zero 1 --mbs 2 --gbs 16 --bucket-size 20000 --recompute microbatches=1 --overlap p2p,grad-reduce,param-gather --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt --verify-plan %t.mlir -o /dev/null
// RUN: FileCheck %s --check-prefix=PLAN --input-file=%t.mlir
// Tests that a microbatch runs the form of which all conditions hold, and most: the first
// one of a stage gathers parameters and the last one sums gradients, in the form that the
// schedule has for its slot, be it one that computes again; and what is wrong with forms of
// two conditions.

// Stage 0 has two microbatches in flight, of which one is computed again.
// PLAN: rt.program @stage0
// PLAN-NOT: @stage0_fwd_first_recompute
// PLAN-NOT: @stage0_bwd_last()
// PLAN: rt.timeline @train
// PLAN: run @stage0_fwd_first microbatch 0
// PLAN: run @stage0_fwd_recompute microbatch 1
// PLAN: run @stage0_bwd microbatch 0
// PLAN: run @stage0_fwd microbatch 2
// PLAN: run @stage0_bwd_recompute microbatch 1
// PLAN: run @stage0_fwd_recompute microbatch 3
// PLAN: run @stage0_bwd microbatch 2
// PLAN: run @stage0_bwd_last_recompute microbatch 3
// PLAN: rt.timeline @eval
// PLAN: run @stage0_eval_first microbatch 0
// PLAN: run @stage0_eval microbatch 1

// Stage 1 has one in flight, so it has no form that does not.
// PLAN: rt.program @stage1
// PLAN: func.func @stage1_fwd_first_recompute() {{.*}}phase = forward, form = "first|recompute">
// PLAN: func.func @stage1_bwd_last_recompute() {{.*}}phase = backward, form = "last|recompute">
// PLAN: rt.timeline @train
// PLAN: run @stage1_fwd_first_recompute microbatch 0
// PLAN: run @stage1_bwd_recompute microbatch 0
// PLAN: run @stage1_fwd_recompute microbatch 1
// PLAN: run @stage1_bwd_last_recompute microbatch 3

// the first microbatch in the form of the others
// RUN: sed -e 's/run @stage1_fwd_first_recompute microbatch 0/run @stage1_fwd_recompute microbatch 0/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GATHER
// GATHER: expected "train" to gather bucket {{[0-9]+}}, of which a rank has its shard after an update, before "stage1_fwd_recompute" of microbatch 0 reads

// a form that computes something else than the same without its condition
// RUN: sed -e '/rt.tensor_form/,$ {/func.func @stage1_fwd_first_recompute()/,/return/ s/ta = false, tb = false/ta = false, tb = true/}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SAME
// SAME: expected "stage1_fwd_first_recompute" to send, save and export what "stage1_fwd_recompute" does, found other values

// sums of gradients before the last microbatch
// RUN: sed -e 's/run @stage1_bwd_recompute microbatch 0/run @stage1_bwd_last_recompute microbatch 0/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=LAST
// LAST: expected gradients to be summed over ranks behind all that microbatches add to them, found "stage1_bwd_recompute" of microbatch 2 to touch them later
