// Weights that products of our own read, packed once a step: of which products, where, and
// who reads them. The plans are compiled; what a table says is written into one.
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --mbs 2 --gbs 8 --prepack always --compile-to=pack-weights -o %t-always.mlir
// RUN: FileCheck %s < %t-always.mlir

// 4 layers of 4 weights and the tied table, in both directions.
// CHECK-COUNT-34: rt.packed {{[0-9]+}} of
// CHECK-NOT: rt.packed

// The forward of other microbatches packs nothing, and reads what is packed.
// CHECK-LABEL: func.func @stage0_fwd()
// CHECK-NOT: rt.pack %
// CHECK: %[[P:.*]] = rt.ref packed of 0 : memref<49152xi8>
// CHECK-NEXT: rt.gemm %{{.*}}, %[[P]] into %{{.*}} m 64 n 192 k 64 by own_packed
// CHECK-NOT: by own {

// In that of the first, each weight is packed in front of its first product, for the
// backward, too.
// CHECK-LABEL: func.func @stage0_fwd_first() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward, form = first>
// CHECK: %[[W:.*]] = pipe.param "layers.0.attn.qkv.weight"
// CHECK: rt.launch
// CHECK-COUNT-1: %[[P:.*]] = rt.ref packed of 0 : memref<49152xi8>
// CHECK-NEXT: rt.pack %[[W]] into %[[P]] n 192 k 64 {tb = false} : tensor<64x4x3x16xf32>, memref<49152xi8>
// CHECK-NEXT: %[[Q:.*]] = rt.ref packed of [[T:[0-9]+]] : memref<73728xi8>
// CHECK-NEXT: rt.pack %[[W]] into %[[Q]] n 64 k 192 {tb = true} : tensor<64x4x3x16xf32>, memref<73728xi8>
// CHECK-NEXT: %[[R:.*]] = rt.ref packed of 0 : memref<49152xi8>
// CHECK-NEXT: rt.gemm %{{.*}}, %[[R]] into

// Gradients of weights read no weight.
// CHECK-LABEL: func.func @stage0_bwd()
// CHECK-NOT: rt.pack %
// CHECK: rt.gemm {{.*}} by own {beta = true, stores_first
// CHECK: rt.ref packed of [[T]] :
// CHECK-LABEL: func.func @stage0_eval()
// CHECK-NOT: packed

// By the rule it pays from 8 microbatches on.
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --mbs 2 --gbs 14 --prepack auto --compile-to=pack-weights -o - | FileCheck %s --check-prefix=NONE
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --mbs 2 --gbs 16 --prepack auto --compile-to=pack-weights -o - | FileCheck %s --check-prefix=EIGHT
// NONE-NOT: packed
// EIGHT-COUNT-34: rt.packed

// What a table says goes before the rule, of a few microbatches and of many. All products
// of a weight in one form read it packed where one of them pays.
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --mbs 2 --gbs 8 --prepack auto --recompute full --compile-to=store-gradients -o %t-few.mlir
// RUN: sed -e '0,/n 192 k 64 by own {/s//n 192 k 64 by own {packs = true, /' %t-few.mlir | mtc-opt --pack-weights | FileCheck %s --check-prefix=SAID
// SAID-COUNT-1: rt.packed 0 of "layers.0.attn.qkv.weight" n 192 k 64 bytes 49152 {tb = false, type = f32}
// SAID-NOT: rt.packed 1
// SAID-LABEL: func.func @stage0_bwd()
// SAID: n 192 k 64 by own_packed
// SAID-NOT: packs
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --mbs 2 --gbs 16 --prepack auto --compile-to=store-gradients -o %t-many.mlir
// RUN: sed -e 's/ by own {/ by own {packs = false, /' %t-many.mlir | mtc-opt --pack-weights | FileCheck %s --check-prefix=NONE

// Without prepack it only takes that away.
// RUN: sed -e 's/ by own {/ by own {packs = true, /' -e 's/, prepack = auto//' %t-many.mlir | mtc-opt --pack-weights | FileCheck %s --check-prefix=AWAY
// AWAY-NOT: pack{{s|ed}}

// A weight that only the backward reads packed, as where oneDNN computes the forward, is
// packed at the forward's end.
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --mbs 2 --gbs 8 --prepack always --compile-to=store-gradients -o %t-forward.mlir
// RUN: sed -e '/^    func.func @stage0_fwd()/,/return/s/ by own / /' %t-forward.mlir | mtc-opt --pack-weights | FileCheck %s --check-prefix=END
// END-LABEL: func.func @stage0_fwd_first()
// END-NOT: rt.pack %
// END: pipe.param "layers.0.attn.qkv.weight"
// END: rt.pack %{{.*}} n 64 k 192 {tb = true}
// END-NOT: rt.gemm
// END: return

// A number that no rt.packed has is found when bytes are given.
// RUN: sed -e '0,/rt.ref packed of 0 /s//rt.ref packed of 99 /' %t-always.mlir | not mtc-opt --count-gradients --assign-streams --plan-memory 2>&1 | FileCheck %s --check-prefix=NOBODY
// NOBODY: 'rt.ref' op expected an rt.packed of this program, found 99

// Where one microbatch is all there is, the forward packs.
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --mbs 2 --gbs 2 --prepack always --compile-to=pack-weights -o - | FileCheck %s --check-prefix=ONE
// ONE-LABEL: func.func @stage0_fwd()
// ONE: rt.pack %
// ONE-NOT: fwd_first

// Behind the gather of the weight, in the form that there is already.
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --dp 2 --zero 1 --mbs 2 --gbs 8 --overlap param-gather --prepack always --compile-to=pack-weights -o - | FileCheck %s --check-prefix=GATHERED
// GATHERED-LABEL: func.func @stage0_fwd_first()
// GATHERED-NOT: rt.pack %
// GATHERED: rt.collective all_gather
// GATHERED: rt.pack %
// GATHERED-NOT: func.func @stage0_fwd_first

// Each chunk packs its own, and a stage whose backward is in halves reads it in one.
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --pp 2 --chunks 2 --schedule interleaved-1f1b --mbs 2 --gbs 8 --prepack always --compile-to=pack-weights -o - | FileCheck %s --check-prefix=CHUNKS
// CHUNKS: func.func @stage0_chunk0_fwd_first()
// CHUNKS: func.func @stage0_chunk1_fwd_first()
// CHUNKS: func.func @stage1_chunk0_fwd_first()
// CHUNKS: func.func @stage1_chunk1_fwd_first()
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --pp 2 --schedule zb-h1 --mbs 2 --gbs 8 --prepack always --compile-to=pack-weights -o - | FileCheck %s --check-prefix=HALVES
// HALVES-LABEL: func.func @stage0_bwd_input()
// HALVES: by own_packed
// HALVES-LABEL: func.func @stage0_bwd_weight()
// HALVES-NOT: packed
// HALVES: func.func

// In bf16, of pairs.
// RUN: mtc compile gpt2-nano --isa x86-64-v4-bf16 --dtype bf16 --mbs 2 --gbs 8 --prepack always --compile-to=pack-weights -o - | FileCheck %s --check-prefix=PAIRS
// PAIRS: rt.packed 0 of "layers.0.attn.qkv.weight" n 192 k 64 bytes 24576 {tb = false, type = bf16}

// oneDNN and GPUs read weights as they lie; the compiler says so.
// RUN: %if avx512 %{ mtc compile gpt2-nano --isa x86-64-v4 --gemm onednn --mbs 2 --gbs 16 --prepack always --compile-to=pack-weights -o %t-onednn.mlir 2>&1 | FileCheck %s --check-prefix=IDLE %}
// RUN: %if avx512 %{ FileCheck %s --check-prefix=NONE < %t-onednn.mlir %}
// IDLE: prepack: only products of a cpu that are our own read packed weights
