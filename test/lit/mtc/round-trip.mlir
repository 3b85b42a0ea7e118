// RUN: mtc-opt %s | mtc-opt | FileCheck %s
// RUN: mtc-opt %s --mlir-print-op-generic | mtc-opt | FileCheck %s
// Tests that the configuration prints all that it holds, its fields in one order.

// CHECK: mtc.config = #mtc.config<model = <name = "m", layers = 4, hidden = 64, vocab = 211, padded_vocab = 256>, mesh = <tp = 2, cp = 2, dp = 2, pp = 2>, batch = <micro = 2, microbatches = 4, global = 16, sequence = 32>, precision = bf16, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1, 3]>, optimizer = <kind = adamw, zero = 1, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v4", threads = 1, memory = 8589934592>>
module attributes {mtc.config = #mtc.config<
    precision = bf16, mesh = <pp = 2, tp = 2, cp = 2, dp = 2>,
    batch = <sequence = 32, micro = 2, microbatches = 4, global = 16>,
    model = <name = "m", layers = 4, hidden = 64, vocab = 211, padded_vocab = 256>,
    schedule = <chunks = 1, name = "1f1b", layers_per_stage = [1, 3]>,
    target = <device = "cpu", threads = 1, memory = 8589934592, isa = "x86-64-v4">,
    optimizer = <kind = adamw, zero = 1, bucket_size = 40000000>>} {}

// Aligned buckets are not named.
// CHECK: test.optimizer = #mtc.optimizer<kind = adamw, zero = 1, bucket_size = 1, layout = dense>
module attributes {test.optimizer = #mtc.optimizer<layout = dense, kind = adamw, zero = 1, bucket_size = 1>} {}

// Nor are sums of gradients in f32.
// CHECK: test.optimizer = #mtc.optimizer<kind = adamw, zero = 0, bucket_size = 1, grad_dtype = bf16>
module attributes {test.optimizer = #mtc.optimizer<grad_dtype = bf16, kind = adamw, zero = 0, bucket_size = 1>} {}

// Groups are of chunks.
// CHECK: test.schedule = #mtc.schedule<name = "interleaved-1f1b", chunks = 2, layers_per_stage = [1, 1, 1, 1], group = 3>
module attributes {test.schedule = #mtc.schedule<group = 3, name = "interleaved-1f1b", chunks = 2, layers_per_stage = [1, 1, 1, 1]>} {}

// A schedule that somebody wrote.
// CHECK: test.schedule = #mtc.schedule<name = "mine", chunks = 1, layers_per_stage = [2, 2], slots = ["F0 B0", "F0 I0 W0"]>
module attributes {test.schedule = #mtc.schedule<slots = ["F0 B0", "F0 I0 W0"], name = "mine", chunks = 1, layers_per_stage = [2, 2]>} {}

// CHECK: test.layers = #mtc.recompute<policy = layers, layers = 2>
// CHECK-SAME: test.microbatches = #mtc.recompute<policy = microbatches, microbatches = 2>
// CHECK-SAME: test.ops = #mtc.recompute<policy = ops, families = ["attention", "norm"]>
// CHECK-SAME: recompute = <policy = full>>
module attributes {test.layers = #mtc.recompute<layers = 2, policy = layers>,
  test.microbatches = #mtc.recompute<policy = microbatches, microbatches = 2>,
  test.ops = #mtc.recompute<policy = ops, families = ["attention", "norm"]>,
  test.whole = #mtc.config<recompute = <policy = full>,
    precision = bf16, mesh = <pp = 2, tp = 2, cp = 2, dp = 2>,
    batch = <sequence = 32, micro = 2, microbatches = 4, global = 16>,
    model = <name = "m", layers = 4, hidden = 64, vocab = 211, padded_vocab = 256>,
    schedule = <chunks = 1, name = "1f1b", layers_per_stage = [1, 3]>,
    target = <device = "cpu", threads = 1>,
    optimizer = <kind = adamw, zero = 1, bucket_size = 40000000>>} {}

// Ranks that count through the stages before the replicas, eight of them on a host.
// CHECK: mesh = <tp = 2, cp = 1, dp = 2, pp = 2, order = "tp-cp-pp-dp">
// CHECK-SAME: target = <device = "cpu", threads = 1, ranks_per_host = 8>
module attributes {test.order = #mtc.config<
    precision = f32, mesh = <order = "tp-cp-pp-dp", pp = 2, tp = 2, cp = 1, dp = 2>,
    batch = <sequence = 32, micro = 2, microbatches = 4, global = 16>,
    model = <name = "m", layers = 4, hidden = 64, vocab = 211, padded_vocab = 256>,
    schedule = <chunks = 1, name = "1f1b", layers_per_stage = [1, 3]>,
    target = <device = "cpu", threads = 1, ranks_per_host = 8>,
    optimizer = <kind = adamw, zero = 1, bucket_size = 40000000>>} {}

// What nobody has chosen or limited is not there.
// CHECK: test.cpu = #mtc.target<device = "cpu", threads = 1, streams = 2>
module attributes {test.cpu = #mtc.target<streams = 2, device = "cpu", threads = 1>} {}
// CHECK: test.gpu = #mtc.target<device = "cuda:sm_90", threads = 1, epilogues = ["gelu"]>
module attributes {test.gpu = #mtc.target<epilogues = ["gelu"], device = "cuda:sm_90", threads = 1>} {}
// CHECK: test.own = #mtc.target<device = "cpu", threads = 2, epilogues = ["pointwise"], gemm = own>
module attributes {test.own = #mtc.target<gemm = own, device = "cpu", epilogues = ["pointwise"], threads = 2>} {}
// CHECK: test.target = #mtc.target<device = "cuda:sm_90", threads = 1>
module attributes {test.target = #mtc.target<device = "cuda:sm_90", threads = 1>} {}
