//===- index_use.h - ops that use indices of a split dimension --*- C++ -*-===//
#ifndef MTC_PASSES_SHARDING_INDEX_USE_H
#define MTC_PASSES_SHARDING_INDEX_USE_H

#include "passes/sharding/ir_graph.h"

namespace mtc::sharding {

/// A table look-up, a label, a random element, a head, a position: what has to
/// be done with its index on a rank to get that in the whole. First
/// coordinate(axis)·stride is added, then, where `pieceAxis` cuts a head and a
/// tail, the offset of its piece (pieceOffsets of mesh.h). These may be two
/// dimensions: of attention heads, of `axis`, and positions, of `pieceAxis`.
struct IndexUse {
  llvm::StringRef axis;      ///< cuts equal parts; empty: none
  int64_t stride = 0;        ///< local size of the split dimension
  int64_t dim = -1;          ///< that dimension of numbered elements; else -1
  llvm::StringRef pieceAxis; ///< cuts a head and a tail; empty: none
  int64_t piece = 0;         ///< indices of one of its pieces
  int64_t pieceDim = -1;     ///< as `dim`
  bool operator==(const IndexUse &) const = default;

  /// True if no dimension that is used by index is split.
  bool isEmpty() const { return axis.empty() && pieceAxis.empty(); }
  /// The attributes of an op (families/kernel_body.h) that say so.
  void writeTo(mlir::Operation *op) const;
  static IndexUse readFrom(mlir::Operation *op);
};

/// What the op needs, from the shardings of its values and its local types.
/// Emits an error if two axes of one kind split what it uses, if an axis cuts
/// it in a way that the op has no use for, or if a piece would be no whole
/// number of indices.
mlir::FailureOr<IndexUse> indexUseOf(mlir::Operation *op, dist::MeshAttr mesh);

} // namespace mtc::sharding
#endif // MTC_PASSES_SHARDING_INDEX_USE_H
