// What partition rejects.
// RUN: mtc-opt %s --partition -split-input-file -verify-diagnostics

module attributes {dist.mesh = #dist.mesh<["tp" = 3]>} {
  // expected-error @below {{expected dimension 0 of 'tensor<4xf32>' to have equal parts on 3 ranks (sharding #dist.sharding<[{"tp"}]>); choose sizes that the mesh axes divide}}
  func.func @microbatch(%w: tensor<4xf32> {dist.sharding = #dist.sharding<[{"tp"}]>}) { return }
}

// -----

module attributes {dist.mesh = #dist.mesh<["tp" = 2]>} {
  func.func @microbatch(%w: tensor<4xf32>) {
    // expected-error @below {{expected dist.shardings; run --propagate-shardings first}}
    %e = tfm.exp %w : tensor<4xf32>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 2]>} {
  func.func @microbatch(%x: tensor<4x4x4xf32> {dist.sharding = #dist.sharding<[{}, {"dp"}, {"tp"}]>}, %s: tensor<i64>) {
    // expected-error @below {{expected indices that one mesh axis splits, found two}}
    %y = tfm.dropout %x at %s {rate = 0.1, rng_layer = 1, site = 2, dist.shardings = [#dist.sharding<[{}, {"dp"}, {"tp"}]>]} : tensor<4x4x4xf32>, tensor<i64> -> tensor<4x4x4xf32>
    return
  }
}
