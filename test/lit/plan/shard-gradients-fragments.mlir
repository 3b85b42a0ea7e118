// Where a compiled model sums gradients over dp under ZeRO-2: once per bucket and
// microbatch, in the fragment that makes them, and not in the update again.

// Backwards in halves: in the weight gradients, none in the input gradients.
// RUN: mtc compile gpt2-nano --pp 2 --dp 2 --mbs 2 --gbs 16 --schedule zb-h1 --zero 2 --compile-to=shard-gradients -o %t.halves.mlir
// RUN: FileCheck %s --check-prefix=HALVES --input-file %t.halves.mlir
// HALVES: rt.bucket 0 elements 102016 {{.*}} {shard_gradients
// HALVES: rt.bucket 1 elements 16384 {{.*}} {shard_gradients
// HALVES-LABEL: func.func @stage0_bwd_input
// HALVES-NOT: group dp
// HALVES-LABEL: func.func @stage0_bwd_weight
// HALVES-NOT: group dp
// HALVES: rt.collective reduce_scatter %{{.*}} group dp count 8192 {origin = "gradient"} : (memref<16384xf32>)
// HALVES-NOT: group dp
// HALVES: rt.collective reduce_scatter %{{.*}} group dp count 51008 {origin = "gradient"} : (memref<102016xf32>)
// HALVES-NOT: group dp
// HALVES-LABEL: func.func @stage0_reduce
// HALVES-NOT: group dp
// HALVES: rt.norm reset
// HALVES-LABEL: func.func @stage0_apply
// HALVES: rt.collective all_gather %{{.*}} group dp count 51008
// HALVES: rt.collective all_gather %{{.*}} group dp count 8192
// HALVES-NOT: group dp
// HALVES: rt.zero %{{.*}} : (memref<51008xf32>) -> ()
// HALVES: rt.zero %{{.*}} : (memref<8192xf32>) -> ()

// Chunks: a bucket of each, those of the later chunk first.
// RUN: mtc compile gpt2-nano --pp 2 --dp 2 --mbs 2 --gbs 16 --schedule interleaved-1f1b --chunks 2 --zero 2 --compile-to=shard-gradients -o %t.chunks.mlir
// RUN: FileCheck %s --check-prefix=CHUNKS --input-file %t.chunks.mlir
// CHUNKS: rt.bucket 0 elements 50048 unpadded 49984
// CHUNKS: rt.bucket 1 elements 52096 unpadded 52032
// CHUNKS: rt.bucket 2 elements 16384
// CHUNKS: rt.param "layers.2.{{.*}} bucket 0
// CHUNKS: rt.param "layers.0.{{.*}} bucket 1
// CHUNKS-LABEL: func.func @stage0_chunk0_bwd
// CHUNKS-NOT: group dp
// CHUNKS: rt.collective reduce_scatter %{{.*}} group dp count 8192
// CHUNKS-NOT: group dp
// CHUNKS: rt.collective reduce_scatter %{{.*}} group dp count 26048
// CHUNKS-NOT: group dp
// CHUNKS-LABEL: func.func @stage0_chunk1_bwd
// CHUNKS-NOT: group dp
// CHUNKS: rt.collective reduce_scatter %{{.*}} group dp count 25024
// CHUNKS-NOT: group dp
// CHUNKS-LABEL: func.func @stage0_reduce

// A step that sums later what other plans sum there: partial over tp until the update.
// RUN: mtc compile gpt2-nano --tp 2 --dp 2 --mbs 2 --gbs 8 --sp --zero 2 --compile-to=shard-gradients -o %t.sp.mlir
// RUN: FileCheck %s --check-prefix=SP --input-file %t.sp.mlir
// SP: rt.bucket 2 elements 1664
// SP-LABEL: func.func @stage0_bwd
// SP: rt.collective reduce_scatter %{{.*}} group dp count 832
// SP-LABEL: func.func @stage0_reduce
// SP: %[[ALL:.*]] = rt.ref grad of 2 : memref<832xf32>
// SP-NEXT: %{{.*}}, %[[LOCAL:.*]], %{{.*}} = rt.flat_range start 0 count 1664 shard 832
// SP-NEXT: %[[OWN:.*]] = rt.offset_view %[[ALL]] by %[[LOCAL]]
// SP-NEXT: rt.collective all_reduce %[[OWN]] group tp count 832 {origin = "gradient"}
