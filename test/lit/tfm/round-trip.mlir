// RUN: mtc-opt %s | mtc-opt | FileCheck %s
// Tests that every tfm op prints what it parses.

// CHECK-LABEL: func.func @pointwise
func.func @pointwise(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: tfm.add %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %a = tfm.add %x, %y, %x : tensor<4x8xf32>
  // CHECK: tfm.sub
  %s = tfm.sub %a, %y : tensor<4x8xf32>
  // CHECK: tfm.mul
  %m = tfm.mul %s, %y : tensor<4x8xf32>
  // CHECK: tfm.div
  %d = tfm.div %m, %y : tensor<4x8xf32>
  // CHECK: tfm.exp
  %e = tfm.exp %d : tensor<4x8xf32>
  // CHECK: tfm.log
  %l = tfm.log %e : tensor<4x8xf32>
  // CHECK: tfm.scale %{{.*}} by 2.500000e-01
  %c = tfm.scale %l by 2.500000e-01 : tensor<4x8xf32>
  // CHECK: tfm.stop_gradient
  %g = tfm.stop_gradient %c : tensor<4x8xf32>
  // CHECK: tfm.scale_gradient %{{.*}} by %
  %g2 = tfm.scale_gradient %c by %g : tensor<4x8xf32>
  // CHECK: tfm.repeat %{{.*}} dim 1 times 2 : tensor<4x8xf32> -> tensor<4x16xf32>
  %many = tfm.repeat %x dim 1 times 2 : tensor<4x8xf32> -> tensor<4x16xf32>
  // CHECK: tfm.repeat_grad %{{.*}} dim 1 times 2 : tensor<4x16xf32> -> tensor<4x8xf32>
  %once = tfm.repeat_grad %many dim 1 times 2 : tensor<4x16xf32> -> tensor<4x8xf32>
  // CHECK: tfm.whole %{{.*}} dims [1]
  %gw = tfm.whole %g dims [1] : tensor<4x8xf32>
  // CHECK: tfm.cast %{{.*}} : tensor<4x8xf32> -> tensor<4x8xbf16>
  %narrow = tfm.cast %g : tensor<4x8xf32> -> tensor<4x8xbf16>
  // CHECK: tfm.activation gelu %
  %v = tfm.activation gelu %g : tensor<4x8xf32>
  // CHECK: tfm.activation_grad silu %{{.*}}, %
  %w = tfm.activation_grad silu %v, %x : tensor<4x8xf32>
  // CHECK: tfm.fill 1.000000e+00 : tensor<f32>
  %one = tfm.fill 1.000000e+00 : tensor<f32>
  // CHECK: tfm.save
  %saved = tfm.save %w : tensor<4x8xf32>
  // CHECK: tfm.restore
  %back = tfm.restore %saved : tensor<4x8xf32>
  // CHECK: tfm.export "logits" %
  tfm.export "logits" %back : tensor<4x8xf32>
  return %back : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<4x8x16xf32>, %b: tensor<16xf32>, %w: tensor<16x32xf32>, %at: tensor<i64>) {
  // CHECK: tfm.broadcast %{{.*}} dims [2] : tensor<16xf32> -> tensor<4x8x16xf32>
  %0 = tfm.broadcast %b dims [2] : tensor<16xf32> -> tensor<4x8x16xf32>
  // CHECK: tfm.reduce sum %{{.*}} dims [0, 1] : tensor<4x8x16xf32> -> tensor<16xf32>
  %1 = tfm.reduce sum %x dims [0, 1] : tensor<4x8x16xf32> -> tensor<16xf32>
  // CHECK: tfm.reduce max
  %2 = tfm.reduce max %x dims [2] : tensor<4x8x16xf32> -> tensor<4x8xf32>
  // CHECK: tfm.dropout %{{.*}} at %{{.*}} {rate = 1.000000e-01 : f64, rng_layer = 1 : i64, site = 2 : i64}
  %3 = tfm.dropout %x at %at {rate = 0.1 : f64, rng_layer = 1 : i64, site = 2 : i64} : tensor<4x8x16xf32>, tensor<i64> -> tensor<4x8x16xf32>
  // CHECK: tfm.einsum "bse,ef->bsf" %
  %4 = tfm.einsum "bse,ef->bsf" %x, %w : tensor<4x8x16xf32>, tensor<16x32xf32> -> tensor<4x8x32xf32>
  // CHECK: tfm.mask_tail %{{.*}} from 10 fill 0xFF800000
  %5 = tfm.mask_tail %x from 10 fill 0xFF800000 : tensor<4x8x16xf32>
  // CHECK: tfm.norm layer_norm %
  %y, %mean, %rstd = tfm.norm layer_norm %x, %b, %b {eps = 1.0e-05 : f64} : tensor<4x8x16xf32>, tensor<16xf32>, tensor<16xf32> -> tensor<4x8x16xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  // CHECK: tfm.norm_dx layer_norm
  %6 = tfm.norm_dx layer_norm %y, %x, %b, %mean, %rstd : tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<16xf32>, tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8x16xf32>
  // CHECK: tfm.norm_dscale layer_norm
  %7 = tfm.norm_dscale layer_norm %y, %x, %mean, %rstd : tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8xf32>, tensor<4x8xf32> -> tensor<16xf32>
  // CHECK: %{{.*}}, %{{.*}} = tfm.norm rms_norm %{{.*}}, %{{.*}} {eps = 1.000000e-05 : f64} : tensor<4x8x16xf32>, tensor<16xf32> -> tensor<4x8x16xf32>, tensor<4x8xf32>
  %z, %root = tfm.norm rms_norm %x, %b {eps = 1.0e-05 : f64} : tensor<4x8x16xf32>, tensor<16xf32> -> tensor<4x8x16xf32>, tensor<4x8xf32>
  // CHECK: tfm.norm_dx rms_norm %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<16xf32>, tensor<4x8xf32> -> tensor<4x8x16xf32>
  %8 = tfm.norm_dx rms_norm %z, %x, %b, %root : tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<16xf32>, tensor<4x8xf32> -> tensor<4x8x16xf32>
  // CHECK: tfm.norm_dscale rms_norm %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8xf32> -> tensor<16xf32>
  %9 = tfm.norm_dscale rms_norm %z, %x, %root : tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8xf32> -> tensor<16xf32>
  // Either kind may have a bias or not.
  // CHECK: tfm.norm layer_norm %{{.*}}, %{{.*}} {eps
  %z1, %mean1, %root1 = tfm.norm layer_norm %x, %b {eps = 1.0e-05 : f64} : tensor<4x8x16xf32>, tensor<16xf32> -> tensor<4x8x16xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @tables
func.func @tables(%ids: tensor<4x8xi32>, %t: tensor<256x16xf32>, %z: tensor<4x8x256xf32>) {
  // CHECK: tfm.iota dim 1 : tensor<4x8xi32>
  %first = tfm.iota dim 1 : tensor<4x8xi32>
  // CHECK: tfm.index_from %{{.*}} dim 1 : tensor<4x8xi32>
  %in_document = tfm.index_from %ids dim 1 : tensor<4x8xi32>
  // CHECK: tfm.embed %
  %0 = tfm.embed %ids, %t : tensor<4x8xi32>, tensor<256x16xf32> -> tensor<4x8x16xf32>
  // CHECK: tfm.embed_grad %
  %1 = tfm.embed_grad %ids, %0 : tensor<4x8xi32>, tensor<4x8x16xf32> -> tensor<256x16xf32>
  // CHECK: tfm.pick %
  %2 = tfm.pick %z, %ids : tensor<4x8x256xf32>, tensor<4x8xi32> -> tensor<4x8xf32>
  // CHECK: tfm.pick_grad %
  %3 = tfm.pick_grad %ids, %2 : tensor<4x8xi32>, tensor<4x8xf32> -> tensor<4x8x256xf32>
  return
}

// CHECK-LABEL: func.func @attention
func.func @attention(%qkv: tensor<4x8x4x3x16xf32>, %at: tensor<i64>, %documents: tensor<4x8xi32>) {
  // CHECK: tfm.attention %{{.*}} at %
  %o, %l = tfm.attention %qkv at %at {causal = true, scale = 0.25 : f64, rate = 0.1 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64} : (tensor<4x8x4x3x16xf32>), tensor<i64> -> tensor<4x8x4x16xf32>, tensor<4x4x8xf32>
  // CHECK: tfm.attention_grad %
  %d = tfm.attention_grad %o, %o, %l, %qkv at %at {causal = true, scale = 0.25 : f64, rate = 0.1 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64} : tensor<4x8x4x16xf32>, tensor<4x8x4x16xf32>, tensor<4x4x8xf32>, (tensor<4x8x4x3x16xf32>), tensor<i64> -> (tensor<4x8x4x3x16xf32>)
  // CHECK: tfm.attention %{{.*}} within %{{.*}} at %{{.*}} : (tensor<4x8x4x3x16xf32>) within tensor<4x8xi32>, tensor<i64>
  %o2, %l2 = tfm.attention %qkv within %documents at %at {causal = true, scale = 0.25 : f64, rate = 0.1 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64} : (tensor<4x8x4x3x16xf32>) within tensor<4x8xi32>, tensor<i64> -> tensor<4x8x4x16xf32>, tensor<4x4x8xf32>
  // CHECK: tfm.attention_grad %{{.*}} within %{{.*}} at %
  %d2 = tfm.attention_grad %o2, %o2, %l2, %qkv within %documents at %at {causal = true, scale = 0.25 : f64, rate = 0.1 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64} : tensor<4x8x4x16xf32>, tensor<4x8x4x16xf32>, tensor<4x4x8xf32>, (tensor<4x8x4x3x16xf32>) within tensor<4x8xi32>, tensor<i64> -> (tensor<4x8x4x3x16xf32>)
  return
}

// CHECK-LABEL: func.func @update
// CHECK-SAME: #tfm.param<name = "w", axes = ["embed"], init = normal, std = 2.000000e-02 : f64, decay = true>
func.func @update(%p: tensor<8xf32> {tfm.param = #tfm.param<name = "w", axes = ["embed"], init = normal, std = 0.02 : f64, decay = true>}) {
  // CHECK: tfm.scalar "lr" : tensor<f32>
  %lr = tfm.scalar "lr" : tensor<f32>
  // CHECK: tfm.adam_l2 %
  %l2:3 = tfm.adam_l2 %p, %p, %p, %p {decay = true} : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  // CHECK: tfm.sgd %{{.*}} {decay = false, nesterov}
  %sgd:2 = tfm.sgd %p, %p, %p {decay = false, nesterov} : tensor<8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>, tensor<8xf32>
  // CHECK: tfm.lion %
  %lion:2 = tfm.lion %p, %p, %p {decay = true} : tensor<8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>, tensor<8xf32>
  // CHECK: tfm.adamw %
  %a, %b, %c = tfm.adamw %p, %p, %p, %p {decay = true} : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  return
}
