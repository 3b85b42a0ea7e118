//===- RtProgram.td - arenas, parameters, timelines -------------------------===//
//
// Included by RtOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RT_PROGRAM
#define MTC_RT_PROGRAM

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
    } {arenas = array<i64: 512, 512, 1024, 0, 0, 4096, 0>, loss_offset = 448 : i64}
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
def Rt_PackedOp : Op<Rt_Dialect, "packed"> {
  let summary = "a weight as products read it";
  let description = [{
    The parameter's op(b), k x n, packed for products by own_packed once a step. `bytes` is what
    the runtime's kernel makes of it under the plan's instruction set; `plan-memory` gives it its
    `offset` in the arena `packed`. A weight that its forward and its backward read has two.

    Example: `rt.packed 0 of "layers.0.mlp.up.weight" n 256 k 64 bytes 73728 {tb = false, type = f32}`
    Example: `rt.packed 1 of "layers.0.mlp.up.weight" n 64 k 256 bytes 98304 {offset = 73728 : i64, tb = true, type = bf16}`

    **Constraints:** n and k of 1 to 2^31 - 1, bytes of 1 to 2^48 - 1; a type of f32, bf16 or f16.
  }];
  let arguments = (ins Rt_Int:$index, StrAttr:$param, Rt_Int:$n, Rt_Int:$k, Rt_Int:$bytes, BoolAttr:$tb,
                       TypeAttr:$type, OptionalAttr<Rt_Int>:$offset);
  let assemblyFormat = "$index `of` $param `n` $n `k` $k `bytes` $bytes attr-dict";
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
