// Products by kernels of our own: the plan names them, and has their scratch. One fault each, planted in a plan that is accepted.
// RUN: mtc compile gpt2-nano --mbs 2 --gbs 2 --gemm own --threads 2 --isa x86-64-v3 --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt --verify-plan %t.mlir | FileCheck %s --check-prefix=PLAN
// PLAN: target = <device = "cpu", isa = "x86-64-v3", threads = 2, gemm = own>
// PLAN-LABEL: func.func @stage0_fwd
// PLAN: rt.gemm {{.*}} scratch {{.*}} m 64 n 192 k 64 by own {
// PLAN-NOT: rt.gemm {{.*}} k {{[0-9]+}} {
// PLAN-LABEL: func.func @stage0_bwd

// scratch for one thread only
// RUN: sed -e 's/threads = 2, gemm = own/threads = 3, gemm = own/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SCRATCH
// SCRATCH: 'rt.gemm' {{.*}}expected at least {{[0-9]+}} bytes of scratch, as its kernel needs, found {{[0-9]+}}

// another kernel than in the tensor form, which makes other bits
// RUN: sed -e '/^    func.func @stage0_fwd/,/return/s/ by *own / /' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: expected "stage0_fwd" to leave

// oneDNN's inner_product has its weights in the scratch: 64 x 192 of f32 at least
// RUN: %if avx512 %{ mtc compile gpt2-nano --mbs 2 --gbs 2 --gemm own --compile-to=count-gradients \
// RUN:   | sed -e 's/ by own {\(.*\)ta = false/ by inner_product {\1ta = false/' > %t.inner.mlir %}
// RUN: %if avx512 %{ mtc-opt --assign-streams --plan-memory --verify-plan %t.inner.mlir -o %t.inner.plan %}
// RUN: %if avx512 %{ FileCheck %s --check-prefix=INNER --input-file %t.inner.plan %}
// INNER-LABEL: func.func @stage0_fwd
// INNER: rt.gemm {{.*}} scratch %[[S:[^ ]*]] m 64 n 192 k 64 by inner_product {
// INNER: onednn = "{{[0-9]+}}.
// RUN: %if avx512 %{ sed -e '/^    func.func @stage0_fwd/,/return/s/ by inner_product / /' %t.inner.plan \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OTHER %}
// RUN: %if avx512 %{ mtc compile gpt2-nano --mbs 2 --gbs 2 --gemm own --compile-to=plan-memory | sed -e '/func.func @stage0_fwd/,/return/s/ by own / by inner_product /' \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SCRATCH %}
// RUN: %if avx512 %{ sed -e 's/isa = "[a-z0-9-]*"/isa = "x86-64-v3"/' %t.inner.plan \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=LACKS %}
// LACKS: 'rt.gemm' {{.*}}expected a product that its kernel can plan under x86-64-v3 with 1 threads; it rejected

// of a GPU
// RUN: mtc compile gpt2-nano --mbs 2 --gbs 2 --gemm own --isa x86-64-v3 --compile-to=lower-calls \
// RUN:   | sed -e 's/device = "cpu"/device = "cuda:sm_90"/' -e 's/, gemm = own//' \
// RUN:   | not mtc-opt --shard-gradients --overlap-gradients --overlap-parameters --store-gradients --pack-weights --count-gradients --assign-streams --plan-memory 2>&1 | FileCheck %s --check-prefix=GPU
// GPU: 'rt.gemm' op expected a product of a GPU without a kernel, as its library computes it; found 'own'

// oneDNN's need no name
// RUN: %if avx512 %{ mtc compile gpt2-nano --mbs 2 --gbs 2 --gemm onednn --compile-to=plan-memory | FileCheck %s --check-prefix=ONEDNN %}
// ONEDNN: threads = 1>
// ONEDNN-NOT: by own

// if nothing is said, all by kernels of our own
// RUN: mtc compile gpt2-nano --mbs 2 --gbs 2 --isa x86-64-v3 --compile-to=plan-memory | FileCheck %s --check-prefix=DEFAULT
// DEFAULT: threads = 1, gemm = own>
// DEFAULT-NOT: rt.gemm {{.*}} k {{[0-9]+}} {
// DEFAULT: rt.gemm {{.*}} by own {{{.*}}ta = true
