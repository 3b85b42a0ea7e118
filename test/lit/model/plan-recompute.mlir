// RUN: mtc compile gpt2-nano --pp 2 --gbs 4 --compile-to=plan-recompute --recompute=none | sed s/plan-recompute/differentiate/ > %t.none
// RUN: mtc compile gpt2-nano --pp 2 --gbs 4 --compile-to=differentiate > %t.saves
// RUN: diff %t.none %t.saves
// RUN: mtc compile gpt2-nano --pp 2 --gbs 4 --compile-to=plan-recompute --recompute=full | FileCheck %s --check-prefix=FULL
// RUN: mtc compile gpt2-nano --pp 2 --gbs 4 --compile-to=plan-recompute --recompute=selective | FileCheck %s --check-prefix=SELECTIVE
// RUN: mtc compile gpt2-nano --pp 2 --gbs 4 --compile-to=plan-recompute --recompute=layers=1 | FileCheck %s --check-prefix=LAYERS
// RUN: mtc compile gpt2-nano --pp 2 --gbs 4 --compile-to=plan-recompute --recompute=ops=norm,pointwise | FileCheck %s --check-prefix=OPS
// Tests what is saved and computed again per policy: four layers on two stages. Without
// a policy nothing changes.

// Layer 2 saves what layer 1 made, and the backward of layer 2 runs its forward once,
// before its first reader there. Embedding and head (layers 0 and 5) are as they were.
// FULL-LABEL: func.func @microbatch
// FULL: tfm.save {{.*}}tfm.layer = 1 : i64
// FULL-NOT: tfm.save {{.*}}tfm.layer = 1 : i64
// FULL: %[[H:[^ ,]*]] = tfm.add {{.*}}loc("layers.0.mlp.residual")
// FULL-NEXT: %[[S:[^ ,]*]] = tfm.save %[[H]] {tfm.layer = 2 : i64
// FULL-NOT: tfm.save {{.*}}tfm.layer = 2 : i64
// FULL: tfm.save {{.*}}tfm.layer = 3 : i64
// FULL-NOT: tfm.save {{.*}}tfm.layer = 3 : i64
// FULL: tfm.save {{.*}}tfm.layer = 4 : i64
// FULL-NOT: tfm.save {{.*}}tfm.layer = 4 : i64
// FULL: tfm.save {{.*}}tfm.layer = 5 : i64
// FULL: tfm.dropout {{.*}}tfm.layer = 2 : i64, tfm.phase = "backward"
// FULL-NOT: tfm.norm
// FULL: %[[X:[^ ,]*]] = tfm.restore %[[S]]
// FULL-NEXT: %[[Y:[^ ,]*]], %{{.*}}, %{{.*}} = tfm.norm layer_norm %[[X]], {{.*}}tfm.layer = 2 : i64, tfm.phase = "backward", tfm.recomputes = 24 : i64
// FULL-NEXT: tfm.einsum "bse,ekgd->bskgd" %[[Y]]
// FULL: tfm.attention %
// FULL: %[[H2:[^ ,]*]] = tfm.add %[[X]],
// FULL-NEXT: tfm.norm layer_norm %[[H2]]
// FULL-NOT: tfm.restore
// FULL-NOT: tfm.norm layer_norm
// FULL: tfm.einsum "bsf,bse->fe"
// FULL: tfm.attention_grad {{.*}}tfm.layer = 2
// FULL-NOT: tfm.norm layer_norm
// FULL: tfm.layer = 1

// Attention alone, from its input, which is saved for its gradient anyway.
// SELECTIVE-LABEL: func.func @microbatch
// The sum with the bias is in memory anyway, as attention reads it there, so it is saved
// and not what the product made.
// SELECTIVE: %[[QKV:[^ ,]*]] = tfm.einsum "bse,ekgd->bskgd" {{.*}}tfm.layer = 2
// SELECTIVE-NEXT: tfm.broadcast
// SELECTIVE-NEXT: %[[SUM:[^ ,]*]] = tfm.add %[[QKV]],
// SELECTIVE-NEXT: %[[SAVED:[^ ,]*]] = tfm.save %[[SUM]]
// SELECTIVE-NEXT: tfm.attention %[[SUM]] {{.*}}tfm.layer = 2
// SELECTIVE-NEXT: tfm.einsum "bskd,kde->bse"
// SELECTIVE: %[[READ:[^ ,]*]] = tfm.restore %[[SAVED]]
// SELECTIVE-NEXT: %[[OUT:[^ ,]*]], %[[LSE:[^ ,]*]] = tfm.attention %[[READ]] {{.*}}tfm.recomputes
// SELECTIVE-NEXT: tfm.einsum "bskd,bse->kde" %[[OUT]]
// SELECTIVE-NOT: tfm.add
// SELECTIVE: tfm.attention_grad %{{.*}}, %[[OUT]], %[[LSE]], %[[READ]]

// The first layer of each stage: 1 and 3.
// LAYERS-LABEL: func.func @microbatch
// LAYERS: tfm.save {{.*}}tfm.layer = 1 : i64
// LAYERS-NOT: tfm.save {{.*}}tfm.layer = 1 : i64
// LAYERS: tfm.attention %{{.*}}tfm.layer = 2
// LAYERS-NEXT: tfm.save
// LAYERS: tfm.attention %{{.*}}tfm.layer = 3
// LAYERS-NEXT: tfm.einsum
// LAYERS: tfm.attention %{{.*}}tfm.layer = 4
// LAYERS-NEXT: tfm.save
// LAYERS: tfm.phase = "backward"
// LAYERS-NOT: tfm.attention %{{.*}}tfm.layer = 4
// LAYERS: tfm.attention %{{.*}}tfm.layer = 3
// LAYERS-NOT: tfm.attention %{{.*}}tfm.layer = 2
// LAYERS: tfm.attention %{{.*}}tfm.layer = 1

// What another family makes is saved where the named ones read it: the first product,
// and the dropped out output of attention instead of the sum with the residual stream.
// OPS-LABEL: func.func @microbatch
// OPS: tfm.norm {{.*}}tfm.layer = 2
// OPS-NEXT: tfm.einsum "bse,ekgd->bskgd"
// OPS-NEXT: tfm.save
// OPS: %[[DROPPED:[^ ,]*]] = tfm.dropout {{.*}}site = 2
// OPS-NEXT: %[[KEPT:[^ ,]*]] = tfm.save %[[DROPPED]]
// OPS-NEXT: tfm.add
// OPS-NEXT: tfm.norm
// OPS-NEXT: %[[U:[^ ,]*]] = tfm.einsum "bse,ef->bsf"
// OPS-NEXT: %[[UP:[^ ,]*]] = tfm.save %[[U]]
// OPS-NOT: tfm.save
// OPS: tfm.einsum "bsf,fe->bse" {{.*}}tfm.layer = 2
// OPS: tfm.restore %[[UP]]
// OPS: tfm.activation gelu {{.*}}tfm.recomputes
// OPS-NEXT: tfm.einsum "bsf,bse->fe"
// OPS: %[[AGAIN:[^ ,]*]] = tfm.restore %[[KEPT]]
// OPS-NEXT: tfm.add %{{.*}}, %[[AGAIN]] {{.*}}tfm.recomputes
// OPS-NEXT: tfm.norm {{.*}}tfm.recomputes
