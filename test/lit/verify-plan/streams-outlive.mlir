// Work may outlive the fragment that issued it: a collective of forward of one
// microbatch runs beside forward of the next, and backward waits for it.
// RUN: sed -f %S/Inputs/outlive.sed %S/Inputs/grid.mlir > %t.mlir
// RUN: mtc-opt --verify-plan %t.mlir -o /dev/null

// backward waits for nothing: that of microbatch 1 reads what may not be there
// RUN: sed -e '/rt.wait event 3/d' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: 'rt.launch' expected an event between this op on stream 0 and the earlier one on stream 1 that touches the same bytes, found none: they can run in either order
// EARLY: note: the earlier op, in "stage0_fwd" of microbatch 1

// both microbatches in one slot
// RUN: sed -e 's/saved = 1/saved = 0/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SLOT
// SLOT: 'rt.zero' expected an event between this op on stream 0 and the earlier one on stream 1 that touches the same bytes, found none: they can run in either order
// SLOT: note: the earlier op, in "stage0_fwd" of microbatch 0

// inputs loaded into the bytes that a collective works on
// RUN: sed -e 's/saved = 1/saved = 0/' -e 's/rt.input_slot "ids" at 0 \(.*\)"train"/rt.input_slot "ids" at 320 \1"train"/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=LOAD
// LOAD: 'rt.step' expected an event between this op on stream 0 and the earlier one on stream 1 that touches the same bytes

// a dump of what a collective works on
// RUN: sed -e '/rt.timeline @train/i rt.export_slot "sum" of @stage0_fwd activations at 320 local tensor<1x16x4xf32>' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=DUMP
// DUMP: 'rt.export_slot' expected an event between this op on stream 0 and the earlier one on stream 1 that touches the same bytes

// collectives of two fragments on two streams
// RUN: sed -e '/func.func @stage0_bwd/,/return/{/rt.wait event 3/d}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: 'rt.collective' expected an event between this op on stream 0 and the earlier one on stream 1, because all ranks must issue collectives in one order
// TWO: note: the earlier op, in "stage0_fwd" of microbatch 1

// an event that only a later row records
// RUN: sed -e '/func.func @stage0_fwd/a rt.wait event 9 stream 0' -e '/func.func @stage0_bwd/a rt.record event 9 stream 0' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=LATER
// LATER: 'rt.wait' expected event 9 to be recorded before the wait, in this fragment or by an earlier row, found no record: it would wait for the step before, or for ever
// LATER-NOT: error:

// an entry that ends with a collective in flight
// RUN: sed -e '/func.func @stage0_eval/,/return/{/rt.collective all_reduce/s/"embed.tokens"/&, stream = 1 : i64/;s/.*rt.collective all_reduce.*/rt.record event 4 stream 0\nrt.wait event 4 stream 1\n&/}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=END
// END: 'rt.timeline' expected "eval" to end with nothing in flight, found that stream 0 has not waited for the last op of stream 1
// END: note: the last op

// a transfer of bytes that a collective works on
// RUN: mtc compile gpt2-nano --tp 2 --pp 2 --mbs 2 --gbs 8 --target cuda:sm_90 --compile-to=plan-memory -o %t.pp.mlir
// RUN: sed -e '1,/rt.tensor_form/{/func.func @stage0_fwd/,/return/s/^ *return.*/rt.record event 90 stream 0\nrt.wait event 90 stream 1\n%%sent = rt.view activations at 16384 slot of send_activation stride 16384 : memref<2x32x64xf32>\nrt.collective all_reduce %%sent group tp count 4096 {serves = "more", stream = 1 : i64} : (memref<2x32x64xf32>) -> ()\n&/}' %t.pp.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SEND
// SEND: 'rt.exchange' expected an event between this op on stream 0 and the earlier one on stream 1 that touches the same bytes
