// Hand-written plans and plans of the compiler are accepted.
// RUN: mtc-opt --verify-plan %S/Inputs/pipeline.mlir -o /dev/null
// RUN: mtc-opt --verify-plan %S/Inputs/grid.mlir -o /dev/null
// RUN: mtc compile gpt2-nano --tp 1 --pp 2 --dp 1 --mbs 2 --gbs 8 --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt --verify-plan %t.mlir -o /dev/null
// RUN: mtc compile gpt2-nano --tp 2 --pp 2 --dp 2 --zero 1 --mbs 2 --gbs 16 --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt --verify-plan %t.mlir -o /dev/null
// RUN: mtc compile gpt2-nano --tp 1 --pp 1 --dp 4 --mbs 2 --gbs 16 --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt --verify-plan %t.mlir -o /dev/null
// RUN: mtc compile gpt2-nano-untied --tp 4 --pp 4 --dp 1 --mbs 1 --gbs 8 --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt --verify-plan %t.mlir -o /dev/null
// Two streams: collectives beside products.
// RUN: mtc compile gpt2-nano --tp 2 --pp 2 --dp 2 --zero 1 --dtype bf16 --mbs 2 --gbs 16 --target cuda:sm_90 --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt --verify-plan %t.mlir -o /dev/null
