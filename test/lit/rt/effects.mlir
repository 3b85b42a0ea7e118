// RUN: mtc-opt %s --cse | FileCheck %s
// Effects follow from what ops say of their buffers, so upstream passes know what may
// go: equal views are one, a value that nobody reads is not computed. What is written
// to memory, sent to other ranks or added to the norm stays.

rt.program @stage0 stage 0 {
  rt.kernel @twice rows 1 cols 16 args 0 [
      #rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = f32, extent = 0>] {
    %x = rt.load 0 : f32
    %y = arith.addf %x, %x : f32
    rt.store 1, %y : f32
  }
  // CHECK-LABEL: func.func @on_tensors
  func.func @on_tensors(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    // One of the two equal products, and not the one without readers.
    // CHECK-COUNT-1: rt.gemm
    // CHECK-NOT: rt.gemm
    // CHECK-NOT: rt.launch
    %c = rt.gemm %a, %b m 4 n 4 k 4 {ta = false, tb = false, beta = false} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %d = rt.gemm %a, %b m 4 n 4 k 4 {ta = false, tb = false, beta = false} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %unread = rt.gemm %b, %a m 4 n 4 k 4 {ta = true, tb = false, beta = false} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %e = rt.launch @twice(%a) args() writes [1] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    // Other ranks wait for it.
    // CHECK: rt.collective all_reduce
    %f = rt.collective all_reduce %b group tp count 16 : (tensor<4x4xf32>) -> tensor<4x4xf32>
    // CHECK: return
    return %c, %d : tensor<4x4xf32>, tensor<4x4xf32>
  }
  // CHECK-LABEL: func.func @on_views
  func.func @on_views() {
    // CHECK-COUNT-2: rt.view
    // CHECK-NOT: rt.view
    // CHECK-COUNT-2: rt.launch
    // CHECK-NEXT: rt.norm reset
    // CHECK-NEXT: rt.zero
    // CHECK-NEXT: return
    %x = rt.view workspace at 0 : memref<4x4xf32>
    %y = rt.view workspace at 64 : memref<4x4xf32>
    rt.launch @twice(%x, %y) args() writes [] : (memref<4x4xf32>, memref<4x4xf32>) -> ()
    %again = rt.view workspace at 0 : memref<4x4xf32>
    %other = rt.view workspace at 64 : memref<4x4xf32>
    rt.launch @twice(%other, %again) args() writes [] : (memref<4x4xf32>, memref<4x4xf32>) -> ()
    rt.norm reset
    rt.zero %again : (memref<4x4xf32>) -> ()
    return
  }
}
