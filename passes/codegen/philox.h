//===- philox.h - Philox4x32-10 in IR ---------------------------*- C++ -*-===//
//
// The generator of docs/numerics.md on integer vectors, exactly.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_CODEGEN_PHILOX_H
#define MTC_PASSES_CODEGEN_PHILOX_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <array>

namespace mtc::codegen {

/// seed, sample and layer are i64 scalars.
struct PhiloxStream {
  mlir::Value seed, sample, layer;
  int64_t site = 0;
  /// The target has AVX-512. It changes no word, but what LLVM has to find out.
  bool hasAvx512 = false;
};

/// The four words, each i32 in the shape of `block` (i32: element / 4).
std::array<mlir::Value, 4> emitPhiloxBlock(mlir::ImplicitLocOpBuilder &b,
                                           const PhiloxStream &stream,
                                           mlir::Value block);

/// The word of each element (i32, read as unsigned) in the shape of `element`.
mlir::Value emitPhiloxWord(mlir::ImplicitLocOpBuilder &b,
                           const PhiloxStream &stream, mlir::Value element);

} // namespace mtc::codegen
#endif // MTC_PASSES_CODEGEN_PHILOX_H
