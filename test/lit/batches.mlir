// One bundle for steps of several global batches. Each has a plan of its own, the largest first:
// RUN: rm -rf %t && mkdir %t && mtc compile gpt2-nano --pp 2 --gbs 4,8 --seq 16,32 --compile-to partition -o - | FileCheck %s --check-prefix=PARTS
// PARTS: module attributes {mtc.phase = "partition"} {
// PARTS-NEXT: module attributes {{.*}}microbatches = 8, global = 8, sequence = 32{{.*}}mtc.phase = "partition"
// PARTS: module attributes {{.*}}microbatches = 4, global = 4, sequence = 32{{.*}}mtc.phase = "partition"
// PARTS: module attributes {{.*}}microbatches = 8, global = 8, sequence = 16{{.*}}mtc.phase = "partition"
// PARTS: module attributes {{.*}}microbatches = 4, global = 4, sequence = 16{{.*}}mtc.phase = "partition"
//
// A saved file of all continues to the same bundle:
// RUN: mtc compile gpt2-nano --pp 2 --gbs 8,4 --save-ir %t/ir -o %t/a --json | grep -e plan_hash -e global_batches > %t/number
// RUN: mtc compile %t/ir/07-partition.mlir -o %t/b --json | grep -e plan_hash -e global_batches | diff - %t/number
// RUN: diff -r %t/a/programs %t/b/programs
//
// Joined, a program has entries for each. What does not know how many samples a step has is
// there once: on the first stage all fragments, as the loss is divided on the last one.
// RUN: mtc inspect %t/a/programs/stage0 | FileCheck %s --check-prefix=FIRST
// FIRST: microbatches 8 global_batch 8
// FIRST: fragments: stage0_fwd, stage0_bwd, stage0_eval, stage0_reduce, stage0_apply{{$}}
// FIRST: entry train: {{[0-9]+}} rows{{$}}
// FIRST: entry eval: {{[0-9]+}} rows{{$}}
// FIRST: entry train_gbs4: {{[0-9]+}} rows, microbatches 4
// FIRST: entry eval_gbs4: {{[0-9]+}} rows, microbatches 4
// RUN: mtc inspect %t/a/programs/stage1 | FileCheck %s --check-prefix=LAST
// LAST: fragments: stage1_fwd, stage1_bwd, stage1_eval, stage1_reduce, stage1_apply, stage1_fwd_gbs4, stage1_bwd_gbs4, stage1_eval_gbs4{{$}}
//
// Both named:
// RUN: mtc compile gpt2-nano --gbs 8,4 --seq 16,32 -o %t/c | FileCheck %s --check-prefix=REPORT
// REPORT: step 256 tokens
// REPORT: lengths 32, 16 tokens a sample; figures are of the first
// REPORT: batches 8, 4 samples a step; figures are of the first
// RUN: mtc inspect %t/c/programs/stage0 | FileCheck %s --check-prefix=BOTH
// BOTH: entry train_gbs4: {{[0-9]+}} rows, microbatches 4
// BOTH: entry train_seq16: {{[0-9]+}} rows, seq 16
// BOTH: entry train_seq16_gbs4: {{[0-9]+}} rows, seq 16, microbatches 4
//
// A smaller batch behind a larger one, and one sample at a time:
// RUN: mtc compile gpt2-nano --gbs 8,4 --compile-to verify-plan -o %t/plan.mlir
// RUN: sed -e 's/microbatches = 4, global = 4/microbatches = 8, global = 8/' %t/plan.mlir > %t/same.mlir
// RUN: not mtc compile %t/same.mlir --no-verify -o %t/d 2>&1 | FileCheck %s --check-prefix=SAME
// SAME: expected a plan for samples of fewer than 32 tokens, or as many and a global batch below 8, with at most 8 samples a step in microbatches of 1, found 32 tokens and 8 samples in microbatches of 1
// RUN: sed -e 's/micro = 1, microbatches = 4/micro = 2, microbatches = 2/' %t/plan.mlir > %t/micro.mlir
// RUN: not mtc compile %t/micro.mlir --no-verify -o %t/d 2>&1 | FileCheck %s --check-prefix=MICRO
// MICRO: found 32 tokens and 4 samples in microbatches of 2
//
// Rules of schedules hold for each batch, and what a batch breaks is said of it:
// RUN: not mtc compile gpt2-nano --pp 2 --chunks 2 --schedule interleaved-1f1b --gbs 4,5,6 -o %t/e 2>&1 | FileCheck %s --check-prefix=RULES
// RULES: schedule 'interleaved-1f1b' of p = pp, m = microbatches, v = chunks, G = microbatch_group: m mod G = 1 is neither 0 nor >= p=2: the last group is too short, choose another m or G (global_batch_size = 5)
// RUN: not mtc compile gpt2-nano --dp 2 --gbs 4,5,7 -o %t/e 2>&1 | FileCheck %s --check-prefix=DIVIDES
// DIVIDES: global_batch_size % (micro_batch_size * dp) == 0, found global_batch_size = 7
// DIVIDES: global_batch_size % (micro_batch_size * dp) == 0, found global_batch_size = 5

// Of which weights a step packs, its microbatches may decide: each batch has what it reads.
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --mbs 1 --gbs 8,4 --prepack auto -o %t/packed | FileCheck %s --check-prefix=PACKS
// RUN: mtc inspect %t/packed/programs/stage0 | FileCheck %s --check-prefix=FORMS
// PACKS: products {{.*}} of weights packed once a step
// PACKS: packed 2,236,416 bytes
// FORMS: fragments: stage0_fwd, stage0_fwd_first, stage0_bwd, {{.*}} stage0_fwd_gbs4, stage0_bwd_gbs4, stage0_eval_gbs4{{$}}
//
// Steps of either batch leave the norm as those of the other find it.
// RUN: mtc compile gpt2-nano --isa x86-64-v3 --gbs 8,4 --compile-to verify-plan -o %t/norms.mlir
// RUN: awk '/rt.norm check/ && checks++ < 2 { print "rt.norm reset" } /rt.norm reset/ && resets++ < 2 { next } { print }' %t/norms.mlir > %t/first.mlir
// RUN: not mtc compile %t/first.mlir -o %t/e 2>&1 | FileCheck %s --check-prefix=NORMS
// NORMS: expected the norm to be reset where "stage0_reduce" does, at the begin, found the other place
