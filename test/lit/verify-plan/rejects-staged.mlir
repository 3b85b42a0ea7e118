// ZeRO-2: backward fragments stage the gradients of a bucket, sum them over dp and add
// a rank's part to its shard. One fault each, planted in the plan of a compiled model
// of several buckets, one of them partial over tp.
// RUN: mtc compile gpt2-nano --tp 2 --dp 2 --mbs 2 --gbs 8 --sp --zero 2 --bucket-size 20000 --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt --verify-plan -o /dev/null %t.mlir

// sums that nobody makes
// RUN: sed -e '/^    func.func @stage0_bwd/,/return/{/reduce_scatter .* group dp count 12416/d}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=LOST
// LOST: 'rt.launch' expected one gradient of "layers.3.mlp.down.weight", summed over dp in this buffer, to be added to elements 0 to 8192 of bucket 0, found 1 additions since it was zero, not summed over dp

// made twice
// RUN: sed -e '/^    func.func @stage0_bwd/,/return/{/reduce_scatter .* group dp count 12416/p}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: 'rt.collective' expected gradients of one microbatch, or zero, to be summed over dp, found elements 0 to 8192 1 additions since it was zero, summed over dp

// over another group
// RUN: sed -e '/^    func.func @stage0_bwd/,/return/{s/group dp count 832/group tp count 832/}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GROUP
// GROUP: 'rt.launch' expected one gradient of "final_norm.bias", summed over dp in this buffer, to be added to elements 0 to 64 of bucket 6, found 1 additions since it was zero, not summed over dp

// before the last gradient is there
// RUN: sed -e '/^    func.func @stage0_bwd/,/return/{/reduce_scatter .* group dp count 12416/d;s/\( *\)rt.zero %\([0-9]*\) : (memref<24832xf32>).*/&\n\1rt.collective reduce_scatter %\2 group dp count 12416 : (memref<24832xf32>) -> ()/}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: 'rt.gemm' expected only the addition to a shard to read gradients that are summed over dp, found another reader

// all of it on every rank
// RUN: sed -e '/^    func.func @stage0_bwd/,/return/{s/reduce_scatter \(.*\) group dp count 832/all_reduce \1 group dp count 1664/}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ALL
// ALL: 'rt.collective' expected reduce-scatters over dp of a whole buffer in the workspace, of the type of accumulators, before the update, found all_reduce of another

// of a part of the bucket
// RUN: sed -e '/^    func.func @stage0_bwd/,/return/{s/group dp count 832/group dp count 416/}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=PART
// PART: 'rt.collective' expected reduce-scatters over dp of a whole buffer in the workspace, of the type of accumulators, before the update, found reduce_scatter of another

// in a staging buffer that does not begin as zeros
// RUN: sed -e '/^    func.func @stage0_bwd/,/return/{/rt.zero .* : (memref<24832xf32>)/d}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NO-ZERO
// NO-ZERO: 'rt.collective' expected gradients of one microbatch, or zero, to be summed over dp, found elements 0 to {{[0-9]+}} {{of unknown value|[0-9]+ additions}}

// a gradient made twice
// RUN: sed -e '/^    func.func @stage0_bwd/,/return/{s/.*rt.gemm .*beta = true.*/&\n&/}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GRADIENT
// GRADIENT: 'rt.collective' expected gradients of one microbatch, or zero, to be summed over dp, found elements 0 to 8192 2 additions since it was zero, not summed over dp

// the part added twice, and never
// RUN: sed -e '/^    func.func @stage0_bwd/,/return/{/rt.launch .* args(%length_2)/p}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: sed -e '/^    func.func @stage0_bwd/,/return/{/rt.launch .* args(%length_2)/d}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NEVER
// AGAIN: 'rt.param' expected backward to add all of the gradient of "layers.3.mlp.down.weight" to its shards once per microbatch, found elements that it adds several times
// NEVER: 'rt.param' expected backward to add all of the gradient of "layers.3.mlp.down.weight" to its shards once per microbatch, found elements that it adds never

// the part of another rank
// RUN: sed -e '/^    func.func @stage0_bwd/,/return/{s/\(rt.offset_view .* by\) %at_0 /\1 %local_1 /}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: 'rt.launch' expected a rank's part of a staging buffer of the bucket's size to be added to the same elements of its shard, found another op that changes accumulators

// where no gradient is said to lie
// RUN: sed -e '/^    rt.param "layers.3.mlp.down.weight"/d' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=PADDING
// PADDING: 'rt.launch' expected zero, summed over dp in this buffer, to be added to elements 0 to 8192 of bucket 0, found 1 additions since it was zero, summed over dp

// summed over dp once more in the update
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/{s/\( *\)rt.collective all_reduce \(%[0-9]*\) group tp count 832.*/\1rt.collective all_reduce \2 group dp count 832 : (memref<832xf32>) -> ()\n&/}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=UPDATE
// UPDATE: 'rt.collective' expected sums of one use over the other ranks along dp only, before anything reads them, found elements 0 to 64 of bucket 6 to be

// a bucket that says that all of it is accumulated, and one of ZeRO-1 that does not
// RUN: sed -e '/rt.bucket 6 /s/shard_gradients, //' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: sed -e 's/zero = 2/zero = 1/' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SHARD
// WHOLE: 'rt.bucket' expected accumulators of the shard only (shard_gradients), as zero of mtc.config says, found the other
// SHARD: 'rt.bucket' expected accumulators of all of the bucket, as zero of mtc.config says, found the other
