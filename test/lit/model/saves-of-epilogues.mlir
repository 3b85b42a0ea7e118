// RUN: mtc-opt %s -differentiate -verify-training | FileCheck %s
// RUN: sed 's/, "gelu"\]/]/' %s | mtc-opt -differentiate -verify-training | FileCheck %s --check-prefix=PLAIN
// What is saved of a product and its sum with a bias, of which the forward makes the GELU: the
// sum, where products of the target write it beside the GELU; the product where they have no
// GELU, or where another kernel reads the GELU, so that no product makes it.

#config = #mtc.config<model = <name = "test", layers = 1, hidden = 8, vocab = 16, padded_vocab = 16>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, global = 1, sequence = 16>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [1]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>,
  target = <device = "cuda:sm_90", isa = "x86-64-v3", threads = 1, epilogues = ["bias", "gelu"]>>
module attributes {mtc.config = #config} {
  // CHECK-LABEL: func.func @microbatch
  // PLAIN-LABEL: func.func @microbatch
  func.func @microbatch(%x: tensor<4x8xf32> {tfm.input = #tfm.input<name = "x", axes = ["batch", "embed"]>},
      %w: tensor<8x8xf32> {tfm.param = #tfm.param<name = "w", axes = ["embed", "ffn"], init = normal, std = 0.02 : f64, decay = true>},
      %v: tensor<8x8xf32> {tfm.param = #tfm.param<name = "v", axes = ["ffn", "embed"], init = normal, std = 0.02 : f64, decay = true>},
      %b: tensor<8xf32> {tfm.param = #tfm.param<name = "b", axes = ["ffn"], init = zeros, std = 0.0 : f64, decay = false>})
      -> (tensor<f32> {tfm.result = "loss"}) {
    %bb = tfm.broadcast %b dims [1] {tfm.id = 0 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<8xf32> -> tensor<4x8xf32>
    // CHECK: %[[P:.+]] = tfm.einsum "be,ef->bf"
    // CHECK-NEXT: %[[S:.+]] = tfm.add %[[P]]
    // CHECK-NEXT: tfm.save %[[S]]
    // PLAIN: %[[P:.+]] = tfm.einsum "be,ef->bf"
    // PLAIN-NEXT: tfm.save %[[P]]
    // PLAIN-NEXT: %[[S:.+]] = tfm.add %[[P]]
    // PLAIN-NEXT: tfm.activation gelu %[[S]]
    %p = tfm.einsum "be,ef->bf" %x, %w {tfm.id = 1 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    %s = tfm.add %p, %bb {tfm.id = 2 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x8xf32>
    %g = tfm.activation gelu %s {tfm.id = 3 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x8xf32>
    %y = tfm.einsum "bf,fe->be" %g, %v {tfm.id = 4 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    // CHECK: %[[Q:.+]] = tfm.einsum "be,ef->bf"
    // CHECK-NEXT: tfm.save %[[Q]]
    // CHECK-NEXT: %[[T:.+]] = tfm.add %[[Q]]
    // CHECK-NEXT: tfm.activation gelu %[[T]]
    %q = tfm.einsum "be,ef->bf" %y, %w {tfm.id = 5 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    %t = tfm.add %q, %bb {tfm.id = 6 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x8xf32>
    %h = tfm.activation gelu %t {tfm.id = 7 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x8xf32>
    %m = tfm.exp %h {tfm.id = 8 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x8xf32>
    %z = tfm.einsum "bf,fe->be" %m, %v {tfm.id = 9 : i64, tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    // CHECK: tfm.fill 1.0
    %l = tfm.reduce sum %z dims [0, 1] {tfm.id = 10 : i64, tfm.layer = 2 : i64, tfm.phase = "forward"} : tensor<4x8xf32> -> tensor<f32>
    return %l : tensor<f32>
  }
}
