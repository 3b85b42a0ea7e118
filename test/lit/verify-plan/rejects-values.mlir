// What reads find. One fault each, planted in a plan that is accepted.

// two live values on the same bytes
// RUN: sed -e '/func.func @stage0_bwd/,/return/{/%8 = /s/at 256/at 128/;/%10 = /s/at 256/at 128/}' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TWO-LIVE-VALUES-ON-THE-SAME-BYTES
// TWO-LIVE-VALUES-ON-THE-SAME-BYTES-DAG: expected operands that share no bytes where one is written, found operands 0 (bytes 0 to 256 of the arena workspace) and 2 (bytes 128 to 384 of the arena workspace)
// TWO-LIVE-VALUES-ON-THE-SAME-BYTES-DAG:  to hold one value of type 'memref<16x4xf32>', found another value over bytes 128 to 384 of the arena workspace

// a value read before it is made
// RUN: sed -e '/func.func @stage1_eval/,/return/{/%4 = /s/at 0/at 512/}' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-VALUE-READ-BEFORE-IT-IS-MADE
// A-VALUE-READ-BEFORE-IT-IS-MADE: expected bytes 512 to 768 of the arena workspace to hold one value of type 'memref<16x4xf32>', found bytes that nothing in "stage1_eval" wrote before

// a value read as a larger one
// RUN: sed -e '/func.func @stage0_eval/,/return/{/%3 = /s/workspace at 0/workspace at 64/}' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-VALUE-READ-AS-A-LARGER-ONE
// A-VALUE-READ-AS-A-LARGER-ONE: , found another value over bytes 64 to 320 of the arena workspace, and bytes never written

// an export that was overwritten
// RUN: sed -e '/export_slot/s/at 256/at 0/' -e '/func.func @stage1_eval/,/return/{/%6 = /s/at 256/at 128/;/%7 = /s/at 256/at 128/}' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AN-EXPORT-THAT-WAS-OVERWRITTEN
// AN-EXPORT-THAT-WAS-OVERWRITTEN: 'rt.export_slot' expected bytes 0 to 256 of the arena workspace to hold one value, found another value over

// the slot of another microbatch
// RUN: sed -e 's/\(@stage0_bwd microbatch 1.*\)saved = 1/\1saved = 0/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=THE-SLOT-OF-ANOTHER-MICROBATCH
// THE-SLOT-OF-ANOTHER-MICROBATCH-DAG: expected "stage0_bwd" of microbatch 1 to find its value in slot 0 of pool saved
// THE-SLOT-OF-ANOTHER-MICROBATCH-DAG: found what was written for microbatch 0

// a slot that is used too early again
// RUN: sed -e '/@stage0 stage/,/@stage1 stage/s/microbatch 1 slots <send_activation = 0, saved = 1>/microbatch 1 slots <send_activation = 0, saved = 0>/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-SLOT-THAT-IS-USED-TOO-EARLY-AGAIN
// A-SLOT-THAT-IS-USED-TOO-EARLY-AGAIN-DAG: expected "stage0_bwd" of microbatch 0 to find its value in slot 0 of pool saved
// A-SLOT-THAT-IS-USED-TOO-EARLY-AGAIN-DAG: found what was written for microbatch 1

// inputs that were not loaded
// RUN: sed -e '/@stage1_apply$/,$s/.*load microbatch 1.*//' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=INPUTS-THAT-WERE-NOT-LOADED
// INPUTS-THAT-WERE-NOT-LOADED-DAG: expected "stage1_eval" of microbatch 1 to find its value in slot 0 of pool saved
// INPUTS-THAT-WERE-NOT-LOADED-DAG: found what was loaded for microbatch 0

// a send under another name
// RUN: sed -e 's/tag = <value = activation, microbatch = 1, virtual_stage = 0>, /tag = <value = activation, microbatch = 7, virtual_stage = 0>, /' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-SEND-UNDER-ANOTHER-NAME
// A-SEND-UNDER-ANOTHER-NAME: expected to send the activation of microbatch 7 from virtual stage 0, which lies in pool send_activation, found at byte 0 what was written for microbatch 1

// a transfer that is too short on both sides
// RUN: sed -e 's/tag = <value = activation, microbatch = 1, virtual_stage = 0>, offset = 0, bytes = 256/tag = <value = activation, microbatch = 1, virtual_stage = 0>, offset = 0, bytes = 128/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-TRANSFER-THAT-IS-TOO-SHORT-ON-BOTH-SIDES
// A-TRANSFER-THAT-IS-TOO-SHORT-ON-BOTH-SIDES: expected a transfer of all 256 bytes of the value, found 128

// a row without the slot that it needs
// RUN: sed -e 's/\(@stage0_bwd microbatch 1 slots <\)recv_gradient = 0, /\1/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-ROW-WITHOUT-THE-SLOT-THAT-IT-NEEDS
// A-ROW-WITHOUT-THE-SLOT-THAT-IT-NEEDS: expected a slot of pool recv_gradient, which this row uses, found none

// an export of a part of a value
// RUN: sed -e '/export_slot/s/local tensor<16x4/local tensor<8x4/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AN-EXPORT-OF-A-PART
// AN-EXPORT-OF-A-PART: expected bytes 256 to 384 of the arena workspace to hold one value, found another value over bytes 256 to 512

// inputs that no row loads
// RUN: sed -e '/@stage1_apply$/,${/load microbatch 0/d}' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=INPUTS-THAT-NO-ROW-LOADS
// INPUTS-THAT-NO-ROW-LOADS: expected "stage1_eval" of microbatch 0 to find its value in slot 0 of pool saved (bytes 512 to 576), found nothing written in this step

// a receive that begins too late
// RUN: sed -e '/@stage1_apply$/,$s/tag = <value = activation, microbatch = 0, virtual_stage = 0>, offset = 0/tag = <value = activation, microbatch = 0, virtual_stage = 0>, offset = 128/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-RECEIVE-THAT-BEGINS-TOO-LATE
// A-RECEIVE-THAT-BEGINS-TOO-LATE: expected "stage1_eval" of microbatch 0 to find its value in slot 0 of pool recv_activation (bytes 0 to 256), found bytes never written, and what was received for microbatch 0 at bytes 128 to 384

// a receive over half of another
// RUN: sed -e '/@stage1_apply$/,$s/tag = <value = activation, microbatch = 1, virtual_stage = 0>, offset = 0/tag = <value = activation, microbatch = 1, virtual_stage = 0>, offset = 128/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-RECEIVE-OVER-HALF-OF-ANOTHER
// A-RECEIVE-OVER-HALF-OF-ANOTHER: expected "stage1_eval" of microbatch 1 to find its value in slot 0 of pool recv_activation (bytes 0 to 256), found several values, one what was received for microbatch

// a value that is partly gone when it is sent
// RUN: sed -e '/@stage0 stage/,/@stage1 stage/s/.*send = true.*tag = <value = activation, microbatch = 0, virtual_stage = 0>,.*/      rt.exchange [#rt.transfer<send = false, peer = 1, tag = <value = gradient, microbatch = 0, virtual_stage = 1>, offset = 128, bytes = 64>]\n&/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-VALUE-THAT-IS-PARTLY-GONE
// A-VALUE-THAT-IS-PARTLY-GONE: expected to send a whole value, found that another was written over a part of bytes 0 to 256

// a gradient under another name
// RUN: sed -e 's/tag = <value = gradient, microbatch = 1, virtual_stage = 1>/tag = <value = gradient, microbatch = 7, virtual_stage = 1>/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-GRADIENT-UNDER-ANOTHER-NAME
// A-GRADIENT-UNDER-ANOTHER-NAME: expected to send the gradient of microbatch 7 from virtual stage 1, which lies in pool send_gradient, found at byte 256 what was written for microbatch 1

// a collective behind a reader of what an earlier fragment left
// RUN: sed -e '/func.func @stage0_bwd/,/return/s/.*rt.launch @scale_grad(%1, %2.*/&\n      rt.collective all_reduce %2 group tp count 64 : (memref<16x4xf32>) -> ()/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=BEHIND-A-READER-OF-A-SLOT
// BEHIND-A-READER-OF-A-SLOT: expected nobody to read the operand of a collective before it, found bytes 64 to 320 of the arena activations, pool saved read
