// Streams and events of a plan for GPUs: faults planted in a compiled plan.
// RUN: mtc compile gpt2-nano --tp 2 --dp 2 --zero 1 --mbs 2 --gbs 8 --target cuda:sm_90 --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt --verify-plan %t.mlir -o /dev/null

// a sum that is read before it is there
// RUN: sed -e '/func.func @stage0_fwd/,/return/{/rt.wait event 1 stream 0/d}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=READ-EARLY
// READ-EARLY: error: loc(fused["embed.positions", "embed.dropout"]): 'rt.launch' expected an event between this op on stream 0 and the earlier one on stream 1 that touches the same bytes, found none: they can run in either order
// READ-EARLY: note: loc("embed.tokens"): the earlier op

// a collective that starts before its operand is there
// RUN: sed -e '/func.func @stage0_bwd/,/return/{/rt.wait event 2 stream 1/d}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=START-EARLY
// START-EARLY: 'rt.collective' expected an event between this op on stream 1 and the earlier one on stream 0

// the norm's sum over all ranks before this rank's own sum
// RUN: sed -e '/func.func @stage0_reduce/,/return/{/rt.wait event 2 stream 1/d}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NORM
// NORM: 'rt.collective' expected an event between this op on stream 1 and the earlier one on stream 0 that touches the same bytes
// NORM-NOT: error:

// gradients reduced while the last backward still adds to them
// RUN: sed -e '/func.func @stage0_reduce/,/return/{/rt.wait event 0 stream 1/d}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=BACKWARD
// BACKWARD: 'rt.collective' expected stream 1 to wait for stream 0 first, which ran what came before this fragment, found no such wait

// collectives of one communicator on two streams
// RUN: sed -e '/func.func @stage0_reduce/,/return/{/reduce_scatter %2 /s/stream = 1/stream = 0/}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: 'rt.collective' expected an event between this op on stream 0 and the earlier one on stream 1, because all ranks must issue collectives in one order, found none: they can run in either order

// parameters still being gathered at the end of the step
// RUN: sed -e '/func.func @stage0_apply/,/return/{/rt.wait event [0-9]* stream 0/d}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=IN-FLIGHT
// IN-FLIGHT: 'rt.timeline' expected "train" to end with nothing in flight, found that stream 0 has not waited for the last op of stream 1

// an event that nobody records
// RUN: sed -e '/func.func @stage0_fwd/,/return/{s/rt.record event 1 /rt.record event 99 /}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NOBODY
// NOBODY: 'rt.wait' expected event 1 to be recorded before the wait, in this fragment or by an earlier row, found no record: it would wait for the step before, or for ever

// an event recorded twice
// RUN: sed -e '/func.func @stage0_fwd/,/return/{s/rt.record event 1 /rt.record event 0 /}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: 'rt.record' expected event 0 to be recorded once in a fragment, found it twice

// streams on a target that has one
// RUN: sed -e 's/device = "cuda:sm_90"/device = "cpu"/' -e 's/, epilogues = \["bias", "gelu"\]//' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: 'rt.record' expected no events on a target with one stream, found one
// ONE: 'rt.collective' expected a stream in [0, 1) of the target, found 1

// an event on a target that has one stream
// RUN: mtc compile gpt2-nano --tp 2 --mbs 2 --gbs 8 --compile-to=plan-memory -o %t.cpu.mlir
// RUN: sed -e '/func.func @stage0_fwd/a rt.wait event 0 stream 0' %t.cpu.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=EVENT
// EVENT: 'rt.wait' expected no events on a target with one stream, found one

// a fragment whose record of collectives is gone
// RUN: sed -e '/func.func @stage0_eval/s/rt.collectives = /other = /' %t.cpu.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=RECORD
// RECORD: 'func.func' expected the attribute rt.collectives (written by form-clusters), found none

// a collective that serves another weight
// RUN: sed -e '/func.func @stage0_fwd/,/return/s/serves = "layers.0.mlp.down.weight", //' %t.cpu.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SERVES
// SERVES: collectives that the shardings need (rt.collectives), found 12; the first that is missing or changed is {{.*}}serves = "layers.0.mlp.down.weight"

// an op of which nobody knows what it touches
// RUN: sed -e '/func.func @stage0_fwd/a func.call @stage0_reduce() : () -> ()' %t.cpu.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: 'func.call' expected ops of fragments, of which it is known what they touch, found another
