//===- mesh.h - the logical ranks of the evaluator --------------*- C++ -*-===//
#ifndef MTC_TEST_EVALUATOR_MESH_H
#define MTC_TEST_EVALUATOR_MESH_H

#include "dialects/dist/Dist.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::eval {

/// Named axes, outermost first: with axes dp, tp the rank is tp + TP·dp. An
/// axis that the mesh lacks has size 1 and coordinate 0.
class Mesh {
public:
  /// One rank.
  Mesh() = default;
  Mesh(std::vector<std::string> axes, std::vector<int64_t> sizes);
  explicit Mesh(dist::MeshAttr mesh);

  int64_t ranks() const;
  /// Axes, outermost first.
  const std::vector<std::string> &names() const { return axes; }
  int64_t sizeOf(llvm::StringRef axis) const;
  int64_t coordinate(int64_t rank, llvm::StringRef axis) const;
  /// Whether ranks along an axis have, of a dimension that it splits, a piece
  /// of the head and one of the tail and not one of equal parts.
  static bool cutsHeadAndTail(llvm::StringRef axis) { return axis == "cp"; }
  /// The ranks that differ from `rank` along `axis` only, by coordinate;
  /// includes `rank`.
  std::vector<int64_t> group(int64_t rank, llvm::StringRef axis) const;

private:
  /// Distance of neighbours along an axis, or 0 if there is no such axis.
  int64_t stride(llvm::StringRef axis) const;

  std::vector<std::string> axes;
  std::vector<int64_t> sizes;
};

} // namespace mtc::eval
#endif // MTC_TEST_EVALUATOR_MESH_H
