// Faults planted in the plan of a compiled model, two stages.
// RUN: mtc compile gpt2-nano --tp 1 --pp 2 --dp 1 --mbs 2 --gbs 8 --compile-to=plan-memory -o %t.mlir

// a dropped all-reduce
// RUN: sed -e '/^    func.func @stage1_reduce/,/return/{/group embedding/d}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=DROPPED
// DROPPED: communicator embedding: rank 1 issues 0 collectives, rank 0 issues 1
// DROPPED: found elements 0 to {{[0-9]+}} of bucket 1 to be sums of one of the stages that share it

// two sends swapped
// RUN: sed -e '/rt.program @stage0/,/rt.program @stage1/{s/tag = <value = activation, microbatch = 2, virtual_stage = 0>,/tag = <value = activation, microbatch = 9, virtual_stage = 0>,/;s/tag = <value = activation, microbatch = 1, virtual_stage = 0>,/tag = <value = activation, microbatch = 2, virtual_stage = 0>,/;s/tag = <value = activation, microbatch = 9, virtual_stage = 0>,/tag = <value = activation, microbatch = 1, virtual_stage = 0>,/}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SWAPPED
// SWAPPED: to match the send of a2.0 (16384 bytes), found a1.0 (16384 bytes)

// a resized transfer
// RUN: sed -e '/rt.program @stage1/,$s/tag = <value = activation, microbatch = 1, virtual_stage = 0>, offset = 0, bytes = 16384/tag = <value = activation, microbatch = 1, virtual_stage = 0>, offset = 0, bytes = 8192/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=RESIZED
// RESIZED: to match the send of a1.0 (16384 bytes), found a1.0 (8192 bytes)

// a transfer resized on both sides
// RUN: sed -e 's/\(tag = <value = activation, microbatch = 1, virtual_stage = 0>, .*bytes = \)16384>, /\18192>, /' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: expected a transfer of all 16384 bytes of the value, found 8192

// the scratch of a GEMM moved onto what it writes
// RUN: sed -e '/^    func.func @stage1_fwd/,/return/s/workspace at 0 : \(memref<[0-9]*xi8>\)/workspace at 64 : \1/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OVERLAP
// OVERLAP: expected operands that share no bytes where one is written

// a norm range counted twice
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/{/rt.norm accumulate of %2 /p}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: 'rt.norm' expected whole gradients of owned parameters in the norm, once, found elements 0 to 64 of bucket 0 to be in it already

// microbatches of backward in another order
// RUN: sed -e 's/run @stage0_bwd microbatch 1/run @stage0_bwd microbatch 9/' -e 's/run @stage0_bwd microbatch 2/run @stage0_bwd microbatch 1/' -e 's/run @stage0_bwd microbatch 9/run @stage0_bwd microbatch 2/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: expected microbatches in ascending order, because "stage0_bwd" accumulates, found microbatch 1 after 2

// a gradient GEMM that starts anew in every microbatch
// RUN: sed -e '/^    func.func @stage1_bwd/,/return/s/beta = true/beta = false/;s/stores_first, //;s/counts_last, //' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ANEW
// ANEW: expected microbatches to add to gradients, found a write over the accumulator

// a saved value at the place of another
// RUN: sed -e '/^    func.func @stage1_fwd/,/return/s/at 33536 slot of saved/at 33280 slot of saved/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SAVED
// SAVED: 'rt.launch' expected operands that share no bytes where one is written
// SAVED: 'rt.step' expected "stage1_bwd" of microbatch 0 to find its value in slot 0 of pool saved

// scratch that something reads
// RUN: sed -e '/^    func.func @stage1_fwd/,/return/s/.*rt.gemm .* scratch \(%[0-9]*\) .*memref<\([0-9]*\)xi8>.*/&\n      rt.collective all_reduce \1 group tp count \2 : (memref<\2xi8>) -> ()/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SCRATCH
// SCRATCH: expected bytes 0 to [[BYTES:[0-9]+]] of the arena workspace to hold one value of type 'memref<[[BYTES]]xi8>', found scratch over bytes 0 to [[BYTES]] of the arena workspace

// RUN: mtc compile gpt2-nano --tp 2 --pp 1 --dp 1 --mbs 2 --gbs 4 --compile-to=plan-memory -o %t-tp.mlir

// scratch of attention that is too small for it
// RUN: sed -e 's/memref<98624xi8>/memref<64xi8>/' %t-tp.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SMALL-SCRATCH
// SMALL-SCRATCH: 'rt.attention' expected at least {{[0-9]+}} bytes of scratch, as its kernel needs, found 64

// a collective behind a reader of what it makes
// RUN: sed -e '/^    func.func @stage0_fwd/,/return/{/rt.collective .*serves = "layers.0.mlp.down.weight"/{h;d};/from = "broadcast+add+dropout+add", tfm.layer = 1/{G}}' %t-tp.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=BEHIND
// BEHIND: 'rt.collective' expected nobody to read the operand of a collective before it, found bytes {{.*}} of the arena workspace read

// a collective that nobody reads
// BEHIND: 'rt.collective' expected a reader of what the collective makes, found none in "stage0_fwd"

// a group of the ends in the middle
// RUN: mtc compile gpt2-nano --tp 1 --pp 4 --dp 1 --mbs 2 --gbs 8 --compile-to=plan-memory -o %t-pp.mlir
// RUN: sed -e '/^    func.func @stage1_reduce/,/return/s/group all count 1/group embedding count 1/' %t-pp.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=MIDDLE
// MIDDLE: 'rt.collective' expected a group that stage 1 belongs to (tp, dp, all, cp or kv), found "embedding"

// RUN: mtc compile gpt2-nano --tp 1 --pp 1 --dp 2 --mbs 2 --gbs 4 --compile-to=plan-memory -o %t-dp.mlir

// parameters reduced in the place of their gradients
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/s/grads at 0 : memref<202112xf32>/params at 0 : memref<202112xf32>/' %t-dp.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=PARAMETERS
// PARAMETERS: 'rt.collective' expected sums of one use over the other ranks along dp only, before anything reads them, found elements 0 to {{[0-9]+}} of bucket 0 to be what was there before the step

// a field of the step block that a kernel writes
// RUN: sed -e '/rt.kernel @kernel1 /,/rt.store/s/%4 = rt.load 4 : f32/&\n      rt.accumulate 4, %4 : f32/' %t-dp.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-FIELD-THAT-IS-WRITTEN
// A-FIELD-THAT-IS-WRITTEN: expected the step block's field lr only as a scalar that kernel "kernel1" reads, found another

// a number too few for a kernel
// RUN: sed -e '/^    func.func @stage0_fwd/,/return/s/args(%0, %1, %2)/args(%0, %1)/' %t-dp.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-NUMBER-TOO-FEW
// A-NUMBER-TOO-FEW: expected 3 numbers for kernel "kernel3", found 2
