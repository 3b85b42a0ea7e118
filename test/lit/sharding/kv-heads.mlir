// Heads of keys and values that ranks share. Each stores the one that its queries read:
// ranks in a row the same, with gradients that are parts of a sum over them until the end
// of the step. A layer has the collectives that it has with heads of its own.
// RUN: split-file %s %t
// RUN: mtc compile gpt2-nano-gqa --tp 4 --gbs 1 --compile-to=partition | FileCheck %s --check-prefix=SHARED
// RUN: mtc compile gpt2-nano-gqa --tp 4 --gbs 1 --compile-to=partition | grep -E "= dist\." | FileCheck %s --check-prefix=LAYER
// RUN: mtc compile gpt2-nano-gqa --tp 2 --gbs 1 --compile-to=partition | grep -E "= dist\." | FileCheck %s --check-prefix=LAYER
// RUN: mtc compile gpt2-nano-gqa --tp 2 --gbs 1 --compile-to=partition | FileCheck %s --check-prefix=OWN
// RUN: mtc compile gpt2-nano-gqa --tp 4 --gbs 1 --compile-to=shard-optimizer | FileCheck %s --check-prefix=SUMS
// RUN: mtc compile gpt2-nano-gqa --tp 4 --cp 2 --gbs 1 --compile-to=partition | FileCheck %s --check-prefix=CP

// An override may say of a weight what the table says of all.
// RUN: mtc compile gpt2-nano-gqa --strategy %t/same.toml --compile-to=partition | FileCheck %s --check-prefix=SHARED

// SHARED: kv = 2>
// SHARED: tensor<64x1x8xf32> {dist.global_shape = array<i64: 64, 4, 8>, dist.sharding = #dist.sharding<[{}, {"tp"}, {}]>, {{[^%]*}}name = "layers.0.attn.k.weight", {{[^>]*}} repeats = <dim = 1, times = 2>>
// SHARED: tensor<1x8xf32> {dist.global_shape = array<i64: 4, 8>, dist.sharding = #dist.sharding<[{"tp"}, {}]>, {{[^%]*}}name = "layers.0.attn.k.bias", {{[^>]*}} repeats = <dim = 0, times = 2>>
// SHARED-NOT: tfm.repeat
// SHARED: tfm.attention {{.*}}dist.index_stride = 2 : i64{{.*}}global_heads = 8 : i64{{.*}} : (tensor<1x32x2x8xf32>, tensor<1x32x1x8xf32>, tensor<1x32x1x8xf32>)
// SHARED-NOT: tfm.repeat

// LAYER-NOT: {{all_gather|reduce_scatter|slice}}
// LAYER: layers.0.attn.out.weight{{.*}}"forward"
// LAYER-NEXT: layers.0.mlp.down.weight{{.*}}"forward"
// LAYER-NEXT: layers.1.attn.out.weight{{.*}}"forward"
// LAYER: layers.1.mlp.up.weight{{.*}}"backward"
// LAYER-NEXT: serves "layers.1.attn.{{.*}}"backward"
// LAYER-NEXT: layers.0.mlp.up.weight{{.*}}"backward"
// LAYER-NEXT: serves "layers.0.attn.{{.*}}"backward"
// LAYER-NOT: {{all_gather|reduce_scatter|slice}}

// OWN-NOT: {{tfm.repeat|repeats|kv = }}
// OWN: tfm.attention {{.*}} : (tensor<1x32x4x8xf32>, tensor<1x32x1x8xf32>, tensor<1x32x1x8xf32>)
// OWN-NOT: tfm.repeat

// A bucket of their own, one sum over the ranks that share, and one of these that counts
// in the norm.
// SUMS: rt.param "layers.1.attn.q.weight" use 0 bucket {{[0-9]+}} start {{[0-9]+}} loc
// SUMS: rt.param "layers.3.attn.v.bias" use 0 bucket [[B:[0-9]+]] start 0 partial <kv>
// SUMS: rt.param "layers.1.attn.k.weight" use 0 bucket [[B]] {{.*}} partial <kv>
// SUMS: %[[GRADS:.*]] = rt.ref grad of [[B]] : memref<[[N:[0-9]+]]xf32>
// SUMS: rt.collective all_reduce %[[GRADS]] group kv count [[N]] {origin = "gradient"}
// SUMS-NOT: group kv
// SUMS: rt.flat_range start 0 count [[N]] among <kv> loc("layers.3.attn.v.bias to layers.0.attn.k.weight")

// Gathered over cp are a rank's own key heads.
// CP-COUNT-2: dist.all_gather {{.*}} dim 1 over "cp" {{.*}} : tensor<1x16x1x8xf32> -> tensor<1x32x1x8xf32>

// Where no head is for one rank alone (here four ranks read parts of six), and where a
// strategy wants weights whole, each rank repeats of the whole what its queries read.
// Gradients are sums over all of tp. In bf16 they are not rounded before.
// RUN: mtc compile gpt2-nano-gqa --strategy %t/whole.toml --compile-to=partition | FileCheck %s --check-prefix=WHOLE
// RUN: mtc compile gpt2-nano-gqa --strategy %t/whole.toml --compile-to=bucket-gradients | FileCheck %s --check-prefix=WHOLE-SUMS
// RUN: mtc compile gpt2-nano-gqa --strategy %t/whole.toml --dtype bf16 --compile-to=differentiate | FileCheck %s --check-prefix=BF16
// RUN: sed -e "s/heads = 8/heads = 12/" -e "s/kv_heads = 2/kv_heads = 6/" -e "s/hidden = 64/hidden = 96/" %S/../../../models/specs/gpt2-nano-gqa.toml > %t/six.toml
// RUN: mtc compile %t/six.toml --tp 4 --gbs 1 --compile-to=partition | FileCheck %s --check-prefix=SIX

// WHOLE: func.func @microbatch{{.*}} dist.sharding = #dist.sharding<[{}, {}, {}]>, {{[^%]*}}name = "layers.0.attn.k.weight"
// WHOLE: %[[K:.*]] = tfm.repeat %{{.*}} dim 1 times 2 {{{.*}}dist.index_axis = "tp", dist.index_stride = 1 : i64{{.*}}} : tensor<64x2x8xf32> -> tensor<64x1x8xf32>
// WHOLE: tfm.einsum "bse,ekd->bskd" %{{.*}}, %[[K]] {{.*}} -> tensor<1x32x1x8xf32>
// WHOLE: tfm.repeat %{{.*}} dim 0 times 2 {{.*}} : tensor<2x8xf32> -> tensor<1x8xf32>
// WHOLE: tfm.attention {{.*}} : (tensor<1x32x2x8xf32>, tensor<1x32x1x8xf32>, tensor<1x32x1x8xf32>)
// Made again in the backward, from the parameter.
// WHOLE: tfm.attention_grad {{.*}}dist.index_stride = 2 : i64
// WHOLE: tfm.repeat {{.*}}tfm.phase = "backward"
// WHOLE: tfm.repeat_grad %{{.*}} dim 1 times 2 {{{.*}}dist.index_axis = "tp"{{.*}}partial = {"tp"}{{.*}}} : tensor<64x1x8xf32> -> tensor<64x2x8xf32>

// WHOLE-SUMS-DAG: rt.param "layers.1.attn.k.weight" {{.*}} partial <tp>
// WHOLE-SUMS-DAG: rt.param "layers.1.attn.v.weight" {{.*}} partial <kv>

// BF16: tfm.repeat_grad %{{.*}} dim 1 {{.*}} : tensor<64x4x8xf32> -> tensor<64x2x8xf32>

// A product with repeated weights may be gathered like any other.
// RUN: mtc compile gpt2-nano-gqa --strategy %t/gathered.toml --compile-to=partition | FileCheck %s --check-prefix=GATHERED
// GATHERED: tfm.repeat
// GATHERED: dist.all_gather {{.*}} over "tp" {{.*}} : tensor<1x32x1x8xf32> -> tensor<1x32x4x8xf32>

// Attention of a fused projection that is whole is whole: tp divides the heads of its
// queries, which the next weight has split, and not those of keys.
// RUN: sed -e "s/separate/fused/" %S/../../../models/specs/gpt2-nano-gqa.toml > %t/fused.toml
// RUN: mtc compile %t/fused.toml --tp 4 --gbs 1 --shard.kv-heads none --compile-to=partition | FileCheck %s --check-prefix=FUSED
// FUSED: tfm.attention_grad {{.*}} : tensor<1x32x8x8xf32>, {{.*}} -> (tensor<1x32x8x8xf32>, tensor<1x32x2x8xf32>, tensor<1x32x2x8xf32>)

// A fused projection is stored in slices, which are sharded as separate ones are. Files
// have the tensor.
// RUN: mtc compile %t/fused.toml --tp 4 --gbs 1 --compile-to=partition | FileCheck %s --check-prefix=SLICES
// RUN: mtc compile %t/fused.toml --tp 4 --gbs 1 --compile-to=partition | grep -E "= dist\." | FileCheck %s --check-prefix=LAYER
// SLICES: tensor<64x2x8xf32> {dist.global_shape = array<i64: 64, 8, 8>, dist.sharding = #dist.sharding<[{}, {"tp"}, {}]>, {{[^%]*}}name = "layers.0.attn.q.weight", {{[^>]*}} slice = <of = "layers.0.attn.qkv.weight", shape = [64, 2, 6, 8], axes = ["embed", "kv_heads", "qkv", "head_dim"], dim = 2, first = 0, size = 4>>
// SLICES: tensor<2x8xf32> {{[^%]*}}name = "layers.0.attn.q.bias", {{[^>]*}} slice = <of = "layers.0.attn.qkv.bias", shape = [2, 6, 8], axes = ["kv_heads", "qkv", "head_dim"], dim = 1, first = 0, size = 4>>
// SLICES: tensor<64x1x8xf32> {{[^%]*}}name = "layers.0.attn.k.weight", {{[^>]*}} repeats = <dim = 1, times = 2>, slice = <of = "layers.0.attn.qkv.weight", shape = [64, 2, 6, 8], axes = ["embed", "kv_heads", "qkv", "head_dim"], dim = 2, first = 4, size = 1>>
// SLICES: tensor<1x8xf32> {{[^%]*}}name = "layers.0.attn.v.bias", {{[^>]*}} repeats = <dim = 0, times = 2>, slice = <of = "layers.0.attn.qkv.bias", shape = [2, 6, 8], axes = ["kv_heads", "qkv", "head_dim"], dim = 1, first = 5, size = 1>>
// SLICES: tfm.attention {{.*}} : (tensor<1x32x2x8xf32>, tensor<1x32x1x8xf32>, tensor<1x32x1x8xf32>)

// An override that means other parameters means no slice, which it does not know.
// RUN: mtc compile %t/fused.toml --strategy %t/wide.toml --compile-to=partition | FileCheck %s --check-prefix=WIDE
// WIDE: tensor<64x2x8xf32> {{[^%]*}}name = "layers.0.attn.q.weight"
// WIDE: tensor<8x8x64xf32> {{[^%]*}}name = "layers.0.attn.out.weight"

// What else a strategy says of it or its bias it says of whole tensors.
// RUN: mtc compile %t/fused.toml --strategy %t/whole-bias.toml --compile-to=partition | FileCheck %s --check-prefix=WHOLE-FUSED
// WHOLE-FUSED-NOT: slice = <
// WHOLE-FUSED: tensor<64x2x6x8xf32> {{[^%]*}}dist.sharding = #dist.sharding<[{}, {}, {}, {}]>, {{[^%]*}}name = "layers.0.attn.qkv.weight"
// WHOLE-FUSED: tensor<2x6x8xf32> {{[^%]*}}dist.sharding = #dist.sharding<[{}, {}, {}]>, {{[^%]*}}name = "layers.0.attn.qkv.bias"
// WHOLE-FUSED: slice = <of = "layers.1.attn.qkv.weight"
// WHOLE-FUSED: tfm.attention {{.*}} : (tensor<1x32x8x8xf32>, tensor<1x32x2x8xf32>, tensor<1x32x2x8xf32>)

// SIX-NOT: repeats
// SIX: tfm.repeat %{{.*}} dim 1 times 2 {{.*}} : tensor<96x6x8xf32> -> tensor<96x3x8xf32>

//--- whole.toml
tp = 4
global_batch_size = 1

[[override]]
pattern = "*.attn.k.*"
shard = { kv_heads = "none" }

//--- wide.toml
tp = 4
global_batch_size = 1

[[override]]
pattern = "*.attn.*"
shard = { heads = "none" }

//--- whole-bias.toml
tp = 4
global_batch_size = 1

[[override]]
pattern = "layers.0.attn.qkv.bias"
shard = { kv_heads = "none" }

//--- same.toml
tp = 4
global_batch_size = 1

[[override]]
pattern = "*.attn.k.*"
shard = { kv_heads = "tp" }

//--- gathered.toml
tp = 4
global_batch_size = 1

[[override]]
pattern = "*.attn.k.*"
shard = { kv_heads = "none" }

[[override]]
pattern = "*.attn.k.weight"
gather_output = true
