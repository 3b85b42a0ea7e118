// Tests that code of kernels is made while verify-plan looks at the plan, where there are two
// threads, and that programs are those of one.
// RUN: rm -rf %t.1 %t.2
// RUN: mtc compile gpt2-nano --gbs 2 -j 1 --mlir-timing -o %t.1 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: mtc compile gpt2-nano --gbs 2 -j 2 --mlir-timing -o %t.2 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: diff -r %t.1/programs %t.2/programs
// ONE-NOT: kernels, beside verify-plan
// TWO: kernels, beside verify-plan
// TWO-NEXT: codegen-kernels
