// Products that are the last to add to a gradient count its squares, and the norm has what
// lies between them.

// RUN: mtc compile gpt2-nano --isa x86-64-v4 --mbs 2 --gbs 8 --compile-to=count-gradients -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// CHECK-LABEL: func.func @stage0_bwd()
// The first one is of the head, whose weight has another use.
// CHECK: rt.gemm {{.*}} m 256 n 64 k 64 by own {beta = true, stores_first, ta = true
// CHECK: rt.gemm {{.*}} m 256 n 64 k 64 by own {beta = true, counts_last, stores_first, ta = true
// CHECK-LABEL: func.func @stage0_reduce()
// CHECK-NOT: rt.norm reset
// CHECK: rt.flat_range start 0 count 192
// CHECK: rt.norm accumulate
// CHECK: rt.flat_range start 16576 count 256
// CHECK: rt.norm accumulate
// CHECK: rt.collective norm_reduce
// CHECK-NEXT: rt.norm finish
// CHECK-NEXT: rt.norm reset
// CHECK-NEXT: return

// Once more: what is counted stays as it is.
// RUN: sed -e 's/"count-gradients"/"pack-weights"/' %t.mlir | mtc-opt --count-gradients | FileCheck %s

// Kernels of the library do not count, nor do those that take longer for it.
// RUN: %if avx512 %{ mtc compile gpt2-nano --isa x86-64-v4 --gemm onednn --mbs 2 --gbs 8 --compile-to=count-gradients -o - | FileCheck %s --check-prefix=BEHIND %}
// RUN: mtc compile gpt2-nano --isa x86-64-v3 --mbs 2 --gbs 8 --compile-to=count-gradients -o - | FileCheck %s --check-prefix=BEHIND
// No product counts what ranks sum (counted-sums.mlir).
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --dp 2 --mbs 2 --gbs 8 --compile-to=count-gradients -o - | FileCheck %s --check-prefix=BEHIND
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --dp 2 --overlap grad-reduce --mbs 2 --gbs 8 --compile-to=count-gradients -o - | FileCheck %s --check-prefix=BEHIND
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --dp 2 --zero 1 --mbs 2 --gbs 8 --compile-to=count-gradients -o - | FileCheck %s --check-prefix=BEHIND
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --dp 2 --zero 2 --mbs 2 --gbs 8 --compile-to=count-gradients -o - | FileCheck %s --check-prefix=BEHIND
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --cp 2 --mbs 2 --gbs 8 --compile-to=count-gradients -o - | FileCheck %s --check-prefix=BEHIND
// BEHIND-NOT: counts_last
// BEHIND: func.func @stage0_reduce
// BEHIND-NOT: rt.norm reset
// BEHIND: rt.norm finish
// BEHIND-NEXT: rt.norm reset

// One microbatch is both.
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --mbs 2 --gbs 2 --compile-to=count-gradients -o - | FileCheck %s --check-prefix=ONE
// ONE: beta = true, counts_last, stores_first

// Whatever the order of microbatches, the one that runs last counts.
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --pp 2 --mbs 2 --gbs 16 --schedule %S/../../integration/schedules/own-order.txt --compile-to=count-gradients -o - | FileCheck %s --check-prefix=WRITTEN
// WRITTEN: counts_last

// Gradients of weights in a phase of their own.
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --pp 2 --schedule zb-h1 --mbs 2 --gbs 8 --compile-to=count-gradients -o - | FileCheck %s --check-prefix=APART
// APART-LABEL: func.func @stage1_bwd_input
// APART-NOT: counts_last
// APART-LABEL: func.func @stage1_bwd_weight
// APART: counts_last

// What ranks of tp have in parts they count; of what each of them has, they count parts, behind.
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --tp 2 --mbs 2 --gbs 8 --compile-to=count-gradients -o - | FileCheck %s --check-prefix=PARTS
// PARTS: rt.gemm {{.*}}counts_last
// PARTS-LABEL: func.func @stage0_reduce()
// PARTS: rt.flat_range {{.*}}among <tp>
// PARTS: rt.norm accumulate

// A GPU's norm is behind, and reset first.
// RUN: mtc compile gpt2-nano --target cuda:sm_90 --mbs 2 --gbs 8 --compile-to=count-gradients -o - | FileCheck %s --check-prefix=GPU
// GPU-NOT: counts_last
// GPU-LABEL: func.func @stage0_reduce
// GPU: rt.norm reset
// GPU: rt.norm finish
// GPU-NOT: rt.norm reset

// RUN: sed -e 's/by own {beta = true, counts_last/{beta = true, counts_last/' %t.mlir | not mtc-opt 2>&1 | FileCheck %s --check-prefix=KERNEL
// KERNEL: 'rt.gemm' op expected a product by own that is added to c (beta), in f32, where a microbatch counts its squares (counts_last)
