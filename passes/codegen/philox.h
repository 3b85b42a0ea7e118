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

/// How the rounds of vectors are written; those of a scalar are always laid
/// out. The words are the same: it is LLVM that has more or less to find out.
enum class PhiloxForm {
  LaidOut, ///< one behind the other
  Avx512,  ///< the same, with this target's xor of three
  /// Those whose words differ from lane to lane are a loop. Its words and keys
  /// fill the registers of AVX2 with one vector of blocks at a time.
  Rolled,
};

/// seed, sample and layer are i64 scalars.
struct PhiloxStream {
  mlir::Value seed, sample, layer;
  int64_t site = 0;
  PhiloxForm form = PhiloxForm::LaidOut;
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
