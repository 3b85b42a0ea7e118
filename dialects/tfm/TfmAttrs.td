//===- TfmAttrs.td - what ops and arguments of tfm say beside their types ---===//
#ifndef MTC_TFM_ATTRS
#define MTC_TFM_ATTRS

def Tfm_Init : I32EnumAttr<"Init", "initial values of a parameter", [
    I32EnumAttrCase<"Normal", 0, "normal">, I32EnumAttrCase<"Zeros", 1, "zeros">,
    I32EnumAttrCase<"Ones", 2, "ones">]> {
  let description = [{
    `normal` draws from N(0, std) by seed, name and element (docs/numerics.md),
    so that every layout starts with the same bytes.
  }];
  let cppNamespace = "::mtc::tfm";
  let genSpecializedAttr = 0;
}
def Tfm_ActivationKind : I32EnumAttr<"ActivationKind", "pointwise activation", [
    I32EnumAttrCase<"Gelu", 0, "gelu">, I32EnumAttrCase<"Silu", 1, "silu">,
    I32EnumAttrCase<"Relu", 2, "relu">]> {
  let description = [{
    `gelu` is the tanh form, `silu` is x·sigmoid(x), `relu` is max(x, 0).
  }];
  let cppNamespace = "::mtc::tfm";
  let genSpecializedAttr = 0;
}
def Tfm_ActivationKindAttr : EnumAttr<Tfm_Dialect, Tfm_ActivationKind, "activation_kind">;
def Tfm_ReduceKind : I32EnumAttr<"ReduceKind", "reduction", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">]> {
  let description = [{
    Only `sum` has a gradient; `max` stands behind `tfm.stop_gradient`.
  }];
  let cppNamespace = "::mtc::tfm";
  let genSpecializedAttr = 0;
}
def Tfm_ReduceKindAttr : EnumAttr<Tfm_Dialect, Tfm_ReduceKind, "reduce_kind">;
def Tfm_NormKind : I32EnumAttr<"NormKind", "normalisation", [
    I32EnumAttrCase<"LayerNorm", 0, "layer_norm">, I32EnumAttrCase<"RmsNorm", 1, "rms_norm">]> {
  let description = [{
    What is normalised: `layer_norm` subtracts the mean of a row and divides by
    the standard deviation, `rms_norm` divides by the root of the mean square.
  }];
  let cppNamespace = "::mtc::tfm";
  let genSpecializedAttr = 0;
}
def Tfm_NormKindAttr : EnumAttr<Tfm_Dialect, Tfm_NormKind, "norm_kind">;

def Tfm_RepeatsAttr : AttrDef<Tfm_Dialect, "Repeats"> {
  let mnemonic = "repeats";
  let summary = "indices of a dimension that are there several times in a row";
  let description = [{
    Each index of dimension `dim` of the model is there `times` in a row. These are
    equal and stay so: the gradient of each is the sum of those of all. Each is on a
    rank of its own, so that ranks in a row along the axis that splits the dimension
    have the same.

    Example: `#tfm.repeats<dim = 1, times = 2>`

    **Constraints:** a dimension of 0 or more, 2 times or more.
  }];
  let parameters = (ins "int64_t":$dim, "int64_t":$times);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}
def Tfm_SliceAttr : AttrDef<Tfm_Dialect, "Slice"> {
  let mnemonic = "slice";
  let summary = "which part of a tensor of the model a parameter is";
  let description = [{
    The model has the tensor `of`, of that shape and these logical axes; the parameter
    is `size` indices of its dimension `dim`, from `first` on, with all of the others.
    Its elements are in the order in which the tensor has them; its own shape may join
    dimensions. Files, initial values and overrides know the tensor only.

    Example: `#tfm.slice<of = "layers.0.attn.qkv.bias", shape = [2, 6, 8], axes = ["kv_heads", "qkv", "head_dim"], dim = 1, first = 4, size = 1>`

    **Constraints:** a shape of sizes of 1 or more, with an axis for each; one index of
    `dim` or more, inside the shape.
  }];
  let parameters = (ins "::mlir::StringAttr":$of, "::mlir::DenseI64ArrayAttr":$shape,
      "::mlir::ArrayAttr":$axes, "int64_t":$dim, "int64_t":$first, "int64_t":$size);
  let extraClassDeclaration = [{
    /// Elements of the slice; saturates.
    int64_t getElements() const;
  }];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}
def Tfm_ParamAttr : AttrDef<Tfm_Dialect, "Param"> {
  let mnemonic = "param";
  let summary = "a parameter: logical name, logical axes, initial values";
  let description = [{
    Stands on function arguments. `axes` has one logical axis per dimension;
    the strategy's table maps axes to mesh axes. `std` is that of `init = normal`;
    `decay` says whether weight decay applies, `group` whose learning rate and decay
    hold (`#mtc.optimizer`). With `repeats` the argument has some
    indices several times, where the model has them once. With `slice` it is a part of
    a tensor of the model, and `name` its own.

    Example: `#tfm.param<name = "final_norm.scale", axes = ["embed"], init = ones, std = 0.0 : f64, decay = false>`
    Example: `#tfm.param<name = "embed.tokens", axes = ["vocab", "embed"], init = normal, std = 2.0e-02 : f64, decay = true, group = "embeddings">`
    Example: `#tfm.param<name = "layers.0.attn.k.bias", axes = ["kv_heads", "head_dim"], init = zeros, std = 0.0 : f64, decay = false, repeats = <dim = 0, times = 2>>`
    Example: `#tfm.param<name = "layers.0.attn.v.bias", axes = ["kv_heads", "head_dim"], init = zeros, std = 0.0 : f64, decay = false, slice = <of = "layers.0.attn.qkv.bias", shape = [4, 4, 8], axes = ["kv_heads", "qkv", "head_dim"], dim = 1, first = 3, size = 1>>`

    **Constraints:** `repeats` of a dimension that has an axis.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::ArrayAttr":$axes,
      EnumParameter<Tfm_Init>:$init, "::mlir::FloatAttr":$std, "bool":$decay,
      OptionalParameter<"::mtc::tfm::RepeatsAttr">:$repeats,
      OptionalParameter<"::mtc::tfm::SliceAttr">:$slice,
      OptionalParameter<"::mlir::StringAttr">:$group);
  let extraClassDeclaration = [{
    /// How many ranks have the same part of it.
    int64_t ranksOfPart() const { return getRepeats() ? getRepeats().getTimes() : 1; }
  }];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}
def Tfm_InputAttr : AttrDef<Tfm_Dialect, "Input"> {
  let mnemonic = "input";
  let summary = "a value that the data reader fills, such as `ids`";
  let description = [{
    Stands on function arguments; `axes` has one logical axis per dimension. Names are those of
    `kInputs` (memory.h): `ids` and `labels`; where documents are known `document_starts`, for
    each token the position at which its own begins; where tokens are left out of the loss
    `loss_weights` and `gradient_weights`, which are f32.

    Example: `#tfm.input<name = "ids", axes = ["batch", "seq"]>`
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::ArrayAttr":$axes);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}
def Tfm_GradAttr : AttrDef<Tfm_Dialect, "Grad"> {
  let mnemonic = "grad";
  let summary = "result attribute: gradient of one use of a parameter";
  let description = [{
    A tied parameter has one accumulator per use, in forward order.

    Example: `#tfm.grad<param = "embed.tokens", use = 1>`
  }];
  let parameters = (ins "::mlir::StringAttr":$param, "int64_t":$use);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // MTC_TFM_ATTRS
