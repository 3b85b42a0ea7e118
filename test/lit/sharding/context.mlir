// Context parallelism: each rank has a piece of the head of every sample and one of its
// tail. Queries stay where they are; keys and values are gathered, in forward and again
// in backward (what is saved is the rank's part), and their gradients are sums over the
// ranks' queries, scattered to where the keys lie. Nothing else moves in a layer.
// RUN: mtc compile gpt2-nano --cp 2 --gbs 2 --compile-to=partition | FileCheck %s --check-prefix=ATTRS
// RUN: mtc compile gpt2-nano --cp 2 --gbs 2 --compile-to=partition | FileCheck %s --check-prefix=CP
// RUN: mtc compile gpt2-nano-sepqkv --cp 2 --gbs 2 --compile-to=partition | FileCheck %s --check-prefix=CP
// RUN: mtc compile gpt2-nano --cp 2 --gbs 2 --recompute=full --compile-to=partition | FileCheck %s --check-prefix=CP
// RUN: mtc compile gpt2-nano --tp 2 --cp 2 --sp --gbs 2 --compile-to=partition | FileCheck %s --check-prefix=SP
// RUN: mtc compile gpt2-nano --cp 1 --gbs 2 --compile-to=partition | FileCheck %s --check-prefix=ONE

// Each position and each random number is that of its place in the sample.
// ATTRS-LABEL: func.func @microbatch
// ATTRS: tfm.iota dim 1 {{.*}}dist.piece = 8 : i64, dist.piece_axis = "cp"{{.*}} : tensor<1x16xi32>
// ATTRS: tfm.dropout {{.*}}dist.piece = 8 : i64, dist.piece_axis = "cp", dist.piece_dim = 1 : i64
// ATTRS: %[[Q:[a-z0-9_]+]], %[[K:[a-z0-9_]+]], %[[V:[a-z0-9_]+]] = tfm.unfuse
// ATTRS-DAG: %[[KS:.*]] = dist.all_gather %[[K]] dim 1 over "cp" {{.*}} : tensor<1x16x4x16xf32> -> tensor<1x32x4x16xf32>
// ATTRS-DAG: %[[VS:.*]] = dist.all_gather %[[V]] dim 1 over "cp"
// ATTRS: tfm.attention %[[Q]], %[[KS]], %[[VS]] at {{.*}}dist.piece = 8 : i64, dist.piece_axis = "cp"

// CP-LABEL: func.func @microbatch
// CP-NOT: = dist.{{.*}}tfm.layer = 2 : i64
// CP-COUNT-2: dist.all_gather {{.*}} over "cp" {{.*}}tfm.layer = 2 : i64, tfm.phase = "forward"
// CP-NOT: = dist.all_{{.*}}tfm.layer = 2 : i64
// CP-COUNT-2: dist.all_gather {{.*}} over "cp" {{.*}}tfm.layer = 2 : i64, tfm.phase = "backward"
// CP-NOT: = dist.all_{{.*}}tfm.layer = 2 : i64
// CP-COUNT-2: dist.reduce_scatter {{.*}} over "cp" {{.*}}tfm.layer = 2 : i64, tfm.phase = "backward"
// CP-NOT: = dist.{{.*}}tfm.layer = 2 : i64
// CP: return

// Along the sequence, of what cp leaves: 8 of 32 positions on a rank.
// SP-LABEL: func.func @microbatch
// SP: tfm.dropout {{.*}}dist.index_axis = "tp", dist.index_dim = 1 : i64, dist.index_stride = 8 : i64, dist.piece = 8 : i64, dist.piece_axis = "cp", dist.piece_dim = 1 : i64{{.*}} : tensor<1x8x64xf32>
// SP: tfm.attention {{.*}}dist.index_axis = "tp", dist.index_stride = 2 : i64, dist.piece = 8 : i64, dist.piece_axis = "cp"

// ONE-NOT: dist.piece
// ONE-NOT: tfm.unfuse
