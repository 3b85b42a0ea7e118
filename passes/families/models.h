//===- models.h - external models out of functions --------------*- C++ -*-===//
//
// A family file has functions and attaches them to its ops:
//
//   attach<OpFamily::Pointwise, tfm::SubOp, subRule, subGradient,
//   subBody>(context); attach<OpFamily::Einsum, tfm::EinsumOp, rule, gradient,
//   Absent("a GEMM")>(context);
//
// A function takes the op, or any op. A gradient or body that may fail gives
// FailureOr<Values>, another one Values.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_FAMILIES_MODELS_H
#define MTC_PASSES_FAMILIES_MODELS_H

#include "passes/families/kernel_body.h"

#include <algorithm>

namespace mtc::families {

/// Stands in the place of a gradient or body that an op has not: the reason.
template <size_t size> struct Absent {
  constexpr Absent(const char (&reason)[size]) {
    std::copy_n(reason, size, why);
  }
  char why[size];
};
template <typename T> inline constexpr bool isAbsent = false;
template <size_t size> inline constexpr bool isAbsent<Absent<size>> = true;
template <size_t size>
inline constexpr bool isAbsent<const Absent<size>> = true;

template <OpFamily family, typename Op, auto rule, auto gradient, auto body>
struct FamilyModel : FamilyOpInterface::ExternalModel<
                         FamilyModel<family, Op, rule, gradient, body>, Op> {
  OpFamily getFamily(mlir::Operation *) const { return family; }
  ShardingRule getShardingRule(mlir::Operation *op) const {
    return rule(mlir::cast<Op>(op));
  }
  llvm::StringRef getNoGradient(mlir::Operation *) const {
    return reason<gradient>();
  }
  llvm::StringRef getNoBody(mlir::Operation *) const { return reason<body>(); }

private:
  template <auto thing> static llvm::StringRef reason() {
    if constexpr (isAbsent<decltype(thing)>)
      return thing.why;
    return "";
  }
};

template <typename Op, auto gradient>
struct GradientModel
    : GradientOpInterface::ExternalModel<GradientModel<Op, gradient>, Op> {
  mlir::FailureOr<Values> buildGradient(mlir::Operation *op,
                                        mlir::OpBuilder &builder,
                                        mlir::ValueRange cotangents) const {
    return gradient(builder, mlir::cast<Op>(op), cotangents);
  }
};

template <typename Op, auto body>
struct BodyModel
    : KernelBodyOpInterface::ExternalModel<BodyModel<Op, body>, Op> {
  mlir::FailureOr<Values> emitBody(mlir::Operation *op, BodyContext &context,
                                   mlir::ValueRange operands) const {
    return body(context, mlir::cast<Op>(op), operands);
  }
};

template <typename Op, auto makeEvalOf>
struct EvalModel
    : EvalOpInterface::ExternalModel<EvalModel<Op, makeEvalOf>, Op> {
  void makeEval(mlir::Operation *op, mlir::RewriterBase &rewriter) const {
    makeEvalOf(rewriter, mlir::cast<Op>(op));
  }
};

/// Makes `Op` differ in eval by this function.
template <typename Op, auto makeEvalOf>
void attachEval(mlir::MLIRContext *context) {
  Op::template attachInterface<EvalModel<Op, makeEvalOf>>(*context);
}

/// Makes `Op` of `family` implement the interfaces by these functions.
template <OpFamily family, typename Op, auto rule, auto gradient, auto body>
void attach(mlir::MLIRContext *context) {
  Op::template attachInterface<FamilyModel<family, Op, rule, gradient, body>>(
      *context);
  if constexpr (!isAbsent<decltype(gradient)>)
    Op::template attachInterface<GradientModel<Op, gradient>>(*context);
  if constexpr (!isAbsent<decltype(body)>)
    Op::template attachInterface<BodyModel<Op, body>>(*context);
}

/// The body of an op that becomes kernels which move rows.
inline constexpr Absent kRowMoves("kernels that move rows, which lower-calls "
                                  "writes");

/// The gradient of a backward op.
inline constexpr Absent kBackwardOp("a backward op; second derivatives are not "
                                    "taken");

} // namespace mtc::families
#endif // MTC_PASSES_FAMILIES_MODELS_H
