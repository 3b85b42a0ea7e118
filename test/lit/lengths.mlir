// One bundle for samples of several lengths. Each has a plan of its own, the longest first:
// RUN: rm -rf %t && mkdir %t && mtc compile gpt2-nano --pp 2 --gbs 4 --seq 16,32 --compile-to partition -o - | FileCheck %s --check-prefix=PARTS
// PARTS: module attributes {mtc.phase = "partition"} {
// PARTS-NEXT: module attributes {{.*}}sequence = 32{{.*}}mtc.phase = "partition"
// PARTS: func.func @microbatch({{.*}}tensor<1x32xi32>
// PARTS: module attributes {{.*}}sequence = 16{{.*}}mtc.phase = "partition"
// PARTS: func.func @microbatch({{.*}}tensor<1x16xi32>
//
// A saved file of both continues to the same bundle:
// RUN: mtc compile gpt2-nano --pp 2 --gbs 4 --seq 32,16 --save-ir %t/ir -o %t/a --json | grep -e plan_hash > %t/number
// RUN: mtc compile %t/ir/07-partition.mlir -o %t/b --json | grep -e plan_hash | diff - %t/number
// RUN: diff -r %t/a/programs %t/b/programs
//
// What was verified are both, and what they were joined to.
// RUN: mtc compile gpt2-nano --pp 2 --gbs 4 --seq 32 -o %t/one | FileCheck %s --check-prefix=ONE
// ONE: verified 2 ranks, {{.*}} reads, no cycle
// RUN: mtc compile gpt2-nano --pp 2 --gbs 4 --seq 16,32 -o %t/both | FileCheck %s --check-prefix=BOTH
// BOTH: verified 2 ranks, {{.*}} reads, 2 shapes, no cycle
//
// Joined, a program has entries for both. What has no sample in it is there once: the
// update, its kernels.
// RUN: mtc inspect %t/a/programs/stage0 | FileCheck %s --check-prefix=PROGRAM
// PROGRAM: fragments: stage0_fwd, stage0_bwd, stage0_eval, stage0_reduce, stage0_apply, stage0_fwd_seq16, stage0_bwd_seq16, stage0_eval_seq16
// PROGRAM: entry train: {{[0-9]+}} rows
// PROGRAM: entry eval: {{[0-9]+}} rows
// PROGRAM: entry train_seq16: {{[0-9]+}} rows, seq 16
// PROGRAM: entry eval_seq16: {{[0-9]+}} rows, seq 16
//
// Plans that were edited to be of two models have no common memory. Line 2 is the module of
// the longest samples.
// RUN: mtc compile gpt2-nano --gbs 4 --seq 32,16 --compile-to verify-plan -o %t/plan.mlir
// RUN: python3 -c "import sys; t = open(sys.argv[1]).read(); at = t.index('sequence = 16'); print(t[:at] + t[at:].replace('std = 2.0', 'std = 3.0'))" %t/plan.mlir > %t/init.mlir
// RUN: not mtc compile %t/init.mlir -o %t/c 2>&1 | FileCheck %s --check-prefix=INIT
// INIT: expected the stages and parameters of the plan for the largest step, found others
// RUN: python3 -c "import sys; t = open(sys.argv[1]).read(); at = t.index('sequence = 16'); print(t[:at] + t[at:].replace('step_field eps', 'step_field lr'))" %t/plan.mlir > %t/update.mlir
// RUN: not mtc compile %t/update.mlir --no-verify -o %t/c 2>&1 | FileCheck %s --check-prefix=UPDATE
// UPDATE: expected the update "stage0_apply" of the largest step, found another
// RUN: python3 -c "import sys, re; t = open(sys.argv[1]).read(); at = t.index('sequence = 16'); print(t[:at] + re.sub('arenas = array<i64: [0-9]+', 'arenas = array<i64: 8192000', t[at:]))" %t/plan.mlir > %t/arena.mlir
// RUN: not mtc compile %t/arena.mlir --no-verify -o %t/c 2>&1 | FileCheck %s --check-prefix=ARENA
// ARENA: expected {{[0-9]+}} bytes in arena 0, as for the largest step, found 8192000
// RUN: python3 -c "import sys, re; t = open(sys.argv[1]).read(); at = t.index('sequence = 16'); print(t[:at] + re.sub('loss_offset = [0-9]+', 'loss_offset = 64', t[at:]))" %t/plan.mlir > %t/loss.mlir
// RUN: not mtc compile %t/loss.mlir --no-verify -o %t/c 2>&1 | FileCheck %s --check-prefix=LOSS
// LOSS: expected sizes of arenas, and the offset of the loss as for the largest step, found others
// RUN: python3 -c "import sys, re; t = open(sys.argv[1]).read(); at = t.index('sequence = 16'); print(t[:at] + re.sub('start [0-9]+(.*)', r'start 1\1', t[at:]))" %t/plan.mlir > %t/start.mlir
// RUN: not mtc compile %t/start.mlir --no-verify -o %t/c 2>&1 | FileCheck %s --check-prefix=START
// START: expected the buckets and parameters of "stage0" for the largest step, found others
// RUN: sed -e 's/sequence = 16/sequence = 32/' %t/plan.mlir > %t/same.mlir
// RUN: not mtc compile %t/same.mlir --no-verify -o %t/c 2>&1 | FileCheck %s --check-prefix=SAME
// SAME: expected a plan for samples of fewer than 32 tokens, or as many and a global batch below 4, with at most 4 samples a step in microbatches of 1, found 32 tokens and 4 samples in microbatches of 1
