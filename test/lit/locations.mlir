// REQUIRES: avx512
// Tests that ops have the part of the model that they come from as their location, from
// import to rt, in memory and in files, and that errors of every level name it.

// RUN: rm -rf %t && mtc compile gpt2-nano --gemm onednn --tp 2 --pp 2 --mbs 2 --gbs 8 --save-ir %t --compile-to verify-plan -o %t.plan.mlir

// RUN: FileCheck %s --check-prefix=IMPORT --input-file %t/00-import.mlir
// IMPORT: func.func @microbatch(
// IMPORT-SAME: name = "layers.0.mlp.up.weight"{{[^}]*}}} loc("layers.0.mlp.up.weight")
// IMPORT: tfm.embed {{.*}} loc("embed.tokens")
// IMPORT: tfm.norm {{.*}} loc("layers.0.norm1")
// IMPORT: tfm.einsum {{.*}} loc("layers.0.attn.qkv")
// IMPORT: tfm.attention {{.*}} loc("layers.0.attn.core")
// IMPORT: tfm.einsum {{.*}} loc("layers.3.mlp.down")
// IMPORT: tfm.einsum {{.*}} loc("head")
// IMPORT: tfm.log {{.*}} loc("loss")
// IMPORT: } loc("gpt2-nano")

// A gradient is of the part of its forward.
// RUN: FileCheck %s --check-prefix=BACKWARD --input-file %t/01-differentiate.mlir
// BACKWARD: tfm.attention_grad {{.*}} loc("layers.3.attn.core")
// BACKWARD: tfm.einsum {{.*}}tfm.phase = "backward"{{.*}} loc("layers.0.attn.qkv")
// BACKWARD: tfm.embed_grad {{.*}} loc("embed.tokens")

// RUN: FileCheck %s --check-prefix=PARTITION --input-file %t/07-partition.mlir
// PARTITION: dist.all_reduce {{.*}} origin g serves "layers.0.attn.out.weight" {{.*}} loc("layers.0.attn.out")

// RUN: FileCheck %s --check-prefix=CUT --input-file %t/10-cut-stages.mlir
// CUT: pipe.param {{.*}} loc("layers.0.mlp.up.weight")
// CUT: pipe.send {{.*}} loc("layers.1.mlp.residual")
// CUT: } loc("stage0_fwd")
// CUT: pipe.parameter {{.*}} loc("layers.0.mlp.up.weight")

// A kernel is of all parts that it computes, and so are its buffers; a row of a timeline
// is of the timeline.
// RUN: FileCheck %s --check-prefix=PLAN --input-file %t/27-plan-memory.mlir
// PLAN: rt.param "layers.0.mlp.up.weight" {{.*}} loc("layers.0.mlp.up.weight")
// PLAN: rt.view params at {{[0-9]+}} : memref<128xf32> loc(fused["layers.0.mlp.up", "layers.0.mlp.activation"])
// PLAN: rt.launch {{.*}} loc(fused["layers.0.mlp.up", "layers.0.mlp.activation"])
// PLAN: rt.gemm {{.*}} loc("layers.0.mlp.down")
// PLAN: rt.collective all_reduce {{.*}} loc("layers.0.mlp.down")
// PLAN: rt.norm accumulate {{.*}} loc("layers.1.mlp.down.bias")
// PLAN: rt.timeline @train {
// PLAN-NEXT: rt.step load
// PLAN-NOT: loc
// PLAN: } loc("train_stage0")
// PLAN: rt.tensor_form {
// PLAN: rt.gemm {{.*}} loc("layers.0.mlp.down")

// Files hold names, and nothing where nothing is known.
// RUN: not grep -E 'loc\(unknown\)|\.mlir"' %t/00-import.mlir %t/07-partition.mlir %t/27-plan-memory.mlir

// What was read from a file gives the same file, and without locations the same plan.
// RUN: mtc compile %t/07-partition.mlir --compile-to verify-plan | diff - %t.plan.mlir
// RUN: mtc compile %t/17-verify-fragments.mlir --compile-to verify-plan | diff - %t.plan.mlir
// RUN: sed -e 's/ loc(.*//' %t.plan.mlir > %t.bare.mlir
// RUN: mtc compile %t.plan.mlir -o %t.a --json | grep plan_hash > %t.number
// RUN: mtc compile %t.bare.mlir -o %t.b --json | grep plan_hash | diff - %t.number

// RUN: sed -e 's/tfm.stop_gradient/tfm.exp/' %t/00-import.mlir > %t-gradient.mlir
// RUN: not mtc compile %t-gradient.mlir --compile-to verify-plan 2>&1 | FileCheck %s --check-prefix=GRADIENT
// GRADIENT: phase differentiate rejected the IR
// GRADIENT-NEXT: locations.mlir.tmp-gradient.mlir:{{[0-9]+:[0-9]+}}: loss: error: 'tfm.reduce' op expected a maximum behind tfm.stop_gradient

// RUN: sed -e '/loc("layers.1.mlp.down")/s/dist.all_reduce sum/dist.all_reduce max/' %t/07-partition.mlir > %t-local.mlir
// RUN: not mtc compile %t-local.mlir --compile-to verify-plan 2>&1 | FileCheck %s --check-prefix=LOCAL
// LOCAL: phase verify-partitioned rejected the IR
// LOCAL-NEXT: mlir:{{[0-9]+:[0-9]+}}: layers.1.mlp.down: error: 'dist.all_reduce' op expected an operand that is a partial maximum

// RUN: sed -e '/loc("layers.1.mlp.down")/s/dist.all_reduce sum/dist.all_reduce max/' %t/15-shard-optimizer.mlir > %t-fragment.mlir
// RUN: not mtc compile %t-fragment.mlir --compile-to verify-plan 2>&1 | FileCheck %s --check-prefix=FRAGMENT
// FRAGMENT: phase verify-fragments rejected the IR
// FRAGMENT-NEXT: mlir:{{[0-9]+:[0-9]+}}: layers.1.mlp.down: error: 'dist.all_reduce' op expected an operand that is a partial maximum

// RUN: sed -e '/tfm.embed/s/dist.index_axis = "tp", //' %t/15-shard-optimizer.mlir > %t-kernel.mlir
// RUN: not mtc compile %t-kernel.mlir --no-verify --compile-to plan-memory 2>&1 | FileCheck %s --check-prefix=KERNEL
// KERNEL: phase outline-kernels rejected the IR
// KERNEL-NEXT: mlir:{{[0-9]+:[0-9]+}}: embed.tokens: error: 'tfm.embed' op expected dist.index_axis beside dist.index_stride, found none

// RUN: sed -e '/loc("layers.3.attn.qkv")/s/beta = true, stores_first/beta = false/' %t/27-plan-memory.mlir > %t-bytes.mlir
// RUN: not mtc compile %t-bytes.mlir --compile-to verify-plan 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: phase verify-plan rejected the IR
// BYTES-NEXT: mlir:{{[0-9]+:[0-9]+}}: layers.3.attn.qkv: error: 'rt.gemm' expected microbatches to add to gradients

// An op that a person added is of its parent's part.
// RUN: sed -e '/^    func.func @stage0_bwd/a      rt.wait event 0 stream 0' %t/27-plan-memory.mlir > %t-added.mlir
// RUN: not mtc compile %t-added.mlir --compile-to verify-plan 2>&1 | FileCheck %s --check-prefix=ADDED
// ADDED: mlir:{{[0-9]+:[0-9]+}}: stage0_bwd: error: 'rt.wait' expected no events on a target with one stream

// So is a row of a timeline, which has its own line.
// RUN: sed -e '0,/rt.step load microbatch 1/s//rt.step load microbatch 0/' %t/27-plan-memory.mlir > %t-row.mlir
// RUN: grep -n 'rt.step load microbatch 0' %t-row.mlir > %t.lines
// RUN: sed -n -e '2s/^\([0-9]*\):.*/ROW: row.mlir:\1:7: train_stage0: error: {{.}}rt.step{{.}} expected to load each microbatch once, found 0 again/p' %t.lines > %t.check
// RUN: not mtc compile %t-row.mlir --compile-to verify-plan 2>&1 | FileCheck %t.check --check-prefix=ROW

// Code is of the parts that its kernels and calls are of; an argument is of its function's.
// RUN: mtc compile %t.plan.mlir --compile-to lower-to-llvm --save-ir %t.code -o %t.llvm.mlir
// RUN: FileCheck %s --check-prefix=CODE --input-file %t.code/29-codegen-kernels-stage0.mlir
// CODE: func.func @{{.*}}(%arg0: memref<128xf32> {llvm.noalias}, %arg1
// CODE-NOT: loc(
// CODE: } loc(fused["layers.0.mlp.up", "layers.0.mlp.activation"])
// CODE: rt.gemm {{.*}} loc("layers.0.mlp.down")
// RUN: FileCheck %s --check-prefix=LLVM --input-file %t.code/30-lower-to-llvm-stage0.mlir
// LLVM: llvm.func hidden @kernel0(%arg0: !llvm.ptr, %arg1
// LLVM: } loc(fused["layers.0.mlp.up", "layers.0.mlp.activation"])
// LLVM: llvm.call @mtc_gemm({{.*}} loc("layers.0.mlp.down")
// LLVM: llvm.func @mtc_gemm({{[^)]*}}){{$}}
// LLVM: llvm.call @mtc_attention_backward({{.*}} loc("layers.1.attn.core")
// LLVM: } loc("stage0_bwd")
// RUN: not grep -E 'loc\(unknown\)|\.mlir"' %t.llvm.mlir

// What no code can be made of is named with its part, in all stages.
// RUN: sed -e 's/rt.logistic \(%[0-9a-z_]*\) : f32/math.tan \1 : f32/' %t.plan.mlir > %t-body.mlir
// RUN: not mtc compile %t-body.mlir --compile-to codegen-kernels 2>&1 | FileCheck %s --check-prefix=BODY
// BODY: phase codegen-kernels rejected the IR
// BODY-NEXT: mlir:{{[0-9]+:[0-9]+}}: layers.0.mlp.up, layers.0.mlp.activation: error: 'math.tan' op expected an operation that codegen-kernels knows
// BODY-NEXT: layers.1.mlp.up, layers.1.mlp.activation: error:
// BODY-NEXT: layers.2.mlp.up, layers.2.mlp.activation: error:

// A kernel of several stages is compiled once, so it is named where it comes from first.
// RUN: not mtc compile %t-body.mlir -o %t.c 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: phase codegen-kernels rejected the IR
// SHARED-NEXT: mlir:{{[0-9]+:[0-9]+}}: layers.0.mlp.up, layers.0.mlp.activation: error: 'math.tan' op expected an operation that codegen-kernels knows
// SHARED-NEXT: layers.1.mlp.up, layers.1.mlp.activation: error:
// SHARED-NOT: layers.2

// RUN: sed -e 's/device = "cpu"/device = "cuda:sm_90"/' %t-body.mlir > %t-gpu.mlir
// RUN: not mtc compile %t-gpu.mlir --no-verify --compile-to kernels -o %t.ptx 2>&1 | FileCheck %s --check-prefix=GPU
// GPU: the kernels cannot be lowered for a GPU
// GPU-NEXT: mlir:{{[0-9]+:[0-9]+}}: layers.0.mlp.up, layers.0.mlp.activation: error: 'math.tan' op expected

// RUN: sed -e 's/^ *rt.collective.*loc("layers.1.mlp.down")/arith.constant 0 : index loc("layers.1.mlp.down")/' %t.plan.mlir > %t-call.mlir
// RUN: not mtc compile %t-call.mlir --no-verify -o %t.c 2>&1 | FileCheck %s --check-prefix=CALL
// CALL: phase lower-to-llvm rejected the IR
// CALL-NEXT: mlir:{{[0-9]+:[0-9]+}}: layers.1.mlp.down: error: 'arith.constant' op has no lowering inside a fragment
