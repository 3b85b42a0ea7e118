// RUN: sed -e '/^  /!d' -e '/^  .. HERE$/,$d' %s > %t.mlir
// RUN: seq 64 | sed -e 's/.*/    %%a& = tfm.exp %%x {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4xf32>/' >> %t.mlir
// RUN: seq 64 | sed -e 's/.*/    %%b& = tfm.exp %%a& {tfm.layer = 2 : i64, tfm.phase = "forward"} : tensor<4xf32>/' >> %t.mlir
// RUN: sed -e '1,/^  .. HERE$/d' -e '/more/d' %s > %t.end
// RUN: cat %t.mlir %t.end | mtc-opt -derive-eval -cut-stages | FileCheck %s
// RUN: sed -e '1,/^  .. HERE$/d' %s > %t.more
// RUN: cat %t.mlir %t.more | not mtc-opt -derive-eval -cut-stages 2>&1 | FileCheck %s --check-prefix=MORE
// Tests that 64 values may cross one boundary in a phase, and 65 may not.

// CHECK: pipe.crossing activation.63 of "train" from 0 to 1
// MORE: expected at most 64 values to leave or enter a virtual stage per phase, found more on the way from virtual stage 0 to 1
  #config = #mtc.config<model = <name = "test", layers = 2, hidden = 8, vocab = 16, padded_vocab = 16>,
    mesh = <tp = 1, cp = 1, dp = 1, pp = 2>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
    precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1, 1]>,
    optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
  module attributes {mtc.config = #config} {
  func.func @microbatch(%x: tensor<4xf32> {tfm.input = #tfm.input<name = "loss_weights", axes = ["batch"]>}) {
  // HERE
    %more = tfm.exp %x {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4xf32>
    %andmore = tfm.exp %more {tfm.layer = 2 : i64, tfm.phase = "forward"} : tensor<4xf32>
    return
  }
  }
