// Faults planted in how a compiled plan packs weights and reads them.
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --mbs 2 --gbs 8 --prepack always --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt --verify-plan %t.mlir -o /dev/null

// a weight that nobody packs
// RUN: sed -e '/^    func.func @stage0_fwd_first/,/return/{/rt.pack .* n 192 k 64 /{x;s/^/x/;/^x$/{x;d};x}}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NEVER
// NEVER: error: loc("layers.0.attn.qkv"): 'rt.gemm' expected "train" to pack rt.packed 0 ("layers.0.attn.qkv.weight") before it is read, found no rt.pack in front of "stage0_fwd_first" of microbatch 0
// NEVER-NOT: expected "train" to pack rt.packed {{[1-9]}}

// one that is packed behind its first product
// RUN: sed -e '/^    func.func @stage0_fwd_first/,/return/{/rt.pack .* n 192 k 64 .*layers.0/{h;d};/rt.gemm .* n 192 k 64 .*layers.0/G}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: 'rt.gemm' expected "train" to pack rt.packed 0 ("layers.0.attn.qkv.weight") before it is read

// and by every microbatch
// RUN: sed -e 's/run @stage0_fwd microbatch 1/run @stage0_fwd_first microbatch 1/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: 'rt.pack' expected "train" to pack rt.packed 0 ("layers.0.attn.qkv.weight") once in a step, found it packed again by "stage0_fwd_first" of microbatch 1

// another layer's weight
// RUN: sed -e '/^    func.func @stage0_fwd_first/,/return/{/rt.view params .*layers.0.attn.qkv.weight/s/params at [0-9]*/params at 0/}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: 'rt.pack' expected to pack the parameter of rt.packed 0 ("layers.0.attn.qkv.weight"), found bytes 0 to 49152 of the arena params

// a product that reads another layer's
// RUN: sed -e '/^    func.func @stage0_fwd()/,/return/{/rt.view packed at 0 /s/at 0 /at 245760 /}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=LAYER
// LAYER: 'func.func' expected "stage0_fwd" to leave in
// LAYER-SAME: found parameter "layers.1.attn.qkv.weight"

// a part of one
// RUN: sed -e '/^    func.func @stage0_fwd()/,/return/{/rt.view packed at 0 /s/at 0 /at 64 /}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=PART
// PART: 'rt.gemm' expected all bytes of an rt.packed, found 49152 bytes at 64 of the arena packed

// packed for the other direction
// RUN: sed -e '/^    func.func @stage0_fwd_first/,/return/s/\(rt.pack .* n 192 k 64 {tb = \)false/\1true/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=DIRECTION
// DIRECTION: 'rt.pack' expected n 192 k 64 of f32, as rt.packed 0 ("layers.0.attn.qkv.weight") is, found n 192 k 64 transposed of f32
// RUN: sed -e '/^    func.func @stage0_fwd_first/,/return/s/\(rt.pack .*\) n 192 k 64 /\1 n 64 k 192 /' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SIZES
// SIZES: 'rt.pack' expected n 192 k 64 of f32, as rt.packed 0 ("layers.0.attn.qkv.weight") is, found n 64 k 192 of f32
// RUN: sed -e '/^    func.func @stage0_fwd()/,/return/s/\(rt.gemm .* n 192 k 64 by own_packed {.*tb = \)false/\1true/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=PRODUCT
// PRODUCT: 'rt.gemm' expected n 192 k 64 of f32, as rt.packed 0 ("layers.0.attn.qkv.weight") is, found n 192 k 64 transposed of f32

// bytes of a parameter in place of packed ones
// RUN: sed -e '/^    func.func @stage0_fwd()/,/return/{/rt.view packed at 0 /s/packed at 0 /params at 0 /}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=PARAMS
// PARAMS: 'rt.gemm' expected bytes of the arena packed, found others

// a kernel that writes there
// RUN: sed -e '0,/rt.view workspace at 0 :/s//rt.view packed at 0 :/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=KERNEL
// KERNEL: expected only rt.pack and products by own_packed to touch the arena packed, found another

// fewer bytes than the kernel writes, or more; two in the same bytes; an arena that ends
// before them
// RUN: sed -e 's/\(rt.packed 0 .* bytes \)49152/\149088/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: 'rt.packed' expected the 49152 bytes that the device's kernel makes of it, found 49088
// RUN: sed -e 's/\(rt.packed 1 .*offset = \)49152/\149088/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: 'rt.packed' expected bytes of its own in the arena packed, from 49152 or later and a multiple of 64, found 49088
// RUN: sed -e 's/\(arenas = array<i64: .*, 4096, \)[0-9]*>/\14096>/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ARENA
// ARENA: 'rt.program' expected an arena packed of at least 2236416 bytes, found 4096

// bytes that begin inside a line
// RUN: sed -e 's/\(rt.packed 33 .*offset = \)2162688/\12162692/' -e 's/packed at 2162688 /packed at 2162692 /' -e 's/2236416>/2240512>/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=LINE
// LINE: 'rt.packed' expected bytes of its own in the arena packed, from 2162688 or later and a multiple of 64, found 2162692

// what nobody reads
// RUN: sed -e '/rt.packed 33 /{p;s/packed 33 of/packed 34 of/;s/offset = [0-9]*/offset = 2236416/}' -e 's/2236416>/2310144>/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=UNREAD
// UNREAD: 'rt.packed' expected a product that reads rt.packed 34 ("layers.0.attn.qkv.weight"), found none

// of no parameter, of another type, without an offset, twice
// RUN: sed -e 's/rt.packed 0 of "[^"]*"/rt.packed 0 of "nobody"/' -e 's/\(rt.packed 1 .*type = \)f32/\1bf16/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TABLE
// TABLE: 'rt.packed' expected a parameter of stage 0 that has 64 x 192 elements of type 'f32', found "nobody"
// TABLE: 'rt.packed' expected a parameter of stage 0 that has 64 x 64 elements of type 'bf16', found "layers.0.attn.out.weight"
// RUN: sed -e 's/\(rt.packed 0 .*{\)offset = 0 : i64, /\1/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OFFSET
// OFFSET: 'rt.packed' expected an offset (written by plan-memory), found none
// RUN: sed -e 's/rt.packed 1 of/rt.packed 0 of/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: 'rt.packed' expected one rt.packed of each number, found 0 again

// in an evaluation, which packs nothing
// RUN: sed -e '/^    func.func @stage0_eval/a %%w = rt.view params at 0 : memref<64x192xf32>\n%%p = rt.view packed at 0 : memref<49152xi8>\nrt.pack %%w into %%p n 192 k 64 {tb = false} : memref<64x192xf32>, memref<49152xi8>' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=EVAL
// EVAL: 'rt.pack' expected weights to be packed in a forward, found "stage0_eval"

// an evaluation that reads what the last step packed, in both forms
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --mbs 2 --gbs 8 --prepack always --compile-to=pack-weights -o %t-tensors.mlir
// RUN: sed -e '/^    func.func @stage0_eval/,/return/s/^\(.*rt.gemm %%[0-9#]*\), %%[0-9]* into \(.* n 192 k 64 by own\) \(.*tfm.layer = 1 .*\) tensor<64x4x3x16xf32>/      %%stale = rt.ref packed of 0 : memref<49152xi8>\n\1, %%stale into \2_packed \3 memref<49152xi8>/' %t-tensors.mlir > %t-stale.mlir
// RUN: not mtc compile %t-stale.mlir --compile-to=verify-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=STALE
// STALE: 'rt.gemm' expected "eval" to pack rt.packed 0 ("layers.0.attn.qkv.weight") before it is read, found no rt.pack in front of "stage0_eval" of microbatch 0

// a GPU, whose library packs for itself
// RUN: sed -e 's/device = "cpu"/device = "cuda:sm_90"/' -e 's/, gemm = own, prepack = always//' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GPU
// GPU: 'rt.packed' expected no packed weights on a device whose products read weights as they are, found rt.packed 0 ("layers.0.attn.qkv.weight")
