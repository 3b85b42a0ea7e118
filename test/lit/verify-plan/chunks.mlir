// Stages of three chunks: faults that only their being several makes.
// RUN: mtc compile gpt2-nano --pp 2 --mbs 2 --gbs 4 --chunks 3 --stages 0,1,1,1,1,0 --schedule interleaved-1f1b --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt --verify-plan %t.mlir -o /dev/null

// a backward that takes what the forward of another chunk saved, of the same
// microbatch, in the same places of its slot
// RUN: sed -e 's/\(@stage0_chunk1_bwd microbatch 0 slots .*saved = \)2/\14/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OTHER-CHUNK
// OTHER-CHUNK: expected "stage0_chunk1_bwd" of microbatch 0 to find its value in slot 4 of pool saved (bytes [[B:[0-9]+]] to [[E:[0-9]+]]), found what was written for microbatch 0 at bytes [[B]] to [[E]]

// layers that change places by name
// RUN: sed -e '/rt.program @stage0/,/rt.program @stage1/{s/layers[.]1[.]/layers.X./g;s/layers[.]3[.]/layers.1./g;s/layers[.]X[.]/layers.3./g}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OTHER-LAYER
// OTHER-LAYER: expected a parameter of layer 3 on virtual stage 4 (layers_per_stage of mtc.config), found it read on virtual stage 2

// an activation of another chunk of the sender
// RUN: sed -e '/rt.program @stage1/,$s/send = false, peer = 0, tag = <value = activation, microbatch = 0, virtual_stage = 0>/send = false, peer = 0, tag = <value = activation, microbatch = 0, virtual_stage = 2>/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OTHER-SENDER
// OTHER-SENDER: to match the send of a0.0 (16384 bytes), found a0.2 (16384 bytes)

// a chunk that the configuration does not have
// RUN: sed -e 's/stage = 0, chunk = 2, phase = backward/stage = 0, chunk = 3, phase = backward/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NO-CHUNK
// NO-CHUNK: expected a chunk of 0 to 2, of which mtc.config has 3, found chunk 3

// layers of which no chunk knows
// RUN: sed -e 's/layers_per_stage = .0, 1, 1, 1, 1, 0./layers_per_stage = [2, 2]/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: expected layers_per_stage of mtc.config to have 6 entries, found 2
