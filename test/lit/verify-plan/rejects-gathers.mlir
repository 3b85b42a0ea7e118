// Parameters that the first microbatch's forward gathers. One fault each, planted in the
// plan of a compiled model of several buckets.
// RUN: mtc compile gpt2-nano --tp 2 --dp 2 --mbs 2 --gbs 8 --sp --zero 1 --bucket-size 20000 --overlap param-gather --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt --verify-plan -o /dev/null %t.mlir

// behind its readers
// RUN: sed -e '/^    func.func @stage0_fwd_first/,/^      return/{/"zero1"/{H;d};/return/{x;G}}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=BEHIND
// BEHIND: expected "train" to gather bucket {{[0-9]+}}, of which a rank has its shard after an update, before "stage0_fwd_first" of microbatch 0 reads "{{.*}}", found no gather

// in the backward
// RUN: sed -e '/^    func.func @stage0_fwd_first/,/^      return/{/"zero1"/d}' \
// RUN:   -e '/^    func.func @stage0_bwd()/s/$/\n      %late = rt.view params at 0 : memref<24832xf32>\n      rt.collective all_gather %late group dp count 12416 : (memref<24832xf32>) -> ()/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=BACKWARD
// BACKWARD: expected "train" to gather bucket 0, of which a rank has its shard after an update, before "stage0_fwd_first" of microbatch 0 reads "{{.*}}", found no gather

// never: what no forward gathers, the update must
// RUN: sed -e '/^    func.func @stage0_fwd_first/,/^      return/{/"zero1"/d}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NEVER
// NEVER-DAG: 'func.func' expected all of "{{.*}}" to be updated on every rank, found elements {{.*}} to be what was there before the step
// NEVER-DAG: 'rt.collective' expected bucket 0 to be gathered once in "eval", before it is read, found it whole when "stage0_eval_first" of microbatch 0 gathers it

// never in eval
// RUN: sed -e '/^    func.func @stage0_eval_first/,/^      return/{/"zero1"/d}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=EVAL
// EVAL: expected "eval" to gather bucket {{[0-9]+}}, of which a rank has its shard after an update, before "stage0_eval_first" of microbatch 0 reads "{{.*}}", found no gather

// twice in the form, in the forward of the other microbatches, and in the update
// RUN: sed -e '/^    func.func @stage0_fwd_first/,/^      return/s/.*"zero1".*/&\n&/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: 'rt.collective' expected bucket {{[0-9]+}} to be gathered once in "train", before it is read, found it whole when "stage0_fwd_first" of microbatch 0 gathers it
// RUN: sed -e '/^    func.func @stage0_fwd()/s/$/\n      %again = rt.view params at 0 : memref<24832xf32>\n      rt.collective all_gather %again group dp count 12416 : (memref<24832xf32>) -> ()/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OTHERS
// OTHERS: 'rt.collective' expected bucket 0 to be gathered once in "train", before it is read, found it whole when "stage0_fwd" of microbatch 1 gathers it
// RUN: sed -e '/^    func.func @stage0_apply()/s/$/\n      %again = rt.view params at 0 : memref<24832xf32>\n      rt.collective all_gather %again group dp count 12416 : (memref<24832xf32>) -> ()/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=APPLY
// APPLY: 'rt.collective' expected bucket 0 to be gathered once a step, found it gathered in "stage0_apply" and before it is read

// another bucket
// RUN: sed -e '/^    func.func @stage0_fwd_first/,/^      return/s/rt.view params at 99328 : memref<24832xf32>/rt.view params at 198656 : memref<24832xf32>/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=BUCKET
// BUCKET-DAG: 'func.func' expected all of "{{.*}}" to be updated on every rank, found elements {{.*}} of bucket 1 to be what was there before the step
// BUCKET-DAG: 'rt.collective' expected bucket 2 to be gathered once in "train", before it is read, found it whole when "stage0_fwd_first" of microbatch 0 gathers it

// over another group, by another kind of collective, a part of a bucket
// RUN: sed -e '/^    func.func @stage0_fwd_first/,/^      return/{/"zero1"/s/group dp/group tp/}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GROUP
// GROUP: 'rt.collective' expected gathers over dp as the only collectives on parameters, found all_gather over tp
// RUN: sed -e '/^    func.func @stage0_fwd_first/,/^      return/{/"zero1"/s/all_gather \(.*\) count 12416/all_reduce \1 count 24832/}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: 'rt.collective' expected gathers over dp as the only collectives on parameters, found all_reduce over dp
// RUN: sed -e '/^    func.func @stage0_fwd_first/,/^      return/{/"zero1"/s/count 12416/count 6208/}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=PART
// PART: 'rt.collective' expected a gather of the shards of a whole bucket, found one of other parts

// by another microbatch than the first, and by both
// RUN: sed -e 's/run @stage0_fwd_first microbatch 0/run @stage0_fwd microbatch 0/;s/run @stage0_fwd microbatch 1/run @stage0_fwd_first microbatch 1/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ROW
// ROW: expected "train" to gather bucket {{[0-9]+}}, of which a rank has its shard after an update, before "stage0_fwd" of microbatch 0 reads "{{.*}}", found no gather
// RUN: sed -e 's/run @stage0_fwd microbatch 1/run @stage0_fwd_first microbatch 1/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS-DAG: 'rt.collective' expected bucket 0 to be gathered once in "train", before it is read, found it whole when "stage0_fwd_first" of microbatch 1 gathers it
// ROWS-DAG: 'func.func' expected every fragment in a timeline, found no row that runs "stage0_fwd"

// Another forward than that of other microbatches, in both forms: another mask.
// RUN: sed -e '/func.func @stage0_fwd_first/,/return/s/4 [*] microbatch + sample/3 * microbatch + sample/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=MASK
// MASK: 'func.func' expected "stage0_fwd_first" to {{.*}} what "stage0_fwd" does, found

// Two streams: a gather runs beside the readers of the bucket before, and its own wait.
// RUN: mtc compile gpt2-nano-untied --pp 2 --dp 2 --mbs 2 --gbs 8 --schedule interleaved-1f1b --chunks 2 --zero 1 --bucket-size 20000 --overlap p2p,grad-reduce,param-gather --target=cuda:sm_90 --compile-to=plan-memory -o %t.cuda.mlir
// RUN: mtc-opt --verify-plan -o /dev/null %t.cuda.mlir
// RUN: FileCheck %s --check-prefix=CUDA --input-file %t.cuda.mlir
// CUDA-LABEL: func.func @stage0_chunk0_fwd_first()
// CUDA: rt.wait event 0 stream 1
// CUDA: rt.collective all_gather %{{.*}} group dp count {{[0-9]+}} {origin = "zero1", stream = 1 : i64}
// CUDA-NEXT: rt.record event 1 stream 1
// CUDA: rt.collective all_gather %{{.*}} group dp count {{[0-9]+}} {origin = "zero1", stream = 1 : i64}
// CUDA-NEXT: rt.record event 2 stream 1
// CUDA-NEXT: rt.wait event 1 stream 0
// RUN: sed -e '/^    func.func @stage0_chunk0_fwd_first/,/^      return/{/rt.wait event 1 stream 0/d}' %t.cuda.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NO-WAIT
// NO-WAIT: expected an event between this op on stream 0 and the earlier one on stream 1 that touches the same bytes, found none
