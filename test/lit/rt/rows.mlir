// Rows of a timeline, whose text is written and read by hand: attributes that the
// ops do not know ride along, in the text, in the generic form and in bytecode.
//
// RUN: mtc-opt %s | FileCheck %s
// RUN: mtc-opt %s --mlir-print-op-generic | mtc-opt | FileCheck %s
// RUN: mtc-opt %s --emit-bytecode | mtc-opt | FileCheck %s
// RUN: sed -e 's/{note = "first"}/{kind = 1}/' %s | not mtc-opt 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: sed -e 's/step load microbatch 0/step walk microbatch 0/' %s | not mtc-opt 2>&1 | FileCheck %s --check-prefix=WALK
// RUN: sed -e 's/slots <saved = 0> {/slots {/' %s | not mtc-opt 2>&1 | FileCheck %s --check-prefix=SLOTS
// KIND: op attribute 'kind' failed to satisfy constraint: row of a timeline
// WALK: expected
// SLOTS: expected '<'

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
