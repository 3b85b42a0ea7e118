//===- elementary.h - exp, log, tanh and the like in IR -----------*- C++
//-*-===//
//
// Elementary functions as straight lines of arith operations, for scalars and
// vectors alike and for every target: no library call, the same bits on every
// machine with IEEE arithmetic. Every fused multiply-add is written as one.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_CODEGEN_ELEMENTARY_H
#define MTC_PASSES_CODEGEN_ELEMENTARY_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc::codegen {

/// e^x. Results below the smallest normal number are 0; NaN stays NaN.
mlir::Value emitExp(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
/// Natural logarithm: -inf at 0, NaN below.
mlir::Value emitLog(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value emitTanh(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value emitErf(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
/// Absolute error below 2^-23 for |x| < 2^15; meaningless beyond 2^22.
mlir::Value emitSin(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value emitCos(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
/// 1 / (1 + e^-x); 0 below -87.3, where it is less than 1.3e-38.
mlir::Value emitLogistic(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
/// 1 / sqrt(x) with the division and the root both correctly rounded.
mlir::Value emitRsqrt(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

/// Numbers (i32, read as unsigned) in the order of those f32, +0 above -0 and
/// every NaN above all else; 0 is that of -infinity. The largest one is a
/// maximum that keeps NaN, by fewer instructions than one of f32.
mlir::Value emitOrder(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value emitFromOrder(mlir::ImplicitLocOpBuilder &b, mlir::Value order);

/// A constant of the element type of `like` (f32 or integer) in its shape.
mlir::Value emitConstant(mlir::ImplicitLocOpBuilder &b, mlir::Type like,
                         double v);
mlir::Value emitInteger(mlir::ImplicitLocOpBuilder &b, mlir::Type like,
                        int64_t v);
/// `like` with element type `element`.
mlir::Type withElement(mlir::Type like, mlir::Type element);

/// Conversions of bf16, which is held as i16: to f32 exactly, and from f32 to
/// nearest, ties to even, NaN stays NaN.
mlir::Value emitFromBf16(mlir::ImplicitLocOpBuilder &b, mlir::Value bits);
mlir::Value emitToBf16(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
/// The same by the target's instruction, which flushes denormals to zero.
mlir::Value emitToBf16Natively(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
/// The bf16 of an f32 that one has: what rounding would make of it, by the
/// instruction (`flushes`) or not, but that a signalling NaN stays one. Cheaper
/// where it is widened again.
mlir::Value emitExactToBf16(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                            bool flushes);
/// Likewise of f16, by the instructions that every target has.
mlir::Value emitFromF16(mlir::ImplicitLocOpBuilder &b, mlir::Value bits);
mlir::Value emitToF16(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

} // namespace mtc::codegen
#endif // MTC_PASSES_CODEGEN_ELEMENTARY_H
