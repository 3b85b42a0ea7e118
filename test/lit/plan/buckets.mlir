// RUN: mtc-opt %s --bucket-gradients | FileCheck %s
// RUN: mtc-opt %s --bucket-gradients --shard-optimizer | FileCheck %s --check-prefix=SHARD
// RUN: sed -e 's/zero = 1/zero = 0/' %s | mtc-opt --bucket-gradients --shard-optimizer | FileCheck %s --check-prefix=PLAIN
// RUN: not mtc-opt %s --shard-optimizer 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: mtc-opt %s --bucket-gradients | sed -e 's/rt.bucket 0 elements 128 /rt.bucket 0 elements 127 /' \
// RUN:   | not mtc-opt --shard-optimizer 2>&1 | FileCheck %s --check-prefix=ODD
// RUN: mtc-opt %s --bucket-gradients | sed -e 's/rt.bucket 0 /rt.bucket 7 /' \
// RUN:   | not mtc-opt --shard-optimizer 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: sed -e '/pipe.accumulate %dv/d' %s | not mtc-opt --bucket-gradients 2>&1 | FileCheck %s --check-prefix=NONE
// Tests that parameters lie in buckets in reverse model order, starting at multiples
// of 64 and padded to lcm(dp, 128) under ZeRO; that a tied parameter has a bucket of its own
// and one of accumulators for its second use; and that the optimizer's shards and
// the update follow from the buckets alone.

// ALONE: expected rt.program ops (written by bucket-gradients)
// ODD: expected elements that divide into 2 shards, found 127; bucket-gradients pads them under zero = 1
// NUMBER: expected buckets in the order of their numbers, the next one 0, found 7
// NONE: expected a gradient for parameter "v"
// RUN: sed -e '/pipe.parameter.*"v"/d' %s | not mtc-opt --bucket-gradients 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: expected parameters of the model (pipe.parameter), found "v"
// RUN: mtc-opt %s --bucket-gradients | sed -e '/pipe.parameter.*"v"/d' \
// RUN:   | not mtc-opt --shard-optimizer 2>&1 | FileCheck %s --check-prefix=GONE
// GONE: 'rt.param' op expected a parameter of the model (pipe.parameter), found "v"

// RUN: mtc-opt %s --bucket-gradients | sed -e '/rt.param "v"/s/partial <dp>/partial <tp, dp>/' \
// RUN:   | not mtc-opt --shard-optimizer 2>&1 | FileCheck %s --check-prefix=MIXED
// MIXED: 'rt.param' op expected gradients of one bucket to be partial over the same groups, found another in bucket 0

// A gradient that stays partial over tp has a bucket of its own, summed over tp
// once dp is: a shard of it with ZeRO.
// RUN: sed -e 's/mesh = <tp = 1/mesh = <tp = 2/' -e '/%dv = /s/partial = {"dp"}/partial = {"dp", "tp"}/' %s > %t.partial.mlir
// RUN: mtc-opt %t.partial.mlir --bucket-gradients --shard-optimizer | FileCheck %s --check-prefix=PARTIAL
// RUN: sed -e 's/zero = 1/zero = 0/' %t.partial.mlir | mtc-opt --bucket-gradients --shard-optimizer | FileCheck %s --check-prefix=PARTIAL-PLAIN
// PARTIAL: rt.param "u" use 0 bucket 0 start 0 partial <dp>{{$}}
// PARTIAL: rt.param "v" use 0 bucket 2 start 0 partial <tp, dp>
// PARTIAL-LABEL: func.func @stage0_reduce
// PARTIAL: %[[GRAD:.*]] = rt.ref grad of 2
// PARTIAL-NEXT: rt.collective reduce_scatter %[[GRAD]] group dp count 64 {origin = "gradient"}
// PARTIAL-NEXT: %[[GRAD:.*]] = rt.ref grad of 2
// PARTIAL-NEXT: %[[AT:.*]], %{{.*}}, %{{.*}} = rt.flat_range start 0 count 128 shard 64
// PARTIAL-NEXT: %[[PART:.*]] = rt.offset_view %[[GRAD]] by %[[AT]]
// PARTIAL-NEXT: rt.collective all_reduce %[[PART]] group tp count 64 {origin = "gradient"}
// PARTIAL-NOT: group tp
// PARTIAL: func.func @stage0_apply
// PARTIAL-PLAIN-LABEL: func.func @stage0_reduce
// PARTIAL-PLAIN: %[[GRAD:.*]] = rt.ref grad of 2
// PARTIAL-PLAIN-NEXT: rt.collective all_reduce %[[GRAD]] group dp count 8 {origin = "gradient"}
// PARTIAL-PLAIN-NEXT: %[[GRAD:.*]] = rt.ref grad of 2
// PARTIAL-PLAIN-NEXT: rt.collective all_reduce %[[GRAD]] group tp count 8 {origin = "gradient"}

// A gradient that is whole on each rank, as that of a parameter which dp splits, has a
// bucket of its own, which nobody sums and of which no rank has a shard.
// RUN: sed -e '/%dv = /s/, partial = {"dp"}//' %s > %t.own.mlir
// RUN: mtc-opt %t.own.mlir --bucket-gradients --shard-optimizer | FileCheck %s --check-prefix=OWN
// OWN: rt.bucket 0 elements 128 unpadded 8 shard 128 {states
// OWN: rt.bucket 1 elements 128 unpadded 8 shard 64 {states
// OWN: rt.param "v" use 0 bucket 0 start 0{{$}}
// OWN: rt.param "u" use 0 bucket 1 start 0 partial <dp>
// OWN-LABEL: func.func @stage0_reduce
// OWN-COUNT-3: rt.collective reduce_scatter %{{.*}} group dp count 64 {origin = "gradient"}
// OWN-NOT: origin = "gradient"
// OWN-LABEL: func.func @stage0_apply
// OWN-COUNT-2: rt.collective all_gather %{{.*}} group dp count 64
// OWN-NOT: rt.collective
// OWN: return

// CHECK-LABEL: rt.program @stage0 stage 0
// CHECK-DAG: rt.bucket 0 elements 128 unpadded 72 shard 128{{$}}
// CHECK-DAG: rt.bucket 1 elements 128 unpadded 64 shard 128{{$}}
// CHECK-DAG: rt.bucket 2 elements 128 unpadded 64 shard 128 second_use_of 1
// CHECK-DAG: rt.param "v" use 0 bucket 0 start 0
// CHECK-DAG: rt.param "u" use 0 bucket 0 start 64
// CHECK-DAG: rt.param "w" use 0 bucket 1 start 0
// CHECK-DAG: rt.param "w" use 1 bucket 2 start 0
// CHECK: func.func @stage0_bwd

// SHARD-DAG: rt.bucket 0 elements 128 unpadded 72 shard 64 {states = ["exp_avg", "exp_avg_sq"]}
// SHARD-DAG: rt.bucket 2 elements 128 unpadded 64 shard 64 second_use_of 1{{$}}
// SHARD-LABEL: func.func @stage0_reduce
// SHARD: rt.collective all_reduce %{{.*}} group dp count 1 {origin = "loss"}
// SHARD: rt.collective reduce_scatter %{{.*}} group dp count 64 {origin = "gradient"}
// SHARD: rt.collective reduce_scatter %{{.*}} group dp count 64 {origin = "gradient"}
// SHARD: rt.collective reduce_scatter %{{.*}} group dp count 64 {origin = "gradient"}
// SHARD-NOT: group "embedding"
// SHARD: rt.launch @{{.*}}(%{{.*}}, %{{.*}}) args(%{{.*}})
// SHARD: rt.norm reset
// SHARD: %[[LOSS:.*]] = rt.ref loss : memref<1xf32>
// SHARD-NEXT: rt.norm check of %[[LOSS]] : memref<1xf32>
// SHARD: rt.norm accumulate
// SHARD: rt.collective norm_reduce group all
// SHARD-LABEL: func.func @stage0_apply
// SHARD-COUNT-3: rt.launch
// SHARD-COUNT-2: rt.collective all_gather %{{.*}} group dp count 64 {origin = "zero1"}
// SHARD-COUNT-3: rt.zero %{{.*}} guarded
// SHARD-NEXT: return

// PLAIN-DAG: rt.bucket 0 elements 16 unpadded 16 shard 16
// PLAIN-LABEL: func.func @stage0_reduce
// PLAIN: rt.collective all_reduce %{{.*}} group dp count 16 {origin = "gradient"}
// PLAIN-NOT: all_gather

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 2, pp = 1>, batch = <micro = 1, microbatches = 1, global = 2, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 1, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  pipe.parameter #tfm.param<name = "w", axes = ["a0", "a1"], init = normal, std = 0.02 : f64, decay = true> uses 2 local tensor<8x8xf32>
  pipe.parameter #tfm.param<name = "u", axes = ["a0"], init = zeros, std = 0.0 : f64, decay = false> local tensor<8xf32>
  pipe.parameter #tfm.param<name = "v", axes = ["a0"], init = zeros, std = 0.0 : f64, decay = false> local tensor<8xf32>
  func.func @stage0_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>} {
    %w = pipe.param "w" : tensor<8x8xf32>
    %u = pipe.param "u" : tensor<8xf32>
    %v = pipe.param "v" : tensor<8xf32>
    %dw = tfm.exp %w {dist.shardings = [#dist.sharding<[{}, {}], partial = {"dp"}>]} : tensor<8x8xf32>
    %du = tfm.exp %u {dist.shardings = [#dist.sharding<[{}], partial = {"dp"}>]} : tensor<8xf32>
    %dv = tfm.exp %v {dist.shardings = [#dist.sharding<[{}], partial = {"dp"}>]} : tensor<8xf32>
    pipe.accumulate %dw to "w" use 0 : tensor<8x8xf32>
    pipe.accumulate %dw to "w" use 1 : tensor<8x8xf32>
    pipe.accumulate %du to "u" use 0 : tensor<8xf32>
    pipe.accumulate %dv to "v" use 0 : tensor<8xf32>
    return
  }
}
