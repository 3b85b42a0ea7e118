//===- PipeOps.td - who runs what, when -------------------------------------===//
//
// Boundary ops of fragments first, then schedules (compute slots only), then
// timelines (with exchanges).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PIPE_OPS
#define MTC_PIPE_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/Tables.td"

def Pipe_Dialect : Dialect {
  let name = "pipe";
  let cppNamespace = "::mtc::pipe";
  let summary = "fragments, schedules and timelines of pipeline stages";
  let description = [{
    The third level. It knows who runs what, when: which layers are one stage,
    in which order a stage runs its microbatches, what it sends and receives, and
    in which slot of which pool a value waits. It does not know sizes in bytes,
    where a slot lies, or kernels; the ops of `tfm` and `dist` inside fragments
    are as before.

    `cut-stages` splits `@microbatch` into fragments: functions without
    arguments and results whose boundary is explicit in ops. The attribute
    `pipe.fragment` says what each is; names mean nothing.

    ```mlir
    func.func @stage0_fwd() attributes {pipe.fragment = #pipe.fragment<stage = 0, chunk = 0, phase = forward>} {
      %x = pipe.received activation : tensor<1x32x128xf32>
      %w = pipe.param "layers.0.mlp.down.weight" : tensor<128x64xf32>
      pipe.save %x as 12 : tensor<1x32x128xf32>
      %y = tfm.einsum "bsf,fe->bse" %x, %w : tensor<1x32x128xf32>, tensor<128x64xf32> -> tensor<1x32x64xf32>
      pipe.send activation %y : tensor<1x32x64xf32>
      return
    }
    ```

    A schedule lists compute slots per stage; `expand-schedule` makes of

    ```mlir
    pipe.schedule @train stages 2 chunks 1 microbatches 1 ["F0 B0", "F0 B0"]
    ```

    one timeline per stage, with exchanges and slots of buffers; the second one:

    ```mlir
    pipe.timeline @train_stage1 entry "train" stage 1 pools <recv_activation = 1, send_gradient = 1, saved = 1> {
      pipe.exchange [#pipe.transfer<send = false, value = activation, microbatch = 0, virtual_stage = 0, peer = 0, slot = 0>]
      pipe.slot "F" microbatch 0 chunk 0 slots <recv_activation = 0, saved = 0>
      pipe.slot "B" microbatch 0 chunk 0 slots <recv_activation = 0, send_gradient = 0, saved = 0>
      pipe.exchange [#pipe.transfer<send = true, value = gradient, microbatch = 0, virtual_stage = 1, peer = 0, slot = 0>]
    }
    ```

    See [schedules](../schedules.md). The next level, `rt`, is bytes and calls.
  }];
  // Whose attributes its ops hold.
  let dependentDialects = ["::mtc::tfm::TfmDialect", "::mtc::dist::DistDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{ void registerAttributes(); }];
}

def Pipe_Phase : I32EnumAttr<"Phase", "what a fragment is for", [
    I32EnumAttrCase<"Forward", 0, "forward">, I32EnumAttrCase<"Backward", 1, "backward">,
    I32EnumAttrCase<"Eval", 2, "eval">, I32EnumAttrCase<"Reduce", 3, "reduce">,
    I32EnumAttrCase<"Apply", 4, "apply">,
    I32EnumAttrCase<"InputGradient", 5, "input_gradient">,
    I32EnumAttrCase<"WeightGradient", 6, "weight_gradient">]> {
  let description = [{
    `reduce` and `apply` are the update, at the end of a step. A backward may be
    split in two: `input_gradient`, which others wait for, and `weight_gradient`.
  }];
  let cppNamespace = "::mtc::pipe";
  let genSpecializedAttr = 0;
}
def Pipe_Form : I32BitEnumAttr<"Form", "which microbatches run a form of a fragment", [
    I32BitEnumAttrCaseNone<"Plain", "plain">,
    I32BitEnumAttrCaseBit<"First", 0, "first">,
    I32BitEnumAttrCaseBit<"Last", 1, "last">,
    I32BitEnumAttrCaseBit<"Recompute", 2, "recompute">]> {
  let description = [{
    Conditions that hold of a microbatch, in the order in which names of fragments have
    them. `first` and `last`: of the slots of a phase and chunk in an entry, its one runs
    first or last, whatever its number.
    `recompute`: its slot has room for little, so that its forward saves little and its
    backward computes the rest again.
  }];
  let cppNamespace = "::mtc::pipe";
  let separator = "|";
  let genSpecializedAttr = 0;
}
def Pipe_FormAttr : EnumAttr<Pipe_Dialect, Pipe_Form, "form">;
def Pipe_Fragment : AttrDef<Pipe_Dialect, "Fragment"> {
  let mnemonic = "fragment";
  let summary = "which fragment a function is";
  let description = [{
    On a function, as `pipe.fragment`. There may be several forms of one stage, chunk
    and phase. A microbatch runs the form of which all conditions hold, and most. The
    form `last` of a backward sums gradients over ranks as well, the form `first` of a
    forward, or an eval, gathers parameters as well; a forward `recompute` saves for the
    backward `recompute`.

    Example: `#pipe.fragment<stage = 0, chunk = 0, phase = forward>`
    Example: `#pipe.fragment<stage = 0, chunk = 0, phase = backward, form = "last|recompute">`

    **Constraints:** of the form `first` is a forward or an eval alone, of `last` a
    backward, of `recompute` a forward or a backward.
  }];
  let parameters = (ins "int64_t":$stage, "int64_t":$chunk, EnumParameter<Pipe_Phase>:$phase,
      DefaultValuedParameter<"::mtc::pipe::Form", "::mtc::pipe::Form::Plain", "what must hold of a microbatch that runs it">:$form);
  let builders = [AttrBuilder<(ins "int64_t":$stage, "int64_t":$chunk, "::mtc::pipe::Phase":$phase), [{
    return $_get($_ctxt, stage, chunk, phase, Form::Plain);
  }]>];
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral attrName = "pipe.fragment";
    /// That of a function; null if it is none.
    static FragmentAttr of(::mlir::Operation *fn) {
      return fn->getAttrOfType<FragmentAttr>(attrName);
    }
    /// True of the update, which a step has once, not once per microbatch.
    bool isUpdate() const {
      return getPhase() == Phase::Reduce || getPhase() == Phase::Apply;
    }
    /// True of a backward, whole or a half of one.
    bool isBackward() const {
      return getPhase() == Phase::Backward || getPhase() == Phase::InputGradient ||
             getPhase() == Phase::WeightGradient;
    }
    /// True of what computes from parameters and inputs alone.
    bool isForward() const {
      return getPhase() == Phase::Forward || getPhase() == Phase::Eval;
    }
    /// Whether all that `conditions` names must hold where it runs.
    bool isOf(Form conditions) const {
      return bitEnumContainsAll(getForm(), conditions);
    }
    /// Another form of it.
    FragmentAttr inForm(Form form) const {
      return get(getContext(), getStage(), getChunk(), getPhase(), form);
    }
    /// The form with other conditions beside its own.
    FragmentAttr with(Form more) const { return inForm(getForm() | more); }
    /// The form without some of its conditions.
    FragmentAttr without(Form some) const { return inForm(bitEnumClear(getForm(), some)); }
    /// Whether one microbatch alone runs it.
    bool isOfOne() const { return bitEnumContainsAny(getForm(), Form::First | Form::Last); }
    /// The form that others run where one microbatch runs this form; itself if it is
    /// not of one alone.
    FragmentAttr ofOthers() const { return without(Form::First | Form::Last); }
    /// The same of all its forms.
    FragmentAttr plain() const { return inForm(Form::Plain); }
    /// For names that people read: "_last" of the form `last`, and so on; empty of
    /// the plain one.
    std::string formSuffix() const;
    /// The entry that runs it.
    ::llvm::StringRef getEntry() const {
      return getPhase() == Phase::Eval ? "eval" : "train";
    }
    /// Its place along the model, of `stages` stages.
    int64_t virtualStage(int64_t stages) const {
      return getChunk() * stages + getStage();
    }
  }];
}

def Pipe_PerPool : AttrDef<Pipe_Dialect, "PerPool"> {
  let mnemonic = "per_pool";
  let summary = "a number for some of the pools";
  let description = [{
    Pools are rows of `kPools` (memory.h), and those of further values that cross,
    such as `recv_activation.1`. What a pool that is not named has, a slot or a
    count, its op says. Printed in the order of MtcPool.

    Example: `#pipe.per_pool<send_activation = 0, saved = 2, send_activation.1 = 0>`
  }];
  // By pool, up to the last that is named; kNone: not named.
  let parameters = (ins ArrayRefParameter<"int64_t">:$numbers);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t kNone = -1;
    /// The number of a pool, if it has one.
    std::optional<int64_t> of(::MtcPool pool) const {
      if (size_t(pool) >= getNumbers().size() || getNumbers()[pool] == kNone)
        return std::nullopt;
      return getNumbers()[pool];
    }
    /// The pools that are named, in order, with their numbers.
    ::llvm::SmallVector<std::pair<::MtcPool, int64_t>> entries() const;
    /// Of numbers by pool; kNone: not named.
    static PerPoolAttr of(::mlir::MLIRContext *context, ::llvm::ArrayRef<int64_t> numbers);
  }];
}

def Pipe_CrossingName : AttrDef<Pipe_Dialect, "CrossingName"> {
  let mnemonic = "crossing_name";
  let summary = "how a value that crosses virtual stages is called";
  let description = [{
    `activation` goes to the next virtual stage, `gradient` to the previous one. A
    further value of a direction, or one that goes farther, has a number:
    `activation.1`. `pipe.crossing` says from where it goes where.

    Example: `#pipe<crossing_name activation.1>`
  }];
  let parameters = (ins Mtc_CrossingName:$value);
  let assemblyFormat = "$value";
  let returnType = "::mtc::CrossingName";
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall = "::mtc::pipe::CrossingNameAttr::get($_builder.getContext(), $0)";
}

class Pipe_Op<string mnemonic, list<Trait> traits = []> : Op<Pipe_Dialect, mnemonic, traits>;

//===--- parameters of the model -----------------------------------------------===//

// Attributes of the levels above, which ride on to the last one.
class Pipe_AttrOf<string type, string what>
    : Attr<CPred<"::llvm::isa<" # type # ">($_self)">, what> {
  let storageType = type;
  let returnType = type;
  let convertFromStorage = "$_self";
}
def Pipe_TfmParam : Pipe_AttrOf<"::mtc::tfm::ParamAttr", "#tfm.param">;
def Pipe_Sharding : Pipe_AttrOf<"::mtc::dist::ShardingAttr", "#dist.sharding">;

def Pipe_ParameterOp : Pipe_Op<"parameter"> {
  let summary = "a parameter of the model, and what of it a rank has";
  let description = [{
    The one record of a parameter behind `cut-stages`, in model order. `type` is
    the shard of a rank, in the type in which it is stored; `sharding` says which axes of the mesh split it; without
    one every rank has all. `uses` counts its gradients: a tied table has two, and
    each is accumulated once. Later levels name it (`pipe.param`, `rt.param`).

    Example: `pipe.parameter <name = "layers.0.mlp.up.weight", axes = ["embed", "ffn"], init = normal, std = 2.0e-02 : f64, decay = true> sharding <[{}, {"tp"} ]> local tensor<64x128xf32>`

    **Constraints:** one logical axis per dimension; a sharding of that rank,
    which at most one mesh axis splits and none leaves partial; one use or more;
    repeats along a dimension that is split so that each rank has one index; as many
    elements in the model as a slice has.
  }];
  let arguments = (ins Pipe_TfmParam:$param, OptionalAttr<Pipe_Sharding>:$sharding, DefaultValuedAttr<I64Attr, "1">:$uses, TypeAttrOf<AnyStaticShapeTensor>:$type);
  let assemblyFormat = "$param (`sharding` $sharding^)? (`uses` $uses^)? `local` $type attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::StringRef getName() { return getParam().getName().getValue(); }
    /// The shape of a rank's shard.
    ::llvm::ArrayRef<int64_t> getLocal() {
      return ::llvm::cast<::mlir::RankedTensorType>(getType()).getShape();
    }
    /// Elements of a rank's shard; saturates.
    int64_t getElements();
    /// In which it is stored.
    ::mlir::Type elementType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getType()).getElementType();
    }
    /// The dimension that is split, by which axis, and the shape of the whole, in
    /// which repeats count.
    ::mtc::dist::Split split();
    /// The shape that it has in the model.
    ::llvm::SmallVector<int64_t> modelShape();
    /// The groups whose ranks have the same of it, in ascending order: along an
    /// axis that may split tensors all ranks, those with the same part, or none.
    std::vector<::MtcGroup> groupsWithSame();
    /// Whether `axis` splits it.
    bool isSplitOver(::llvm::StringRef axis) {
      ::mlir::StringAttr found = split().axis;
      return found && found.getValue() == axis;
    }
  }];
}

//===--- what crosses virtual stages -------------------------------------------===//

def Pipe_CrossingOp : Pipe_Op<"crossing", [HasParent<"::mlir::ModuleOp">]> {
  let summary = "a value that goes from one virtual stage to another";
  let description = [{
    The one record of what crosses where, written by `cut-stages`: in each
    microbatch of `entry`, virtual stage `from` sends the value to `to`, directly.
    Schedules, slots, memory and tags follow from these rows, and verifiers compare
    with them. A value that several virtual stages read has a row, and a name, for
    each.

    Example: `pipe.crossing activation of "train" from 0 to 1 : tensor<2x32x64xf32>`
    Example: `pipe.crossing gradient.1 of "train" from 3 to 0 : tensor<2x32x64xf32>`

    **Constraints:** activations go to a later virtual stage, gradients to an
    earlier one; only that of a neighbour has no number.
  }];
  let arguments = (ins Pipe_CrossingName:$name, StrAttr:$entry, I64Attr:$from, I64Attr:$to,
                       TypeAttrOf<StaticShapeTensorOf<[AnyFloat, AnySignlessInteger]>>:$type);
  let assemblyFormat = "`` $name `of` $entry `from` $from `to` $to `:` $type attr-dict";
  let hasVerifier = 1;
}

//===--- boundary of a fragment ------------------------------------------------===//

def Pipe_ParamOp : Pipe_Op<"param", [Pure]> {
  let summary = "a parameter shard of this stage";
  let description = [{Example: `%w = pipe.param "layers.0.mlp.up.weight" : tensor<64x128xf32>`}];
  let arguments = (ins StrAttr:$name);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
}
def Pipe_InputOp : Pipe_Op<"input", [Pure]> {
  let summary = "ids, labels or weights of the microbatch; lives in the activation slot";
  let description = [{
    Example: `%ids = pipe.input "ids" : tensor<2x32xi32>`

    **Constraints:** a name of `kInputs` (memory.h), and its type.
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def Pipe_SampleOp : Pipe_Op<"sample", [Pure]> {
  let summary = "absolute id of this rank's first sample of the microbatch";
  let description = [{Example: `%s = pipe.sample : tensor<i64>`}];
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}
def Pipe_ReceivedOp : Pipe_Op<"received", [Pure]> {
  let summary = "what another stage sent: an activation or a gradient";
  let description = [{
    `pipe.crossing` says which stage. A backward fragment may read the activation
    again: its buffer lives until its last reader.

    Example: `%x = pipe.received activation : tensor<2x32x64xf32>`
  }];
  let arguments = (ins Pipe_CrossingName:$name);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "`` $name attr-dict `:` type($result)";
}
def Pipe_SendOp : Pipe_Op<"send"> {
  let summary = "a value that another stage receives";
  let description = [{
    `pipe.crossing` says which.

    Example: `pipe.send activation %y : tensor<2x32x64xf32>`
  }];
  let arguments = (ins Pipe_CrossingName:$name, AnyRankedTensor:$value);
  let assemblyFormat = "`` $name $value attr-dict `:` type($value)";
}
def Pipe_SaveOp : Pipe_Op<"save"> {
  let summary = "saves a value in the activation slot for the backward";
  let description = [{Example: `pipe.save %u as 3 : tensor<2x32x128xf32>`}];
  let arguments = (ins AnyRankedTensor:$value, I64Attr:$key);
  let assemblyFormat = "$value `as` $key attr-dict `:` type($value)";
}
def Pipe_SavedOp : Pipe_Op<"saved", [Pure]> {
  let summary = "reads a saved value of the activation slot";
  let description = [{Example: `%u = pipe.saved 3 : tensor<2x32x128xf32>`}];
  let arguments = (ins I64Attr:$key);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$key attr-dict `:` type($result)";
}
def Pipe_AccumulateOp : Pipe_Op<"accumulate"> {
  let summary = "adds to the gradient accumulator of one use of a parameter";
  let description = [{
    Microbatches add in ascending order.

    Example: `pipe.accumulate %dw to "layers.0.mlp.up.weight" use 0 : tensor<64x128xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$value, StrAttr:$param, I64Attr:$use);
  let assemblyFormat = "$value `to` $param `use` $use attr-dict `:` type($value)";
}
def Pipe_LossOp : Pipe_Op<"loss"> {
  let summary = "adds to the loss of the step";
  let description = [{Example: `pipe.loss %l : tensor<f32>`}];
  let arguments = (ins AnyRankedTensor:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}
def Pipe_ExportOp : Pipe_Op<"export"> {
  let summary = "a value that dumps can read after the fragment";
  let description = [{Example: `pipe.export "logits" %z : tensor<2x32x128xf32>`}];
  let arguments = (ins StrAttr:$name, AnyRankedTensor:$value);
  let assemblyFormat = "$name $value attr-dict `:` type($value)";
}

//===--- schedule -----------------------------------------------------------------===//

def Pipe_ScheduleOp : Pipe_Op<"schedule", [Symbol]> {
  let summary = "per stage the compute slots of one entry, in order";
  let description = [{
    One line per stage in the notation of docs/schedules.md: phase (F, B, I, W),
    microbatch, and `.chunk` where there are chunks. `apart`: transfers are posted
    and waited for apart (`pipe.exchange`). `small`: so many of the slots in which a
    stage keeps values for backwards have room for little, and microbatches there are
    computed again (the form `recompute` of fragments).

    Example: `pipe.schedule @train stages 2 chunks 1 microbatches 2 ["F0 F1 B0 B1", "F0 B0 F1 B1"]`
    Example: `pipe.schedule @train stages 2 chunks 1 microbatches 2 apart ["F0 F1 B0 B1", "F0 B0 F1 B1"]`
    Example: `pipe.schedule @train stages 2 chunks 1 microbatches 2 small 1 ["F0 F1 B0 B1", "F0 B0 F1 B1"]`

    **Constraints:** 1 to 1,024 stages, chunks, and virtual stages of both; 1 to
    2^20 microbatches; 0 to 2^20 small slots; a line for each stage.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$stages, I64Attr:$chunks, I64Attr:$microbatches,
                       UnitAttr:$apart, DefaultValuedAttr<I64Attr, "0">:$small, StrArrayAttr:$slots);
  let assemblyFormat = "$sym_name `stages` $stages `chunks` $chunks `microbatches` $microbatches (`apart` $apart^)? (`small` $small^)? $slots attr-dict";
  let hasVerifier = 1;
}
// The rows of a timeline, which are no ops: see RowTable.h.
def Pipe_Rows : Property<"::mtc::pipe::Rows", "rows of a timeline"> {
  let hashProperty = "hash_value($_storage)";
  let writeToMlirBytecode = writeMlirBytecodeWithConvertToAttribute;
  let readFromMlirBytecode = readMlirBytecodeUsingConvertFromAttribute;
}
def Pipe_TimelineOp : Pipe_Op<"timeline", [Symbol]> {
  let summary = "slots and exchanges of one stage, in order";
  let description = [{
    `pools` are the numbers of slots of each pool; one that is not named has none.

    The lines in braces are its rows, each as `pipe.slot` or `pipe.exchange` is written. They are
    data of the timeline and no ops (`getRows`): a schedule has some for each microbatch.

    Example:
    ```
    pipe.timeline @train_stage0 entry "train" stage 0 pools <recv_gradient = 1, send_activation = 1, saved = 2> {
      pipe.slot "F" microbatch 0 chunk 0 slots <send_activation = 0, saved = 0>
      pipe.exchange [#pipe.transfer<send = true, value = activation, microbatch = 0, virtual_stage = 0, peer = 1, slot = 0>]
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$entry, I64Attr:$stage, Pipe_PerPool:$pools, Pipe_Rows:$rows);
  let assemblyFormat = "$sym_name `entry` $entry `stage` $stage `pools` $pools custom<Rows>($rows) attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Where a row stands: in its text, if it was read from one, and in the part of
    /// the model of its timeline.
    ::mlir::Location placeOf(size_t row);
    /// An error at a row.
    ::mlir::InFlightDiagnostic emitRowError(size_t row);
  }];
}
def Pipe_SlotOp : Pipe_Op<"slot"> {
  let summary = "one compute slot with the buffer slots that it uses";
  let description = [{
    `slots` names the pools that it uses, `form` what of a microbatch the schedule
    decides. In a timeline it is a line of text: `pipe.timeline` has its rows as data.

    Example: `pipe.slot "F" microbatch 0 chunk 0 slots <send_activation = 0, saved = 0>`
    Example: `pipe.slot "F" microbatch 1 chunk 0 form recompute slots <send_activation = 0, saved_again = 0>`
  }];
  let arguments = (ins StrAttr:$phase, I64Attr:$microbatch, I64Attr:$chunk,
                       DefaultValuedAttr<Pipe_FormAttr, "::mtc::pipe::Form::Plain">:$form, Pipe_PerPool:$slots);
  let assemblyFormat = "$phase `microbatch` $microbatch `chunk` $chunk (`form` $form^)? `slots` $slots attr-dict";
}
def Pipe_Transfer : AttrDef<Pipe_Dialect, "Transfer"> {
  let mnemonic = "transfer";
  let summary = "one send or receive";
  let description = [{
    `virtual_stage` is the one that produced the value, `peer` the other stage;
    `value` is its name; `slot` is one of the pool that is sent from or received
    into.

    Example: `#pipe.transfer<send = true, value = activation, microbatch = 0, virtual_stage = 0, peer = 1, slot = 0>`
  }];
  let parameters = (ins "bool":$send, Mtc_CrossingName:$value, "int64_t":$microbatch, "int64_t":$virtual_stage,
                        "int64_t":$peer, "int64_t":$slot);
  let assemblyFormat = "`<` struct(params) `>`";
}
def Pipe_ExchangePart : I32EnumAttr<"ExchangePart", "what an exchange does with its transfers", [
    I32EnumAttrCase<"Post", 0, "post">, I32EnumAttrCase<"Wait", 1, "wait">]> {
  let description = [{
    `post` begins transfers and goes on, `wait` ends such that an earlier exchange of
    the timeline posted. Between them nobody writes what is sent, and nobody touches
    where a value is received.
  }];
  let cppNamespace = "::mtc::pipe";
  let genSpecializedAttr = 0;
}
def Pipe_ExchangePartAttr : EnumAttr<Pipe_Dialect, Pipe_ExchangePart, "exchange_part">;
def Pipe_ExchangeOp : Pipe_Op<"exchange"> {
  let summary = "transfers that form one atomic group, or are posted, or waited for";
  let description = [{
    Without a part, all of them proceed together: a stage that sends and receives in
    one group does not wait for itself. With one, a stage goes on between `post` and
    `wait`, and the transfers of one stage to one other take place in the order in
    which both post them. In a timeline it is a line of text, as `pipe.slot`.

    Example: `pipe.exchange [#pipe.transfer<send = true, value = activation, microbatch = 0, virtual_stage = 0, peer = 1, slot = 0>]`
    Example: `pipe.exchange post [#pipe.transfer<send = true, value = activation, microbatch = 0, virtual_stage = 0, peer = 1, slot = 0>]`
  }];
  let arguments = (ins OptionalAttr<Pipe_ExchangePartAttr>:$part,
                       TypedArrayAttrBase<Pipe_Transfer, "transfers">:$transfers);
  let assemblyFormat = "custom<Exchange>($part, $transfers) attr-dict";
}
#endif // MTC_PIPE_OPS
