// REQUIRES: avx512
// RUN: mtc compile gpt2-nano --pp 2 --mbs 2 --gbs 4 --gemm onednn --compile-to=plan-memory | FileCheck %s
// Tests that every program names the GEMM library that its scratch sizes are of, and none if all products are our own.
// RUN: mtc compile gpt2-nano --pp 2 --mbs 2 --gbs 4 --compile-to=plan-memory | FileCheck %s --check-prefix=OWN
// OWN: rt.program @stage0 stage 0
// OWN: } {arenas = {{.*}}, onednn = ""

// CHECK: rt.program @stage0 stage 0
// CHECK: } {arenas = {{.*}}, onednn = "{{[0-9]+\.[0-9]+\.[0-9]+ \(.+\)}}"
// CHECK: rt.program @stage1 stage 1
// CHECK: } {arenas = {{.*}}, onednn = "{{[0-9]+\.[0-9]+\.[0-9]+ \(.+\)}}"
