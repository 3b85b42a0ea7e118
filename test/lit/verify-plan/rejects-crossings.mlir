// A value that goes from the first of four stages to the last, and its gradient back.
// Faults planted in a compiled plan.
// RUN: mtc compile gpt2-nano --pp 4 --overlap none --mbs 2 --gbs 8 --compile-to=import \
// RUN:   | sed -e 's/ loc([^()]*)//g' -e 's/^\( *\)\(%.*tfm.norm layer_norm \)\(%[0-9]*\)\(, .*tfm.layer = 5.*\)/\1%%sum = tfm.add \3, %%3 {tfm.id = 900 : i64, tfm.layer = 5 : i64, tfm.phase = "forward"} : tensor<2x32x64xf32>\n\1\2%%sum\4/' > %t.import.mlir
// RUN: mtc compile %t.import.mlir --compile-to=plan-memory -o %t.loc.mlir
// RUN: sed -e 's/ loc(.*//' %t.loc.mlir > %t.mlir
// RUN: mtc-opt --verify-plan %t.mlir -o /dev/null

// the transfer of a microbatch dropped on both sides
// RUN: sed -E -e 's/#rt.transfer<send = (true|false), peer = [03], tag = <value = activation.1, microbatch = 2, virtual_stage = 0>, offset = [0-9]+, bytes = 16384>(, )?//' -e 's/, ]/]/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=DROPPED
// DROPPED: expected "stage3_fwd" of microbatch 2 to find its value in slot 0 of pool recv_activation.1 (bytes {{.*}}), found what was received for microbatch 1

// the transfer dropped where it is received
// RUN: sed -E -e '/rt.program @stage3/,$s/#rt.transfer<send = false, peer = 0, tag = <value = activation.1, microbatch = 2, virtual_stage = 0>, offset = [0-9]+, bytes = 16384>(, )?//' -e 's/, ]/]/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=UNPAIRED
// UNPAIRED: unpaired: channel 0 -> 3: 4 sends and 3 receives

// a slot that two microbatches share
// RUN: sed -e '/rt.program @stage0/,/rt.program @stage1/s/microbatch 2 slots <\(.*\)send_activation.1 = 1>/microbatch 2 slots <\1send_activation.1 = 0>/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: expected to send the activation.1 of microbatch 1 from virtual stage 0, which lies in pool send_activation.1, found at byte {{[0-9]+}} what was written for microbatch 2

// a pool at the place of another
// RUN: sed -e '/rt.program @stage3/,$s/at [0-9]* slot of recv_activation.1 /at 0 slot of recv_activation.1 /' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=PLACE
// PLACE: expected pools that share no bytes, found recv_activation at 0 to 16384 and recv_activation.1 at 0 to

// a pool whose slots are too small
// RUN: sed -e '/rt.program @stage0/,/rt.program @stage1/s/slot of send_activation.1 stride 16384/slot of send_activation.1 stride 8192/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SMALL
// SMALL: expected the views of a slot of pool send_activation.1 inside one stride of 8192 bytes, found bytes

// a pool with too few slots in its arena
// RUN: sed -e '/rt.program @stage0/,/rt.program @stage1/s/send_activation.1 = 2>/send_activation.1 = 9>/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: expected bytes inside the arena activations

// the tag of another value, on both sides
// RUN: sed -e 's/tag = <value = activation.1, microbatch = 2, virtual_stage = 0>/tag = <value = activation, microbatch = 2, virtual_stage = 0>/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TAG
// TAG: expected to send the activation of microbatch 2 from virtual stage 0, which lies in pool send_activation, found at byte {{[0-9]+}} what was written for microbatch 2

// the tag of another microbatch, on both sides
// RUN: sed -e 's/tag = <value = gradient.1, microbatch = 2, virtual_stage = 3>/tag = <value = gradient.1, microbatch = 1, virtual_stage = 3>/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=DOUBLED
// DOUBLED: expected to send the gradient.1 of microbatch 1 from virtual stage 3, which lies in pool send_gradient.1, found at byte {{[0-9]+}} what was written for microbatch 2

// a row that says another sender
// RUN: sed -e 's/pipe.crossing activation.1 of "train" from 0 to 3/pipe.crossing activation.1 of "train" from 1 to 3/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SENDER
// SENDER-DAG: 'pipe.send' expected a pipe.crossing of "train" that says where activation.1 goes from virtual stage 0, found none
// SENDER-DAG: 'pipe.crossing' expected a fragment that sends it, found none
// SENDER-DAG: expected "stage3_fwd" of microbatch 0 to find its value in slot 0 of pool recv_activation.1

// a row that says another receiver
// RUN: sed -e 's/pipe.crossing activation.1 of "train" from 0 to 3/pipe.crossing activation.1 of "train" from 0 to 2/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=RECEIVER
// RECEIVER-DAG: 'pipe.received' expected a pipe.crossing of "train" that says where activation.1 comes from to virtual stage 3, found none
// RECEIVER-DAG: 'pipe.crossing' expected a fragment that receives it, found none

// a row of another type
// RUN: sed -e '/pipe.crossing gradient.1/s/2x32x64/2x64x32/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: 'pipe.send' expected gradient.1 of type 'tensor<2x64x32xf32>', found 'tensor<2x32x64xf32>'

// a row twice
// RUN: sed -e '/pipe.crossing gradient.1/p' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: 'pipe.crossing' expected a virtual stage to send and to receive one value of a name in "train", found a second gradient.1

// a stage that does not exist
// RUN: sed -e '/pipe.crossing gradient.1/s/from 3/from 4/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=BEYOND
// BEYOND: 'pipe.crossing' expected virtual stages of 0 to 3, found 4

// bytes that send what the tensor form does not
// RUN: sed -e '/rt.tensor_form/,$s/pipe.send activation.1 .*//' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: expected a pipe.send in the tensor form of "stage0_fwd", whose bytes leave a value in pool send_activation.1, found none

// a value sent under the other's name
// RUN: sed -e '/rt.program @stage0/,/rt.program @stage1/{s/pipe.send activation.1/pipe.send activation.9/;s/pipe.send activation /pipe.send activation.1 /;s/pipe.send activation.9/pipe.send activation/}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NAMES
// NAMES: expected "stage0_fwd" to leave in the activation.1 that is sent what its tensor form does
