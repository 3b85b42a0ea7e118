// RUN: mtc compile gpt2-nano --dtype fp16 --mbs 1 --gbs 1 --compile-to=differentiate | FileCheck %s --check-prefix=BACKWARD
// RUN: %if avx512 %{ mtc compile gpt2-nano --dtype fp16 --grad-dtype fp16 --gemm onednn --mbs 1 --gbs 1 --isa x86-64-v4 --compile-to=plan-memory | FileCheck %s --check-prefix=PLAN %}
// RUN: mtc compile gpt2-nano --dtype bf16 --mbs 1 --gbs 1 --compile-to=differentiate | FileCheck %s --check-prefix=BF16
// Tests that a model in fp16 has the types of bf16 with f16, and that only its
// gradients are those of the loss times a field of the step.

// BACKWARD: tensor<256x64xf16> {tfm.param = #tfm.param<name = "embed.tokens"
// BACKWARD: tfm.cast {{.*}} : tensor<1x32x256xf16> -> tensor<1x32x256xf32>
// BACKWARD: tfm.scalar "loss_scale" {{.*}} : tensor<f32>
// BACKWARD: tfm.cast {{.*}} : tensor<1x32x256xf32> -> tensor<1x32x256xf16>
// BACKWARD: tfm.einsum "bse,bsv->ve" {{.*}} : tensor<1x32x64xf16>, tensor<1x32x256xf16> -> tensor<256x64xf32>

// PLAN: precision = fp16
// A product of 32x64 and 64x192 has its operands and result in f32 in the scratch,
// 81920 bytes, in front of what the library needs.
// PLAN-DAG: rt.gemm {{.*}} scratch {{.*}} m 32 n 192 k 64 {{.*}}memref<1x32x4x3x16xf16>, memref<{{8[2-9][0-9][0-9][0-9]|9[0-9][0-9][0-9][0-9]}}xi8>
// PLAN-DAG: rt.step_field loss_scale
// PLAN-DAG: rt.bucket 0 {{.*}}grad_type = f16, param_type = f16,

// BF16-NOT: loss_scale
