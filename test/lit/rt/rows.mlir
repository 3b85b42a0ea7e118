// Rows of a timeline, which are data: attributes that they do not know ride along, in the
// text, in the generic form and in bytecode. One behind a row that it knows is its own, and
// a location is that of the timeline.
//
// RUN: mtc-opt %s | FileCheck %s
// RUN: mtc-opt %s --mlir-print-op-generic | mtc-opt | FileCheck %s
// RUN: mtc-opt %s --emit-bytecode | mtc-opt | FileCheck %s
// RUN: sed -e 's/{note = "first"}/{kind = 1}/' %s | not mtc-opt 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: sed -e 's/step load microbatch 0/step walk microbatch 0/' %s | not mtc-opt 2>&1 | FileCheck %s --check-prefix=WALK
// RUN: sed -e 's/slots <saved = 0> {/slots {/' %s | not mtc-opt 2>&1 | FileCheck %s --check-prefix=SLOTS
// RUN: sed -e 's/^ *rt.step run @stage0_apply/    rt.step run {fragment = @stage0_apply} loc("row")/' %s | mtc-opt --mlir-print-debuginfo | FileCheck %s
// RUN: echo '"rt.timeline"() <{rows = 7, sym_name = "train"}> : () -> ()' | not mtc-opt 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: echo '"rt.timeline"() <{rows = "rt.walk", sym_name = "train"}> : () -> ()' | not mtc-opt 2>&1 | FileCheck %s --check-prefix=OTHERS
// RUN: sed -e 's/{note = "first"}/{pipe.fragment = 7}/' %s | not mtc-opt 2>&1 | FileCheck %s --check-prefix=FURTHER
// RUN: sed -e 's/slots <saved = 0> {note = "first"}/{slots = 7}/' %s | not mtc-opt 2>&1 | FileCheck %s --check-prefix=TYPE
// KIND: op attribute 'kind' failed to satisfy constraint: row of a timeline
// WALK: expected
// SLOTS: expected '<'
// TEXT: expected rows as a string of their text, found others
// OTHERS: 'rt.walk' expected rows that are rt.step or rt.exchange, found another op
// FURTHER: expected #pipe.fragment with a stage and a chunk, counted from 0, found 7
// TYPE: 'rt.step' op attribute 'slots' failed to satisfy constraint

// CHECK: rt.timeline @train {
// CHECK-NEXT: rt.step load microbatch 0 slots <saved = 0> {note = "first"}
// CHECK-NEXT: rt.step run @stage0_fwd microbatch 0 slots <send_activation = 0, saved = 0>
// CHECK-NEXT: rt.exchange [#rt.transfer<send = true, peer = 1, tag = <value = activation, microbatch = 0, virtual_stage = 0>, offset = 0, bytes = 2048>] {note = 7 : i64}
// CHECK-NEXT: rt.step run @stage0_apply
// CHECK-NEXT: }
rt.program @stage0 stage 0 {
  rt.timeline @train {
    rt.step load microbatch 0 slots <saved = 0> {note = "first"}
    rt.step run @stage0_fwd microbatch 0 slots <send_activation = 0, saved = 0>
    rt.exchange [#rt.transfer<send = true, peer = 1, tag = <value = activation, microbatch = 0, virtual_stage = 0>, offset = 0, bytes = 2048>] {note = 7 : i64}
    rt.step run @stage0_apply
  }
}
