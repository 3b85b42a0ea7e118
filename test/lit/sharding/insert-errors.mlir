// What insert-collectives rejects.
// RUN: mtc-opt %s --insert-collectives -split-input-file -verify-diagnostics

module attributes {dist.mesh = #dist.mesh<["tp" = 2]>} {
  func.func @microbatch(%w: tensor<4xf32>) {
    // expected-error @below {{expected dist.shardings; run --propagate-shardings first}}
    %e = tfm.exp %w : tensor<4xf32>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<["tp" = 2]>} {
  func.func @microbatch(%w: tensor<4xf32>) {
    // expected-error @below {{expected dist.required with 1 entries; run --propagate-shardings first}}
    %e = tfm.exp %w {dist.shardings = [#dist.sharding<[{}]>]} : tensor<4xf32>
    return {dist.required = []}
  }
}

// -----

// A wish written by hand: the outer axis joined while the inner one stays.
module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 2]>} {
  func.func @microbatch(%w: tensor<4xf32> {dist.sharding = #dist.sharding<[{"dp", "tp"}]>}) -> tensor<4xf32> {
    // expected-error @below {{expected dimension 0 to be joined from the inner mesh axis outwards, found a change of an outer axis while an inner one stays}}
    %e = tfm.exp %w {dist.shardings = [#dist.sharding<[{"tp"}]>], dist.required = [#dist.sharding<[{"tp"}]>]} : tensor<4xf32>
    return {dist.required = [#dist.sharding<[{"tp"}]>]} %e : tensor<4xf32>
  }
}
