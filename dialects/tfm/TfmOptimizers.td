//===- TfmOptimizers.td - family: optimizer ----------------*- tablegen -*-===//
//
// Updates of flat ranges. dialects/tfm/Optimizers.cpp has the name of each.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TFM_OPTIMIZERS
#define MTC_TFM_OPTIMIZERS

def Tfm_ScalarOp : Op<Tfm_Dialect, "scalar", [Pure]> {
  let summary = "a field of the step block";
  let description = [{
    Fields: lr, weight_decay, beta1, beta2, one_minus_beta1, one_minus_beta2,
    eps, inv_bias1, inv_bias2, momentum, clip_coeff, loss_scale. Never a constant in
    code.

    Example: `%lr = tfm.scalar "lr" : tensor<f32>`
  }];
  let arguments = (ins StrAttr:$field);
  let results = (outs Tfm_Tensor:$result);
  let assemblyFormat = "$field attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def Tfm_AdamwOp : Op<Tfm_Dialect, "adamw", [Pure]> {
  let summary = "one AdamW update of a flat range (docs/numerics.md)";
  let description = [{
    Results: the new parameter and moments. Lowered to plain arithmetic; no
    kernel knows its name.

    Example: `%p2, %m2, %v2 = tfm.adamw %p, %g, %m, %v {decay = true} : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32> -> tensor<64xf32>, tensor<64xf32>, tensor<64xf32>`
  }];
  let extraClassDeclaration = [{
    /// What it keeps for each element from step to step, beside the parameter, in
    /// the order of operands and results.
    static ::llvm::ArrayRef<::llvm::StringRef> stateNames() {
      static constexpr ::llvm::StringRef names[] = {"exp_avg", "exp_avg_sq"};
      return names;
    }
  }];
  let arguments = (ins Tfm_Tensor:$p, Tfm_Tensor:$g, Tfm_Tensor:$m, Tfm_Tensor:$v, BoolAttr:$decay);
  let results = (outs Tfm_Tensor:$new_p, Tfm_Tensor:$new_m, Tfm_Tensor:$new_v);
  let assemblyFormat = "$p `,` $g `,` $m `,` $v attr-dict `:` type($p) `,` type($g) `,` type($m) `,` type($v) `->` type($new_p) `,` type($new_m) `,` type($new_v)";
}
def Tfm_AdamL2Op : Op<Tfm_Dialect, "adam_l2", [Pure]> {
  let summary = "one update of Adam with L2 decay (docs/numerics.md)";
  let description = [{
    As `tfm.adamw`, but the decay is a part of the gradient.

    Example: `%p2, %m2, %v2 = tfm.adam_l2 %p, %g, %m, %v {decay = true} : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32> -> tensor<64xf32>, tensor<64xf32>, tensor<64xf32>`
  }];
  let extraClassDeclaration = [{
    /// As those of AdamwOp.
    static ::llvm::ArrayRef<::llvm::StringRef> stateNames() {
      static constexpr ::llvm::StringRef names[] = {"exp_avg", "exp_avg_sq"};
      return names;
    }
  }];
  let arguments = (ins Tfm_Tensor:$p, Tfm_Tensor:$g, Tfm_Tensor:$m, Tfm_Tensor:$v, BoolAttr:$decay);
  let results = (outs Tfm_Tensor:$new_p, Tfm_Tensor:$new_m, Tfm_Tensor:$new_v);
  let assemblyFormat = "$p `,` $g `,` $m `,` $v attr-dict `:` type($p) `,` type($g) `,` type($m) `,` type($v) `->` type($new_p) `,` type($new_m) `,` type($new_v)";
}
def Tfm_SgdOp : Op<Tfm_Dialect, "sgd", [Pure]> {
  let summary = "one update of SGD with momentum, and L2 decay (docs/numerics.md)";
  let description = [{
    With `nesterov` the step is the gradient and the momentum times the new
    buffer, without it the new buffer.

    Example: `%p2, %m2 = tfm.sgd %p, %g, %m {decay = true} : tensor<64xf32>, tensor<64xf32>, tensor<64xf32> -> tensor<64xf32>, tensor<64xf32>`
    Example: `%p2, %m2 = tfm.sgd %p, %g, %m {decay = false, nesterov} : tensor<64xf32>, tensor<64xf32>, tensor<64xf32> -> tensor<64xf32>, tensor<64xf32>`
  }];
  let extraClassDeclaration = [{
    /// As those of AdamwOp.
    static ::llvm::ArrayRef<::llvm::StringRef> stateNames() {
      static constexpr ::llvm::StringRef names[] = {"momentum_buffer"};
      return names;
    }
  }];
  let arguments = (ins Tfm_Tensor:$p, Tfm_Tensor:$g, Tfm_Tensor:$m, BoolAttr:$decay, UnitAttr:$nesterov);
  let results = (outs Tfm_Tensor:$new_p, Tfm_Tensor:$new_m);
  let assemblyFormat = "$p `,` $g `,` $m attr-dict `:` type($p) `,` type($g) `,` type($m) `->` type($new_p) `,` type($new_m)";
}
def Tfm_LionOp : Op<Tfm_Dialect, "lion", [Pure]> {
  let summary = "one update of Lion (docs/numerics.md)";
  let description = [{
    The step is the sign of a mean of the gradient and its momentum; the decay is
    decoupled.

    Example: `%p2, %m2 = tfm.lion %p, %g, %m {decay = true} : tensor<64xf32>, tensor<64xf32>, tensor<64xf32> -> tensor<64xf32>, tensor<64xf32>`
  }];
  let extraClassDeclaration = [{
    /// As those of AdamwOp.
    static ::llvm::ArrayRef<::llvm::StringRef> stateNames() {
      static constexpr ::llvm::StringRef names[] = {"exp_avg"};
      return names;
    }
  }];
  let arguments = (ins Tfm_Tensor:$p, Tfm_Tensor:$g, Tfm_Tensor:$m, BoolAttr:$decay);
  let results = (outs Tfm_Tensor:$new_p, Tfm_Tensor:$new_m);
  let assemblyFormat = "$p `,` $g `,` $m attr-dict `:` type($p) `,` type($g) `,` type($m) `->` type($new_p) `,` type($new_m)";
}
#endif // MTC_TFM_OPTIMIZERS
