//===- RtFragments.td - what fragments hold ---------------------------------===//
//
// Included by RtOps.td. Ops inside fragments are in destination style: what they
// write into are operands. They come in two forms: on tensors (after
// `lower-calls`) there is a result for each of these, on memref views (after
// `plan-memory`) none.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RT_FRAGMENTS
#define MTC_RT_FRAGMENTS

def Rt_AffineOp : Op<Rt_Dialect, "affine", [Pure]> {
  let summary = "an integer that is affine in coordinates and step";
  let description = [{
    Its value on a rank, for a microbatch of a step.

    Example: `%s = rt.affine <2 * dp + 4 * microbatch + sample> : i64`
  }];
  let arguments = (ins Rt_Affine:$value);
  let results = (outs I64:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

def Rt_ViewOp : Op<Rt_Dialect, "view", [Pure]> {
  let summary = "an address in an arena";
  let description = [{
    `offset` bytes from the begin of the arena, or, in a pool, of slot 0: the
    slot that the row of the timeline names lies slot·`stride` bytes further.

    Example: `%v = rt.view workspace at 4096 : memref<4x8xf32>`
    Example: `%s = rt.view activations at 4096 slot of saved stride 8192 : memref<4x8xf32>`

    **Constraints:** a pool in the arena that is made of slots, and only there; not
    in the arena `step`, of which rt.step_field gives the fields.
  }];
  let arguments = (ins Rt_Arena:$arena, Rt_Int:$offset, OptionalAttr<Rt_Pool>:$pool,
                       OptionalAttr<Rt_Int>:$stride);
  let results = (outs Rt_View:$result);
  let assemblyFormat = "`` $arena `at` $offset (`slot` `of` `` $pool^ `stride` $stride)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def Rt_RefKind : I32EnumAttr<"RefKind", "part of a bucket", [
    I32EnumAttrCase<"Param", 0, "param">, I32EnumAttrCase<"Grad", 1, "grad">,
    I32EnumAttrCase<"State", 2, "state">, I32EnumAttrCase<"Loss", 3, "loss">,
    I32EnumAttrCase<"Staging", 4, "staging">, I32EnumAttrCase<"Packed", 5, "packed">]> {
  let description = [{
    Parameters as they are computed with, accumulators of their gradients, a state
    of the optimizer; the loss, which lies behind the buckets; `staging`, the
    gradients of one microbatch on one rank, which live in the workspace of a
    fragment until they are summed over dp (ZeRO-2); and `packed`, which is of no
    bucket: a weight as products read it (`rt.packed`).
  }];
  let cppNamespace = "::mtc::rt";
  let genSpecializedAttr = 0;
}
def Rt_RefKindAttr : EnumAttr<Rt_Dialect, Rt_RefKind, "ref_kind">;
def Rt_RefOp : Op<Rt_Dialect, "ref", [Pure]> {
  let summary = "a part of a bucket, or a packed weight, before offsets are known";
  let description = [{
    The part `kind` of a bucket, a state by its name in the bucket's `states`; the
    accumulator of one use of a parameter, or the place of its gradient in the staging
    buffer, which `rt.param` places; or the loss; or all of the rt.packed of that number. What begins `from` an element of the
    bucket is as long as its type. `plan-memory` turns it into rt.view.

    Example: `%g = rt.ref grad of 0 : memref<2048xf32>`
    Example: `%b = rt.ref grad of 0 from 1024 : memref<64xf32>`
    Example: `%w = rt.ref grad for "layers.0.mlp.up.weight" use 0 : memref<16x64xf32>`
    Example: `%s = rt.ref staging of 0 : memref<2048xf32>`
    Example: `%p = rt.ref staging for "layers.0.mlp.up.weight" use 0 : memref<16x64xf32>`
    Example: `%m = rt.ref state "exp_avg" of 0 : memref<2048xf32>`
    Example: `%l = rt.ref loss : memref<1xf32>`
    Example: `%k = rt.ref packed of 0 : memref<4096xi8>`

    **Constraints:** a bucket or a parameter, the latter of a gradient or staging only;
    neither of the loss; `from` 0 or more, of the gradients of a bucket only.
  }];
  let arguments = (ins Rt_RefKindAttr:$kind, OptionalAttr<StrAttr>:$state, OptionalAttr<Rt_Int>:$bucket,
                       OptionalAttr<Rt_Int>:$start, OptionalAttr<StrAttr>:$param, OptionalAttr<Rt_Int>:$use);
  let results = (outs Rt_View:$result);
  let hasVerifier = 1;
  let assemblyFormat = "`` $kind ($state^)? (`of` $bucket^ (`from` $start^)?)? (`for` $param^ `use` $use)? attr-dict `:` type($result)";
}

// Works on buffers, and says what it does with each. What it writes into are its
// `inits`: on tensors there is a result for each, which is what the init holds
// afterwards. An init that is only written is a tensor.empty; one that is read, too
// (a sum that grows, a collective) has a value, and the result takes its bytes. What
// outlives the fragment, such as an accumulator, is a memref in both forms.
class Rt_BufferOp<string mnemonic, list<Trait> traits = []>
    : Op<Rt_Dialect, mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<Rt_AccessOpInterface>, DeclareOpInterfaceMethods<Rt_WorkOpInterface>,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>])>;
class Rt_DestinationOp<string mnemonic, list<Trait> traits = []>
    : Rt_BufferOp<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<DestinationStyleOpInterface>])>;

def Rt_ZeroOp : Rt_DestinationOp<"zero"> {
  let summary = "zeros in a buffer; made where a kernel accumulates a new value";
  let description = [{
    A `guarded` one does nothing where the update of the step is left out, as a guarded
    rt.kernel.

    Example: `%z = rt.zero %e : (tensor<64xf32>) -> tensor<64xf32>`
    Example: `rt.zero %v : (memref<64xf32>) -> ()`
    Example: `rt.zero %v guarded : (memref<64xf32>) -> ()`

    **Constraints:** a guarded one is of a memref, whose bytes stay where it does nothing.
  }];
  let arguments = (ins Rt_Buffer:$init, UnitAttr:$guarded);
  let results = (outs Optional<Rt_Tensor>:$result);
  let assemblyFormat = "$init (`guarded` $guarded^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Rt_StepFieldOp : Op<Rt_Dialect, "step_field", [Pure]> {
  let summary = "the address of a field of the step block";
  let description = [{
    The runtime fills the step block before each step; `step_field.h` is the list
    of its fields. Some have a value for each group of parameters: that of group 0,
    or of `group`, a place in the `groups` of `#mtc.optimizer`, from 1 on.

    Example: `%lr = rt.step_field lr : memref<1xf32>`
    Example: `%lr = rt.step_field lr group 2 : memref<1xf32>`

    **Constraints:** `group` is 1 to 15, of a field that has values for groups.
  }];
  let arguments = (ins Rt_StepField:$field, OptionalAttr<Rt_Int>:$group);
  let results = (outs MemRefRankOf<[F32], [1]>:$result);
  let assemblyFormat = "`` $field (`group` $group^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def Rt_FlatRangeOp : Op<Rt_Dialect, "flat_range", [Pure]> {
  let summary = "the part of a bucket segment that this rank updates";
  let description = [{
    The segment is [start, start + count) of its bucket, in elements; the rank's
    shard is [dp·shard, (dp + 1)·shard) with the dp coordinate, or everything
    without a `shard` (no ZeRO). Ranks of the groups of `among`, which have the same
    elements, have a part of the intersection each, in the order of their numbers, and all
    of it together; without them a rank has all of it. Gives the first element of what it
    has (in the bucket), the same relative to the shard, and the count (>= 0).

    Example: `%at, %local, %n = rt.flat_range start 64 count 1000 shard 2048 among <tp>`

    **Constraints:** `among` names groups along one axis.
  }];
  let arguments = (ins Rt_Int:$start, Rt_Int:$count, OptionalAttr<Rt_Int>:$shard,
                       OptionalAttr<Rt_Groups>:$among);
  let results = (outs I64:$at, I64:$local, I64:$length);
  let extraClassDeclaration = [{
    /// Whether ranks of the group have a part each.
    bool isAmong(::MtcGroup group) {
      return getAmong() && llvm::is_contained(getAmong()->getGroups(), group);
    }
  }];
  let assemblyFormat = "`start` $start `count` $count (`shard` $shard^)? (`among` $among^)? attr-dict";
  let hasVerifier = 1;
}
def Rt_OffsetViewOp : Op<Rt_Dialect, "offset_view", [Pure]> {
  let summary = "a view moved by a number of elements";
  let description = [{Example: `%w = rt.offset_view %v by %at : memref<4096xf32> -> memref<4096xf32>`}];
  let arguments = (ins Rt_View:$view, I64:$elements);
  let results = (outs Rt_View:$result);
  let assemblyFormat = "$view `by` $elements attr-dict `:` type($view) `->` type($result)";
  let hasVerifier = 1;
}

def Rt_LaunchOp : Rt_DestinationOp<"launch", [AttrSizedOperandSegments]> {
  let summary = "runs a kernel";
  let description = [{
    The buffers are the kernel's operands, in its order. `writes` are the numbers of
    those that it writes, which are the inits: first the tensors, each with its
    result, then the memrefs.

    One that `continues` is a part of the product in front of it, an rt.gemm `by own` of
    a cpu whose c it reads, element by element: its kernel, which is tiled, runs on each
    block of c that is finished, on the thread that made it. The bytes are those of the two
    ops one behind the other.

    Example: `%y = rt.launch @bias_gelu(%x, %b, %e) args() writes [2] : (tensor<4x8xf32>, tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>`
    Example: `rt.launch @bias_gelu(%x, %b, %y) args() writes [2] continues : (memref<4x8xf32>, memref<8xf32>, memref<4x8xf32>) -> ()`
    Example: `rt.launch @bias_gelu(%x, %b, %y) args() writes [2] : (memref<4x8xf32>, memref<8xf32>, memref<4x8xf32>) -> ()`

    **Constraints:** `writes` are different numbers of operands, one for each init;
    they are those that the kernel writes (plan-memory, verify-plan). Between the product
    and what continues it there are only ops that touch nothing; it shares no byte with what
    the product reads, and with c only the operand that is c (verify-plan).
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Rt_Buffer>:$inputs,
                       Variadic<I64>:$scalars, Variadic<Rt_Buffer>:$inits, DenseI64ArrayAttr:$writes,
                       UnitAttr:$continues);
  let results = (outs Variadic<Rt_Tensor>:$outputs);
  let builders = [
    // `buffers` in the order of the kernel's operands, `written` the numbers of those
    // that it writes; a result for each of them that is a tensor.
    OpBuilder<(ins "::llvm::StringRef":$kernel, "::mlir::ValueRange":$buffers,
                   "::mlir::ValueRange":$scalars, "::llvm::ArrayRef<int64_t>":$written)>
  ];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Inputs and inits in the order of the kernel's operands.
    ::llvm::SmallVector<::mlir::OpOperand *> getKernelOperands();
    /// Their values.
    ::llvm::SmallVector<::mlir::Value> getBuffers();
    /// The product in front of it, with nothing between that touches anything; null if
    /// something else is there.
    ::mtc::rt::GemmOp productBefore();
  }];
}
def Rt_GemmKernel : I32EnumAttr<"GemmKernel", "what computes a product of a cpu", [
    I32EnumAttrCase<"Own", 0, "own">, I32EnumAttrCase<"OwnPacked", 1, "own_packed">,
    I32EnumAttrCase<"InnerProduct", 2, "inner_product">]> {
  let description = [{
    `own`: the runtime's kernel, whose sums depend on neither threads nor shape of the result;
    `own_packed`: the same with the same bits, but its b is what an rt.pack made of op(b); `inner_product`:
    oneDNN's, forward, or backward by weights where `ta`, with the weights reordered in `scratch`.
  }];
  let cppNamespace = "::mtc::rt";
  let genSpecializedAttr = 0;
}
def Rt_GemmKernelAttr : EnumAttr<Rt_Dialect, Rt_GemmKernel, "gemm_kernel">;
def Rt_GemmOp : Rt_DestinationOp<"gemm", [AttrSizedOperandSegments]> {
  let summary = "GEMM c = op(a)·op(b), or c += with beta, or with an epilogue";
  let description = [{
    Row-major, c is m x n; op transposes where `ta` or `tb` says so; with `beta`
    the product is added to what c holds, but where `stores_first`, and the microbatch is
    the first: then it is stored, and nobody needs to clear c. Sums are f32; c is, too, or of the type of a
    and b, to which the sum is rounded once. `scratch` is memory that the library needs.
    With `counts_last`, in the last row of an entry that runs the phase and chunk of its
    fragment, in whatever form, the squares of what c then holds are added to the norm, as
    `rt.norm accumulate` behind it would.

    The epilogue is what happens to a sum before it is rounded, in f32: `bias` has a
    number for each column, which is added; `aux` gets that, rounded to its type; `gelu`
    makes it x/2·(1 + tanh(sqrt(2/pi)(x + 0.044715 x^3))), of what is not rounded, so c is
    not the GELU of `aux`. Only GPUs have such; on a cpu a launch `continues` a product.

    `by` says what computes it; without it the device's library does, on a cpu oneDNN's matmul.
    `packs` is what a table says of a product whose b is a weight: whether it takes less time to
    pack this once a step, for all microbatches. `pack-weights` obeys and takes it away.

    Example: `%c = rt.gemm %a, %b into %e m 64 n 128 k 64 {ta = false, tb = false, beta = false} : (tensor<64x64xf32>, tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>`
    Example: `rt.gemm %a, %b into %g m 64 n 128 k 64 {ta = false, tb = false, beta = true} : (tensor<64x64xf32>, tensor<64x128xf32>, memref<64x128xf32>) -> ()`
    Example: `rt.gemm %a, %b into %g m 64 n 128 k 64 {ta = false, tb = false, beta = true, stores_first} : (tensor<64x64xf32>, tensor<64x128xf32>, memref<64x128xf32>) -> ()`
    Example: `rt.gemm %a, %b into %g m 64 n 128 k 64 by own {ta = false, tb = false, beta = true, counts_last} : (tensor<64x64xf32>, tensor<64x128xf32>, memref<64x128xf32>) -> ()`
    Example: `%c = rt.gemm %a, %b into %e m 64 n 128 k 64 by own {ta = false, tb = false, beta = false} : (tensor<64x64xf32>, tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>`
    Example: `%c = rt.gemm %a, %p into %e m 64 n 128 k 64 by own_packed {ta = false, tb = false, beta = false} : (tensor<64x64xf32>, memref<36864xi8>, tensor<64x128xf32>) -> tensor<64x128xf32>`
    Example: `%c = rt.gemm %a, %b into %e m 64 n 128 k 64 by inner_product {ta = false, tb = false, beta = false} : (tensor<64x64xf32>, tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>`
    Example: `%c, %x = rt.gemm %a, %b bias %d into %e aux %f m 64 n 128 k 64 gelu {ta = false, tb = false, beta = false} : (tensor<64x64xbf16>, tensor<64x128xbf16>, tensor<128xbf16>, tensor<64x128xbf16>, tensor<64x128xbf16>) -> (tensor<64x128xbf16>, tensor<64x128xbf16>)`

    **Constraints:** element counts of a, b, c, bias and aux are m·k, k·n, m·n, n and m·n; bias
    and aux are of the type of c, which nothing is added to (`beta`) where there is an
    epilogue; aux is what GELU reads, so there is one; `stores_first` and `counts_last` with `beta`, the latter `by own` and of c in f32. By `own_packed`, b is bytes
    (i8), as many as an rt.packed has (verify-plan).
  }];
  let arguments = (ins Rt_Buffer:$a, Rt_Buffer:$b, Optional<Rt_Buffer>:$bias, Rt_Buffer:$c, Optional<Rt_Buffer>:$aux,
                       Optional<Rt_Buffer>:$scratch, Rt_Int:$m, Rt_Int:$n, Rt_Int:$k,
                       BoolAttr:$ta, BoolAttr:$tb, BoolAttr:$beta, UnitAttr:$stores_first, UnitAttr:$counts_last, UnitAttr:$gelu,
                       OptionalAttr<Rt_GemmKernelAttr>:$kernel, OptionalAttr<BoolAttr>:$packs);
  let results = (outs Variadic<Rt_Tensor>:$outputs);
  let assemblyFormat = "$a `,` $b (`bias` $bias^)? `into` $c (`aux` $aux^)? (`scratch` $scratch^)? `m` $m `n` $n `k` $k (`gelu` $gelu^)? (`by` `` $kernel^)? attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    bool hasEpilogue() { return getBias() || getGelu(); }
    /// Whether the runtime's own kernel computes it.
    bool isOwn() { return getKernel() && getKernel() != ::mtc::rt::GemmKernel::InnerProduct; }
    /// Whether its b is what an rt.pack made.
    bool readsPacked() { return getKernel() == ::mtc::rt::GemmKernel::OwnPacked; }
    /// The launch that continues it; null if none does.
    ::mtc::rt::LaunchOp getContinuation();
  }];
  let hasVerifier = 1;
}
def Rt_PackOp : Rt_DestinationOp<"pack"> {
  let summary = "packs a weight for products by own_packed";
  let description = [{
    op(b) is k x n, b as rt.gemm has it; `packed` gets it as the runtime's kernel reads it: a
    block of k behind the other, in each the panels of all columns. Products of that n and k
    read it, whatever their m and threads. It is done once a step, in the forward of the
    microbatch that runs first.

    Example: `rt.pack %w into %p n 128 k 64 {tb = false} : tensor<64x128xf32>, memref<36864xi8>`

    **Constraints:** b has k·n elements; `packed` is an rt.packed of the same n, k, `tb` and type
    (verify-plan).
  }];
  let arguments = (ins Rt_Buffer:$b, Rt_View:$packed, Rt_Int:$n, Rt_Int:$k, BoolAttr:$tb);
  let assemblyFormat = "$b `into` $packed `n` $n `k` $k attr-dict `:` type($b) `,` type($packed)";
  let hasVerifier = 1;
}
def Rt_AttentionOp : Rt_DestinationOp<"attention", [AttrSizedOperandSegments]> {
  let summary = "calls the attention kernel, forward or backward";
  let description = [{
    `inputs`: q, k, v or one fused operand; backward: dout, out, lse, then these.
    `inits`: out, lse; backward: the gradients in the operands' layout.
    `sample` and `head` are the RNG address of batch row 0 and head 0. Where q is a
    part of the sequence and k and v are the whole of it, `positions` has the places
    of the first query of each half of q (a rank has a piece of its head and one of
    its tail). `documents`: those of `tfm.attention`.

    Example: `%o, %l = rt.attention(%qkv) into (%e, %f) at %s, %h {backward = false, causal = true, global_heads = 4 : i64, rate = 0.1 : f64, rng_layer = 1 : i64, scale = 0.25 : f64, site = 1 : i64} : (tensor<1x32x2x3x16xf32>, tensor<1x32x2x16xf32>, tensor<1x2x32xf32>, i64, i64) -> (tensor<1x32x2x16xf32>, tensor<1x2x32xf32>)`
  }];
  let arguments = (ins Variadic<Rt_Buffer>:$inputs, Optional<Rt_Buffer>:$documents, Variadic<Rt_Buffer>:$inits,
                       Optional<Rt_Buffer>:$scratch, I64:$sample, I64:$head,
                       Variadic<I64>:$positions, BoolAttr:$backward, BoolAttr:$causal, F64Attr:$scale, F64Attr:$rate,
                       Rt_Int:$rng_layer, Rt_Int:$site, Rt_Int:$global_heads);
  let results = (outs Variadic<Rt_Tensor>:$outputs);
  let assemblyFormat = "`(` $inputs `)` (`within` $documents^)? `into` `(` $inits `)` (`scratch` $scratch^)? `at` $sample `,` $head (`positions` $positions^)? attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    /// q, k and v, or the one operand that holds them all.
    ::mlir::OperandRange getQkv() {
      return getInputs().drop_front(getBackward() ? 3 : 0);
    }
    bool isFused() { return getQkv().size() == 1; }
  }];
  let hasVerifier = 1;
}
def Rt_CollectiveKind : I32EnumAttr<"CollectiveKind", "collective", [
    I32EnumAttrCase<"AllReduce", 0, "all_reduce">, I32EnumAttrCase<"AllReduceMax", 1, "all_reduce_max">,
    I32EnumAttrCase<"ReduceScatter", 2, "reduce_scatter">, I32EnumAttrCase<"AllGather", 3, "all_gather">,
    I32EnumAttrCase<"NormReduce", 4, "norm_reduce">]> {
  let description = [{
    `norm_reduce` adds the squares of the global norm over all ranks, as integers, so
    in any order (docs/numerics.md).
  }];
  let cppNamespace = "::mtc::rt";
  let genSpecializedAttr = 0;
}
def Rt_CollectiveKindAttr : EnumAttr<Rt_Dialect, Rt_CollectiveKind, "collective_kind">;
def Rt_CollectiveOp : Rt_DestinationOp<"collective"> {
  let summary = "a collective on a group, in place";
  let description = [{
    `count` as in abi.h: elements of the whole buffer for the all-reduces, per rank
    for reduce_scatter and all_gather. `init` is what it works on, and none of a
    norm_reduce. Runs on stream `stream`; every other op runs on stream 0.

    Example: `%y = rt.collective all_reduce %x group tp count 512 {origin = "g", serves = "w"} : (tensor<4x8x16xf32>) -> tensor<4x8x16xf32>`
  }];
  let arguments = (ins Rt_CollectiveKindAttr:$kind, Optional<Rt_Buffer>:$init, Rt_Group:$group,
                       Rt_Int:$count, DefaultValuedAttr<Rt_Int, "0">:$stream);
  let results = (outs Optional<Rt_Tensor>:$result);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether `count` is one rank's part of the buffer, not the whole (abi.h).
    bool countsPart() {
      return getKind() == CollectiveKind::ReduceScatter || getKind() == CollectiveKind::AllGather;
    }
  }];
  let assemblyFormat = "`` $kind ($init^)? `group` `` $group `count` $count attr-dict `:` functional-type(operands, results)";
}
def Rt_RecordOp : Op<Rt_Dialect, "record", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "an event that stands for all that a stream was given so far";
  let description = [{
    Events are numbered per program. A fragment records an event once at most;
    a later row that records it again replaces it.

    Example: `rt.record event 0 stream 0`
  }];
  let arguments = (ins Rt_Int:$event, Rt_Int:$stream);
  let assemblyFormat = "`event` $event `stream` $stream attr-dict";
}
def Rt_WaitOp : Op<Rt_Dialect, "wait", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a stream goes on only after an event";
  let description = [{
    What the stream is given later runs after all that the event stands for: its
    last record before this op in program order, in this fragment or in one of an
    earlier row of the timeline, so that work may outlive a fragment. No event
    stands for work of another step.

    Example: `rt.wait event 0 stream 1`
  }];
  let arguments = (ins Rt_Int:$event, Rt_Int:$stream);
  let assemblyFormat = "`event` $event `stream` $stream attr-dict";
}
def Rt_NormAction : I32EnumAttr<"NormAction", "step of the global norm", [
    I32EnumAttrCase<"Reset", 0, "reset">, I32EnumAttrCase<"Accumulate", 1, "accumulate">,
    I32EnumAttrCase<"Finish", 2, "finish">, I32EnumAttrCase<"Check", 3, "check">]> {
  let description = [{
    See `rt.norm`.
  }];
  let cppNamespace = "::mtc::rt";
  let genSpecializedAttr = 0;
}
def Rt_NormActionAttr : EnumAttr<Rt_Dialect, Rt_NormAction, "norm_action">;
def Rt_NormOp : Rt_BufferOp<"norm", [AttrSizedOperandSegments]> {
  let summary = "one step of the global norm: reset, accumulate, check, finish";
  let description = [{
    `accumulate` adds the squares of the first `length` elements of `range`. `check`
    adds nothing, but makes the norm infinite if an element of `range` is not finite:
    so every rank learns of a loss that only the last stage has, where it looks at the
    norm anyway. The sum over ranks between the last of them and `finish` is
    `rt.collective norm_reduce`. `reset` makes the sum zero, as it is when a program starts:
    first of all, or behind `finish`, for the next step, whose products may count what they
    make (`counts_last` of rt.gemm) before `reduce` runs.

    One that `continues` is a part of the sum in front of it, an all_reduce or reduce_scatter
    of f32 on stream 0 of a cpu, or a launch of a kernel over a flat range: what the rank makes of
    the range is counted as it is made, while a core's cache has it. Of an all_reduce each
    rank of the group makes a part, and all of it together, as if the group were `among` those
    of the rt.flat_range. Several may continue one sum.

    Example: `rt.norm accumulate of %g : memref<4096xf32> length %n`

    Example: `rt.norm accumulate of %g : memref<4096xf32> length %n continues`

    Example: `rt.norm check of %loss : memref<1xf32>`
  }];
  let arguments = (ins Rt_NormActionAttr:$action, Optional<Rt_Buffer>:$range, Optional<I64>:$length,
                       UnitAttr:$continues);
  let extraClassDeclaration = [{
    /// The sum in front of it, with nothing between that touches anything but others that
    /// continue it; null if something else is there.
    ::mlir::Operation *sumBefore();
    /// Those that continue a sum, in order; none, if it is another op.
    static ::std::vector<::mtc::rt::NormOp> continuing(::mlir::Operation *sum);
  }];
  let hasVerifier = 1;
  let assemblyFormat = "`` $action (`of` $range^ `:` type($range))? (`length` $length^)? (`continues` $continues^)? attr-dict";
}
#endif // MTC_RT_FRAGMENTS
