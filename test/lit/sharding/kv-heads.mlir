// Heads of keys and values that ranks share: each rank repeats of the whole weights what
// its queries read. A layer has the collectives that it has with its own ones; gradients
// of what is shared are sums over tp, which wait for the end of the step.
// RUN: mtc compile gpt2-nano-gqa --tp 4 --gbs 1 --compile-to=partition | FileCheck %s --check-prefix=SHARED
// RUN: mtc compile gpt2-nano-gqa --tp 4 --gbs 1 --compile-to=partition | grep -E "= dist\." | FileCheck %s --check-prefix=LAYER
// RUN: mtc compile gpt2-nano-gqa --tp 2 --gbs 1 --compile-to=partition | grep -E "= dist\." | FileCheck %s --check-prefix=LAYER
// RUN: mtc compile gpt2-nano-gqa --tp 2 --gbs 1 --compile-to=partition | FileCheck %s --check-prefix=OWN
// RUN: mtc compile gpt2-nano-gqa --tp 4 --gbs 1 --compile-to=bucket-gradients | FileCheck %s --check-prefix=SUMS
// RUN: mtc compile gpt2-nano-gqa --tp 4 --gbs 1 --dtype bf16 --compile-to=differentiate | FileCheck %s --check-prefix=BF16
// RUN: mtc compile gpt2-nano-gqa --tp 4 --cp 2 --gbs 1 --compile-to=partition | FileCheck %s --check-prefix=CP

// SHARED-LABEL: func.func @microbatch
// SHARED: %[[K:.*]] = tfm.repeat %{{.*}} dim 1 times 2 {{{.*}}dist.index_axis = "tp", dist.index_stride = 1 : i64{{.*}}} : tensor<64x2x8xf32> -> tensor<64x1x8xf32>
// SHARED: tfm.einsum "bse,ekd->bskd" %{{.*}}, %[[K]] {{.*}} -> tensor<1x32x1x8xf32>
// SHARED: tfm.repeat %{{.*}} dim 0 times 2 {{.*}} : tensor<2x8xf32> -> tensor<1x8xf32>
// SHARED: tfm.attention {{.*}}dist.index_stride = 2 : i64{{.*}}global_heads = 8 : i64{{.*}} : (tensor<1x32x2x8xf32>, tensor<1x32x1x8xf32>, tensor<1x32x1x8xf32>)
// Made again in the backward, from the parameter.
// SHARED: tfm.attention_grad {{.*}}dist.index_stride = 2 : i64
// SHARED: tfm.repeat {{.*}}tfm.phase = "backward"
// SHARED: tfm.repeat_grad %{{.*}} dim 1 times 2 {{{.*}}dist.index_axis = "tp"{{.*}}partial = {"tp"}{{.*}}} : tensor<64x1x8xf32> -> tensor<64x2x8xf32>

// LAYER-NOT: {{all_gather|reduce_scatter|slice}}
// LAYER: layers.0.attn.out.weight{{.*}}"forward"
// LAYER-NEXT: layers.0.mlp.down.weight{{.*}}"forward"
// LAYER-NEXT: layers.1.attn.out.weight{{.*}}"forward"
// LAYER: layers.1.mlp.up.weight{{.*}}"backward"
// LAYER-NEXT: serves "layers.1.attn.{{.*}}"backward"
// LAYER-NEXT: layers.0.mlp.up.weight{{.*}}"backward"
// LAYER-NEXT: serves "layers.0.attn.{{.*}}"backward"
// LAYER-NOT: {{all_gather|reduce_scatter|slice}}

// OWN-NOT: tfm.repeat
// OWN: tfm.attention {{.*}} : (tensor<1x32x4x8xf32>, tensor<1x32x1x8xf32>, tensor<1x32x1x8xf32>)
// OWN-NOT: tfm.repeat

// SUMS-DAG: rt.param "layers.1.attn.k.weight" {{.*}} partial <tp>
// SUMS-DAG: rt.param "layers.1.attn.v.bias" {{.*}} partial <tp>
// SUMS-DAG: rt.param "layers.1.attn.q.weight" use 0 bucket {{[0-9]+}} start {{[0-9]+}} loc

// Not rounded before it is a sum.
// BF16: tfm.repeat_grad %{{.*}} dim 1 {{.*}} : tensor<64x4x8xf32> -> tensor<64x2x8xf32>

// Gathered over cp are a rank's own key heads.
// CP-COUNT-2: dist.all_gather {{.*}} dim 1 over "cp" {{.*}} : tensor<1x16x1x8xf32> -> tensor<1x32x1x8xf32>
