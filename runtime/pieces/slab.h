//===- slab.h - which part of a global tensor a rank holds ------*- C++ -*-===//
#ifndef MTC_RUNTIME_PIECES_SLAB_H
#define MTC_RUNTIME_PIECES_SLAB_H

#include "mtc/runtime/descriptor.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace mtc::runtime {

/// A box of a global tensor, row-major inside itself.
struct Box {
  std::vector<int64_t> begin, size;
  int64_t elements() const;
};

/// Calls visit(global, local, count) for the contiguous runs of box elements
/// [start, start + count): `global` is the row-major index in a tensor of
/// `shape`, `local` the index inside the box. In ascending local order. Whole
/// trailing dimensions are joined, so a box of full rows is one run.
void visitRuns(const std::vector<int64_t> &shape, const Box &box, int64_t start,
               int64_t count,
               const std::function<void(int64_t global, int64_t local,
                                        int64_t count)> &visit);

/// The same of a box of a slice: `global` is the index in the tensor of which
/// it is one, if there is one. The slice fits the shape.
void visitRuns(const std::vector<int64_t> &shape, const Box &box,
               const std::optional<SliceInfo> &slice, int64_t start,
               int64_t count,
               const std::function<void(int64_t global, int64_t local,
                                        int64_t count)> &visit);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_PIECES_SLAB_H
