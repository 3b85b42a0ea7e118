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
    // CHECK: %[[E:.+]] = tensor.empty
    // CHECK-NOT: tensor.empty
    // CHECK-COUNT-1: rt.gemm
    // CHECK-NOT: rt.gemm
    // CHECK-NOT: rt.launch
    %e0 = tensor.empty() : tensor<4x4xf32>
    %c = rt.gemm %a, %b into %e0 m 4 n 4 k 4 {ta = false, tb = false, beta = false} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %e1 = tensor.empty() : tensor<4x4xf32>
    %d = rt.gemm %a, %b into %e1 m 4 n 4 k 4 {ta = false, tb = false, beta = false} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %unread = rt.gemm %b, %a into %e1 m 4 n 4 k 4 {ta = true, tb = false, beta = false} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %e = rt.launch @twice(%a, %e1) args() writes [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    // An accumulator is memory: what is added to it twice is there twice.
    // CHECK: %[[G:.+]] = rt.ref grad
    // CHECK-NEXT: rt.gemm {{.*}} into %[[G]]
    // CHECK-NEXT: rt.gemm {{.*}} into %[[G]]
    %g = rt.ref grad of 0 : memref<4x4xf32>
    rt.gemm %a, %b into %g m 4 n 4 k 4 {ta = false, tb = false, beta = true} : (tensor<4x4xf32>, tensor<4x4xf32>, memref<4x4xf32>) -> ()
    rt.gemm %a, %b into %g m 4 n 4 k 4 {ta = false, tb = false, beta = true} : (tensor<4x4xf32>, tensor<4x4xf32>, memref<4x4xf32>) -> ()
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
    rt.launch @twice(%x, %y) args() writes [1] : (memref<4x4xf32>, memref<4x4xf32>) -> ()
    %again = rt.view workspace at 0 : memref<4x4xf32>
    %other = rt.view workspace at 64 : memref<4x4xf32>
    rt.launch @twice(%other, %again) args() writes [1] : (memref<4x4xf32>, memref<4x4xf32>) -> ()
    rt.norm reset
    rt.zero %again : (memref<4x4xf32>) -> ()
    return
  }
}
