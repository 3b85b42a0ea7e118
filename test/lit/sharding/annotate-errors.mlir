// RUN: mtc-opt %s --annotate-shardings -split-input-file -verify-diagnostics

// expected-error @below {{expected a function @microbatch with a body}}
module {}

// -----

// expected-error @below {{expected the mesh as module attribute dist.mesh}}
module { func.func @microbatch() { return } }

// -----

// expected-error @below {{expected an axis of the mesh #dist.mesh<["tp" = 2]> in dist.rules, found "cp"}}
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>, dist.rules = {seq = "cp"}} {
  func.func @microbatch() { return }
}

// -----

// expected-error @below {{expected dist.rules to map logical axes to names of mesh axes, found 2}}
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>, dist.rules = {seq = 2}} {
  func.func @microbatch() { return }
}

// -----

// expected-error @below {{expected dist.weak_split to be a #dist.weak_split over an axis of the mesh #dist.mesh<["tp" = 2]>, found #dist.weak_split<"seq" over "cp" beside "embed">}}
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>, dist.weak_split = #dist.weak_split<"seq" over "cp" beside "embed">} {
  func.func @microbatch() { return }
}

// -----

// expected-error @below {{expected dist.weak_split to be a #dist.weak_split over an axis of the mesh #dist.mesh<["tp" = 2]>, found "tp"}}
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>, dist.weak_split = "tp"} {
  func.func @microbatch() { return }
}

// -----

// Rules of an argument are checked as those of the module are.
// expected-error @below {{expected an axis of the mesh #dist.mesh<["tp" = 2]> in dist.rules, found "up"}}
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>} {
  func.func @microbatch(%w: tensor<2xf32> {dist.rules = {ffn = "up"}, tfm.param = #tfm.param<name = "w", axes = ["ffn"], init = zeros, std = 0.0, decay = true>}) { return }
}

// -----

module attributes {dist.mesh = #dist.mesh<["tp" = 2]>, dist.rules = {ffn = "tp"}} {
  // expected-error @below {{expected one logical axis per dimension of "w" (2), found 1}}
  func.func @microbatch(%w: tensor<2x2xf32> {tfm.param = #tfm.param<name = "w", axes = ["ffn"], init = zeros, std = 0.0, decay = true>}) { return }
}

// -----

// Nothing stays whole where it was to be split; all problems come at once.
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>, dist.rules = {heads = "tp", embed = "tp", ffn = "tp"}} {
  // expected-error @below {{expected of "odd.weight" 'ffn' in equal parts over "tp", found a size of 7 and 2 parts; an override that gives it "none" leaves it whole}}
  // expected-error @below {{expected of "a.weight" and 1 more at most one dimension over "tp", found 'heads' and 'embed'; an override that gives one of them "none" leaves it whole}}
  func.func @microbatch(
      %a: tensor<4x8xf32> {tfm.param = #tfm.param<name = "a.weight", axes = ["heads", "embed"], init = zeros, std = 0.0, decay = true>},
      %b: tensor<4x8xf32> {tfm.param = #tfm.param<name = "b.weight", axes = ["heads", "embed"], init = zeros, std = 0.0, decay = true>},
      %odd: tensor<7xf32> {tfm.param = #tfm.param<name = "odd.weight", axes = ["ffn"], init = zeros, std = 0.0, decay = true>}) {
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<["tp" = 2]>, dist.rules = {heads = "tp"}} {
  func.func @microbatch(%w: tensor<4x3xf32>) {
    // expected-error @below {{expected tfm.axes, an array of strings, on an op of one result, found ["embed", 2]}}
    %0 = tfm.repeat %w dim 1 times 2 {tfm.axes = ["embed", 2]} : tensor<4x3xf32> -> tensor<4x6xf32>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<["tp" = 2]>, dist.rules = {heads = "tp"}} {
  // expected-error @below {{expected one logical axis per dimension of "tfm.repeat" (2), found 1}}
  func.func @microbatch(%w: tensor<4x3xf32>) {
    %0 = tfm.repeat %w dim 1 times 2 {tfm.axes = ["heads"]} : tensor<4x3xf32> -> tensor<4x6xf32>
    return
  }
}
