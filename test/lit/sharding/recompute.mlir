// RUN: mtc compile gpt2-nano --tp 2 --gbs 2 --compile-to=partition | FileCheck %s --check-prefixes=FORWARD,SAVED
// RUN: mtc compile gpt2-nano --tp 2 --gbs 2 --recompute=full --compile-to=partition | FileCheck %s --check-prefixes=FORWARD,FULL
// RUN: mtc compile gpt2-nano --tp 2 --gbs 2 --recompute=selective --compile-to=partition | FileCheck %s --check-prefixes=FORWARD,SAVED
// RUN: mtc compile gpt2-nano --tp 2 --gbs 2 --sp --compile-to=partition | FileCheck %s --check-prefixes=SP,SP-SAVED
// RUN: mtc compile gpt2-nano --tp 2 --gbs 2 --sp --recompute=full --compile-to=partition | FileCheck %s --check-prefixes=SP,SP-FULL
// RUN: mtc compile gpt2-nano --tp 2 --gbs 2 --sp --recompute=full --compile-to=partition | FileCheck %s --check-prefixes=SCATTER
// RUN: rm -rf %t.mtc && mtc compile gpt2-nano --gbs 2 --recompute ops=norm,attention -o %t.mtc | FileCheck %s --check-prefix=REPORT
// REPORT: recompute      ops=attention,norm
// Collectives of a layer, here the second: what is computed again reduces again, but
// for the last product, whose sum is the input of the next layer and saved there.

// FORWARD-LABEL: func.func @microbatch
// FORWARD-COUNT-2: dist.all_reduce {{.*}}tfm.layer = 2 : i64, tfm.phase = "forward"
// FORWARD-NOT: dist.all_reduce {{.*}}tfm.layer = 2 : i64, tfm.phase = "forward"
// SAVED-COUNT-2: dist.all_reduce {{.*}}tfm.layer = 2 : i64, tfm.phase = "backward"
// SAVED-NOT: dist.all_reduce {{.*}}tfm.layer = 2 : i64
// FULL-COUNT-3: dist.all_reduce {{.*}}tfm.layer = 2 : i64, tfm.phase = "backward"
// FULL-NOT: dist.all_reduce {{.*}}tfm.layer = 2 : i64

// Along the sequence: the inputs of both blocks are gathered again in backward in any
// case, for the gradients of their weights; what is computed again reads the same.
// SP-LABEL: func.func @microbatch
// SP-COUNT-2: dist.all_gather {{.*}}tfm.layer = 2 : i64, tfm.phase = "forward"
// SP-NOT: dist.all_gather {{.*}}tfm.layer = 2 : i64, tfm.phase = "forward"
// SP-SAVED-COUNT-4: dist.all_gather {{.*}}tfm.layer = 2 : i64, tfm.phase = "backward"
// SP-SAVED-NOT: dist.all_gather {{.*}}tfm.layer = 2 : i64
// SP-SAVED: return
// SP-FULL-COUNT-4: dist.all_gather {{.*}}tfm.layer = 2 : i64, tfm.phase = "backward"
// SP-FULL-NOT: dist.all_gather {{.*}}tfm.layer = 2 : i64
// SP-FULL: return

// SCATTER-LABEL: func.func @microbatch
// SCATTER-COUNT-2: dist.reduce_scatter {{.*}}tfm.layer = 2 : i64, tfm.phase = "forward"
// SCATTER-COUNT-3: dist.reduce_scatter {{.*}}tfm.layer = 2 : i64, tfm.phase = "backward"
// SCATTER-NOT: dist.reduce_scatter {{.*}}tfm.layer = 2 : i64
// SCATTER: return
