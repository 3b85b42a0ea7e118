// RUN: mtc-opt %s -split-backward | FileCheck %s
// Tests that a backward whose schedule has I and W becomes two fragments: W has
// the accumulations and what only they need, I saves what W reads of it, each
// value once and behind the keys of the stage. A stage that runs B stays whole.

module {
  pipe.schedule @train stages 2 chunks 1 microbatches 2 ["F0 B0 F1 B1", "F0 I0 F1 I1 W0 W1"]
  pipe.schedule @eval stages 2 chunks 1 microbatches 2 ["F0 F1", "F0 F1"]

  // CHECK: func.func @stage0_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>}
  func.func @stage0_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>} {
    %g = pipe.received gradient : tensor<8x2xf32>
    pipe.accumulate %g to "v" use 0 : tensor<8x2xf32>
    return
  }
  // CHECK: func.func @stage1_fwd()
  func.func @stage1_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 1, chunk = 0, phase = forward>} {
    %x = pipe.received activation : tensor<8x4xf32>
    %y = tfm.exp %x : tensor<8x4xf32>
    pipe.save %y as 6 : tensor<8x4xf32>
    return
  }
  // CHECK: func.func @stage1_bwd_input() attributes {pipe.fragment = #pipe.fragment<stage = 1, chunk = 0, phase = input_gradient>}
  // CHECK-NEXT: %[[G:.+]] = pipe.received gradient
  // CHECK-NEXT: %[[D:.+]] = tfm.exp %[[G]]
  // CHECK-NEXT: pipe.save %[[D]] as 7
  // CHECK-NEXT: %[[W:.+]] = pipe.param "w"
  // CHECK-NEXT: %[[DX:.+]] = tfm.einsum "se,fe->sf" %[[D]], %[[W]]
  // CHECK-NEXT: pipe.send gradient %[[DX]]
  // CHECK-NEXT: return
  // CHECK: func.func @stage1_bwd_weight() attributes {pipe.fragment = #pipe.fragment<stage = 1, chunk = 0, phase = weight_gradient>}
  // CHECK-NEXT: %[[Y:.+]] = pipe.saved 6
  // CHECK-NEXT: %[[A:.+]] = tfm.exp %[[Y]]
  // CHECK-NEXT: %[[S:.+]] = pipe.saved 7
  // CHECK-NEXT: %[[DW:.+]] = tfm.einsum "sf,se->fe" %[[A]], %[[S]]
  // CHECK-NEXT: pipe.accumulate %[[DW]] to "w" use 0
  // CHECK-NEXT: %[[DB:.+]] = tfm.exp %[[S]]
  // CHECK-NEXT: pipe.accumulate %[[DB]] to "b" use 0
  // CHECK-NEXT: return
  func.func @stage1_bwd() attributes {pipe.fragment = #pipe.fragment<stage = 1, chunk = 0, phase = backward>} {
    %y = pipe.saved 6 : tensor<8x4xf32>
    %a = tfm.exp %y : tensor<8x4xf32>
    %g = pipe.received gradient : tensor<8x2xf32>
    %d = tfm.exp %g : tensor<8x2xf32>
    %w = pipe.param "w" : tensor<4x2xf32>
    %dx = tfm.einsum "se,fe->sf" %d, %w : tensor<8x2xf32>, tensor<4x2xf32> -> tensor<8x4xf32>
    pipe.send gradient %dx : tensor<8x4xf32>
    %dw = tfm.einsum "sf,se->fe" %a, %d : tensor<8x4xf32>, tensor<8x2xf32> -> tensor<4x2xf32>
    pipe.accumulate %dw to "w" use 0 : tensor<4x2xf32>
    %db = tfm.exp %d : tensor<8x2xf32>
    pipe.accumulate %db to "b" use 0 : tensor<8x2xf32>
    return
  }
}
