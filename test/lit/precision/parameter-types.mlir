// RUN: split-file %s %t
// RUN: mtc compile gpt2-nano --strategy %t/norms.toml --mbs 1 --gbs 1 --compile-to=differentiate | FileCheck %s --check-prefix=NORMS
// RUN: mtc compile gpt2-nano --strategy %t/others.toml --mbs 1 --gbs 1 --compile-to=differentiate | FileCheck %s --check-prefix=OTHERS
// RUN: mtc compile gpt2-nano --strategy %t/norms.toml --mbs 1 --gbs 2 --dp 2 --zero 1 --compile-to=plan-memory -o %t.mlir
// RUN: FileCheck %s --check-prefix=PLAN < %t.mlir
// RUN: mtc-opt %t.mlir --verify-plan > %t.verified
// Tests parameters that are stored in f32 in a model in bf16: how they are read, where
// they lie, who updates and gathers them, and that verify-plan rejects other plans.

// Norms compute with their scale and bias as they are stored, forward and backward.
// NORMS: tensor<64xf32> {tfm.layer = 1 : i64, tfm.param = #tfm.param<name = "layers.0.norm1.scale"
// NORMS: tfm.norm layer_norm {{.*}} : tensor<1x32x64xbf16>, tensor<64xf32>, tensor<64xf32> -> tensor<1x32x64xbf16>, tensor<1x32xf32>, tensor<1x32xf32>
// NORMS: tfm.norm_dx layer_norm {{.*}} : tensor<1x32x64xbf16>, tensor<1x32x64xbf16>, tensor<64xf32>, {{.*}} -> tensor<1x32x64xbf16>
// NORMS: tfm.norm_dscale {{.*}} -> tensor<64xf32>
// No scale is rounded, and no gradient widened.
// NORMS-NOT: tfm.cast

// Of a table the rows that are looked up are rounded, a weight before its product; a
// gradient behind a cast is made in f32.
// OTHERS: %[[ROWS:.+]] = tfm.embed {{.*}} tensor<256x64xf32> -> tensor<1x32x64xf32>
// OTHERS: tfm.cast %[[ROWS]] {{.*}} : tensor<1x32x64xf32> -> tensor<1x32x64xbf16>
// OTHERS: %[[UP:.+]] = tfm.cast {{.*}} : tensor<64x256xf32> -> tensor<64x256xbf16>
// OTHERS: tfm.einsum "bse,ef->bsf" %{{.+}}, %[[UP]] {{.*}} -> tensor<1x32x256xbf16>
// The backward rounds it again, and saves no copy.
// OTHERS: %[[AGAIN:.+]] = tfm.cast %arg{{.*}}phase = "backward"} : tensor<64x256xf32> -> tensor<64x256xbf16>
// OTHERS: tfm.einsum "bsf,ef->bse" %{{.+}}, %[[AGAIN]]
// OTHERS: tfm.einsum "bse,bsf->ef" {{.*}} -> tensor<64x256xf32>
// OTHERS: tfm.embed_grad {{.*}} tensor<1x32x64xf32> -> tensor<256x64xf32>

// Buckets of one type each; those in f32 have no main parameters.
// PLAN: rt.bucket 0 elements 1152 unpadded 1152 shard 576 {grad_offset = 0 : i64, param_offset = 0 : i64, state_offsets = array<i64: 0, 2304>, states = ["exp_avg", "exp_avg_sq"]}
// PLAN: rt.bucket 1 {{.*}} param_offset = 4608 : i64, param_type = bf16, {{.*}} states = ["main", "exp_avg", "exp_avg_sq"]}
// PLAN: rt.bucket 2 {{.*}} param_type = bf16
// PLAN: rt.param "final_norm.bias" use 0 bucket 0 start 0
// The update of a norm writes the parameter itself, that of another rounds it.
// PLAN-LABEL: func.func @stage0_apply
// PLAN: %[[SCALE:.+]] = rt.offset_view %{{.*}} by %at : memref<1152xf32>
// PLAN: rt.launch @{{.*}}(%[[SCALE]], {{.*}} writes [0, 2, 3]
// PLAN: rt.launch @{{.*}} writes [0, 2, 3, 4]
// PLAN: rt.collective all_gather {{.*}} count 576 {{.*}} : (memref<1152xf32>)
// PLAN: rt.collective all_gather {{.*}} count 100480 {{.*}} : (memref<200960xbf16>)

// a parameter of another type than its bucket
// RUN: sed -e '/pipe.parameter <name = "final_norm.scale"/s/tensor<64xf32>/tensor<64xbf16>/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=PARAM
// PARAM: expected a bucket of parameters of type 'bf16', which its pipe.parameter has, found bucket 0 of 'f32'

// a main copy of parameters that are the main ones
// RUN: sed -e '/rt.bucket 0 /s/states = \["exp_avg"/states = ["main"/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=MAIN
// MAIN: expected the states exp_avg, exp_avg_sq, once each, found main, exp_avg_sq

// Before plan-memory, which would find an edit of one form in the other:
// RUN: mtc compile gpt2-nano --strategy %t/norms.toml --mbs 1 --gbs 2 --dp 2 --zero 1 --compile-to=assign-streams -o %t.edit.mlir

// a gather of half of the bytes
// RUN: sed -e '/rt.ref param of 0 : memref<1152xf32>/{N;s/memref<1152xf32>\(.*all_gather\)/memref<1152xbf16>\1/;s/: (memref<1152xf32>)/: (memref<1152xbf16>)/}' %t.edit.mlir \
// RUN:   | not mtc-opt --plan-memory --verify-plan 2>&1 | FileCheck %s --check-prefix=GATHER
// GATHER: expected elements of type 'f32', as bucket 0 has them there, found 'memref<1152xbf16>'

// an update of parameters of half of the bytes
// RUN: sed -e '/func.func @stage0_apply/,/rt.launch/{/rt.ref param of 0/{N;s/xf32>/xbf16>/g};s/: (memref<1152xf32>, /: (memref<1152xbf16>, /}' %t.edit.mlir \
// RUN:   | not mtc-opt --plan-memory --verify-plan 2>&1 | FileCheck %s --check-prefix=UPDATE
// UPDATE: loc("final_norm.bias to layers.0.norm1.scale"): 'rt.launch' expected elements of type 'f32', as bucket 0 has them there, found 'memref<1152xbf16>'

// a type that nothing computes with
// RUN: mtc compile gpt2-nano --strategy %t/norms.toml --mbs 1 --gbs 1 --compile-to=expand-schedule \
// RUN:   | sed -e '/pipe.parameter <name = "final_norm.scale"/s/tensor<64xf32>/tensor<64xf64>/' \
// RUN:   | not mtc-opt --bucket-gradients 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: 'pipe.parameter' op expected a parameter of type 'bf16' or 'f32' (precision of mtc.config), found 'f64'

//--- norms.toml
dtype = "bf16"
[[override]]
pattern = "*norm*"
dtype = "f32"

//--- others.toml
dtype = "bf16"
[[override]]
pattern = "*.weight"
dtype = "f32"
[[override]]
pattern = "embed.*"
dtype = "f32"
