// Shardings of the fragments of two stages, and of what crosses. One fault each, planted in
// fragments that are sound, and no other error than those below.
// RUN: mtc-opt --verify-fragments %S/Inputs/fragments.mlir

// an all-reduce that got lost before a send
// RUN: sed -e '/%r = dist.all_reduce/d' -e 's/pipe.send activation %r/pipe.send activation %y/' %S/Inputs/fragments.mlir \
// RUN:   | not mtc-opt --verify-fragments 2>&1 | FileCheck %s --check-prefix=LOST --implicit-check-not=error:
// LOST: error: {{.*}}expected activation of "train" from virtual stage 0 to 1 in one sharding in all fragments, found #dist.sharding<[{"dp"}, {}], partial = {"tp"}> and #dist.sharding<[{"dp"}, {}]>
// LOST: error: {{.*}}expected activation of "train" from virtual stage 0 to 1 in one sharding

// a doubled one
// RUN: sed -e '/%r = dist.all_reduce/{p;s/%r =/%again =/;s/sum %y/sum %r/}' -e 's/pipe.send activation %r/pipe.send activation %again/' %S/Inputs/fragments.mlir \
// RUN:   | not mtc-opt --verify-fragments 2>&1 | FileCheck %s --check-prefix=DOUBLED --implicit-check-not=error:
// DOUBLED: error: {{.*}}expected an operand that is a partial sum over "tp", found one that is replicated

// one of another kind
// RUN: sed -e 's/all_reduce sum %y/all_reduce max %y/' %S/Inputs/fragments.mlir \
// RUN:   | not mtc-opt --verify-fragments 2>&1 | FileCheck %s --check-prefix=KIND --implicit-check-not=error:
// KIND: error: {{.*}}expected an operand that is a partial maximum over "tp", found one that is a partial sum

// a saved part that is read as the whole
// RUN: sed -e '/pipe.saved 0/s/i64: 4, 16/i64: 4, 4/' -e '/pipe.saved 0/s/, {"tp"}/, {}/' %S/Inputs/fragments.mlir \
// RUN:   | not mtc-opt --verify-fragments 2>&1 | FileCheck %s --check-prefix=PART --implicit-check-not=error:
// PART: error: {{.*}}expected saved activation 0 of stage 0 in one sharding in all fragments, found #dist.sharding<[{"dp"}, {"tp"}]> and #dist.sharding<[{"dp"}, {}]>
// PART: error: {{.*}}expected operand 0
// PART: error: {{.*}}expected operand 1

// a saved value of another size, which nobody reads
// RUN: sed -e '/pipe.saved 0/{s/i64: 4, 16/i64: 4, 32/;s/tensor<2x4xf32>/tensor<2x8xf32>/}' -e '/%dw\|%dup/d' %S/Inputs/fragments.mlir \
// RUN:   | not mtc-opt --verify-fragments 2>&1 | FileCheck %s --check-prefix=SIZE --implicit-check-not=error:
// SIZE: error: {{.*}}expected saved activation 0 of stage 0 of one global shape in all fragments, found array<i64: 4, 16> and array<i64: 4, 32>
// SIZE: error: {{.*}}expected gradients of uses 0 to 0, found none
// SIZE: error: {{.*}}expected gradients of uses 0 to 0, found none

// a gradient that is summed twice, here and by the update
// RUN: sed -e '/%dw = /{p;s/%dw = .* partial = {"dp"}>]}.*/%again = dist.all_reduce sum %dw over "dp" origin gradient serves "down" {dist.global_shapes = [array<i64: 16, 8>], dist.shardings = [#dist.sharding<[{"tp"}, {}]>]} : tensor<4x8xf32>/}' -e 's/accumulate %dw/accumulate %again/' %S/Inputs/fragments.mlir \
// RUN:   | not mtc-opt --verify-fragments 2>&1 | FileCheck %s --check-prefix=SUMMED --implicit-check-not=error:
// SUMMED: error: {{.*}}expected the gradient of use 0 of "down" to be partial over what its rt.param says, dp, found nothing

// a gradient in another state than its parameter
// RUN: sed -e 's/%dw to "down"/%dw to "up"/' -e '/%dup/d' %S/Inputs/fragments.mlir \
// RUN:   | not mtc-opt --verify-fragments 2>&1 | FileCheck %s --check-prefix=STATE --implicit-check-not=error:
// STATE: error: {{.*}}expected the gradient of "up" to be split on dimension 1 over "tp", found split on dimension 0
// STATE: error: {{.*}}expected gradients of uses 0 to 0, found none

// a gradient of no parameter
// RUN: sed -e 's/%dw to "down"/%dw to "w"/' %S/Inputs/fragments.mlir \
// RUN:   | not mtc-opt --verify-fragments 2>&1 | FileCheck %s --check-prefix=NO-PARAMETER --implicit-check-not=error:
// NO-PARAMETER: error: {{.*}}expected a pipe.parameter of the name "w", found none
// NO-PARAMETER: error: {{.*}}expected gradients of uses 0 to 0, found none

// a loss that is summed twice
// RUN: sed -e '/%l = /{p;s/%l = .*/%again = dist.all_reduce sum %l over "dp" origin loss serves "x" {dist.global_shapes = [array<i64>], dist.shardings = [#dist.sharding<[]>]} : tensor<f32>/}' -e 's/pipe.loss %l/pipe.loss %again/' %S/Inputs/fragments.mlir \
// RUN:   | not mtc-opt --verify-fragments 2>&1 | FileCheck %s --check-prefix=LOSS --implicit-check-not=error:
// LOSS: error: {{.*}}expected the loss to be a partial sum over "dp", which the update sums over, found replicated

// a parameter of which nothing is known
// RUN: sed -e 's/\(pipe.param "up"\) {.*} :/\1 :/' %S/Inputs/fragments.mlir \
// RUN:   | not mtc-opt --verify-fragments 2>&1 | FileCheck %s --check-prefix=UNKNOWN --implicit-check-not=error:
// UNKNOWN: error: {{.*}}expected the parameter "up" as its pipe.parameter says, 'tensor<8x4xf32>' in #dist.sharding<[{}, {"tp"}]>, found 'tensor<8x4xf32>' in
// UNKNOWN: error: {{.*}}expected operand 1 to be split on dimension 1, found replicated over "tp"

// a part that is no part
// RUN: sed -e '/pipe.param "up"/s/i64: 8, 16/i64: 8, 8/' %S/Inputs/fragments.mlir \
// RUN:   | not mtc-opt --verify-fragments 2>&1 | FileCheck %s --check-prefix=NO-PART --implicit-check-not=error:
// NO-PART: error: {{.*}}expected 'tensor<8x4xf32>' to be a part of global shape [8, 8] under #dist.sharding<[{}, {"tp"}]>, found a part of [8, 16]

// an export that does not say how it lies
// RUN: sed -e '/%up = /i pipe.export "logits" %x : tensor<2x8xf32>' %S/Inputs/fragments.mlir \
// RUN:   | not mtc-opt --verify-fragments 2>&1 | FileCheck %s --check-prefix=EXPORT --implicit-check-not=error:
// EXPORT: error: {{.*}}expected a value in full in the sharding that dist.sharding says, found #dist.sharding<[{"dp"}, {}]>

// a gradient that arrives and of which nothing is known
// RUN: sed -e 's/\(pipe.received gradient\) {.*} :/\1 :/' %S/Inputs/fragments.mlir \
// RUN:   | not mtc-opt --verify-fragments 2>&1 | FileCheck %s --check-prefix=ARRIVES --implicit-check-not=error:
// ARRIVES: error: {{.*}}expected the sharding and the global shape of gradient of "train" from virtual stage 1 to 0 (dist.shardings, dist.global_shapes)

// a value of which nothing says where it comes from
// RUN: sed -e '/@stage1_fwd/,/return/s/phase = forward/phase = eval/' %S/Inputs/fragments.mlir \
// RUN:   | not mtc-opt --verify-fragments 2>&1 | FileCheck %s --check-prefix=CROSSING --implicit-check-not=error:
// CROSSING: error: {{.*}}expected a pipe.crossing of "eval" that names it, found none

// no mesh
// RUN: sed -e 's/module attributes {.*} {/module {/' %S/Inputs/fragments.mlir \
// RUN:   | not mtc-opt --verify-fragments 2>&1 | FileCheck %s --check-prefix=MESH --implicit-check-not=error:
// MESH: error: {{.*}}expected the mesh as module attribute dist.mesh

// a tied parameter, of which the gradient of the first use got lost
// RUN: sed -e 's/\(name = "down".*\) local/\1 uses 2 local/' -e 's/"down" use 0/"down" use 1/' %S/Inputs/fragments.mlir \
// RUN:   | not mtc-opt --verify-fragments 2>&1 | FileCheck %s --check-prefix=FIRST-USE --implicit-check-not=error:
// FIRST-USE: error: {{.*}}expected gradients of uses 0 to 1, found those of uses 1

// a use that is not one of the parameter
// RUN: sed -e 's/\(name = "down".*\) local/\1 uses 2 local/' -e '/"down" use 0/{p;s/use 0/use 2/}' %S/Inputs/fragments.mlir \
// RUN:   | not mtc-opt --verify-fragments 2>&1 | FileCheck %s --check-prefix=ANOTHER-USE --implicit-check-not=error:
// ANOTHER-USE: error: {{.*}}expected gradients of uses 0 to 1, found those of uses 0, 2

// a gradient that is added twice
// RUN: sed -e '/to "down" use 0/p' %S/Inputs/fragments.mlir \
// RUN:   | not mtc-opt --verify-fragments 2>&1 | FileCheck %s --check-prefix=TWICE --implicit-check-not=error:
// TWICE: error: {{.*}}expected one gradient of use 0 of "down", found another of the same use

// A gradient that is partial over tp until the end of the step: its row says so.
// RUN: sed -e '/name = "up"/i pipe.parameter <name = "s", axes = [], init = zeros, std = 0.0 : f64, decay = true> local tensor<f32>\nrt.program @stage0 stage 0 { rt.param "s" use 0 bucket 0 start 0 partial <tp, dp> }' -e '/%dw = /i %ds = tfm.reduce sum %u dims [0, 1] {dist.global_shapes = [array<i64>], dist.shardings = [#dist.sharding<[], partial = {"dp", "tp"}>]} : tensor<2x4xf32> -> tensor<f32>\npipe.accumulate %ds to "s" use 0 : tensor<f32>' %S/Inputs/fragments.mlir > %t.partial.mlir
// RUN: mtc-opt --verify-fragments -o /dev/null %t.partial.mlir

// no row says so
// RUN: sed -e '/rt.program @stage0/d' %t.partial.mlir \
// RUN:   | not mtc-opt --verify-fragments 2>&1 | FileCheck %s --check-prefix=UNSAID --implicit-check-not=error:
// UNSAID: error: {{.*}}expected the gradient of use 0 of "s" to be partial over what its rt.param says, nothing, found dp, tp

// a row that says so of a gradient that is reduced in each microbatch
// RUN: sed -e '/accumulate %ds/{s/%ds/%whole/;i %whole = dist.all_reduce sum %ds over "tp" origin gradient serves "s" {dist.global_shapes = [array<i64>], dist.shardings = [#dist.sharding<[], partial = {"dp"}>]} : tensor<f32>' -e '}' %t.partial.mlir \
// RUN:   | not mtc-opt --verify-fragments 2>&1 | FileCheck %s --check-prefix=REDUCED --implicit-check-not=error:
// REDUCED: error: {{.*}}expected the gradient of use 0 of "s" to be partial over what its rt.param says, dp, tp, found dp

// a partial sum where its parameter is split
// RUN: sed -e 's/%dw = .*/%dw = tfm.einsum "bf,be->fe" %u, %dy {dist.global_shapes = [array<i64: 4, 8>], dist.shardings = [#dist.sharding<[{}, {}], partial = {"dp", "tp"}>]} : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>/' %S/Inputs/fragments.mlir \
// RUN:   | not mtc-opt --verify-fragments 2>&1 | FileCheck %s --check-prefix=SCATTER --implicit-check-not=error:
// SCATTER: error: {{.*}}expected result 0 to be split on dimension 0, found a partial sum over "tp"
// SCATTER: error: {{.*}}expected the gradient of "down" to be split on dimension 0 over "tp", found a partial sum
