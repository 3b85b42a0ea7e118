// Sums that are the last to write a gradient count its squares, over ranks and of two uses:
// the step of the norm continues them. In numbers: integration_global_norm.

// Of an all-reduce each rank makes a part, so that `among` does not name its group; of what
// all ranks have behind it, as the sum of two uses, each counts a part.
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --dp 2 --mbs 2 --gbs 8 --compile-to=count-gradients -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// CHECK-LABEL: func.func @stage0_reduce()
// CHECK: rt.collective all_reduce {{.*}} group dp count 202112
// CHECK-NEXT: rt.ref grad of 0
// CHECK-NEXT: rt.flat_range start 0 count 202112{{( loc.*)?$}}
// CHECK-NEXT: rt.offset_view
// CHECK-NEXT: rt.norm accumulate of {{.*}} continues
// CHECK: rt.launch
// CHECK-NEXT: rt.ref grad of 1
// CHECK-NEXT: rt.flat_range start 0 count 16384 among <dp>
// CHECK-NEXT: rt.offset_view
// CHECK-NEXT: rt.norm accumulate of {{.*}} continues
// CHECK-NOT: rt.norm accumulate
// CHECK: rt.collective norm_reduce
// Once more: what is counted stays as it is.
// RUN: sed -e 's/"count-gradients"/"pack-weights"/' %t.mlir | mtc-opt --count-gradients | FileCheck %s

// A sum of less than what is counted does not count it.
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --dp 2 --mbs 2 --gbs 8 --compile-to=pack-weights -o - | sed -e '/@stage0_reduce/,/return/s/start 0 count 16384$/start 16 count 16368/' | mtc-opt --count-gradients | FileCheck %s --check-prefix=LESS
// LESS-LABEL: func.func @stage0_reduce()
// LESS: rt.norm accumulate of {{.*}} continues
// LESS: rt.flat_range start 16 count 16368
// LESS-NOT: continues
// LESS: rt.norm accumulate of
// LESS-NOT: continues
// LESS: rt.norm finish

// What is the same along other axes, too, ranks along these have parts of; along tp, what
// is split, all count.
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --tp 2 --cp 2 --dp 2 --mbs 2 --gbs 8 --compile-to=count-gradients -o - | FileCheck %s --check-prefix=AXES
// AXES-LABEL: func.func @stage0_reduce()
// AXES: rt.collective all_reduce {{.*}} group dp count 102912
// AXES-NOT: rt.norm
// AXES: rt.collective all_reduce {{.*}} group cp count 102912
// AXES: rt.flat_range start 0 count 192 among <tp, dp>
// AXES: rt.norm accumulate of {{.*}} continues
// AXES: rt.flat_range start 192 count 16512 among <dp>
// AXES: rt.norm accumulate of {{.*}} continues

// A rank counts its shard, of which others have none.
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --dp 2 --zero 1 --mbs 2 --gbs 8 --compile-to=count-gradients -o - | FileCheck %s --check-prefix=SHARD
// SHARD-LABEL: func.func @stage0_reduce()
// SHARD: rt.collective reduce_scatter {{.*}} group dp count 101056
// SHARD: rt.flat_range start 0 count 202112 shard 101056 loc
// SHARD: rt.norm accumulate of {{.*}} continues

// Behind: sums between stages, of which one counts all; those that backwards have made,
// and those of a thread of its own; what is not f32; and all with AVX2 and of a GPU.
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --pp 2 --mbs 2 --gbs 8 --compile-to=count-gradients -o - | FileCheck %s --check-prefix=BEHIND
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --dp 2 --zero 2 --mbs 2 --gbs 8 --compile-to=count-gradients -o - | FileCheck %s --check-prefix=BACKWARD
// RUN: mtc compile gpt2-nano --isa x86-64-v4 --dp 2 --comm-thread --mbs 2 --gbs 8 --compile-to=count-gradients -o - | FileCheck %s --check-prefix=BEHIND
// RUN: mtc compile gpt2-nano --isa x86-64-v3 --dp 2 --mbs 2 --gbs 8 --compile-to=count-gradients -o - | FileCheck %s --check-prefix=BEHIND
// RUN: mtc compile gpt2-nano --target cuda:sm_90 --dp 2 --mbs 2 --gbs 8 --compile-to=count-gradients -o - | FileCheck %s --check-prefix=BEHIND
// RUN: mtc compile gpt2-nano --bf16 --isa x86-64-v4-bf16 --dp 2 --grad-dtype bf16 --mbs 2 --gbs 8 --compile-to=count-gradients -o - | FileCheck %s --check-prefix=BEHIND
// BEHIND: rt.norm accumulate
// BEHIND-NOT: rt.norm accumulate of {{.*}} continues
// BACKWARD: rt.norm accumulate of %{{[0-9]+}} : memref<101056xf32> length %{{[a-z_0-9]+}} loc
