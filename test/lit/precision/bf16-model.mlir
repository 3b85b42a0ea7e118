// RUN: mtc compile gpt2-nano --dtype bf16 --mbs 1 --gbs 1 --compile-to=import | FileCheck %s --check-prefix=IMPORT
// RUN: mtc compile gpt2-nano --dtype bf16 --mbs 1 --gbs 1 --compile-to=differentiate | FileCheck %s --check-prefix=BACKWARD
// RUN: mtc compile gpt2-nano --dtype bf16 --tp 2 --mbs 1 --gbs 1 --compile-to=lower-calls | FileCheck %s --check-prefix=KERNELS
// RUN: mtc compile gpt2-nano --dtype f32 --mbs 1 --gbs 1 --compile-to=plan-memory | FileCheck %s --check-prefix=F32
// Tests the types of a model in bf16, level by level: weights, activations and
// the payloads of f and g in bf16; statistics, the softmax and the loss in f32;
// gradients of parameters made in f32, not rounded.

// IMPORT-LABEL: func.func @microbatch
// IMPORT: tensor<256x64xbf16> {tfm.param = #tfm.param<name = "embed.tokens"
// IMPORT: tfm.norm layer_norm {{.*}} : tensor<1x32x64xbf16>, tensor<64xbf16>, tensor<64xbf16> -> tensor<1x32x64xbf16>, tensor<1x32xf32>, tensor<1x32xf32>
// IMPORT: tfm.attention {{.*}} -> tensor<1x32x4x16xbf16>, tensor<1x4x32xf32>
// The padding is masked before logits are widened: there is nothing to round.
// IMPORT: %[[Z:.+]] = tfm.mask_tail {{.*}} : tensor<1x32x256xbf16>
// IMPORT: tfm.export "logits" %[[Z]]
// IMPORT: %[[WIDE:.+]] = tfm.cast %[[Z]] {{.*}} : tensor<1x32x256xbf16> -> tensor<1x32x256xf32>
// IMPORT: tfm.reduce max %[[WIDE]] {{.*}} -> tensor<1x32xf32>
// IMPORT: return %{{.*}} : tensor<f32>

// BACKWARD: tfm.cast {{.*}} : tensor<1x32x256xf32> -> tensor<1x32x256xbf16>
// BACKWARD: tfm.einsum "bse,bsv->ve" {{.*}} : tensor<1x32x64xbf16>, tensor<1x32x256xbf16> -> tensor<256x64xf32>
// BACKWARD: tfm.norm_dscale {{.*}} -> tensor<64xf32>
// BACKWARD: tfm.reduce sum {{.*}} : tensor<1x32x64xbf16> -> tensor<64xf32>
// BACKWARD: tfm.embed_grad {{.*}} -> tensor<256x64xf32>
// No gradient is widened after it was rounded.
// BACKWARD-NOT: tfm.cast

// KERNELS: rt.bucket 0 {{.*}} {param_type = bf16, states = ["main", "exp_avg", "exp_avg_sq"]}
// KERNELS-LABEL: func.func @stage0_fwd
// KERNELS: rt.gemm {{.*}} : (tensor<1x32x64xbf16>, tensor<64x2x3x16xbf16>, tensor<1x32x2x3x16xbf16>) -> tensor<1x32x2x3x16xbf16>
// KERNELS: rt.collective all_reduce {{.*}} {origin = "g"{{.*}} -> tensor<1x32x64xbf16>
// What is read by several kernels is the narrow value.
// KERNELS: from = "mask_tail+cast+reduce"{{.*}} -> (tensor<1x32x128xbf16>, tensor<1x32xf32>)
// KERNELS: from = "broadcast+cast+sub+exp+reduce"
// KERNELS-LABEL: func.func @stage0_bwd
// KERNELS: rt.gemm %{{.*}}, %{{.*}} into %{{.*}} {beta = true, {{.*}} : (tensor<1x32x128xbf16>, tensor<1x32x64xbf16>, memref<128x64xf32>) -> ()

// F32-NOT: param_type
// F32-NOT: main_offset
// F32-NOT: bf16
