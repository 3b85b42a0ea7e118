// What continues a product of a cpu runs while the product does. One fault each, planted in a plan
// that is accepted.
// RUN: mtc compile gpt2-nano --mbs 2 --gbs 2 --isa x86-64-v3 --gemm-epilogues pointwise --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt --verify-plan %t.mlir | FileCheck %s --check-prefix=PLAN

// PLAN: rt.kernel @kernel5 rows 64 cols 192 args 0 {{.*}} tiled {
// PLAN-LABEL: func.func @stage0_fwd
// PLAN: rt.gemm {{.*}} n 192 k 64 by own
// PLAN: rt.launch @kernel5({{.*}} continues
// PLAN: rt.gemm {{.*}} n 256 k 64 by own
// PLAN: rt.launch @kernel7({{.*}} continues
// random words are drawn for whole rows
// PLAN: rt.launch {{.*}} writes [3] {from = "broadcast+add+dropout+add"

// its result over what the product still reads
// RUN: sed -e '/^    func.func @stage0_fwd/,/return/s/%48 = rt.view activations at 199168 /%48 = rt.view activations at 117248 /' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OVER
// OVER: 'rt.launch' expected to share no bytes with the product that it continues, but the elements of c, each of which it reads for its own, found bytes 117248 to 182784 of the arena activations

// over its scratch
// RUN: sed -e '/^    func.func @stage0_fwd/,/return/s/%48 = rt.view activations at 199168 .* : memref/%48 = rt.view workspace at 0 : memref/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SCRATCH
// SCRATCH: 'rt.launch' expected to share no bytes with the product that it continues, {{.*}} found bytes 0 to 65536 of the arena workspace

// a bias that the product makes
// RUN: sed -e '/^    func.func @stage0_fwd/,/return/s/%46 = rt.view params at 666112 :/%46 = rt.view activations at 133632 slot of saved stride 1156608 :/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=BIAS
// BIAS: 'rt.launch' expected to share no bytes with the product that it continues, {{.*}} found bytes 133632 to 134656 of the arena activations

// another value in place of the product
// RUN: sed -e '/^    func.func @stage0_fwd/,/return/s/%47 = rt.view activations at 133632 /%47 = rt.view activations at 300000 /' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ELSE
// ELSE: 'rt.launch' expected to read the product that it continues, found it does not

// other blocks
// RUN: sed -e 's/rt.kernel @kernel7 rows 64 cols 256/rt.kernel @kernel7 rows 256 cols 64/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: 'rt.launch' expected a kernel of 64 rows and 256 columns, as the product has that it continues, found 256 and 64

// one that comes twice, so that the second one continues the first
// RUN: sed -e '/^    func.func @stage0_fwd/,/return/{' -e '/rt.launch @kernel7(/p' -e '}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: 'rt.launch' expected in front of a launch that continues it a product by own, to which nothing is added, found another op

// a product of the library
// RUN: sed -e '/^    func.func @stage0_fwd/,/return/s/n 256 k 64 by own/n 256 k 64/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=LIBRARY
// LIBRARY: 'rt.launch' expected in front of a launch that continues it a product by own, to which nothing is added, found another op

// a kernel for blocks that is called for all, and the other way
// RUN: sed -e '/^    func.func @stage0_fwd/,/return/s/ continues {/ {/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: 'rt.launch' expected a launch that continues a product of a tiled kernel, and no other of one, found a tiled kernel "kernel5"
// RUN: sed -e '/^    rt.kernel/s/ tiled {/ {/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=PLAIN
// PLAIN: 'rt.launch' expected a launch that continues a product of a tiled kernel, and no other of one, found another kernel "kernel5"
