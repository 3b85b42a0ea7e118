// Collectives, transfers and waits over all ranks. One fault each, planted in a plan that is accepted.

// a collective that one stage leaves out
// RUN: sed -e '/func.func @stage1_reduce/,/return/{/group embedding/d}' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-COLLECTIVE-THAT-ONE-STAGE-LEAVES-OUT
// A-COLLECTIVE-THAT-ONE-STAGE-LEAVES-OUT: entry "train", collective-count: communicator embedding: rank 1 issues 0 collectives, rank 0 issues 1

// another size on one stage
// RUN: sed -e '/func.func @stage1_reduce/,/return/s/embedding count 64/embedding count 32/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ANOTHER-SIZE-ON-ONE-STAGE
// ANOTHER-SIZE-ON-ONE-STAGE: expected the same collective from every member of "embedding": as number 0 of "train", stage 0 has all_reduce of 64 f32, found all_reduce of 32 f32 on stage 1

// another operation on one stage
// RUN: sed -e '/func.func @stage1_reduce/,/return/s/all_reduce %1/all_reduce_max %1/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ANOTHER-OPERATION-ON-ONE-STAGE
// ANOTHER-OPERATION-ON-ONE-STAGE: stage 0 has all_reduce of 64 f32, found all_reduce_max of 64 f32 on stage 1

// an unknown group
// RUN: sed -e '/func.func @stage1_reduce/,/return/s/group embedding/group row/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=AN-UNKNOWN-GROUP
// AN-UNKNOWN-GROUP: expected a group (tp, dp, embedding, all, cp or kv), found row

// a send that nobody receives
// RUN: sed -e '/func.func @stage1_apply/,${/rt.timeline @eval/,$s/.*exchange.*tag = <value = activation, microbatch = 1, virtual_stage = 0>, .*//}' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-SEND-THAT-NOBODY-RECEIVES
// A-SEND-THAT-NOBODY-RECEIVES: unpaired: channel 0 -> 1: 2 sends and 1 receives

// two sends in the other order
// RUN: sed -e '/@stage0 stage/,/@stage1 stage/{/@eval/,/loss_offset/{s/tag = <value = activation, microbatch = 0, virtual_stage = 0>,/tag = <value = activation, microbatch = 9, virtual_stage = 0>,/;s/tag = <value = activation, microbatch = 1, virtual_stage = 0>,/tag = <value = activation, microbatch = 0, virtual_stage = 0>,/;s/tag = <value = activation, microbatch = 9, virtual_stage = 0>,/tag = <value = activation, microbatch = 1, virtual_stage = 0>,/}}' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=TWO-SENDS-IN-THE-OTHER-ORDER
// TWO-SENDS-IN-THE-OTHER-ORDER: expected the receive of stage 1 that is next in order to match the send of a1.0 (256 bytes), found a0.0 (256 bytes)

// another size on one side
// RUN: sed -e '/@stage1 stage/,$s/send = false, peer = 0, tag = <value = activation, microbatch = 1, virtual_stage = 0>, offset = 0, bytes = 256/send = false, peer = 0, tag = <value = activation, microbatch = 1, virtual_stage = 0>, offset = 0, bytes = 128/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ANOTHER-SIZE-ON-ONE-SIDE
// ANOTHER-SIZE-ON-ONE-SIDE: to match the send of a1.0 (256 bytes), found a1.0 (128 bytes)

// a peer that is the stage itself
// RUN: sed -e '/@stage1 stage/,$s/peer = 0, tag = <value = activation, microbatch = 1, virtual_stage = 0>, offset/peer = 1, tag = <value = activation, microbatch = 1, virtual_stage = 0>, offset/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-PEER-THAT-IS-THE-STAGE-ITSELF
// A-PEER-THAT-IS-THE-STAGE-ITSELF: expected as peer another stage of 0 to 1, found 1 for transfer a1.0

// one exchange taken apart in the unlucky order
// RUN: sed -e '/@stage0 stage/,/@stage1 stage/s/exchange \[\(.*tag = <value = activation, microbatch = 1, virtual_stage = 0>, .*>\), \(#rt.*tag = <value = gradient, microbatch = 0, virtual_stage = 1>.*>\)\]/exchange [\2]\n      rt.exchange [\1]/' -e '/@stage1 stage/,$s/exchange \[\(.*tag = <value = activation, microbatch = 1, virtual_stage = 0>, .*>\), \(#rt.*tag = <value = gradient, microbatch = 0, virtual_stage = 1>.*>\)\]/exchange [\1]\n      rt.exchange [\2]/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ONE-EXCHANGE-TAKEN-APART-IN-THE-UNLUCKY-ORDER
// ONE-EXCHANGE-TAKEN-APART-IN-THE-UNLUCKY-ORDER-DAG: expected no wait-for cycle in entry "train" over two steps, found one; its shortest, rank by rank:
// ONE-EXCHANGE-TAKEN-APART-IN-THE-UNLUCKY-ORDER-DAG: :7: note: rank 0 cannot end item
// ONE-EXCHANGE-TAKEN-APART-IN-THE-UNLUCKY-ORDER-DAG: :7: note: rank 1 cannot end item
// ONE-EXCHANGE-TAKEN-APART-IN-THE-UNLUCKY-ORDER-DAG: :7: note: what rank 1 begins only then

// a cycle through collectives names their lines of the spec
// RUN: sed -e '/@stage0 stage/,/@stage1 stage/{/rt.step run @stage0_reduce/d;s/^ *rt.exchange .#rt.transfer<send = false, peer = 1, tag = <value = gradient, microbatch = 1,/rt.step run @stage0_reduce\n&/}' -e 's/norm_reduce group all.*/& loc("head"("model.toml":11:1))/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-CYCLE-THROUGH-COLLECTIVES
// A-CYCLE-THROUGH-COLLECTIVES-DAG: found one; its shortest, rank by rank:
// A-CYCLE-THROUGH-COLLECTIVES-DAG: model.toml:11:1: note: rank 0 cannot end item 3 {norm_reduce on all}, and only then begins item
// A-CYCLE-THROUGH-COLLECTIVES-DAG: model.toml:11:1: note: what rank 1 begins only then

// a count that is not the buffer's
// RUN: sed -e '/func.func @stage0_fwd/,/return/s/tp count 64/tp count 32/' %S/Inputs/grid.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-COUNT-THAT-IS-NOT-THE-BUFFERS
// A-COUNT-THAT-IS-NOT-THE-BUFFERS: expected a count of 64 for 'memref<16x4xf32>' on group "tp", found 32

// a norm over another group
// RUN: sed -e 's/norm_reduce group all/norm_reduce group embedding/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-NORM-OVER-ANOTHER-GROUP
// A-NORM-OVER-ANOTHER-GROUP: and the norm over all, found norm_reduce over embedding

// a transfer outside the arena
// RUN: sed -e 's/tag = <value = activation, microbatch = 1, virtual_stage = 0>, offset = 0,/tag = <value = activation, microbatch = 1, virtual_stage = 0>, offset = 4032,/' %S/Inputs/pipeline.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=A-TRANSFER-OUTSIDE-THE-ARENA
// A-TRANSFER-OUTSIDE-THE-ARENA: expected the transfer inside the arena of 4096 bytes, from a multiple of 64, found 256 bytes at 4032
