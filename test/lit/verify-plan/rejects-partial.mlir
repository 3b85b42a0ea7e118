// Gradients that are partial over tp until the end of the step: under sequence
// parallelism those of norms and of biases behind row-parallel products lie in a
// bucket of their own, which `reduce` sums over tp once. One fault each, planted in
// the plan of a compiled model, without ZeRO (%t.mlir) and with it (%t.zero.mlir).
// RUN: mtc compile gpt2-nano --tp 2 --dp 2 --mbs 2 --gbs 8 --sp --zero 0 --isa x86-64-v4 --compile-to=plan-memory -o %t.mlir
// RUN: mtc compile gpt2-nano --tp 2 --dp 2 --mbs 2 --gbs 8 --sp --zero 1 --isa x86-64-v4 --compile-to=plan-memory -o %t.zero.mlir
// RUN: mtc-opt --verify-plan -o /dev/null %t.mlir
// RUN: mtc-opt --verify-plan -o /dev/null %t.zero.mlir

// sums over tp that nobody makes
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/{/group tp/d}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=LOST
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/{/group tp/d}' %t.zero.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=LOST
// LOST: 'rt.norm' expected whole gradients of owned parameters in the norm, once, found elements 0 to 64 of bucket 2 to be partial sums over tp

// made twice
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/{/group tp/p}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/{/group tp/p}' %t.zero.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: 'rt.collective' expected sums of one use over the other ranks along tp only, behind those along data axes and before anything reads them, found elements 0 to 64 of bucket 2 to be whole sums

// over another group
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/{s/group tp/group dp/}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=GROUP
// GROUP: 'rt.collective' expected sums of one use over the other ranks along dp only, before anything reads them, found elements 0 to 64 of bucket 2 to be partial sums over tp

// before the sums over dp: another order of the same sums
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/{/count 1664 /{s/group tp/group none/;s/group dp/group tp/;s/group none/group dp/}}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: 'rt.collective' expected sums of one use over the other ranks along tp only, behind those along data axes and before anything reads them, found elements 0 to 64 of bucket 2 to be partial sums over dp

// of all of a bucket, where a rank has only its shard any more
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/{s/all_reduce %[0-9]* group tp count 832/all_reduce %15 group tp count 1664/}' %t.zero.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SHARD
// SHARD: 'rt.collective' expected sums of one use over the other ranks along tp only, behind those along data axes and before anything reads them, found elements 0 to 64 of bucket 2 to be what is only whole on another rank along dp

// of gradients that are whole on every rank
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/{s/.*all_reduce %1 group dp.*/&\n      rt.collective all_reduce %1 group tp count 101248 : (memref<101248xf32>) -> ()/}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: 'rt.collective' expected sums of one use over the other ranks along tp only, behind those along data axes and before anything reads them, found elements 0 to 8192 of bucket 0 to be whole sums

// of a parameter that does not say so
// RUN: sed -e '/rt.param "final_norm.scale"/s/ partial <tp, dp>/ partial <dp>/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=UNSAID
// UNSAID: 'rt.collective' expected sums of one use over the other ranks along tp only, behind those along data axes and before anything reads them, found elements 64 to 128 of bucket 2 to be whole sums

// a split parameter that says so
// RUN: sed -e '/rt.param "layers.0.mlp.up.bias"/s/partial <dp>/partial <tp, dp>/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=SPLIT
// SPLIT: 'rt.param' expected a gradient that is partial over ranks that have the same of its parameter, found "layers.0.mlp.up.bias" partial over tp

// of another replica's data, and not partial over them
// RUN: sed -e '/rt.param "layers.0.mlp.up.bias"/s/ partial <dp>//' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=DATA
// DATA: 'rt.param' expected a gradient that is partial over dp, whose ranks have other data and the same of "layers.0.mlp.up.bias", found one that is not

// Along which axes the data differ is a fact of each parameter: dp splits the weights
// of the MLP, whose gradients are whole, and no one sums them. Under ZeRO their states
// are in no shards.
// RUN: mtc compile gpt2-nano --strategy %S/Inputs/split-ffn.toml --zero 0 --isa x86-64-v4 --compile-to=plan-memory -o %t.split.mlir
// RUN: mtc compile gpt2-nano --strategy %S/Inputs/split-ffn.toml --zero 2 --isa x86-64-v4 --compile-to=plan-memory -o %t.split.zero.mlir
// RUN: mtc-opt --verify-plan -o /dev/null %t.split.mlir
// RUN: mtc-opt --verify-plan -o /dev/null %t.split.zero.mlir
// RUN: FileCheck %s --check-prefix=OWN < %t.split.mlir
// OWN: rt.bucket 0 elements [[ELEMENTS:[0-9]+]] unpadded
// OWN: rt.param "layers.3.mlp.up.weight" use 0 bucket 0 start {{[0-9]+}} loc(
// OWN: rt.param "layers.3.mlp.down.bias" use 0 bucket {{[1-9].*}} partial <dp>
// OWN-LABEL: func.func @stage0_reduce
// OWN: group dp count 1 {origin = "loss"}
// OWN-NOT: group dp count [[ELEMENTS]] {
// OWN: return

// RUN: FileCheck %s --check-prefix=OWN-ZERO < %t.split.zero.mlir
// OWN-ZERO: rt.bucket 0 elements [[ELEMENTS:[0-9]+]] unpadded {{[0-9]+}} shard [[ELEMENTS]]
// OWN-ZERO: rt.bucket 1 {{.*}}shard_gradients

// a sum of them that doubles what each rank has
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/{s/.*origin = "loss".*/&\n      %own = rt.view grads at 0 : memref<64xf32>\n      rt.collective all_reduce %own group dp count 64 : (memref<64xf32>) -> ()/}' %t.split.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=DOUBLED
// DOUBLED: 'rt.collective' expected sums of one use over the other ranks along dp only, before anything reads them, found elements 0 to 64 of bucket 0 to be whole sums

// a row that says that they are parts
// RUN: sed -e '/rt.param "layers.3.mlp.up.weight"/s/start [0-9]*/& partial <dp>/' %t.split.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=PARTS
// PARTS: 'rt.param' expected a gradient that is partial over ranks that have the same of its parameter, found "layers.3.mlp.up.weight" partial over dp

// counted in the norm by one replica
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/{s/\(rt.flat_range start [0-9]* count 128\)\( loc.*\)$/\1 among <dp>\2/}' %t.split.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ONCE
// ONCE: 'rt.norm' expected the norm to count "layers.{{[0-9]+}}.mlp.{{.*}}" on every dp rank (each has a part), found it among them
