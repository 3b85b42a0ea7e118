//===- Overlap.td - passes that let the update run beside microbatches -------===//
//
// Included by passes/Passes.td, in the order in which they run.
//
//===----------------------------------------------------------------------===//
def OverlapGradients : ProgramPass<"overlap-gradients"> {
  let summary = "sums of gradients over ranks inside the last microbatch's backward";
  let description = [{
    A bucket can be summed over ranks as soon as the last microbatch has made its last
    gradient; at the end of the step, in `reduce`, nothing is left to hide the sum behind.
    With `grad-reduce` in `overlap`, each backward that makes all gradients of a bucket
    gets a form more, `form = last`, which the timeline of plan-memory runs for the
    microbatch that runs last, whatever its number; in it the bucket's sums stand behind
    the op that makes its last gradient, and they leave `reduce`. A form that one
    microbatch runs in any case has them itself, and where microbatches run several forms,
    such as `recompute`, it is of the last one's. Sums of a bucket go together and in
    their order: over the axes of the data, then over other groups that it is partial over. In
    `reduce` stay sums over groups that cross stages, those of a bucket that several
    fragments make, and whatever stands behind another reader of the bucket. Without
    `grad-reduce`, and under ZeRO-2, which sums gradients in the backward of every
    microbatch, the pass changes nothing.

    Input:
    ```mlir
    func.func @bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>} {
      %a = pipe.saved 0 : tensor<80xf32>
      %b = pipe.saved 1 : tensor<160xf32>
      %g = rt.ref grad for "w" use 0 : memref<10x20xf32>
      rt.gemm %a, %b into %g m 10 n 20 k 8 {beta = true, ta = false, tb = false} : (tensor<80xf32>, tensor<160xf32>, memref<10x20xf32>) -> ()
      return
    }
    func.func @reduce() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = reduce>} {
      %r = rt.ref grad of 0 : memref<200xf32>
      rt.collective all_reduce %r group dp count 200 {origin = "gradient"} : (memref<200xf32>) -> ()
      return
    }
    ```

    Output, beside `@bwd` as it was:
    ```mlir
    func.func @bwd_last() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward, form = last>} {
      %a = pipe.saved 0 : tensor<80xf32>
      %b = pipe.saved 1 : tensor<160xf32>
      %g = rt.ref grad for "w" use 0 : memref<10x20xf32>
      rt.gemm %a, %b into %g m 10 n 20 k 8 {beta = true, ta = false, tb = false} : (tensor<80xf32>, tensor<160xf32>, memref<10x20xf32>) -> ()
      %r = rt.ref grad of 0 : memref<200xf32>
      rt.collective all_reduce %r group dp count 200 {origin = "gradient"} : (memref<200xf32>) -> ()
      return
    }
    func.func @reduce() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = reduce>} {
      return
    }
    ```
  }];
}
def OverlapParameters : ProgramPass<"overlap-parameters"> {
  let summary = "gathers of parameters inside the first microbatch's forward";
  let description = [{
    With ZeRO a replica updates its shard of a bucket, and `apply` ends with the gathers
    of all buckets, behind which nothing is left to hide them. With `param-gather` in
    `overlap` they leave `apply` for the next step's forwards, the bucket that is read
    first before the others: each forward gets a form more, `form = first`, which the
    timeline of plan-memory runs for the microbatch that runs first, whatever its number;
    in it the buckets that nothing before it reads are gathered, each in front of the
    first reader of the bucket before, so that on a stream of its own a gather is one
    bucket ahead. A form that one microbatch runs in any case has them itself, and where
    microbatches run several forms, such as `recompute`, it is of the first one's. So
    between steps a rank has what it updated itself, and every entry gathers what it
    reads: `eval` has such forms, too. In `apply` stay the gathers of what training does
    not read, of what a backward reads first, of what a form that several microbatches run
    reads first and another form runs before it, and those behind which `apply` does
    something else to the bucket. Without `param-gather` the pass changes nothing.

    Input:
    ```mlir
    func.func @fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %w = pipe.param "w" : tensor<10x20xf32>
      %x = pipe.received activation : tensor<80xf32>
      %e = tensor.empty() : tensor<160xf32>
      %y = rt.gemm %x, %w into %e m 8 n 20 k 10 {beta = false, ta = false, tb = false} : (tensor<80xf32>, tensor<10x20xf32>, tensor<160xf32>) -> tensor<160xf32>
      pipe.send activation %y : tensor<160xf32>
      return
    }
    func.func @apply() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = apply>} {
      %p = rt.ref param of 0 : memref<256xf32>
      rt.collective all_gather %p group dp count 128 {origin = "zero1"} : (memref<256xf32>) -> ()
      return
    }
    ```

    Output, beside `@fwd` as it was:
    ```mlir
    func.func @fwd_first() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward, form = first>} {
      %w = pipe.param "w" : tensor<10x20xf32>
      %x = pipe.received activation : tensor<80xf32>
      %e = tensor.empty() : tensor<160xf32>
      %p = rt.ref param of 0 : memref<256xf32>
      rt.collective all_gather %p group dp count 128 {origin = "zero1"} : (memref<256xf32>) -> ()
      %y = rt.gemm %x, %w into %e m 8 n 20 k 10 {beta = false, ta = false, tb = false} : (tensor<80xf32>, tensor<10x20xf32>, tensor<160xf32>) -> tensor<160xf32>
      pipe.send activation %y : tensor<160xf32>
      return
    }
    func.func @apply() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = apply>} {
      return
    }
    ```
  }];
}
def StoreGradients : ProgramPass<"store-gradients"> {
  let summary = "gradients of the first microbatch stored, not added to zeros";
  let description = [{
    Where every gradient of a use of a parameter is a product that is added to its
    accumulator, the product of the first microbatch is stored (`stores_first`), and `apply`
    does not clear these elements any more: an accumulator is written once less and read once
    less in a step. Others are cleared as before, and so are all of a GPU: sums over rows, rows that tokens look up,
    what waits in a staging buffer (ZeRO-2). So are all of a fragment that does not run
    microbatch 0 first, which a schedule that somebody wrote may want.

    Input:
    ```mlir
    rt.bucket 0 elements 256 unpadded 220 shard 256
    rt.param "w" use 0 bucket 0 start 20
    func.func @bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>} {
      %a = pipe.saved 0 : tensor<80xf32>
      %b = pipe.saved 1 : tensor<160xf32>
      %g = rt.ref grad for "w" use 0 : memref<10x20xf32>
      rt.gemm %a, %b into %g m 10 n 20 k 8 {beta = true, ta = false, tb = false} : (tensor<80xf32>, tensor<160xf32>, memref<10x20xf32>) -> ()
      return
    }
    func.func @apply() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = apply>} {
      %r = rt.ref grad of 0 : memref<256xf32>
      rt.zero %r guarded : (memref<256xf32>) -> ()
      return
    }
    ```

    Output, with the timeline of training in the program:
    ```mlir
    func.func @bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>} {
      %a = pipe.saved 0 : tensor<80xf32>
      %b = pipe.saved 1 : tensor<160xf32>
      %g = rt.ref grad for "w" use 0 : memref<10x20xf32>
      rt.gemm %a, %b into %g m 10 n 20 k 8 {beta = true, stores_first, ta = false, tb = false} : (tensor<80xf32>, tensor<160xf32>, memref<10x20xf32>) -> ()
      return
    }
    func.func @apply() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = apply>} {
      %r = rt.ref grad of 0 from 0 : memref<20xf32>
      rt.zero %r guarded : (memref<20xf32>) -> ()
      %p = rt.ref grad of 0 from 220 : memref<36xf32>
      rt.zero %p guarded : (memref<36xf32>) -> ()
      return
    }
    ```
  }];
}
def PackWeights : ProgramPass<"pack-weights"> {
  let summary = "weights packed for products once a step, not in each microbatch";
  let description = [{
    Kernels of our own read op(b) of a product in panels, which they pack as they go. Where
    op(b) is a weight, every microbatch packs the same. With `prepack` in the target an
    `rt.pack` does it once a step, into an `rt.packed` of the program, and the products of the
    weight read that: the same products, with the same bits. It stands in the forward of the
    microbatch that runs first, in a form more, `form = first`, where others run the
    forward, too: there each weight is packed in front of its first product, for the
    forward's products and for those of the backward, which read it transposed. `eval` reads
    weights as they are.

    With `always` all such weights are packed, with `auto` those of which a table of products
    says that it pays (`packs`); of a product that no table has, in a step of 8 microbatches
    and more. What it costs is memory, a copy of the weight for each direction. A product by the
    library, and one whose b is no weight as it lies, packs for itself. Without `prepack` the
    pass only takes away what the table said.

    Input:
    ```mlir
    func.func @fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %w = pipe.param "w" : tensor<16x48xf32>
      %x = pipe.received activation : tensor<8x16xf32>
      %e = tensor.empty() : tensor<8x48xf32>
      %y = rt.gemm %x, %w into %e m 8 n 48 k 16 by own {beta = false, ta = false, tb = false} : (tensor<8x16xf32>, tensor<16x48xf32>, tensor<8x48xf32>) -> tensor<8x48xf32>
      pipe.send activation %y : tensor<8x48xf32>
      return
    }
    ```

    Output, with the timeline of training in the program, beside `@fwd` without its rt.pack:
    ```mlir
    rt.packed 0 of "w" n 48 k 16 bytes 3072 {tb = false, type = f32}
    func.func @fwd_first() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward, form = first>} {
      %w = pipe.param "w" : tensor<16x48xf32>
      %x = pipe.received activation : tensor<8x16xf32>
      %e = tensor.empty() : tensor<8x48xf32>
      %p = rt.ref packed of 0 : memref<3072xi8>
      rt.pack %w into %p n 48 k 16 {tb = false} : tensor<16x48xf32>, memref<3072xi8>
      %y = rt.gemm %x, %p into %e m 8 n 48 k 16 by own_packed {beta = false, ta = false, tb = false} : (tensor<8x16xf32>, memref<3072xi8>, tensor<8x48xf32>) -> tensor<8x48xf32>
      pipe.send activation %y : tensor<8x48xf32>
      return
    }
    ```
  }];
}
def CountGradients : ProgramPass<"count-gradients"> {
  let summary = "squares for the norm counted by the products and sums that end gradients";
  let description = [{
    The global norm reads every gradient once more. Where a product of our own is the last to
    add to an accumulator that nothing else touches before the norm, it counts the squares of
    what it stores while these are in registers, in the last row that runs it (`counts_last`),
    and `rt.norm accumulate` has only what lies between such accumulators. The sum is
    exact, so no bit of the norm changes. On a cpu with AVX-512, whose IFMA adds products of
    integers; with AVX2 the norm takes less time behind the products.
    Where a sum in `reduce` is the last to write a gradient in f32, over ranks on the stream of
    fragments or of two uses, the `rt.norm accumulate` moves behind it and `continues` it: each
    rank counts what it makes, while a core's cache has it. Of an all-reduce ranks make a
    part each, so the group of the sum is no longer `among` those of the rt.flat_range.
    Sums between stages, of which one counts all, those of a stream of their own or in backwards, and
    what kernels add to are counted behind, as before.

    Products count before `reduce` runs. So the reset of the norm goes to the end of it, for
    the next step, on every cpu: plans that are joined in one program hold to one order.

    Input:
    ```mlir
    rt.bucket 0 elements 256 unpadded 220 shard 256
    rt.param "w" use 0 bucket 0 start 20
    func.func @bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>} {
      %a = pipe.saved 0 : tensor<80xf32>
      %b = pipe.saved 1 : tensor<160xf32>
      %g = rt.ref grad for "w" use 0 : memref<10x20xf32>
      rt.gemm %a, %b into %g m 10 n 20 k 8 by own {beta = true, stores_first, ta = false, tb = false} : (tensor<80xf32>, tensor<160xf32>, memref<10x20xf32>) -> ()
      return
    }
    func.func @reduce() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = reduce>} {
      rt.norm reset
      %r = rt.ref grad of 0 : memref<256xf32>
      %at, %local, %n = rt.flat_range start 0 count 220
      %v = rt.offset_view %r by %at : memref<256xf32> -> memref<256xf32>
      rt.norm accumulate of %v : memref<256xf32> length %n
      rt.collective norm_reduce group all count 1 {origin = "norm"} : () -> ()
      rt.norm finish
      return
    }
    ```

    Output, with the timeline of training in the program:
    ```mlir
    func.func @bwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = backward>} {
      %a = pipe.saved 0 : tensor<80xf32>
      %b = pipe.saved 1 : tensor<160xf32>
      %g = rt.ref grad for "w" use 0 : memref<10x20xf32>
      rt.gemm %a, %b into %g m 10 n 20 k 8 by own {beta = true, counts_last, stores_first, ta = false, tb = false} : (tensor<80xf32>, tensor<160xf32>, memref<10x20xf32>) -> ()
      return
    }
    func.func @reduce() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = reduce>} {
      %r = rt.ref grad of 0 : memref<256xf32>
      %at, %local, %n = rt.flat_range start 0 count 20
      %v = rt.offset_view %r by %at : memref<256xf32> -> memref<256xf32>
      rt.norm accumulate of %v : memref<256xf32> length %n
      rt.collective norm_reduce group all count 1 {origin = "norm"} : () -> ()
      rt.norm finish
      rt.norm reset
      return
    }
    ```
  }];
}
