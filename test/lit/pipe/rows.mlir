// Rows of a timeline, which are data: attributes that they do not know ride along, in the
// text, in the generic form and in bytecode.
//
// RUN: mtc-opt %s | FileCheck %s
// RUN: mtc-opt %s --mlir-print-op-generic | mtc-opt | FileCheck %s
// RUN: mtc-opt %s --emit-bytecode | mtc-opt | FileCheck %s
// RUN: sed -e 's/pipe.exchange \[/pipe.crossing [/' %s | not mtc-opt 2>&1 | FileCheck %s --check-prefix=OTHERS
// RUN: sed -e 's/pipe.exchange \[.*/pipe.exchange [7]/' %s | not mtc-opt 2>&1 | FileCheck %s --check-prefix=SEVEN
// RUN: sed -e 's/{note = "first"}/{pipe.fragment = 7}/' %s | not mtc-opt 2>&1 | FileCheck %s --check-prefix=FURTHER
// OTHERS: 'pipe.crossing' expected rows that are pipe.slot or pipe.exchange, found another op
// SEVEN: 'pipe.exchange' op attribute 'transfers' failed to satisfy constraint: transfers
// FURTHER: expected #pipe.fragment with a stage and a chunk, counted from 0, found 7

// CHECK: pipe.timeline @train_stage0 entry "train" stage 0 pools <saved = 1> {
// CHECK-NEXT: pipe.slot "F" microbatch 0 chunk 0 slots <saved = 0> {note = "first"}
// CHECK-NEXT: pipe.slot "B" microbatch 0 chunk 0 form recompute slots <>
// CHECK-NEXT: pipe.exchange [#pipe.transfer<send = true, value = activation, microbatch = 0, virtual_stage = 0, peer = 1, slot = 0>]
// CHECK-NEXT: }
pipe.timeline @train_stage0 entry "train" stage 0 pools <saved = 1> {
  pipe.slot "F" microbatch 0 chunk 0 slots <saved = 0> {note = "first"}
  pipe.slot "B" microbatch 0 chunk 0 form recompute slots <>
  pipe.exchange [#pipe.transfer<send = true, value = activation, microbatch = 0, virtual_stage = 0, peer = 1, slot = 0>]
}
