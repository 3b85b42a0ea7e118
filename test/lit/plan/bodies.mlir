// Tests that a program without fragments gets its update, and that functions which are
// only declared are rejected by every phase.
// RUN: mtc-opt %s --shard-optimizer | FileCheck %s
// RUN: sed -e 's/rt.bucket.*/func.func private @zz()/' %s | not mtc-opt --shard-optimizer 2>&1 | FileCheck %s --check-prefix=SHARD
// RUN: sed -e 's/rt.bucket.*/func.func private @zz()/' %s | not mtc-opt --plan-memory 2>&1 | FileCheck %s --check-prefix=PLAN

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 1>>
module attributes {mtc.config = #config} {
  // CHECK: func.func @stage0_reduce
  // CHECK: func.func @stage0_apply
  // SHARD: expected a function with a body, found "zz" without one
  // PLAN: expected a function with a body, found "zz" without one
  rt.program @stage0 stage 0 {
    rt.bucket 0 elements 16 unpadded 16 shard 16
  }
}
