// REQUIRES: avx512
// Gradients that the last microbatch's backward sums over ranks. One fault each, planted
// in the plan of a compiled model of several buckets, one of them partial over tp.
// RUN: mtc compile gpt2-nano --gemm onednn --tp 2 --dp 2 --mbs 2 --gbs 8 --sp --zero 1 --bucket-size 20000 --overlap grad-reduce --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt --verify-plan -o /dev/null %t.mlir

// before the last gradient of its bucket
// RUN: sed -e '/^    func.func @stage0_bwd_last/,/return/{/rt.view grads at 198656 : memref<24832xf32>/{N;d};/func.func/s/$/\n      %early = rt.view grads at 198656 : memref<24832xf32>\n      rt.collective reduce_scatter %early group dp count 12416 : (memref<24832xf32>) -> ()/}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: 'rt.collective' expected gradients to be summed over ranks behind all that microbatches add to them, found "stage0_bwd_last" of microbatch 1 to touch them later

// of another bucket
// RUN: sed -e '/^    func.func @stage0_bwd_last/,/return/s/rt.view grads at 99328 : memref<24832xf32>/rt.view grads at 198656 : memref<24832xf32>/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER-DAG: 'rt.collective' expected gradients to be summed over ranks behind all that microbatches add to them, found "stage0_bwd_last" of microbatch 1 to touch them later
// OTHER-DAG: 'rt.collective' expected sums of one use over the other ranks along dp only, before anything reads them, found elements 0 to 8192 of bucket 2 to be whole sums
// OTHER-DAG: 'rt.norm' expected whole gradients of owned parameters in the norm, once, found elements 0 to 8192 of bucket 1 to be partial sums over dp

// in the backward of the other microbatches
// RUN: sed -e '/^    func.func @stage0_bwd()/,/return/s/^      return/      %other = rt.view grads at 0 : memref<24832xf32>\n      rt.collective reduce_scatter %other group dp count 12416 : (memref<24832xf32>) -> ()\n&/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=MICROBATCH
// MICROBATCH: 'rt.collective' expected gradients to be summed over ranks behind all that microbatches add to them, found "stage0_bwd_last" of microbatch 1 to touch them later

// in the forward
// RUN: sed -e '/^    func.func @stage0_fwd()/,/return/s/^      return/      %other = rt.view grads at 0 : memref<24832xf32>\n      rt.collective reduce_scatter %other group dp count 12416 : (memref<24832xf32>) -> ()\n&/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=FORWARD
// FORWARD: 'rt.view' expected the accumulator of a parameter or the loss of stage 0, found 99328 bytes at 0 where none of this size lies

// never
// RUN: sed -e '/^    func.func @stage0_bwd_last/,/return/{/rt.view grads at 198656 : memref<24832xf32>/{N;d}}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NEVER
// NEVER: 'rt.norm' expected whole gradients of owned parameters in the norm, once, found elements 0 to 8192 of bucket 2 to be partial sums over dp

// in the update once more
// RUN: sed -e '/^    func.func @stage0_reduce/s/$/\n      %again = rt.view grads at 198656 : memref<24832xf32>\n      rt.collective reduce_scatter %again group dp count 12416 : (memref<24832xf32>) -> ()/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: 'rt.collective' expected sums of one use over the other ranks along dp only, before anything reads them, found elements 0 to 8192 of bucket 2 to be whole sums

// over tp before dp
// RUN: sed -e '/^    func.func @stage0_bwd_last/,/return/{s/reduce_scatter \(.*\) group dp count 832/all_reduce \1 group tp count 1664/;s/group tp count 832/group dp count 832/}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: 'rt.collective' expected sums of one use over the other ranks along tp only, behind those along data axes and before anything reads them, found elements 0 to 64 of bucket 6 to be partial sums over dp

// by another kind of collective
// RUN: sed -e '/^    func.func @stage0_bwd_last/,/return/s/reduce_scatter \(.*\) group dp count 832/all_gather \1 group tp count 832/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: 'rt.collective' expected sums over tp, dp, cp or kv, or over embedding, scatters and gathers over dp, and the norm over all, found all_gather over tp

// by the microbatch before the last: what the last one adds is not in the sum
// RUN: sed -e 's/run @stage0_bwd microbatch 0/run @stage0_bwd_last microbatch 0/;s/run @stage0_bwd_last microbatch 1/run @stage0_bwd microbatch 1/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ROW
// ROW: 'rt.collective' expected gradients to be summed over ranks behind all that microbatches add to them, found "stage0_bwd" of microbatch 1 to touch them later

// by both
// RUN: sed -e 's/run @stage0_bwd microbatch 0/run @stage0_bwd_last microbatch 0/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH-DAG: 'rt.collective' expected gradients to be summed over ranks behind all that microbatches add to them, found "stage0_bwd_last" of microbatch 1 to touch them later
// BOTH-DAG: 'func.func' expected every fragment in a timeline, found no row that runs "stage0_bwd"

// a last microbatch that nobody runs
// RUN: sed -e '/run @stage0_bwd_last microbatch 1/d' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: 'rt.timeline' expected "stage0_bwd" for microbatch 1, found no such row

// a gradient that the last microbatch adds twice, or never
// RUN: sed -e '/^    func.func @stage0_bwd_last/,/return/{s/.*rt.gemm .*beta = true.*m 128 n 64.*/&\n&/;s/.*rt.gemm .* m 128 n 64 k 64 {beta = true.*/&\n&/}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GRADIENT
// GRADIENT: expected backward to add to the gradient of "{{.*}}" once per microbatch, found it added 2 times
// RUN: sed -e '/^    func.func @stage0_bwd_last/,/return/{/rt.gemm .* m 64 n 128 k 64 {beta = true/d}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NO-GRADIENT
// NO-GRADIENT: 'rt.param' expected backward to add to the gradient of "{{.*}}mlp.up.weight", found no op that does

// Another gradient than that of other microbatches, in both forms: another mask.
// RUN: sed -e '/func.func @stage0_bwd_last/,/return/s/4 [*] microbatch + sample/3 * microbatch + sample/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=MASK
// MASK: 'func.func' expected "stage0_bwd_last" to leave in the gradient of "{{.*}}" (bucket {{.*}} what "stage0_bwd" does, found
// RUN: mtc compile gpt2-nano --pp 2 --dp 2 --mbs 2 --gbs 8 --overlap p2p,grad-reduce --compile-to=plan-memory -o %t.pp.mlir
// RUN: sed -e '/func.func @stage1_bwd_last/,/return/s/4 [*] microbatch + sample/3 * microbatch + sample/' %t.pp.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SENT
// SENT: 'func.func' expected "stage1_bwd_last" to send, save and export what "stage1_bwd" does, found other values

// Two streams: sums end while later fragments run, and the update waits before it reads.
// RUN: mtc compile gpt2-nano-untied --pp 2 --dp 2 --mbs 2 --gbs 8 --schedule interleaved-1f1b --chunks 2 --zero 1 --bucket-size 20000 --overlap p2p,grad-reduce --target=cuda:sm_90 --compile-to=plan-memory -o %t.cuda.mlir
// RUN: mtc-opt --verify-plan -o /dev/null %t.cuda.mlir
// RUN: FileCheck %s --check-prefix=CUDA --input-file %t.cuda.mlir
// CUDA-LABEL: func.func @stage0_chunk1_bwd_last()
// CUDA: rt.record event 0 stream 0
// CUDA-NEXT: rt.wait event 0 stream 1
// CUDA: rt.collective reduce_scatter %{{.*}} group dp count {{[0-9]+}} {origin = "gradient", stream = 1 : i64}
// CUDA-NOT: rt.wait event {{[0-9]+}} stream 0
// CUDA: return
// CUDA-LABEL: func.func @stage0_reduce()
// CUDA-NEXT: rt.record event 0 stream 1
// CUDA: rt.wait event 0 stream 0
// CUDA-NEXT: rt.norm accumulate
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/{/rt.wait event 0 stream 0/d}' %t.cuda.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NO-WAIT
// NO-WAIT: 'rt.norm' expected an event between this op on stream 0 and the earlier one on stream 1 that touches the same bytes, found none

// Over cp, behind dp: in the wrong order, never, twice.
// RUN: mtc compile gpt2-nano --cp 2 --dp 2 --mbs 2 --gbs 8 --bucket-size 20000 --overlap grad-reduce --compile-to=plan-memory -o %t.cp.mlir
// RUN: mtc-opt --verify-plan -o /dev/null %t.cp.mlir
// RUN: sed -e '/origin = "gradient"/{s/group dp/group xx/;s/group cp/group dp/;s/group xx/group cp/}' %t.cp.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=CP-FIRST
// CP-FIRST: 'rt.collective' expected sums of one use over the other ranks along cp only, behind those along dp and before anything reads them, found elements 0 to {{[0-9]+}} of bucket {{[0-9]+}} to be partial sums over dp
// RUN: sed -e '/group cp .*origin = "gradient"/d' %t.cp.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=CP-NEVER
// CP-NEVER: 'rt.norm' expected whole gradients of owned parameters in the norm, once, found elements {{.*}} to be partial sums over cp
// RUN: sed -e 's/.*group cp .*origin = "gradient".*/&\n&/' %t.cp.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=CP-TWICE
// CP-TWICE: 'rt.collective' expected sums of one use over the other ranks along cp only, behind those along dp and before anything reads them, found elements {{.*}} to be whole sums
