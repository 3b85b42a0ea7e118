// RUN: mtc compile gpt2-nano --tp 2 --gbs 4 --mbs 4 --recompute=full --distribute-saved-activations --compile-to=partition | FileCheck %s
// RUN: mtc compile gpt2-nano --tp 2 --gbs 4 --mbs 4 --recompute=full --distribute-saved-activations --compile-to=cut-stages | FileCheck %s --check-prefix=KEPT
// RUN: mtc compile gpt2-nano --tp 2 --pp 4 --gbs 4 --mbs 1 --recompute=full --distribute-saved-activations --compile-to=expand-schedule | FileCheck %s --check-prefix=RECEIVED
// RUN: mtc compile gpt2-nano --tp 2 --gbs 4 --mbs 4 --recompute=full --compile-to=annotate-shardings \
// RUN:   | sed -e 's/dist.mesh = /dist.split_saved = "xx", &/' | not mtc-opt --propagate-shardings 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: expected dist.split_saved to name an axis of the mesh {{.*}}, found "xx"

// What a layer saves, its input, lies in parts on the ranks of tp, and its backward
// gathers it once before it computes the layer again; all-reduces are those without.
// CHECK-LABEL: func.func @microbatch
// CHECK: %[[PART:.*]] = dist.slice %[[X:[^ ,]*]] dim 0 over "tp" {{.*}}tfm.layer = 2
// CHECK-NEXT: %[[SAVED:.*]] = tfm.save %[[PART]] {{.*}}tfm.layer = 2 {{.*}}: tensor<2x32x64xf32>
// CHECK-COUNT-2: dist.all_reduce {{.*}}tfm.layer = 2 : i64, tfm.phase = "forward"
// CHECK: %[[READ:.*]] = tfm.restore %[[SAVED]]
// CHECK: dist.all_gather %[[READ]] dim 0 over "tp" origin saved {{.*}}tfm.layer = 2 {{.*}}: {{.*}}tensor<4x32x64xf32>
// CHECK-NOT: dist.all_gather {{.*}}tfm.layer = 2
// CHECK-COUNT-3: dist.all_reduce {{.*}}tfm.layer = 2 : i64, tfm.phase = "backward"
// CHECK-NOT: dist.all_gather {{.*}}tfm.layer = 2
// CHECK: return

// KEPT-LABEL: func.func @stage0_fwd
// KEPT-COUNT-4: pipe.save {{.*}} : tensor<2x32x64xf32>

// Nobody holds what a stage received until its backward: one slot of three.
// RECEIVED: pipe.timeline @train_stage1 entry "train" stage 1 pools <recv_activation = 1,
