//===- RtProgram.td - fragments, arenas, timelines -------------------------===//
//
// Included by RtOps.td. Ops inside fragments are in destination style: what they
// write into are operands. They come in two forms: on tensors (after
// `lower-calls`) there is a result for each of these, on memref views (after
// `plan-memory`) none.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RT_PROGRAM
#define MTC_RT_PROGRAM

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
    I32EnumAttrCase<"Staging", 4, "staging">]> {
  let description = [{
    Parameters as they are computed with, accumulators of their gradients, a state
    of the optimizer; the loss, which lies behind the buckets; and `staging`, the
    gradients of one microbatch on one rank, which live in the workspace of a
    fragment until they are summed over dp (ZeRO-2).
  }];
  let cppNamespace = "::mtc::rt";
  let genSpecializedAttr = 0;
}
def Rt_RefKindAttr : EnumAttr<Rt_Dialect, Rt_RefKind, "ref_kind">;
def Rt_RefOp : Op<Rt_Dialect, "ref", [Pure]> {
  let summary = "a part of a bucket, before offsets are known";
  let description = [{
    The part `kind` of a bucket, a state by its name in the bucket's `states`; the
    accumulator of one use of a parameter, or the place of its gradient in the staging
    buffer, which `rt.param` places; or the loss. `plan-memory` turns it into rt.view.

    Example: `%g = rt.ref grad of 0 : memref<2048xf32>`
    Example: `%w = rt.ref grad for "layers.0.mlp.up.weight" use 0 : memref<16x64xf32>`
    Example: `%s = rt.ref staging of 0 : memref<2048xf32>`
    Example: `%p = rt.ref staging for "layers.0.mlp.up.weight" use 0 : memref<16x64xf32>`
    Example: `%m = rt.ref state "exp_avg" of 0 : memref<2048xf32>`
    Example: `%l = rt.ref loss : memref<1xf32>`

    **Constraints:** a bucket or a parameter, the latter of a gradient or staging only;
    neither of the loss.
  }];
  let arguments = (ins Rt_RefKindAttr:$kind, OptionalAttr<StrAttr>:$state, OptionalAttr<Rt_Int>:$bucket,
                       OptionalAttr<StrAttr>:$param, OptionalAttr<Rt_Int>:$use);
  let results = (outs Rt_View:$result);
  let hasVerifier = 1;
  let assemblyFormat = "`` $kind ($state^)? (`of` $bucket^)? (`for` $param^ `use` $use)? attr-dict `:` type($result)";
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
    Example: `%z = rt.zero %e : (tensor<64xf32>) -> tensor<64xf32>`
    Example: `rt.zero %v : (memref<64xf32>) -> ()`
  }];
  let arguments = (ins Rt_Buffer:$init);
  let results = (outs Optional<Rt_Tensor>:$result);
  let assemblyFormat = "$init attr-dict `:` functional-type(operands, results)";
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
    without a `shard` (no ZeRO). Empty unless the rank is the first of its groups of
    `once`. Gives the first element of the intersection (in the bucket), the same
    relative to the shard, and the count (>= 0).

    Example: `%at, %local, %n = rt.flat_range start 64 count 1000 shard 2048 once <tp>`

    **Constraints:** `once` names groups along one axis.
  }];
  let arguments = (ins Rt_Int:$start, Rt_Int:$count, OptionalAttr<Rt_Int>:$shard,
                       OptionalAttr<Rt_Groups>:$once);
  let results = (outs I64:$at, I64:$local, I64:$length);
  let extraClassDeclaration = [{
    /// Whether it is empty on ranks that are not the first of their group.
    bool isOnce(::MtcGroup group) {
      return getOnce() && llvm::is_contained(getOnce()->getGroups(), group);
    }
  }];
  let assemblyFormat = "`start` $start `count` $count (`shard` $shard^)? (`once` $once^)? attr-dict";
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

    Example: `%y = rt.launch @bias_gelu(%x, %b, %e) args() writes [2] : (tensor<4x8xf32>, tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>`
    Example: `rt.launch @bias_gelu(%x, %b, %y) args() writes [2] : (memref<4x8xf32>, memref<8xf32>, memref<4x8xf32>) -> ()`

    **Constraints:** `writes` are different numbers of operands, one for each init;
    they are those that the kernel writes (plan-memory, verify-plan).
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Rt_Buffer>:$inputs,
                       Variadic<I64>:$scalars, Variadic<Rt_Buffer>:$inits, DenseI64ArrayAttr:$writes);
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
  }];
}
def Rt_GemmOp : Rt_DestinationOp<"gemm"> {
  let summary = "GEMM c = op(a)·op(b), or c += with beta";
  let description = [{
    Row-major, c is m x n; op transposes where `ta` or `tb` says so; with `beta`
    the product is added to what c holds. Sums are f32; c is, too, or of the type of a
    and b, to which the sum is rounded once. `scratch` is memory that the library needs.

    Example: `%c = rt.gemm %a, %b into %e m 64 n 128 k 64 {ta = false, tb = false, beta = false} : (tensor<64x64xf32>, tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>`
    Example: `rt.gemm %a, %b into %g m 64 n 128 k 64 {ta = false, tb = false, beta = true} : (tensor<64x64xf32>, tensor<64x128xf32>, memref<64x128xf32>) -> ()`

    **Constraints:** element counts of a, b and c are m·k, k·n and m·n.
  }];
  let arguments = (ins Rt_Buffer:$a, Rt_Buffer:$b, Rt_Buffer:$c,
                       Optional<Rt_Buffer>:$scratch, Rt_Int:$m, Rt_Int:$n, Rt_Int:$k,
                       BoolAttr:$ta, BoolAttr:$tb, BoolAttr:$beta);
  let results = (outs Optional<Rt_Tensor>:$result);
  let assemblyFormat = "$a `,` $b `into` $c (`scratch` $scratch^)? `m` $m `n` $n `k` $k attr-dict `:` functional-type(operands, results)";
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
    `rt.collective norm_reduce`.

    Example: `rt.norm accumulate of %g : memref<4096xf32> length %n`

    Example: `rt.norm check of %loss : memref<1xf32>`
  }];
  let arguments = (ins Rt_NormActionAttr:$action, Optional<Rt_Buffer>:$range, Optional<I64>:$length);
  let hasVerifier = 1;
  let assemblyFormat = "`` $action (`of` $range^ `:` type($range))? (`length` $length^)? attr-dict";
}

//===--- program ---------------------------------------------------------------===//

def Rt_ProgramOp : Op<Rt_Dialect, "program", [Symbol, NoTerminator, SingleBlock, SymbolTable, IsolatedFromAbove]> {
  let summary = "the program of one rank class (one pipeline stage)";
  let description = [{
    Holds kernels, fragments (func.func with `pipe.fragment`), buckets, parameters
    and timelines of one stage. `plan-memory` sets `arenas`, bytes by kind, the
    offset of the loss in `grads`, and the GEMM library that its sizes are for.

    Example:
    ```
    rt.program @stage0 stage 0 {
      rt.bucket 0 elements 128 unpadded 128 shard 128
    } {arenas = array<i64: 512, 512, 1024, 0, 0, 4096>, loss_offset = 448 : i64}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Rt_Int:$stage, OptionalAttr<DenseI64ArrayAttr>:$arenas,
                       OptionalAttr<Rt_Int>:$loss_offset, OptionalAttr<StrAttr>:$onednn);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `stage` $stage $body attr-dict";
}
def Rt_TensorFormOp : Op<Rt_Dialect, "tensor_form", [NoTerminator, SingleBlock, SymbolTable, IsolatedFromAbove]> {
  let summary = "what a program computes, before its values have offsets";
  let description = [{
    Kernels, buckets, parameters and fragments of a program as `plan-memory` found
    them, on tensors. `plan-memory` leaves it beside the bytes, and `verify-plan`
    compares the two: each value that a fragment sends, saves, exports, adds to an
    accumulator or writes to a parameter is the same in both. Code is made of the
    bytes only. Who edits what is computed edits it here as well, or starts again
    from `assign-streams`.

    Example:
    ```
    rt.tensor_form {
      rt.kernel @twice rows 1 cols 8 args 0 [
          #rt.operand<mode = full, element = f32, extent = 0>,
          #rt.operand<mode = full, element = f32, extent = 0>] {
        %x = rt.load 0 : f32
        %y = arith.addf %x, %x : f32
        rt.store 1, %y : f32
      }
      func.func @stage1_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 1, chunk = 0, phase = forward>} {
        %x = pipe.received activation : tensor<1x8xf32>
        %e = tensor.empty() : tensor<1x8xf32>
        %y = rt.launch @twice(%x, %e) args() writes [1] : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
        pipe.send activation %y : tensor<1x8xf32>
        return
      }
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
}
def Rt_BucketOp : Op<Rt_Dialect, "bucket"> {
  let summary = "a flat range of parameters that are reduced together";
  let description = [{
    `elements` is padded; `shard` elements belong to each dp rank (= elements
    without ZeRO, and where dp splits the parameters themselves). With `shard_gradients` (ZeRO-2) its accumulators are those of the
    shard only. A bucket that is the `second_use_of` another holds accumulators
    for the parameters of that one, and nothing else. Parameters are all f32, or
    all `param_type`: then the main parameters, f32, are one more state. Accumulators
    are f32, or `grad_type`.

    `states` are what the optimizer keeps for each element of the shard, f32, in
    the order of its kernel's operands (`shard-optimizer`). Offsets are bytes, set
    by `plan-memory`: of parameters in `params`, of accumulators in `grads`, of
    each state in `optimizer`.

    Example: `rt.bucket 0 elements 4096 unpadded 4000 shard 2048 {param_type = bf16, states = ["main", "exp_avg", "exp_avg_sq"]}`
    Example: `rt.bucket 1 elements 4096 unpadded 4000 shard 2048 second_use_of 0`
    Example: `rt.bucket 2 elements 4096 unpadded 4000 shard 2048 {shard_gradients}`
    Example: `rt.bucket 3 elements 4096 unpadded 4000 shard 4096 {grad_type = bf16, param_type = bf16}`

    **Constraints:** state offsets are as many as states; a second use has neither
    parameters nor states.
  }];
  let arguments = (ins Rt_Int:$index, Rt_Int:$elements, Rt_Int:$unpadded, Rt_Int:$shard,
                       OptionalAttr<Rt_Int>:$second_use_of, OptionalAttr<TypeAttr>:$param_type,
                       OptionalAttr<TypeAttr>:$grad_type,
                       OptionalAttr<StrArrayAttr>:$states, OptionalAttr<Rt_Int>:$param_offset,
                       OptionalAttr<Rt_Int>:$grad_offset, OptionalAttr<DenseI64ArrayAttr>:$state_offsets,
                       UnitAttr:$shard_gradients);
  let assemblyFormat = "$index `elements` $elements `unpadded` $unpadded `shard` $shard (`second_use_of` $second_use_of^)? attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The type of the parameters as they are computed with.
    ::mlir::Type paramType() {
      return getParamType().value_or(::mlir::Float32Type::get(getContext()));
    }
    int64_t paramBytes() { return paramType().getIntOrFloatBitWidth() / 8; }
    /// The type of the accumulators of their gradients.
    ::mlir::Type gradType() {
      return getGradType().value_or(::mlir::Float32Type::get(getContext()));
    }
    int64_t gradBytes() { return gradType().getIntOrFloatBitWidth() / 8; }
    /// True if main parameters lie beside those that are computed with.
    bool keepsMain() { return !paramType().isF32(); }
    bool isSecondUse() { return getSecondUseOf().has_value(); }
    /// ZeRO: of states and main parameters a rank along dp has a shard.
    bool isSharded() { return getShard() < getElements(); }
    /// Accumulators of gradients that a rank has.
    int64_t gradElements() { return getShardGradients() ? getShard() : getElements(); }
    /// Names of the optimizer's states; none before `shard-optimizer`.
    ::llvm::SmallVector<::llvm::StringRef> stateNames();
    /// The byte of `optimizer` where a state begins, if it has one.
    std::optional<int64_t> stateOffset(::llvm::StringRef state);
  }];
}
def Rt_ParamOp : Op<Rt_Dialect, "param"> {
  let summary = "a parameter shard in a bucket";
  let description = [{
    Where one use of a `pipe.parameter`: `start` is its first element in the
    bucket. The first use on a stage is where the parameter itself lies; in a bucket
    that is a `second_use_of` another there is only the gradient accumulator. The
    stage of use 0 owns the parameter.

    `partial` names the groups whose ranks have accumulators that are parts of one
    sum until `reduce` adds them, once per step. That is a fact of each parameter:
    ranks along `dp` have other samples, so that its gradient is partial over `dp`,
    unless this splits the parameter itself: then each rank has all of its part's.
    Under sequence parallelism each tp rank sees a part of the positions, and where
    ranks share a head of keys each has the part of its own queries (`kv`). It is
    the state of what `pipe.accumulate` takes, and `kv` where the parameter
    repeats heads; `verify-fragments` holds it to these.

    Example: `rt.param "embed.positions" use 0 bucket 0 start 64`
    Example: `rt.param "final_norm.scale" use 0 bucket 1 start 0 partial <tp, dp, cp>`
    Example: `rt.param "layers.0.attn.k.weight" use 0 bucket 2 start 0 partial <dp, kv>`

    **Constraints:** `partial` names groups along one axis.
  }];
  let arguments = (ins StrAttr:$name, Rt_Int:$use, Rt_Int:$bucket, Rt_Int:$start,
                       OptionalAttr<Rt_Groups>:$partial);
  let extraClassDeclaration = [{
    /// Whether this stage's copy is the one that files and norms take.
    bool isOwner() { return getUse() == 0; }
    /// The groups of `partial`, in ascending order; none without it.
    ::llvm::ArrayRef<::MtcGroup> partialGroups() {
      return getPartial() ? getPartial()->getGroups() : ::llvm::ArrayRef<::MtcGroup>();
    }
  }];
  let assemblyFormat = "$name `use` $use `bucket` $bucket `start` $start (`partial` $partial^)? attr-dict";
  let hasVerifier = 1;
}
class Rt_AttrOf<string type, string what>
    : Attr<CPred<"::llvm::isa<" # type # ">($_self)">, what> {
  let storageType = type;
  let returnType = type;
  let convertFromStorage = "$_self";
}
def Rt_PerPool : Rt_AttrOf<"::mtc::pipe::PerPoolAttr", "#pipe.per_pool">;
class Rt_ForeignEnum<string type> : Attr<CPred<"::llvm::isa<" # type # "Attr>($_self)">, type> {
  let storageType = type # "Attr";
  let returnType = type;
  let convertFromStorage = "$_self.getValue()";
}
def Rt_ExchangePart : Rt_ForeignEnum<"::mtc::pipe::ExchangePart">;
def Rt_Sharding : Rt_AttrOf<"::mtc::dist::ShardingAttr", "#dist.sharding">;

def Rt_StepKind : I32EnumAttr<"StepKind", "row of a timeline", [
    I32EnumAttrCase<"Load", 0, "load">, I32EnumAttrCase<"Run", 1, "run">]> {
  let description = [{
    `load` reads ids, labels and other inputs of a microbatch into its slot, `run` calls a
    fragment.
  }];
  let cppNamespace = "::mtc::rt";
  let genSpecializedAttr = 0;
}
def Rt_StepKindAttr : EnumAttr<Rt_Dialect, Rt_StepKind, "step_kind">;
// The rows of a timeline, which are no ops: see RowTable.h.
def Rt_Rows : Property<"::mtc::rt::Rows", "rows of a timeline"> {
  let hashProperty = "hash_value($_storage)";
  let writeToMlirBytecode = writeMlirBytecodeWithConvertToAttribute;
  let readFromMlirBytecode = readMlirBytecodeUsingConvertFromAttribute;
}
def Rt_TimelineOp : Op<Rt_Dialect, "timeline", [Symbol]> {
  let summary = "what one stage does in one step of an entry";
  let description = [{
    `sequence` is the tokens of a sample, `microbatches` how many of them a step has, where
    these are not those of `mtc.config`: of several lengths and global batches a program has
    entries for each.

    The lines in braces are its rows, each as `rt.step` or `rt.exchange` is written. They are data
    of the timeline and no ops (`getRows`): a plan has some for each microbatch.

    Example:
    ```
    rt.timeline @train {
      rt.step load microbatch 0 slots <saved = 0>
      rt.step run @stage0_fwd microbatch 0 slots <send_activation = 0, saved = 0>
      rt.exchange [#rt.transfer<send = true, peer = 1, tag = <value = activation, microbatch = 0, virtual_stage = 0>, offset = 0, bytes = 2048>]
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<Rt_Int>:$sequence, OptionalAttr<Rt_Int>:$microbatches, Rt_Rows:$rows);
  let assemblyFormat = "$sym_name (`sequence` $sequence^)? (`microbatches` $microbatches^)? custom<Rows>($rows) attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Where a row stands: in its text, if it was read from one, and in the part of
    /// the model of its timeline.
    ::mlir::Location placeOf(size_t row);
  }];
}
def Rt_StepOp : Op<Rt_Dialect, "step"> {
  let summary = "one row of a timeline: load inputs or run a fragment";
  let description = [{
    `slots` names the pools that it uses, `microbatch` what it works on; the update,
    once a step, has neither. In this order: kind, fragment, microbatch, slots,
    further attributes. In a timeline it is a line of text: `rt.timeline` has its rows
    as data.

    Example: `rt.step run @stage0_fwd microbatch 0 slots <send_activation = 0, saved = 0>`
    Example: `rt.step run @stage0_apply`
  }];
  let arguments = (ins Rt_StepKindAttr:$kind, OptionalAttr<FlatSymbolRefAttr>:$fragment, OptionalAttr<Rt_Int>:$microbatch,
                       OptionalAttr<Rt_PerPool>:$slots);
  let hasVerifier = 1;
  let hasCustomAssemblyFormat = 1;
}
def Rt_Transfer : AttrDef<Rt_Dialect, "Transfer"> {
  let mnemonic = "transfer";
  let summary = "one send or receive of an exchange";
  let description = [{
    `peer` is a stage; `offset` and `bytes` say where in the activation arena;
    `tag` names the value on both sides.

    Example: `#rt.transfer<send = true, peer = 1, tag = <value = activation, microbatch = 0, virtual_stage = 0>, offset = 0, bytes = 2048>`
  }];
  let parameters = (ins "bool":$send, "int64_t":$peer, "::mtc::rt::TagAttr":$tag,
                        "int64_t":$offset, "int64_t":$bytes);
  let assemblyFormat = "`<` struct(params) `>`";
}
def Rt_ExchangeOp : Op<Rt_Dialect, "exchange"> {
  let summary = "sends and receives as one atomic group, or posted, or waited for";
  let description = [{
    Without a part as ncclGroup: all of them proceed together. Order inside is the
    global order of `expand-schedule`. With one, see `pipe.exchange`; a wait names a
    transfer as its post does. In a timeline it is a line of text, as `rt.step`.

    Example: `rt.exchange [#rt.transfer<send = true, peer = 1, tag = <value = activation, microbatch = 0, virtual_stage = 0>, offset = 0, bytes = 2048>]`
    Example: `rt.exchange wait [#rt.transfer<send = true, peer = 1, tag = <value = activation, microbatch = 0, virtual_stage = 0>, offset = 0, bytes = 2048>]`
  }];
  let arguments = (ins OptionalAttr<Rt_ExchangePart>:$part,
                       TypedArrayAttrBase<Rt_Transfer, "transfers">:$transfers);
  let hasCustomAssemblyFormat = 1;
}

def Rt_InputSlotOp : Op<Rt_Dialect, "input_slot"> {
  let summary = "where the data reader puts ids, labels or weights";
  let description = [{
    Offset inside the activation slot of pool `pool`, whose stride is `stride` bytes.

    Example: `rt.input_slot "ids" at 0 slot of saved stride 4096 entry "train"`
  }];
  let arguments = (ins StrAttr:$name, Rt_Int:$offset, Rt_Pool:$pool, Rt_Int:$stride, StrAttr:$entry);
  let assemblyFormat = "$name `at` $offset `slot` `of` `` $pool `stride` $stride `entry` $entry attr-dict";
}
def Rt_ExportType : StaticShapeTensorOf<[F32, BF16, F16]>;
def Rt_ExportSlotOp : Op<Rt_Dialect, "export_slot"> {
  let summary = "where a dump finds a value after a fragment ran";
  let description = [{
    `type` is what a rank has, `sharding` says which axes of the mesh split it: one at
    most in equal parts, and one in a head and a tail. Dimension 0 is samples, of which a rank has its own. A dump widens
    elements that are not f32.

    Example: `rt.export_slot "logits" of @stage1_eval workspace at 0 sharding <[{}, {}, {"tp"} ]> local tensor<2x32x128xf32>`

    **Constraints:** a sharding of the tensor's rank; one axis of each kind at most
    splits dimensions behind the first, each another, and none of the data does in
    equal parts (verify-plan).
  }];
  let arguments = (ins StrAttr:$name, FlatSymbolRefAttr:$fragment, Rt_Arena:$arena, Rt_Int:$offset,
                       OptionalAttr<Rt_Sharding>:$sharding, TypeAttrOf<Rt_ExportType>:$type);
  let extraClassDeclaration = [{
    /// The dimension that is split in equal parts, by which axis, and the shape
    /// with it whole.
    ::mtc::dist::Split split();
    /// The same of one that is split in a head and a tail (mesh.h).
    ::mtc::dist::Split pieces();
  }];
  let hasVerifier = 1;
  let assemblyFormat = "$name `of` $fragment `` $arena `at` $offset (`sharding` $sharding^)? `local` $type attr-dict";
}
#endif // MTC_RT_PROGRAM
