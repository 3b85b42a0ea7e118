// Heads of keys and values that two ranks in a row share: gradients are parts of a sum
// over the group kv. One fault each, planted in the plan of a compiled model.
// RUN: mtc compile gpt2-nano-gqa --tp 4 --dp 2 --mbs 2 --gbs 8 --zero 1 --isa x86-64-v4 --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt --verify-plan -o /dev/null %t.mlir

// a sum that nobody makes
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/{/group kv/d}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=LOST
// LOST: 'rt.norm' expected whole gradients of owned parameters in the norm, once, found elements 0 to 8 of bucket 2 to be partial sums over kv

// made twice
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/{/group kv/p}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: 'rt.collective' expected sums of one use over the other ranks along kv only, behind those along data axes and before anything reads them, found elements 0 to 8 of bucket 2 to be whole sums

// over all ranks along tp, of which some have another head
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/{s/group kv/group tp/}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ALL
// ALL: 'rt.collective' expected sums of one use over the other ranks along tp only, behind those along data axes and before anything reads them, found elements 0 to 8 of bucket 2 to be partial sums over kv

// the same, and the row says so
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/{s/group kv/group tp/}' -e 's/partial <dp, kv>/partial <tp, dp>/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER-DAG: 'rt.param' expected a gradient that is partial over ranks that have the same of its parameter, found "layers.3.attn.v.bias" partial over tp
// OTHER-DAG: 'rt.param' expected a gradient that is partial over kv, whose ranks have the same indices of "layers.3.attn.v.bias", found one that is not

// of parameters that say nothing of it
// RUN: sed -e '/^    func.func @stage0_reduce/,/return/{/group kv/d}' -e 's/partial <dp, kv>/partial <dp>/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=UNSAID
// UNSAID: 'rt.param' expected a gradient that is partial over kv, whose ranks have the same indices of "layers.3.attn.v.bias", found one that is not

// counted in the norm by each of them
// RUN: sed -e '/group kv/,/return/s/ continues / /' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=EACH
// EACH: 'rt.norm' expected the norm to count "layers.3.attn.v.bias" among kv ranks (all have the same), found it on every one

// counted by one rank of all
// RUN: sed -e '/group kv/,/rt.norm/s/rt.flat_range .* shard [0-9]*/& among <tp>/' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: 'rt.norm' expected the norm to count "layers.3.attn.v.bias" on every tp rank (each has a part), found it among them

// groups of another size: of all ranks along tp, and of none
// RUN: sed -e 's/, kv = 2>/, kv = 4>/' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=FOUR
// FOUR: 'pipe.parameter' expected the indices of "layers.0.attn.k.weight" on 4 ranks along tp, as kv of the mesh says, found them 2 times in #dist.sharding<[{}, {"tp"}, {}]>
// RUN: sed -e 's/, kv = 2>/>/' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: 'pipe.parameter' expected the indices of "layers.0.attn.k.weight" on 1 ranks along tp, as kv of the mesh says, found them 2 times in #dist.sharding<[{}, {"tp"}, {}]>

// a parameter that is not repeated after all
// RUN: sed -e '/pipe.parameter.*layers.0.attn.k.weight/s/, repeats = <dim = 1, times = 2>//' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OWN
// OWN: 'pipe.parameter' expected the indices of "layers.0.attn.k.weight" along "kv_heads" several times, as "layers.0.attn.k.bias" has its own, found them once
// OWN: 'rt.param' expected a gradient that is partial over ranks that have the same of its parameter, found "layers.0.attn.k.weight" partial over kv

// What a mesh and a parameter cannot be at all.
// RUN: sed -e 's/, kv = 2>/, kv = 2, kv = 2>/' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: expected kv once, found it twice
// RUN: sed -e 's/, kv = 2>/, kv = 0>/' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: expected 1 to 65536 ranks with the same key heads, found 0
// RUN: sed -e 's/, kv = 2>/, kv = 3>/' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=THREE
// THREE: expected kv of the mesh, the ranks with the same key heads, to divide tp = 4, found 3
// RUN: sed -e 's/repeats = <dim = 1, times = 2>/repeats = <dim = 0, times = 2>/' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=DIM
// DIM: 'pipe.parameter' op expected repeats along a dimension that is split so that each rank has one index, found dimension 0 of 'tensor<64x1x8xf32>' in #dist.sharding<[{}, {"tp"}, {}]>
// RUN: sed -e 's/repeats = <dim = 1, times = 2>/repeats = <dim = 3, times = 2>/' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=RANK
// RANK: expected repeats along one of 3 dimensions, found dimension 3
// RUN: sed -e 's/repeats = <dim = 1, times = 2>/repeats = <dim = 1, times = 1>/' %t.mlir | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ONCE
// ONCE: expected a dimension of 0 or more, repeated 2 times or more, found dimension 1 and 1 times
