// RUN: mtc compile gpt2-nano --dtype bf16 --grad-dtype bf16 --mbs 1 --gbs 4 --dp 2 --zero 1 --compile-to=assign-streams -o %t.edit.mlir
// RUN: FileCheck %s < %t.edit.mlir
// RUN: mtc-opt --plan-memory --verify-plan %t.edit.mlir | FileCheck %s --check-prefix=BYTES
// RUN: mtc compile gpt2-nano --dtype bf16 --grad-dtype bf16 --mbs 1 --gbs 4 --dp 2 --zero 2 --compile-to=assign-streams \
// RUN:   | FileCheck %s --check-prefix=STAGED
// Tests that gradients are summed in bf16 where the strategy says so: accumulators,
// buckets, staging, collectives and the kernels that read and write them, and that
// verify-plan holds them to the configuration.

// CHECK: optimizer = <kind = adamw, zero = 1, bucket_size = 40000000, grad_dtype = bf16>
// Uses are added in f32 and rounded once; the update reads a gradient and widens it.
// CHECK: rt.kernel @[[USES:.+]] rows 1 cols -1 args 0 [#rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>]
// CHECK-NEXT: %[[X:.+]] = rt.load 1 : bf16
// CHECK-NEXT: %[[WIDE:.+]] = arith.extf %[[X]] : bf16 to f32
// CHECK-NEXT: rt.accumulate 0, %[[WIDE]] : f32
// CHECK: rt.kernel @[[UPDATE:.+]] rows 1 cols -1 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>, #rt.operand<mode = full, element = f32,
// CHECK: %[[G:.+]] = rt.load 1 : bf16
// CHECK-NEXT: arith.extf %[[G]] : bf16 to f32
// What adds a sum over rows to its accumulator.
// CHECK: rt.kernel @[[ADD:.+]] rows 1 cols 64 args 0 [#rt.operand<mode = full, element = f32, extent = 0>, #rt.operand<mode = full, element = bf16, extent = 0>{{.*}}] {
// CHECK-NEXT: %[[SUM:.+]] = rt.load 0 : f32
// CHECK-NEXT: rt.accumulate 1, %[[SUM]] : f32
// Two uses of the table: both in bf16.
// CHECK: rt.bucket 1 elements 16384 unpadded 16384 shard 8192 {grad_type = bf16, param_type = bf16,
// CHECK: rt.bucket 2 elements 16384 unpadded 16384 shard 8192 second_use_of 1 {grad_type = bf16, param_type = bf16}

// CHECK-LABEL: func.func @stage0_bwd
// CHECK: %[[BIAS:.+]] = rt.ref grad for "final_norm.bias" use 0 : memref<64xbf16>
// CHECK: %[[TABLE:.+]] = rt.ref grad for "embed.tokens" use 1 : memref<256x64xbf16>
// A product adds to its accumulator in place, in one call.
// CHECK: rt.gemm {{.*}} into %[[TABLE]] {{.*}}beta = true{{.*}} : (tensor<1x32x256xbf16>, tensor<1x32x64xbf16>, memref<256x64xbf16>) -> ()
// A sum over rows is made in f32, and is added once it is whole.
// CHECK: %[[ZERO:.+]] = rt.zero %{{.+}} : (tensor<64xf32>) -> tensor<64xf32>
// CHECK: rt.launch @{{.+}}"norm_dx+norm_dscale+reduce"{{.+}} : ({{.*}}tensor<64xf32>, tensor<64xf32>) -> ({{.*}}, tensor<64xf32>, tensor<64xf32>)
// CHECK: rt.launch @[[ADD]]({{.*}}%[[BIAS]]) {{.*}} : (tensor<64xf32>, memref<64xbf16>, tensor<64xf32>, memref<64xbf16>) -> ()
// CHECK-LABEL: func.func @stage0_reduce
// CHECK: rt.collective reduce_scatter {{.*}}origin = "gradient"} : (memref<202112xbf16>) -> ()
// CHECK: rt.launch @[[USES]]({{.*}} : (memref<16384xbf16>, memref<16384xbf16>) -> ()
// CHECK: rt.norm accumulate of %{{.+}} : memref<202112xbf16>
// CHECK-LABEL: func.func @stage0_apply
// CHECK: rt.launch @[[UPDATE]]({{.*}} : (memref<101056xf32>, memref<202112xbf16>, memref<101056xf32>, memref<101056xf32>, memref<202112xbf16>,

// Two bytes a gradient.
// BYTES: rt.bucket 0 {{.*}}grad_offset = 0 : i64,
// BYTES: rt.bucket 1 {{.*}}grad_offset = 404224 : i64,
// BYTES: rt.bucket 2 {{.*}}grad_offset = 436992 : i64,

// STAGED: func.func @stage0_bwd
// STAGED: rt.ref staging of {{.*}} : memref<16384xbf16>
// STAGED: rt.collective reduce_scatter {{.*}} : (memref<16384xbf16>) -> ()
// STAGED: rt.launch {{.*}} : (memref<8192xbf16>, memref<16384xbf16>) -> ()

// Parameters in f32 have gradients in f32.
// RUN: split-file %s %t
// RUN: mtc compile gpt2-nano --strategy %t/norms.toml --mbs 1 --gbs 2 --dp 2 --zero 1 --compile-to=plan-memory \
// RUN:   | FileCheck %s --check-prefix=NORMS
// NORMS: rt.bucket 0 elements 1152 unpadded 1152 shard 576 {grad_offset = 0 : i64, param_offset = 0 : i64,
// NORMS: rt.bucket 1 {{.*}} {grad_offset = 4608 : i64, grad_type = bf16,

// accumulators of another type than the configuration says
// RUN: mtc-opt --plan-memory %t.edit.mlir | sed -e 's/, grad_dtype = bf16//' \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: 'rt.bucket' expected accumulators of type 'f32' for parameters of 'bf16' (grad_dtype of mtc.config), found 'bf16'

// a sum over ranks of half of the elements, as if they were f32
// RUN: sed -e '/func.func @stage0_reduce/,/return/{/rt.ref grad of 0 : /{N;/reduce_scatter/{s/202112xbf16/101056xf32/g;s/count 101056/count 50528/}}}' %t.edit.mlir \
// RUN:   | not mtc-opt --plan-memory --verify-plan 2>&1 | FileCheck %s --check-prefix=HALF
// HALF: expected elements of type 'bf16', as bucket 0 has them there, found 'memref<101056xf32>'

//--- norms.toml
dtype = "bf16"
grad_dtype = "bf16"
[[override]]
pattern = "*norm*"
dtype = "f32"
