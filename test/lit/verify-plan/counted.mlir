// Gradients that products count for the norm: faults planted in the plan of a compiled model.
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --mbs 2 --gbs 8 --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt --verify-plan %t.mlir -o /dev/null

// counted by nobody
// RUN: sed -e '0,/counts_last, /s///' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: expected all of "layers.3.mlp.down.weight" to be in the norm

// before others add
// RUN: sed -e '0,/rt.gemm.*counts_last/{s/^.*rt.gemm.*counts_last.*$/&\n&/;s/\n\(.*\)counts_last, /\n\1/}' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: expected gradients to be counted for the norm behind all that microbatches add to them, found "stage0_bwd" of microbatch 3 to touch them later

// and once more
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/s/start 0 count 192/start 0 count 193/' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: expected whole gradients of owned parameters in the norm, once, found elements 192 to 193 of {{.*}} to be in it already

// reset behind what products have counted, or not at all
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/{/rt.norm reset/d;s/^\( *\)rt.norm check/\1rt.norm reset\n&/}' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=RESET
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/{/rt.norm reset/d}' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=RESET
// RESET: expected the norm in the order reset, accumulate and check, norm_reduce, finish, found a product that counts at another time
// in front of the end
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/{s/^\( *\)rt.norm finish.*/\1rt.norm reset\n&/}' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: expected the norm in the order accumulate and check, norm_reduce, finish, reset, found reset at another time

// what is no gradient
// RUN: sed -e '/^    func.func @stage0_fwd/,/return/s/by own {beta = false,/by own {beta = true, counts_last,/' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: expected the last microbatch to count (counts_last) only the gradient of a parameter, in a backward, found other bytes in "stage0_fwd"

// a gradient that is yet to be summed over ranks
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --dp 2 --mbs 2 --gbs 8 --compile-to=plan-memory -o %t-dp.mlir
// RUN: mtc-opt --verify-plan %t-dp.mlir -o /dev/null
// RUN: sed -e '0,/beta = true, stores_first/s//beta = true, counts_last, stores_first/' %t-dp.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=PARTIAL
// PARTIAL: expected whole gradients of owned parameters in the norm, once, found

// A GPU's products do not.
// RUN: mtc compile gpt2-nano --target cuda:sm_90 --mbs 2 --gbs 8 --compile-to=plan-memory -o %t-gpu.mlir
// RUN: sed -e '0,/{beta = true/s//by own {beta = true, counts_last/' %t-gpu.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GPU
// GPU: expected a product of a GPU without a kernel

// The norm is the update's: what a microbatch or an evaluation does with it a step would keep.
// RUN: sed -e '/^ *func.func @stage0_bwd/,/^ *return/s/^\( *\)return/\1rt.norm reset\n&/' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=INSIDE
// RUN: sed -e '/^ *func.func @stage0_bwd/,/^ *return/s/^\( *\)return/\1rt.collective norm_reduce group all count 1 : () -> ()\n&/' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=INSIDE
// INSIDE: expected steps of the norm only in the update, found one in "stage0_bwd"
// RUN: sed -e '/^ *func.func @stage0_eval/,/^ *return/s/^\( *\)return/\1rt.norm finish\n&/' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=EVALUATED
// EVALUATED: expected steps of the norm only in the update, found one in "stage0_eval"
