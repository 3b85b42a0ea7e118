// What products of a GPU do before they round. One fault each, planted in a plan that is accepted.
// RUN: mtc compile gpt2-nano --mbs 2 --gbs 2 --dtype bf16 --target cuda:sm_90 --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt --verify-plan %t.mlir | FileCheck %s --check-prefix=PLAN

// q, k and v with a bias, and the GELU of the MLP with what it is of, which nothing else saves
// PLAN-LABEL: func.func @stage0_fwd
// PLAN: rt.gemm {{.*}} bias {{.*}} scratch {{.*}} m 64 n 192 k 64 {
// PLAN: rt.gemm {{.*}} bias {{.*}} aux {{.*}} scratch {{.*}} m 64 n 256 k 64 gelu {
// PLAN-LABEL: func.func @stage0_bwd
// PLAN-NOT: rt.gemm {{.*}} bias
// PLAN-NOT: "broadcast+add"
// PLAN-LABEL: func.func @stage0_eval
// PLAN: rt.gemm {{.*}} bias {{.*}} into {{%[0-9]+}} scratch {{.*}} m 64 n 256 k 64 gelu {

// a GELU that is left out
// RUN: sed -e '/^    func.func @stage0_eval/,/return/s/ gelu {/ {/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=WITHOUT-GELU
// WITHOUT-GELU: expected "stage0_eval" to leave in the loss what its tensor form does, found what 'rt.gemm' makes in place of what 'rt.gemm' makes

// what GELU is of over the GELU
// RUN: sed -e '/^    func.func @stage0_fwd/,/return/s/into %42 aux %43/into %42 aux %42/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OVER
// OVER: 'rt.gemm' expected operands that share no bytes where one is written, found operands 3 (bytes
// OVER: 'rt.step' expected "stage0_bwd" of microbatch 0 to find its value in slot 0 of pool saved

// each in the other's place
// RUN: sed -e '/^    func.func @stage0_fwd/,/return/s/into %42 aux %43/into %43 aux %42/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SWAPPED
// SWAPPED: expected "stage0_fwd" to leave in a slot what its tensor form saves as 13, found it nowhere there

// the bias of another layer
// RUN: sed -e '/^    func.func @stage0_fwd/,/return/s/params at 374912 :/params at 274944 :/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=BIAS
// BIAS: found parameter "layers.1.attn.qkv.bias" {{.*}} in place of parameter "layers.0.attn.qkv.bias"

// of a cpu
// RUN: mtc compile gpt2-nano --mbs 2 --gbs 2 --dtype bf16 --target cuda:sm_90 --compile-to=lower-calls \
// RUN:   | sed -e 's/device = "cuda:sm_90"/device = "cpu"/' -e 's/, epilogues = \["bias", "gelu"\]//' \
// RUN:   | not mtc-opt --shard-gradients --overlap-gradients --overlap-parameters --store-gradients --pack-weights --count-gradients --assign-streams --plan-memory 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: 'rt.gemm' op expected a product without bias and gelu on a cpu, whose products have no epilogue; it has one

// rows of what GELU is of that begin where cuBLASLt's kernels fault
// RUN: mtc compile gpt2-nano --set model.ffn=20 --mbs 2 --gbs 2 --dtype bf16 --target cuda:sm_90 --compile-to=assign-streams -o %t-odd.mlir
// RUN: sed -e 's/^\( *%[0-9]*\) = \(rt.gemm .* into \(%[0-9]*\)\) m \([0-9]*\) n 20 k 64 gelu \({.*}\) : (\(.*\)) -> \(tensor<2x32x20xbf16>\)/\1:2 = \2 aux \3 m \4 n 20 k 64 gelu \5 : (\6, \7) -> (\7, \7)/' %t-odd.mlir \
// RUN:   | not mtc-opt --plan-memory 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: 'rt.gemm' op expected columns of aux in multiples of 8, as cuBLASLt's kernels read and write them, found 20
