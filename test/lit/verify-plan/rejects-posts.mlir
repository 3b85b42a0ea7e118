// REQUIRES: avx512
// Transfers that are posted and waited for apart: faults planted in the plan of a
// compiled model, two stages.
// RUN: mtc compile gpt2-nano --gemm onednn --tp 1 --pp 2 --dp 1 --mbs 2 --gbs 8 --compile-to=plan-memory -o %t.mlir
// RUN: mtc-opt %t.mlir --verify-plan | FileCheck %s
// CHECK: rt.exchange post [#rt.transfer<send = true, peer = 1, tag = <value = activation, microbatch = 0, virtual_stage = 0>
// CHECK: rt.exchange wait [#rt.transfer<send = false, peer = 1, tag = <value = gradient, microbatch = 0, virtual_stage = 1>

// the wait for a receive dropped: it is read on its way
// RUN: sed -e '/rt.program @stage1/,$ {/exchange wait.*value = activation, microbatch = 1/d}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=READ
// READ: expected a wait for the receive of a1.0 before its bytes 0 to 16384 are read, found none
// READ: posted here

// the wait for a send dropped: its buffer is written on its way
// RUN: sed -e '/rt.program @stage1/,$ {/exchange wait.*value = gradient, microbatch = 1/d}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=WRITTEN
// WRITTEN: expected a wait for the send of g1.1 before its bytes 16384 to 32768 are written, found none

// the last wait dropped: nobody waits in this step
// RUN: sed -e '/rt.program @stage1/,$ {/exchange wait.*value = gradient, microbatch = 3/d}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=UNWAITED
// UNWAITED: posts the send of g3.1 to rank 0, expected a wait for it in the same step, found none

// the same of eight ranks that count in another order: said once, where it is posted
// RUN: mtc compile gpt2-nano --tp 2 --pp 2 --dp 2 --gbs 8 --rank-order tp-cp-pp-dp --compile-to=plan-memory -o %t.order.mlir
// RUN: sed -e '/rt.program @stage1/,$ {/exchange wait.*value = gradient, microbatch = 3/d}' %t.order.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: <stdin>:[[#]]:7: error: 'rt.exchange' entry "train", unwaited: rank 2 item [[#]]: posts the send of g3.1 to rank 0
// ORDER-NOT: unwaited
// ORDER: note: rank = tp + 2·(cp + 1·(stage + 2·dp)); one rank stands for all with the same program
// ORDER-NOT: unwaited

// a wait for other bytes than were posted
// RUN: sed -e '/exchange wait/ s/\(value = gradient, microbatch = 1, virtual_stage = 1>, offset = \)0,/\164,/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: expected to wait for a transfer as an earlier row posted it, found none like #rt.transfer<send = false, peer = 1, tag = <value = gradient, microbatch = 1, virtual_stage = 1>, offset = 64, bytes = 16384>

// a post that is a whole exchange: then its wait has none
// RUN: sed -e '/rt.program @stage1/,$ s/exchange post \(.*send = true.*value = gradient, microbatch = 3\)/exchange \1/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: waits for the send of g3.1 to rank 0, expected one that is posted

// each stage waits for what the other posts behind its own wait
// RUN: sed -e '/rt.program @stage0/,/rt.timeline @eval/ {/exchange wait.*value = gradient, microbatch = 2/d;s/post \[\(#rt.transfer<send = true, peer = 1, tag = <value = activation, microbatch = 3[^>]*>[^>]*>\), \(.*\)\]/post [\2]\n      rt.exchange wait [\2]\n      rt.exchange post [\1]/}' \
// RUN:   -e '/rt.program @stage1/,/rt.timeline @eval/ {/exchange wait.*value = activation, microbatch = 3/d;s/post \[\(#rt.transfer<send = false, peer = 0, tag = <value = activation, microbatch = 3[^>]*>[^>]*>\), \(.*\)\]/post [\1]\n      rt.exchange wait [\1]\n      rt.exchange post [\2]/}' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=CROSS
// CROSS: expected no wait-for cycle in entry "train" over two steps, found one; its shortest, rank by rank:
// CROSS: rank 1 cannot end item {{[0-9]+}} wait{Ra3.0:0}, and only then begins item {{[0-9]+}} post{Sg2.1:0}
// CROSS: rank 0 cannot end item {{[0-9]+}} wait{Rg2.1:1}, and only then begins item {{[0-9]+}} post{Sa3.0:1}

// on GPUs, whose calls are in one order on one stream
// RUN: sed -e 's/device = "cpu"/device = "cuda:sm_90"/' %t.mlir \
// RUN:   | not mtc-opt --verify-plan 2>&1 | FileCheck %s --check-prefix=APART
// APART: expected whole exchanges in a plan for cuda:sm_90, whose transfers take place in the order of the program, found one that is begun or awaited apart; build the schedule without overlap = p2p

// so the compiler makes none for them
// RUN: mtc compile gpt2-nano --pp 2 --mbs 2 --gbs 8 --target cuda:sm_90 --compile-to=verify-plan -o %t.gpu.mlir
// RUN: FileCheck %s --check-prefix=INORDER --implicit-check-not="rt.exchange post" --implicit-check-not="rt.exchange wait" < %t.gpu.mlir
// INORDER: rt.exchange [#rt.transfer<send = true, peer = 1
