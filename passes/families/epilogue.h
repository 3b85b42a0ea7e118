//===- epilogue.h - what a product may do before it rounds ------*- C++ -*-===//
//
// The forms of tfm that a library computes together with a product: the saving
// of values asks before shapes are split, outline-kernels behind that.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_FAMILIES_EPILOGUE_H
#define MTC_PASSES_FAMILIES_EPILOGUE_H

#include "dialects/tfm/Tfm.h"

#include <optional>

namespace mtc::families {

/// A product to whose last dimensions a number each is added.
struct ColumnBias {
  tfm::EinsumOp product;
  mlir::Value bias; ///< of the shape of these dimensions
};

/// Empty where `op` is no such sum, or one of several types.
std::optional<ColumnBias> columnBias(mlir::Operation *op);

/// Whether `op` is a GELU, in the one form that tfm has.
bool isGelu(mlir::Operation *op);

} // namespace mtc::families
#endif // MTC_PASSES_FAMILIES_EPILOGUE_H
