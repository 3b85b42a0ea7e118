//===- mesh.cpp - the logical ranks of the evaluator ----------------------===//
#include "test/evaluator/mesh.h"

#include <cassert>

namespace mtc::eval {

Mesh::Mesh(std::vector<std::string> axes, std::vector<int64_t> sizes)
    : axes(std::move(axes)), sizes(std::move(sizes)) {
  assert(this->axes.size() == this->sizes.size() && "one size per axis");
}

Mesh::Mesh(dist::MeshAttr mesh) {
  for (mlir::StringAttr axis : mesh.getAxes())
    axes.push_back(axis.str());
  sizes.assign(mesh.getSizes().begin(), mesh.getSizes().end());
}

int64_t Mesh::ranks() const {
  int64_t n = 1;
  for (int64_t size : sizes)
    n *= size;
  return n;
}

int64_t Mesh::sizeOf(llvm::StringRef axis) const {
  for (size_t i = 0; i < axes.size(); ++i)
    if (axis == axes[i])
      return sizes[i];
  return 1;
}

int64_t Mesh::stride(llvm::StringRef axis) const {
  int64_t stride = 1;
  for (size_t i = axes.size(); i-- > 0; stride *= sizes[i])
    if (axis == axes[i])
      return stride;
  return 0;
}

int64_t Mesh::coordinate(int64_t rank, llvm::StringRef axis) const {
  int64_t step = stride(axis);
  return step ? rank / step % sizeOf(axis) : 0;
}

std::vector<int64_t> Mesh::group(int64_t rank, llvm::StringRef axis) const {
  int64_t step = stride(axis);
  int64_t first = rank - coordinate(rank, axis) * step;
  std::vector<int64_t> ranks;
  for (int64_t i = 0; i < sizeOf(axis); ++i)
    ranks.push_back(first + i * step);
  return ranks;
}

} // namespace mtc::eval
