// Every collective of one layer, an untied head and the look-up, as overrides ask for
// them, in the order of the program; slices move nothing between ranks and are left out.
// DEFINE: %{collectives} = grep -E "= dist\.(all|reduce)" | sed -E -e "s/.*= (dist\.[a-z_]*( sum| max)?).* serves \"([^\"]*)\".*tfm.phase = \"([a-z]*)\".* : (tensor<[^>]*>).*/\4 \1 \3 \5/"
// RUN: split-file %s %t

// The rejected MLP of Megatron's paper: the first weight is split by rows, so the sums
// are due before GELU; the second by columns, and its output is gathered.
// RUN: mtc compile %S/Inputs/one-layer.toml --strategy %t/row-first.toml --compile-to partition -o - | %{collectives} | FileCheck %s --check-prefix=ROWS
// ROWS: forward dist.all_reduce sum embed.tokens tensor<1x32x64xf32>
// ROWS-NEXT: forward dist.all_reduce sum layers.0.attn.out.weight tensor<1x32x64xf32>
// ROWS-NEXT: forward dist.all_reduce sum layers.0.mlp.up.weight tensor<1x32x256xf32>
// ROWS-NEXT: forward dist.all_gather tfm.add tensor<1x32x32xf32>
// ROWS-NEXT: forward dist.all_reduce max

// Megatron's own: one sum, behind the second weight.
// RUN: mtc compile %S/Inputs/one-layer.toml --tp 2 --gbs 1 --compile-to partition -o - | %{collectives} | FileCheck %s --check-prefix=COLUMNS
// COLUMNS: forward dist.all_reduce sum embed.tokens tensor<1x32x64xf32>
// COLUMNS-NEXT: forward dist.all_reduce sum layers.0.attn.out.weight tensor<1x32x64xf32>
// COLUMNS-NEXT: forward dist.all_reduce sum layers.0.mlp.down.weight tensor<1x32x64xf32>
// COLUMNS-NEXT: forward dist.all_reduce max {{.*}} tensor<1x32xf32>
// COLUMNS-NEXT: forward dist.all_reduce sum {{.*}} tensor<1x32xf32>
// COLUMNS-NEXT: forward dist.all_reduce sum {{.*}} tensor<1x32xf32>
// COLUMNS-NEXT: backward dist.all_reduce sum head.weight tensor<1x32x64xf32>
// COLUMNS-NEXT: backward dist.all_reduce sum layers.0.mlp.up.weight tensor<1x32x64xf32>
// COLUMNS-NEXT: backward dist.all_reduce sum layers.0.attn.qkv.weight tensor<1x32x64xf32>
// COLUMNS-NOT: dist

// Gathered logits: one all-gather of them in place of the three small reductions of a
// loss over a split vocabulary.
// RUN: mtc compile %S/Inputs/one-layer.toml --strategy %t/logits.toml --compile-to partition -o - | %{collectives} | FileCheck %s --check-prefix=LOGITS
// LOGITS: forward dist.all_reduce sum layers.0.mlp.down.weight
// LOGITS-NEXT: forward dist.all_gather tfm.einsum tensor<1x32x128xf32>
// LOGITS-NEXT: backward dist.all_reduce sum head.weight tensor<1x32x64xf32>

// A table that is split over the hidden size: what is looked up needs no sum and is
// gathered once for the norm; sums of the residual stream are split as it is, so a layer
// has a reduce-scatter and an all-gather where it had an all-reduce.
// RUN: mtc compile %S/Inputs/one-layer.toml --strategy %t/hidden.toml --compile-to partition -o - | %{collectives} | FileCheck %s --check-prefix=HIDDEN
// HIDDEN-NOT: embed.tokens
// HIDDEN: forward dist.all_gather tfm.add tensor<1x32x32xf32>
// HIDDEN-NEXT: forward dist.reduce_scatter layers.0.attn.out.weight tensor<1x32x64xf32>
// HIDDEN-NEXT: forward dist.all_gather tfm.add tensor<1x32x32xf32>
// HIDDEN-NEXT: forward dist.reduce_scatter layers.0.mlp.down.weight tensor<1x32x64xf32>
// HIDDEN-NEXT: forward dist.all_gather tfm.add tensor<1x32x32xf32>
// HIDDEN-NEXT: forward dist.all_reduce max

// Positions in equal parts, which queries cannot be: they are gathered in front of it.
// RUN: mtc compile gpt2-nano-sepqkv --strategy %t/positions.toml --compile-to partition -o - 2>&1 | FileCheck %s --check-prefix=POSITIONS
// POSITIONS: layers.0.attn.core: remark: operand 0 is split over 'tp' on dimension 1, which tfm.attention needs whole: it is gathered

//--- row-first.toml
tp = 2
global_batch_size = 1
[[override]]
pattern = "layers.*.mlp.up.*"
shard = { ffn = "none" }
[[override]]
pattern = "layers.*.mlp.*.weight"
shard = { embed = "tp" }
[[override]]
pattern = "layers.*.mlp.down.weight"
gather_output = true

//--- logits.toml
tp = 2
global_batch_size = 1
[[override]]
pattern = "head.weight"
gather_output = true

//--- hidden.toml
tp = 2
global_batch_size = 1
[[override]]
pattern = "embed.tokens"
shard = { embed = "tp" }

//--- positions.toml
tp = 2
global_batch_size = 1
[shard]
vocab = "none"
heads = "none"
kv_heads = "none"
ffn = "none"
[[override]]
pattern = "embed.positions"
shard = { seq = "tp" }
