//===- TfmOps.td - what is computed: transformer training, global shapes --===//
//
// Include order: base definitions, then one section per op family. Each family
// has a file of the same name under passes/families with its sharding rule, its
// gradient and its lowering.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TFM_OPS
#define MTC_TFM_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tfm_Dialect : Dialect {
  let name = "tfm";
  let cppNamespace = "::mtc::tfm";
  let summary = "what a training step computes, on immutable tensors";
  let description = [{
    The first of the four levels. It knows the mathematics of one microbatch and
    of the optimizer: tensors are immutable, have global shapes (until
    `partition`), and parameters carry logical axes. It does not know how many
    ranks there are, where a value lives, in which order microbatches run, or
    that memory exists.

    From import on a module holds `@microbatch`: the forward, and after
    `differentiate` also the backward. Every op carries two discardable
    attributes: `tfm.layer` (0 for the embedding, 1..L for the layers, L + 1 for
    the head) and `tfm.phase` (`forward` or `backward`). Each family of ops has
    one file in `passes/families`: its sharding rule, its gradient and its
    lowering.

    What `import` makes of the second product of an MLP:

    ```mlir
    %y = tfm.einsum "bsf,fe->bse" %v, %w {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<2x32x256xf32>, tensor<256x64xf32> -> tensor<2x32x64xf32>
    ```

    `differentiate` keeps what the backward reads, and appends the backward:

    ```mlir
    %s = tfm.save %v {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<2x32x256xf32>
    %y = tfm.einsum "bsf,fe->bse" %v, %w {tfm.layer = 1 : i64, tfm.phase = "forward"} : tensor<2x32x256xf32>, tensor<256x64xf32> -> tensor<2x32x64xf32>
    %dv = tfm.einsum "bse,fe->bsf" %dy, %w {tfm.layer = 1 : i64, tfm.phase = "backward"} : tensor<2x32x64xf32>, tensor<256x64xf32> -> tensor<2x32x256xf32>
    %v2 = tfm.restore %s {tfm.layer = 1 : i64, tfm.phase = "backward"} : tensor<2x32x256xf32>
    %dw = tfm.einsum "bsf,bse->fe" %v2, %dy {tfm.layer = 1 : i64, tfm.phase = "backward"} : tensor<2x32x256xf32>, tensor<2x32x64xf32> -> tensor<256x64xf32>
    ```

    The next level, `dist`, adds to these ops where each value lives.
  }];
  let useDefaultAttributePrinterParser = 1;
}

include "dialects/tfm/TfmAttrs.td"

//===--- bases -------------------------------------------------------------===//

defvar Tfm_Tensor = AnyRankedTensor;
class Tfm_Op<string mnemonic, list<Trait> traits = []> : Op<Tfm_Dialect, mnemonic, traits> {
  let hasVerifier = 1;
}
// Traits, of Tfm.h.
class Tfm_Trait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::mtc::tfm";
}
def Tfm_SumsInF32 : Tfm_Trait<"SumsInF32">;
def Tfm_Cheap : Tfm_Trait<"Cheap">;

class Tfm_SameType<string mnemonic, list<Trait> traits = []>
    : Op<Tfm_Dialect, mnemonic, !listconcat([Pure, SameOperandsAndResultType], traits)> {
  let results = (outs Tfm_Tensor:$result);
}
class Tfm_Binary<string mnemonic, list<Trait> traits = []> : Tfm_SameType<mnemonic, traits> {
  let arguments = (ins Tfm_Tensor:$lhs, Tfm_Tensor:$rhs);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}
class Tfm_Unary<string mnemonic, list<Trait> traits = []> : Tfm_SameType<mnemonic, traits> {
  let arguments = (ins Tfm_Tensor:$x);
  let assemblyFormat = "$x attr-dict `:` type($result)";
}

//===--- family: pointwise ---------------------------------------------------===//

def Tfm_AddOp : Tfm_SameType<"add", [Tfm_Cheap]> {
  let summary = "sum of two or more tensors";
  let description = [{
    Added from left to right. All operands may be partial sums together.

    Example: `%s = tfm.add %x, %y, %z : tensor<4x8xf32>`

    **Constraints:** at least two operands; all of the result's type.
  }];
  let arguments = (ins Variadic<Tfm_Tensor>:$inputs);
  let assemblyFormat = "$inputs attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def Tfm_SubOp : Tfm_Binary<"sub", [Tfm_Cheap]> {
  let summary = "difference of elements";
  let description = [{Example: `%d = tfm.sub %x, %y : tensor<4xf32>`}];
}
def Tfm_MulOp : Tfm_Binary<"mul", [Tfm_Cheap]> {
  let summary = "product of elements";
  let description = [{Example: `%d = tfm.mul %x, %y : tensor<4xf32>`}];
}
def Tfm_DivOp : Tfm_Binary<"div"> {
  let summary = "quotient of elements";
  let description = [{Example: `%d = tfm.div %x, %y : tensor<4xf32>`}];
}
def Tfm_ExpOp : Tfm_Unary<"exp", [Tfm_Cheap]> {
  let summary = "exponential function";
  let description = [{Example: `%e = tfm.exp %x : tensor<4xf32>`}];
}
def Tfm_LogOp : Tfm_Unary<"log"> {
  let summary = "natural logarithm";
  let description = [{Example: `%l = tfm.log %x : tensor<4xf32>`}];
}
def Tfm_ScaleOp : Tfm_SameType<"scale", [Tfm_Cheap]> {
  let summary = "product with a constant";
  let description = [{Example: `%y = tfm.scale %x by 2.500000e-01 : tensor<4xf32>`}];
  let arguments = (ins Tfm_Tensor:$x, F64Attr:$factor);
  let assemblyFormat = "$x `by` $factor attr-dict `:` type($result)";
}
def Tfm_CastOp : Tfm_Op<"cast", [Pure, Tfm_Cheap]> {
  let summary = "the same numbers in another floating type";
  let description = [{
    To a narrower type rounds to nearest even. The importer writes it where the
    dtype policy changes the type of a value, `differentiate` casts back.

    Example: `%z32 = tfm.cast %z : tensor<4x8x256xbf16> -> tensor<4x8x256xf32>`

    **Constraints:** floating types; equal shapes.
  }];
  let arguments = (ins Tfm_Tensor:$x);
  let results = (outs Tfm_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
}
def Tfm_StopGradientOp : Tfm_Unary<"stop_gradient"> {
  let summary = "identity through which no gradient flows";
  let description = [{
    The row maximum of a softmax is a shift that cancels; its gradient is not
    computed. Removed by `differentiate`.

    Example: `%m2 = tfm.stop_gradient %m : tensor<4x8xf32>`
  }];
}
def Tfm_ScaleGradientOp : Tfm_SameType<"scale_gradient", [Tfm_Cheap]> {
  let summary = "identity whose gradient is multiplied by a factor";
  let description = [{
    y = x; the gradient is dy·factor, by element. Where the loss is the mean over
    microbatches of their own means, its value is that over tokens, as logs have it, and
    the gradient of each token is given its weight in the other.

    Example: `%l2 = tfm.scale_gradient %l by %w : tensor<4x8xf32>`
  }];
  let arguments = (ins Tfm_Tensor:$x, Tfm_Tensor:$factor);
  let assemblyFormat = "$x `by` $factor attr-dict `:` type($result)";
}
def Tfm_FillOp : Op<Tfm_Dialect, "fill", [Pure, Tfm_Cheap]> {
  let summary = "a tensor of one value";
  let description = [{Example: `%one = tfm.fill 1.000000e+00 : tensor<f32>`}];
  let arguments = (ins F64Attr:$value);
  let results = (outs Tfm_Tensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}
def Tfm_ActivationOp : Tfm_SameType<"activation"> {
  let summary = "pointwise activation function";
  let description = [{
    `gelu` is the tanh form x/2·(1 + tanh(sqrt(2/pi)(x + 0.044715 x^3))).

    Example: `%v = tfm.activation gelu %u : tensor<4x8x64xf32>`
  }];
  let arguments = (ins Tfm_ActivationKindAttr:$kind, Tfm_Tensor:$x);
  let assemblyFormat = "`` $kind $x attr-dict `:` type($result)";
}
def Tfm_ActivationGradOp : Tfm_SameType<"activation_grad"> {
  let summary = "gradient of activation: its derivative at x, times dy";
  let description = [{Example: `%du = tfm.activation_grad gelu %u, %dv : tensor<4x8x64xf32>`}];
  let arguments = (ins Tfm_ActivationKindAttr:$kind, Tfm_Tensor:$x, Tfm_Tensor:$dy);
  let assemblyFormat = "`` $kind $x `,` $dy attr-dict `:` type($result)";
}

//===--- family: shape ---------------------------------------------------===//

def Tfm_BroadcastOp : Tfm_Op<"broadcast", [Pure, Tfm_Cheap]> {
  let summary = "repeats a tensor along new dimensions";
  let description = [{
    Dimension i of the operand is dimension `dims[i]` of the result.

    Example: `%b2 = tfm.broadcast %b dims [2] : tensor<64xf32> -> tensor<4x8x64xf32>`

    **Constraints:** dims ascend; sizes agree.
  }];
  let arguments = (ins Tfm_Tensor:$x, DenseI64ArrayAttr:$dims);
  let results = (outs Tfm_Tensor:$result);
  let assemblyFormat = "$x `dims` $dims attr-dict `:` type($x) `->` type($result)";
}
def Tfm_ReduceOp : Tfm_Op<"reduce", [Pure, Tfm_SumsInF32]> {
  let summary = "sum or maximum over dimensions";
  let description = [{
    Example: `%db = tfm.reduce sum %dy dims [0, 1] : tensor<4x8x64xf32> -> tensor<64xf32>`

    **Constraints:** dims ascend; the result has the other dimensions in order.
  }];
  let arguments = (ins Tfm_ReduceKindAttr:$kind, Tfm_Tensor:$x, DenseI64ArrayAttr:$dims);
  let results = (outs Tfm_Tensor:$result);
  let assemblyFormat = "`` $kind $x `dims` $dims attr-dict `:` type($x) `->` type($result)";
}

class Tfm_Repeats<string mnemonic, list<Trait> traits>
    : Tfm_Op<mnemonic, !listconcat([Pure, SameOperandsAndResultElementType], traits)> {
  let arguments = (ins Tfm_Tensor:$x, I64Attr:$dim, I64Attr:$times);
  let results = (outs Tfm_Tensor:$result);
  let assemblyFormat = "$x `dim` $dim `times` $times attr-dict `:` type($x) `->` type($result)";
}
def Tfm_RepeatOp : Tfm_Repeats<"repeat", [Tfm_Cheap]> {
  let summary = "each index of a dimension several times, one behind the other";
  let description = [{
    Index i of dimension `dim` of the result is index i / `times` of the operand. A rank may make a part of it.

    Example: `%w2 = tfm.repeat %w dim 1 times 4 : tensor<64x2x16xf32> -> tensor<64x8x16xf32>`
  }];
}
def Tfm_RepeatGradOp : Tfm_Repeats<"repeat_grad", []> {
  let summary = "gradient of repeat: the sum over what repeats an index";
  let description = [{Example: `%dw = tfm.repeat_grad %dw2 dim 1 times 4 : tensor<64x8x16xf32> -> tensor<64x2x16xf32>`}];
}

//===--- family: dropout -------------------------------------------------===//

def Tfm_DropoutOp : Tfm_Op<"dropout", [Pure]> {
  let summary = "drops elements at random and scales the others";
  let description = [{
    The mask is a function of (seed, sample, layer, site, element in one sample
    of the unpartitioned tensor); it is never stored: the gradient is the same op
    on dy. Dimension 0 is the sample. See docs/numerics.md.

    Example: `%y = tfm.dropout %x at %sample {rate = 0.1 : f64, rng_layer = 1 : i64, site = 2 : i64} : tensor<4x8x16xf32>, tensor<i64> -> tensor<4x8x16xf32>`

    **Constraints:** 0 <= rate < 1; rank >= 2.
  }];
  let arguments = (ins Tfm_Tensor:$x, Tfm_Tensor:$sample, F64Attr:$rate,
                       I64Attr:$rng_layer, I64Attr:$site);
  let results = (outs Tfm_Tensor:$result);
  let assemblyFormat = "$x `at` $sample attr-dict `:` type($x) `,` type($sample) `->` type($result)";
}

//===--- family: einsum --------------------------------------------------===//

def Tfm_EinsumOp : Tfm_Op<"einsum", [Pure, Tfm_SumsInF32]> {
  let summary = "contraction of two tensors by letters";
  let description = [{
    One letter per dimension. Letters of both operands that are missing in the
    result are summed. Lowered to one GEMM: so the letters of each of the groups
    rows, columns and contracted must be neighbours in the same order wherever
    they occur.

    Example: `%u = tfm.einsum "bse,ef->bsf" %x, %w : tensor<4x8x16xf32>, tensor<16x64xf32> -> tensor<4x8x64xf32>`

    **Constraints:** one size per letter; every letter stands in exactly two of
    the three tensors; both operands of one element type. The result may be wider:
    products are added in f32 in any case.
  }];
  let arguments = (ins StrAttr:$equation, Tfm_Tensor:$lhs, Tfm_Tensor:$rhs);
  let results = (outs Tfm_Tensor:$result);
  let assemblyFormat = "$equation $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
}

//===--- family: embedding -------------------------------------------------===//

def Tfm_IotaOp : Tfm_Op<"iota", [Pure, Tfm_Cheap]> {
  let summary = "the numbers 0, 1, 2, ... along one dimension";
  let description = [{
    An element is its index in dimension `dim`. As ids of `tfm.embed` it names the
    first rows of a table, such as the learned positions of a sequence that is
    shorter than the longest one. On a rank that has a part of the dimension it
    gives the numbers of that part.

    Example: `%i = tfm.iota dim 1 : tensor<4x8xi32>`

    **Constraints:** elements are i32; dim is one of the result's dimensions.
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs Tfm_Tensor:$result);
  let assemblyFormat = "`dim` $dim attr-dict `:` type($result)";
}
def Tfm_IndexFromOp : Tfm_Op<"index_from", [Pure, Tfm_Cheap, SameOperandsAndResultType]> {
  let summary = "the index along one dimension, counted from a given one";
  let description = [{
    An element is its index in dimension `dim` less what the operand has there: of the
    positions at which documents begin it makes positions in documents.

    Example: `%i = tfm.index_from %starts dim 1 : tensor<4x8xi32>`

    **Constraints:** as of `tfm.iota`.
  }];
  let arguments = (ins Tfm_Tensor:$start, I64Attr:$dim);
  let results = (outs Tfm_Tensor:$result);
  let assemblyFormat = "$start `dim` $dim attr-dict `:` type($result)";
}
def Tfm_EmbedOp : Tfm_Op<"embed", [Pure]> {
  let summary = "rows of a table";
  let description = [{
    An id outside the local rows of a split table gives zeros: the result is
    then a partial sum.

    Example: `%e = tfm.embed %ids, %table : tensor<4x8xi32>, tensor<256x16xf32> -> tensor<4x8x16xf32>`
  }];
  let arguments = (ins Tfm_Tensor:$ids, Tfm_Tensor:$table);
  let results = (outs Tfm_Tensor:$result);
  let assemblyFormat = "$ids `,` $table attr-dict `:` type($ids) `,` type($table) `->` type($result)";
}
def Tfm_EmbedGradOp : Tfm_Op<"embed_grad", [Pure, Tfm_SumsInF32]> {
  let summary = "gradient of embed: adds rows of dy to the rows that were looked up";
  let description = [{
    Rows are added in ascending order of (sample, position).

    Example: `%dt = tfm.embed_grad %ids, %dy : tensor<4x8xi32>, tensor<4x8x16xf32> -> tensor<256x16xf32>`
  }];
  let arguments = (ins Tfm_Tensor:$ids, Tfm_Tensor:$dy);
  let results = (outs Tfm_Tensor:$result);
  let assemblyFormat = "$ids `,` $dy attr-dict `:` type($ids) `,` type($dy) `->` type($result)";
}

//===--- family: loss ------------------------------------------------------===//

def Tfm_PickOp : Tfm_Op<"pick", [Pure]> {
  let summary = "the element of the last dimension that a label names";
  let description = [{
    A label outside the local columns gives zero (a partial sum).

    Example: `%p = tfm.pick %z, %labels : tensor<4x8x256xf32>, tensor<4x8xi32> -> tensor<4x8xf32>`
  }];
  let arguments = (ins Tfm_Tensor:$z, Tfm_Tensor:$labels);
  let results = (outs Tfm_Tensor:$result);
  let assemblyFormat = "$z `,` $labels attr-dict `:` type($z) `,` type($labels) `->` type($result)";
}
def Tfm_PickGradOp : Tfm_Op<"pick_grad", [Pure]> {
  let summary = "gradient of pick: dl at the labelled element, zero elsewhere";
  let description = [{
    Example: `%dz = tfm.pick_grad %labels, %dl : tensor<4x8xi32>, tensor<4x8xf32> -> tensor<4x8x256xf32>`
  }];
  let arguments = (ins Tfm_Tensor:$labels, Tfm_Tensor:$dl);
  let results = (outs Tfm_Tensor:$result);
  let assemblyFormat = "$labels `,` $dl attr-dict `:` type($labels) `,` type($dl) `->` type($result)";
}
def Tfm_MaskTailOp : Tfm_SameType<"mask_tail", [Tfm_Cheap]> {
  let summary = "overwrites the padded end of the last dimension";
  let description = [{
    Elements with index >= `valid` in the last dimension become `fill`. Keeps
    padded vocabulary entries out of the softmax (contract N7).

    Example: `%z2 = tfm.mask_tail %z from 250 fill 0xFF800000 : tensor<4x8x256xf32>`
  }];
  let arguments = (ins Tfm_Tensor:$x, I64Attr:$valid, F32Attr:$fill);
  let assemblyFormat = "$x `from` $valid `fill` $fill attr-dict `:` type($result)";
}

//===--- family: norm ------------------------------------------------------===//

def Tfm_NormOp : Tfm_Op<"norm", [Pure]> {
  let summary = "normalises the last dimension";
  let description = [{
    y = d·rstd·scale (+ bias, where there is one), rstd = 1/sqrt(avg(d²) + eps).
    `layer_norm` has d = x - mean and the result `mean`; `rms_norm` has d = x
    (https://arxiv.org/abs/1910.07467, equation 4). The squares are summed in a
    second pass. mean and rstd are saved for the gradient.

    Example:

    ```mlir
    %y, %m, %r = tfm.norm layer_norm %x, %g, %b {eps = 1.0e-05} : tensor<4x8x16xf32>, tensor<16xf32>, tensor<16xf32> -> tensor<4x8x16xf32>, tensor<4x8xf32>, tensor<4x8xf32>
    %y2, %r2 = tfm.norm rms_norm %x, %g {eps = 1.0e-05} : tensor<4x8x16xf32>, tensor<16xf32> -> tensor<4x8x16xf32>, tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Tfm_NormKindAttr:$kind, Tfm_Tensor:$x, Tfm_Tensor:$scale,
                       Optional<Tfm_Tensor>:$bias, F64Attr:$eps);
  let results = (outs Tfm_Tensor:$y, Optional<Tfm_Tensor>:$mean, Tfm_Tensor:$rstd);
  let assemblyFormat = "`` $kind operands attr-dict `:` type(operands) `->` type(results)";
}
def Tfm_NormDxOp : Tfm_Op<"norm_dx", [Pure]> {
  let summary = "gradient of norm with respect to x";
  let description = [{
    With xh the normalised x and d = dy·scale: rstd·(d - avg(d) - xh·avg(d·xh)),
    without avg(d) where no mean is subtracted.

    Example: `%dx = tfm.norm_dx layer_norm %dy, %x, %g, %m, %r : tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<16xf32>, tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8x16xf32>`
  }];
  let arguments = (ins Tfm_NormKindAttr:$kind, Tfm_Tensor:$dy, Tfm_Tensor:$x, Tfm_Tensor:$scale,
                       Optional<Tfm_Tensor>:$mean, Tfm_Tensor:$rstd);
  let results = (outs Tfm_Tensor:$result);
  let assemblyFormat = "`` $kind operands attr-dict `:` type(operands) `->` type($result)";
}
def Tfm_NormDscaleOp : Tfm_Op<"norm_dscale", [Pure, Tfm_SumsInF32]> {
  let summary = "gradient of norm with respect to scale";
  let description = [{
    Sum over all rows of dy·xh, xh the normalised x.

    Example: `%dg = tfm.norm_dscale layer_norm %dy, %x, %m, %r : tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8xf32>, tensor<4x8xf32> -> tensor<16xf32>`
  }];
  let arguments = (ins Tfm_NormKindAttr:$kind, Tfm_Tensor:$dy, Tfm_Tensor:$x,
                       Optional<Tfm_Tensor>:$mean, Tfm_Tensor:$rstd);
  let results = (outs Tfm_Tensor:$result);
  let assemblyFormat = "`` $kind operands attr-dict `:` type(operands) `->` type($result)";
}

//===--- family: attention -------------------------------------------------===//

def Tfm_AttentionOp : Tfm_Op<"attention", [Pure, AttrSizedOperandSegments]> {
  let summary = "softmax(q·k^T·scale)·v per head, causal or not";
  let description = [{
    Either one fused operand `qkv` [batch, seq, kv_heads, q_per_kv + 2, head_dim]
    or q, k, v [batch, seq, heads, head_dim] each. Results: out
    [batch, seq, heads, head_dim] and the log-sum-exp [batch, heads, seq] of each
    row. The positions of q may be split (never those of k and v, which every query
    reads): a rank then has its part of q, out and log-sum-exp. Probabilities are dropped out with `rate` (RNG index: heads, query, key).
    With `documents` [batch, seq], of each query the position of a key, it sees no key before that (but itself in any case).

    Example: `%o, %l = tfm.attention %qkv at %sample {causal = true, scale = 0.25 : f64, rate = 0.1 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64} : (tensor<4x8x4x3x16xf32>), tensor<i64> -> tensor<4x8x4x16xf32>, tensor<4x4x8xf32>`
  }];
  let arguments = (ins Variadic<Tfm_Tensor>:$qkv, Optional<Tfm_Tensor>:$documents, Tfm_Tensor:$sample,
                       BoolAttr:$causal, F64Attr:$scale, F64Attr:$rate,
                       I64Attr:$rng_layer, I64Attr:$site, I64Attr:$global_heads);
  let results = (outs Tfm_Tensor:$out, Tfm_Tensor:$lse);
  let assemblyFormat = "$qkv (`within` $documents^)? `at` $sample attr-dict `:` `(` type($qkv) `)` (`within` type($documents)^)? `,` type($sample) `->` type($out) `,` type($lse)";
}
def Tfm_UnfuseOp : Tfm_Op<"unfuse", [Pure]> {
  let summary = "queries, keys and values of a fused projection, apart";
  let description = [{
    Of each key head the operand has q_per_kv queries, then a key and a value. The importer
    writes it where ranks have parts of the sequence, queries other ones than keys, and
    where several queries read each of several key heads: a call wants them at one stride.

    Example: `%q, %k, %v = tfm.unfuse %qkv : tensor<4x8x4x3x16xf32> -> tensor<4x8x4x16xf32>, tensor<4x8x4x16xf32>, tensor<4x8x4x16xf32>`

    **Constraints:** as for the operands of `tfm.attention`.
  }];
  let arguments = (ins Tfm_Tensor:$qkv);
  let results = (outs Tfm_Tensor:$q, Tfm_Tensor:$k, Tfm_Tensor:$v);
  let assemblyFormat = "$qkv attr-dict `:` type($qkv) `->` type($q) `,` type($k) `,` type($v)";
}
def Tfm_FuseOp : Tfm_Op<"fuse", [Pure]> {
  let summary = "gradient of unfuse: queries, keys and values in one tensor";
  let description = [{
    Example: `%dqkv = tfm.fuse %dq, %dk, %dv : tensor<4x8x4x16xf32>, tensor<4x8x4x16xf32>, tensor<4x8x4x16xf32> -> tensor<4x8x4x3x16xf32>`

    **Constraints:** as for the operands of `tfm.attention`.
  }];
  let arguments = (ins Tfm_Tensor:$q, Tfm_Tensor:$k, Tfm_Tensor:$v);
  let results = (outs Tfm_Tensor:$qkv);
  let assemblyFormat = "$q `,` $k `,` $v attr-dict `:` type($q) `,` type($k) `,` type($v) `->` type($qkv)";
}
def Tfm_AttentionGradOp : Tfm_Op<"attention_grad", [Pure, AttrSizedOperandSegments]> {
  let summary = "gradient of attention, in the layout of its operands";
  let description = [{
    Recomputes the probabilities from the saved log-sum-exp.

    Example: `%dqkv = tfm.attention_grad %dout, %o, %l, %qkv at %sample {causal = true, scale = 0.25 : f64, rate = 0.1 : f64, rng_layer = 1 : i64, site = 1 : i64, global_heads = 4 : i64} : tensor<4x8x4x16xf32>, tensor<4x8x4x16xf32>, tensor<4x4x8xf32>, (tensor<4x8x4x3x16xf32>), tensor<i64> -> (tensor<4x8x4x3x16xf32>)`
  }];
  let arguments = (ins Tfm_Tensor:$dout, Tfm_Tensor:$out, Tfm_Tensor:$lse,
                       Variadic<Tfm_Tensor>:$qkv, Optional<Tfm_Tensor>:$documents, Tfm_Tensor:$sample,
                       BoolAttr:$causal, F64Attr:$scale, F64Attr:$rate,
                       I64Attr:$rng_layer, I64Attr:$site, I64Attr:$global_heads);
  let results = (outs Variadic<Tfm_Tensor>:$dqkv);
  let assemblyFormat = "$dout `,` $out `,` $lse `,` $qkv (`within` $documents^)? `at` $sample attr-dict `:` type($dout) `,` type($out) `,` type($lse) `,` `(` type($qkv) `)` (`within` type($documents)^)? `,` type($sample) `->` `(` type($dqkv) `)`";
}

//===--- family: structure -------------------------------------------------===//

def Tfm_SaveOp : Tfm_SameType<"save"> {
  let summary = "keeps a forward value for the backward";
  let description = [{
    Made by `differentiate`; its sharding may differ from the value's. Removed
    by `cut-stages`, which gives it a place in the activation slot.

    Example: `%s = tfm.save %u : tensor<4x8x64xf32>`
  }];
  let arguments = (ins Tfm_Tensor:$x);
  let assemblyFormat = "$x attr-dict `:` type($result)";
}
def Tfm_RestoreOp : Tfm_SameType<"restore"> {
  let summary = "reads a saved value in the backward";
  let description = [{Example: `%u2 = tfm.restore %s : tensor<4x8x64xf32>`}];
  let arguments = (ins Tfm_Tensor:$saved);
  let assemblyFormat = "$saved attr-dict `:` type($result)";
}
def Tfm_WholeOp : Tfm_SameType<"whole"> {
  let summary = "identity on a value that no axis splits along some dimensions";
  let description = [{
    What reads it finds it gathered: the logits of a head that is split over its
    vocabulary. The importer writes it where a strategy asks for it
    (`gather_output`); removed by `insert-collectives`, which gathers.

    Example: `%z2 = tfm.whole %z dims [2] : tensor<4x8x256xf32>`

    **Constraints:** dims ascend.
  }];
  let arguments = (ins Tfm_Tensor:$x, DenseI64ArrayAttr:$dims);
  let assemblyFormat = "$x `dims` $dims attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def Tfm_ExportOp : Op<Tfm_Dialect, "export", []> {
  let summary = "makes a value visible to dumps under a name";
  let description = [{
    Kept in the `eval` entry only.

    Example: `tfm.export "logits" %z : tensor<4x8x256xf32>`
  }];
  let arguments = (ins StrAttr:$name, Tfm_Tensor:$x);
  let assemblyFormat = "$name $x attr-dict `:` type($x)";
}

include "dialects/tfm/TfmOptimizers.td"
#endif // MTC_TFM_OPS
