// Bytes that compute another value than the tensors do. In a compiled plan the
// bytes are indented by four, the tensor form by more.
// Without locations, mtc-opt shows the line of an error.
// RUN: mtc compile gpt2-nano --tp 1 --pp 2 --dp 1 --overlap none --mbs 2 --gbs 8 --compile-to=plan-memory | sed -e 's/ loc(.*//' > %t.mlir

// scale and bias of a norm swapped
// RUN: sed -e '/^    func.func @stage0_fwd/,/return/s/@kernel3(%7, %8, %9,/@kernel3(%7, %9, %8,/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SCALE-AND-BIAS
// SCALE-AND-BIAS: 'func.func' expected "stage0_fwd" to leave in the activation that is sent what its tensor form does, found parameter "layers.0.norm1.bias" (bucket 0 from element 99840) in place of parameter "layers.0.norm1.scale" (bucket 0 from element 99904)
// SCALE-AND-BIAS: note: found in an operand of this op
// SCALE-AND-BIAS-NEXT: rt.launch @kernel3(%7, %9, %8,

// two inputs of one size swapped
// RUN: sed -e '/^    func.func @stage0_fwd/,/return/s/@kernel7(%56, %57, %58,/@kernel7(%56, %58, %57,/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=INPUTS
// INPUTS: expected "stage0_fwd" to leave in the activation that is sent what its tensor form does, found what 'rt.launch' makes in place of what 'rt.gemm' makes

// two saved values of one size read in place of each other
// RUN: sed -e '/^    func.func @stage0_bwd/,/return/{s/at 49664 /at other /;s/at 49408 /at 49664 /;s/at other /at 49408 /}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SAVED
// SAVED: expected "stage0_bwd" to leave in the gradient of "{{.*}}" {{.*}} what its tensor form does, found what 'rt.launch' makes in place of what 'rt.launch' makes

// two saved values of one size written in place of each other
// RUN: sed -e '/^    func.func @stage0_fwd/,/return/{s/at 49664 /at other /;s/at 49408 /at 49664 /;s/at other /at 49408 /}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SAVED

// a saved value that the fragment that saves it makes of something else
// RUN: sed -e '/^    func.func @stage0_fwd/,/return/s/@kernel6(%46, %47, %48)/@kernel6(%46, %48, %47)/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=KEPT
// KEPT: 'func.func' expected "stage0_fwd" to leave in a slot what its tensor form saves as {{[0-9]+}}, found it nowhere there

// one step field in place of another, where parameters are written
// RUN: sed -e '/^    func.func @stage0_apply/,/return/s/%12 = rt.step_field beta2/%12 = rt.step_field beta1/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=FIELD
// FIELD: expected "stage0_apply" to leave in parameter "layers.1.mlp.down.bias" (bucket 0 from element 0) what its tensor form does, found the step block's field beta1 in place of the step block's field beta2

// a parameter that is written by the rule of those that decay
// RUN: sed -e '/^    func.func @stage0_apply/,/return/{/rt.launch @kernel0(%1, /{s/@kernel0/@kernel1/;s/%16) args/%16, %8) args/;s/) -> ()/, memref<1xf32>) -> ()/}}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=RULE
// RULE: expected "stage0_apply" to leave in parameter "layers.1.mlp.down.bias" (bucket 0 from element 0) what its tensor form does, found what 'rt.launch' makes

// a kernel that computes something else
// RUN: sed -e '/^    rt.kernel @kernel3 /,/^    }/s/arith.constant 1.000000e+00/arith.constant 2.000000e+00/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=KERNEL
// KERNEL: to leave in the activation that is sent what its tensor form does, found what 'arith.constant' makes in place of what 'arith.constant' makes

// another sample for dropout
// RUN: sed -e '/^    func.func @stage0_fwd/,/return/s/%32 = rt.affine <1>/%32 = rt.affine <2>/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AFFINE
// AFFINE: to leave in the activation that is sent what its tensor form does, found what 'rt.affine' makes in place of what 'rt.affine' makes

// ids and labels swapped
// RUN: mtc compile gpt2-nano --tp 1 --pp 1 --dp 1 --mbs 2 --gbs 4 --compile-to=plan-memory -o %t-one.mlir
// RUN: sed -e '/^    rt.input_slot/{s/"ids"/"other"/;s/"labels"/"ids"/;s/"other"/"labels"/}' %t-one.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=LABELS
// LABELS: found the input "labels" in place of the input "ids"

// the tensor form alone says something else
// RUN: sed -e '/^      func.func @stage0_fwd/,/return/s/beta = false, ta = false/beta = false, ta = true/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: expected "stage0_fwd" to leave in the activation that is sent what its tensor form does, found what 'rt.gemm' makes in place of what 'rt.gemm' makes

// an empty tensor that is read
// RUN: sed -e '/^      func.func @stage0_fwd/,/return/s/{beta = false/{beta = true/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: 'rt.gemm' expected a value to read in the tensor form, found an empty tensor, which holds none

// no tensor form
// RUN: sed -e '/^    rt.tensor_form/,/^    }/d' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NO-FORM
// NO-FORM: 'rt.program' expected one rt.tensor_form (written by plan-memory), found 0

// a fragment that the tensor form lacks
// RUN: sed -e '/^      func.func @stage0_eval/,/^      }/d' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NO-FRAGMENT
// NO-FRAGMENT: expected a fragment of #pipe.fragment<stage = 0, chunk = 0, phase = eval> in the tensor form, found none

// a value that is sent from elsewhere
// RUN: sed -e '/^    func.func @stage0_fwd/,/return/s/%112 = rt.view activations at 16384 slot of send_activation stride 16384/%112 = rt.view workspace at 65536/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NOT-SENT
// NOT-SENT: expected one value in pool send_activation, which "stage0_fwd" sends, found 0

// an export that has no slot, or another one
// RUN: sed -e '/rt.export_slot/d' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NO-SLOT
// NO-SLOT: expected one slot of the export "logits" of the tensor form, found 0
// RUN: sed -e '/rt.export_slot/s/local tensor<2x32x256xf32>/local tensor<2x64x128xf32>/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: 'rt.export_slot' expected type and sharding of the export "logits" of the tensor form, 'tensor<2x32x256xf32>' a rank, found others

// RUN: sed -e '/rt.export_slot/s/workspace at/params at/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ARENA
// ARENA: 'rt.export_slot' expected "stage1_eval" to leave in the export "logits" what its tensor form does, found

// tables that say something else
// RUN: sed -e '/^    rt.param "layers.0.norm1.bias"/s/use 0/use 1/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TABLE
// TABLE: 'rt.param' expected what the tensor form says of it, found otherwise
// RUN: sed -e '/^      rt.bucket/d' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=BUCKETS
// BUCKETS: 'rt.program' expected 0 rt.bucket, as the tensor form has, found 2

// what a tensor form cannot say
// RUN: sed -e 's/pipe.param "final_norm.scale"/pipe.param "final_norm.other"/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=PARAM
// PARAM: expected a parameter of this program in the tensor form, found 'tensor<64xf32>' of another
// RUN: sed -e 's/\(rt.ref grad for "[^"]*" use \)0/\17/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=REF
// REF: expected a part of a bucket of this program in the tensor form, found 'memref<{{.*}}>' of another
// RUN: sed -e 's/pipe.saved 3 /pipe.saved 99 /' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: expected a key that an earlier fragment keeps in the tensor form, found 99
// RUN: sed -e '/^      func.func @stage0_fwd/a        %%other = rt.view workspace at 0 : memref<4xf32>' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: expected ops that lower-calls leaves in the tensor form, found another
// RUN: sed -e '/^      func.func @stage0_fwd/,/return/s/@kernel3(/@missing(/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: sed -e '/^      func.func @stage0_fwd/,/return/s/\(@kernel7(.*\)writes \[3\]/\1writes [2]/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: 'rt.launch' expected a kernel of the tensor form, and the buffers that it has, found others

// a record of a parameter that is split otherwise, or of another type, than fragments read it
// RUN: mtc compile gpt2-nano --tp 2 --pp 2 --dp 1 --overlap none --mbs 2 --gbs 8 --compile-to=plan-memory | sed -e 's/ loc(.*//' > %t-two.mlir
// RUN: sed -e '/^  pipe.parameter.*layers.0.mlp.up.weight/s/<\[{}, {"tp"}\]>/<[{"tp"}, {}]>/' %t-two.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=RECORD
// RUN: sed -e '/^  pipe.parameter.*layers.0.mlp.up.weight/s/64x128xf32/128x64xf32/' %t-two.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=RECORD
// RUN: sed -e '/^  pipe.parameter.*layers.0.mlp.up.weight/s/64x128xf32/64x128xi32/' %t-two.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=RECORD
// RECORD: 'pipe.parameter' expected the type, sharding and global shape with which fragments read "layers.0.mlp.up.weight", found others
// RECORD: note: read here

// a send that the tensor form does not have
// RUN: sed -e '/^      func.func @stage0_fwd/,/return/{/pipe.send activation/d}' %t-two.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SENT
// SENT: expected a pipe.send in the tensor form of "stage0_fwd", whose bytes leave a value in pool send_activation, found none

// an export that the tensor form does not have
// RUN: sed -e '/^      func.func @stage1_eval/,/return/{/pipe.export/d}' %t-two.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=EXPORTED
// EXPORTED: 'rt.export_slot' expected a pipe.export "logits" in the tensor form of "stage1_eval", found none

// a parameter that decays and is updated as if it did not
// RUN: sed -e '/^  pipe.parameter.*layers.0.mlp.up.weight/s/decay = true/decay = false/' %t-two.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=DECAY
// DECAY: 'rt.launch' expected "layers.0.mlp.up.weight" to be updated without weight decay, as its pipe.parameter says, found otherwise
// RUN: sed -e '/^  pipe.parameter.*layers.0.mlp.up.bias/s/decay = false/decay = true/' %t-two.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NO-DECAY
// NO-DECAY: 'rt.launch' expected "layers.0.mlp.up.bias" to be updated with weight decay, as its pipe.parameter says, found otherwise

// shards cut for other ranks than there are
// RUN: sed -e 's/\(dist.mesh = .*\)"tp" = 2/\1"tp" = 4/' %t-two.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=MESH
// MESH: expected 2 ranks along tp in dist.mesh, as in mtc.config, found 4

// two parameters of one size in place of each other, where the bytes of their gradients are not
// RUN: sed -e 's/\(rt.param "final_norm.bias" use 0 bucket 0 start \)0/\1other/;s/\(rt.param "final_norm.scale" use 0 bucket 0 start \)64/\10/;s/start other/start 64/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=STARTS
// STARTS: expected "stage1_bwd" to leave in the gradient of "final_norm.{{bias|scale}}" {{.*}} what its tensor form does
