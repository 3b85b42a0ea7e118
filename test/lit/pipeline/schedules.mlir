// RUN: mtc-opt %s -build-schedule | FileCheck %s --check-prefix=SLOTS
// RUN: mtc-opt %s -build-schedule -expand-schedule | FileCheck %s
// RUN: sed 's/"1f1b"/"eager-1f1b"/; s/pp = 2/pp = 3/' %s | mtc-opt -build-schedule | FileCheck %s --check-prefix=EAGER
// Tests that 1f1b on two stages becomes slots, and these become timelines in
// which each exchange pairs with one of the neighbour.

// SLOTS: pipe.schedule @train stages 2 chunks 1 microbatches 3 ["F0 F1 B0 F2 B1 B2", "F0 B0 F1 B1 F2 B2"]
// SLOTS: pipe.schedule @eval stages 2 chunks 1 microbatches 3 ["F0 F1 F2", "F0 F1 F2"]

// EAGER: pipe.schedule @train stages 3 chunks 1 microbatches 3 ["F0 F1 F2 B0 B1 B2", "F0 F1 F2 B0 B1 B2", "F0 B0 F1 B1 F2 B2"]

// CHECK: pipe.timeline @train_stage0 entry "train" stage 0 pools <recv_gradient = 1, send_activation = 1, saved = 2>
// CHECK-NEXT: pipe.slot "F" microbatch 0 chunk 0 slots <send_activation = 0, saved = 0>
// CHECK-NEXT: pipe.exchange [#pipe.transfer<send = true, value = activation, microbatch = 0, virtual_stage = 0, peer = 1, slot = 0>]
// CHECK: pipe.timeline @train_stage1
// CHECK-NEXT: pipe.exchange [#pipe.transfer<send = false, value = activation, microbatch = 0, virtual_stage = 0, peer = 0, slot = 0>]
// CHECK-NEXT: pipe.slot "F" microbatch 0
// CHECK-NEXT: pipe.slot "B" microbatch 0
// CHECK-NOT: pipe.schedule
#config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 2>, batch = <micro = 1, microbatches = 3, global = 3, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1, 1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  pipe.crossing activation of "train" from 0 to 1 : tensor<4xf32>
  pipe.crossing gradient of "train" from 1 to 0 : tensor<4xf32>
  pipe.crossing activation of "eval" from 0 to 1 : tensor<4xf32>
}
