// What is rejected where an axis cuts a head and a tail, and where it does not.
// RUN: mtc-opt %s --partition --verify-partitioned -split-input-file -verify-diagnostics

module attributes {dist.mesh = #dist.mesh<["cp" = 2]>} {
  func.func @microbatch(%x: tensor<2x6x4xf32> {dist.sharding = #dist.sharding<[{}, {"cp"}, {}]>}, %s: tensor<i64>) {
    // expected-error @below {{expected an even number of positions on each rank of "cp", a head and a tail, found 3}}
    %y = tfm.dropout %x at %s {rate = 0.1, rng_layer = 1, site = 2, dist.shardings = [#dist.sharding<[{}, {"cp"}, {}]>]} : tensor<2x6x4xf32>, tensor<i64> -> tensor<2x6x4xf32>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<["cp" = 2]>} {
  func.func @microbatch(%ids: tensor<4xi32>, %table: tensor<8x4xf32> {dist.sharding = #dist.sharding<[{"cp"}, {}]>}) {
    // expected-error @below {{expected rows that are looked up to be split in equal parts, found a head and a tail over "cp"; split them over another axis}}
    %e = tfm.embed %ids, %table {dist.shardings = [#dist.sharding<[{}, {}], partial = {"cp"}>]} : tensor<4xi32>, tensor<8x4xf32> -> tensor<4x4xf32>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<["tp" = 2]>} {
  func.func @microbatch(%q: tensor<1x8x2x4xf32> {dist.sharding = #dist.sharding<[{}, {"tp"}, {}, {}]>}, %k: tensor<1x8x2x4xf32>, %s: tensor<i64>) {
    // expected-error @below {{expected positions of queries to be split in a head and a tail, found equal parts over "tp"; split them over cp}}
    %o, %l = tfm.attention %q, %k, %k at %s {causal = true, scale = 0.5, rate = 0.0, rng_layer = 1, site = 1, global_heads = 2, dist.shardings = [#dist.sharding<[{}, {"tp"}, {}, {}]>, #dist.sharding<[{}, {}, {"tp"}]>]} : (tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>), tensor<i64> -> tensor<1x8x2x4xf32>, tensor<1x2x8xf32>
    return
  }
}
