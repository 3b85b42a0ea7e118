// Layouts and overrides.
// RUN: mtc-opt %s --annotate-shardings -verify-diagnostics | FileCheck %s

// CHECK-DAG: dist.sharding = #dist.sharding<[{"tp"}, {}, {}]>, tfm.param = #tfm.param<name = "attn.out.weight"
// CHECK-DAG: dist.sharding = #dist.sharding<[{"tp"}, {}, {}]>, tfm.param = #tfm.param<name = "attn.qkv.bias"
// CHECK-DAG: dist.sharding = #dist.sharding<[{"tp"}, {}]>, tfm.param = #tfm.param<name = "embed.tokens"
// CHECK-DAG: dist.rules = {ffn = ""}, dist.sharding = #dist.sharding<[{}]>, tfm.param = #tfm.param<name = "keep.bias"
// CHECK-DAG: dist.rules = {embed = "tp", ffn = ""}, dist.sharding = #dist.sharding<[{"tp"}, {}]>, tfm.param = #tfm.param<name = "rows.weight"
module attributes {dist.mesh = #dist.mesh<["dp" = 1, "tp" = 2]>,
    dist.rules = {batch = "dp", vocab = "tp", heads = "tp", kv_heads = "tp", ffn = "tp"}} {
  func.func @microbatch(
      %a: tensor<4x4x8xf32> {tfm.param = #tfm.param<name = "attn.out.weight", axes = ["heads", "head_dim", "embed"], init = normal, std = 0.02, decay = true>},
      %b: tensor<4x3x8xf32> {tfm.param = #tfm.param<name = "attn.qkv.bias", axes = ["kv_heads", "qkv", "head_dim"], init = zeros, std = 0.0, decay = false>},
      %c: tensor<16x8xf32> {tfm.param = #tfm.param<name = "embed.tokens", axes = ["vocab", "embed"], init = normal, std = 0.02, decay = true>},
      %e: tensor<8xf32> {dist.rules = {ffn = ""}, tfm.param = #tfm.param<name = "keep.bias", axes = ["ffn"], init = zeros, std = 0.0, decay = false>},
      %f: tensor<4x8xf32> {dist.rules = {embed = "tp", ffn = ""}, tfm.param = #tfm.param<name = "rows.weight", axes = ["embed", "ffn"], init = normal, std = 0.02, decay = true>}) {
    return
  }
}
