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

// expected-error @below {{expected dist.overrides entries {pattern, axis, mesh}, found {pattern = "x"}}}
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>, dist.overrides = [{pattern = "x"}]} {
  func.func @microbatch() { return }
}

// -----

// expected-error @below {{expected an axis of the mesh #dist.mesh<["tp" = 2]> in dist.overrides, found "up"}}
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>, dist.overrides = [{pattern = "x", axis = "ffn", mesh = "up"}]} {
  func.func @microbatch() { return }
}

// -----

module attributes {dist.mesh = #dist.mesh<["tp" = 2]>, dist.rules = {ffn = "tp"}} {
  // expected-error @below {{expected one logical axis per dimension of "w" (2), found 1}}
  func.func @microbatch(%w: tensor<2x2xf32> {tfm.param = #tfm.param<name = "w", axes = ["ffn"], init = zeros, std = 0.0, decay = true>}) { return }
}

// -----

// expected-error @below {{expected a glob pattern in dist.overrides, found "["}}
module attributes {dist.mesh = #dist.mesh<["tp" = 2]>, dist.overrides = [{pattern = "[", axis = "ffn", mesh = "tp"}]} {
  func.func @microbatch(%w: tensor<2xf32> {tfm.param = #tfm.param<name = "w", axes = ["ffn"], init = zeros, std = 0.0, decay = true>}) { return }
}
