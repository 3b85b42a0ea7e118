// RUN: mtc compile gpt2-nano --tp 2 --gbs 2 --seq 16 --sp --compile-to=partition | FileCheck %s
// RUN: mtc compile gpt2-nano --tp 2 --gbs 2 --sp --shard.vocab none --compile-to=partition | FileCheck %s --check-prefix=WHOLE
// RUN: rm -rf %t.mtc && mtc compile gpt2-nano --tp 2 --gbs 2 --sp -o %t.mtc | FileCheck %s --check-prefix=REPORT
// RUN: rm -rf %t.mtc && mtc compile gpt2-nano --tp 2 --gbs 2 -o %t.mtc | FileCheck %s --check-prefix=WITHOUT
// REPORT: sequence       split over tp (sequence_parallel)
// WITHOUT-NOT: {{^}}sequence
// Sequence parallelism on a sequence that is shorter than the longest: positions are
// read from a table. Each rank makes the rows of its part and drops out by numbers of
// the whole sample. The table's gradient is made of the gathered cotangent: in parts it
// would be a sum over ranks of all rows.

// CHECK-LABEL: func.func @microbatch
// CHECK: dist.reduce_scatter {{.*}} origin embedding {{.*}} -> tensor<1x8x64xf32>
// CHECK: %[[AT:.*]] = tfm.iota {{.*}}dist.index_axis = "tp", dist.index_stride = 8{{.*}} tensor<1x8xi32>
// CHECK: tfm.embed %[[AT]], {{.*}} : tensor<1x8xi32>, tensor<32x64xf32> -> tensor<1x8x64xf32>
// CHECK: tfm.dropout {{.*}}dist.index_axis = "tp", dist.index_dim = 1 : i64, dist.index_stride = 8
// CHECK-NOT: dist.all_reduce {{.*}}32x64xf32
// CHECK: tfm.embed_grad {{.*}} : tensor<1x16xi32>, tensor<1x16x64xf32> -> tensor<32x64xf32>
// CHECK-NOT: dist.all_reduce {{.*}}32x64xf32
// CHECK: return

// So it is for a table of tokens that every rank has: read in parts, its gradient made
// of the whole.
// WHOLE-LABEL: func.func @microbatch
// WHOLE: tfm.embed {{.*}} : tensor<1x16xi32>, tensor<256x64xf32> -> tensor<1x16x64xf32>
// WHOLE: tfm.embed_grad {{.*}} : tensor<1x32xi32>, tensor<1x32x64xf32> -> tensor<256x64xf32>
// WHOLE-NOT: dist.all_reduce {{.*}}256x64xf32
// WHOLE: return

// The head's use of that table has a gradient that is a sum over positions, and so
// partial over tp until the end of the step; that of the embedding is whole.
// RUN: mtc compile gpt2-nano --tp 2 --gbs 2 --sp --shard.vocab none --compile-to=verify-plan | FileCheck %s --check-prefix=USES
// USES: rt.param "embed.tokens" use 0 bucket 1 start 0 loc
// USES: rt.param "embed.tokens" use 1 bucket 3 start 0 partial <tp>
