// Where a vector has 512 bits, three words are xored by AVX-512's instruction, once
// words differ from lane to lane. Elsewhere these rounds are a loop, of one vector of
// blocks: the first three stand in front of it.
// RUN: mtc-opt %s --codegen-kernels=vector-width=16 | FileCheck %s
// RUN: mtc-opt %s --codegen-kernels=vector-width=8 | FileCheck %s --check-prefix=NARROW \
// RUN:   --implicit-check-not=call_intrinsic --implicit-check-not='vector<16xi64>'

// CHECK-LABEL: func.func @draw
// CHECK: arith.xori {{.*}} : vector<32xi64>
// CHECK: %[[PART:.*]] = vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7] : vector<32xi64>, vector<32xi64>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.pternlog.q.512"(%[[PART]], {{.*}}) : (vector<8xi64>, vector<8xi64>, vector<8xi64>, i32) -> vector<8xi64>
// NARROW-LABEL: func.func @draw
// NARROW-COUNT-6: arith.muli {{.*}} : vector<8xi64>
// NARROW-NOT: arith.muli
// NARROW: scf.for {{.*}} iter_args({{.*}}) -> (vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<8xi64>, vector<4xi64>, vector<4xi64>)
// NARROW-COUNT-2: arith.muli {{.*}} : vector<8xi64>
// NARROW-NOT: arith.muli
// NARROW: llvm.loop_annotation = #loop_annotation
// NARROW-NOT: muli {{.*}}xi64>
rt.kernel @draw rows 8 cols 512 args 1 [#rt.operand<mode = full, element = f32, extent = 0>] {
  %s = rt.arg 0 : i64
  %c = rt.index col : i32
  %r = rt.random %s, %s, %s, %c {site = 2 : i64} : i32
  %f = arith.uitofp %r : i32 to f32
  rt.store 0, %f : f32
}
