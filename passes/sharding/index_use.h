//===- index_use.h - ops that use indices of a split dimension --*- C++ -*-===//
#ifndef MTC_PASSES_SHARDING_INDEX_USE_H
#define MTC_PASSES_SHARDING_INDEX_USE_H

#include "passes/sharding/ir_graph.h"

namespace mtc::sharding {

/// A table look-up, a label, a random element, a head: its index on a rank is
/// coordinate(axis)·stride + local index.
struct IndexUse {
  llvm::StringRef axis;
  int64_t stride; ///< local size of the split dimension
  int64_t dim;    ///< of ops with numbered elements; -1 for others
};

/// What the op needs, from the shardings of its values and its local types;
/// null if no such dimension is split. Emits an error if two axes split them.
mlir::FailureOr<std::optional<IndexUse>> indexUseOf(mlir::Operation *op,
                                                    dist::MeshAttr mesh);

} // namespace mtc::sharding
#endif // MTC_PASSES_SHARDING_INDEX_USE_H
