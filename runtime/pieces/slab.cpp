//===- slab.cpp - which part of a global tensor a rank holds --------------===//

#include "runtime/pieces/slab.h"

#include <algorithm>

namespace mtc::runtime {
namespace {

/// Global index of element `local` of the box.
int64_t globalIndex(const std::vector<int64_t> &shape, const Box &box,
                    int64_t local) {
  int64_t index = 0, stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    index += (box.begin[d] + local % box.size[d]) * stride;
    local /= box.size[d];
    stride *= shape[d];
  }
  return index;
}

/// Elements that are contiguous in both: all trailing dimensions that the box
/// covers, times its size in the one before.
int64_t runLength(const std::vector<int64_t> &shape, const Box &box) {
  int64_t length = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    length *= box.size[d];
    if (box.size[d] != shape[d])
      break;
  }
  return length;
}

} // namespace

int64_t Box::elements() const {
  int64_t n = 1;
  for (int64_t s : size)
    n *= s;
  return n;
}

void visitRuns(const std::vector<int64_t> &shape, const Box &box, int64_t start,
               int64_t count,
               const std::function<void(int64_t, int64_t, int64_t)> &visit) {
  int64_t length = runLength(shape, box), end = start + count;
  for (int64_t at = start; at < end;) {
    int64_t n = std::min(length - at % length, end - at);
    visit(globalIndex(shape, box, at), at, n);
    at += n;
  }
}

void visitRuns(const std::vector<int64_t> &shape, const Box &box,
               const std::optional<SliceInfo> &slice, int64_t start,
               int64_t count,
               const std::function<void(int64_t, int64_t, int64_t)> &visit) {
  if (!slice)
    return visitRuns(shape, box, start, count, visit);
  // A row of the tensor is what lies under one index of all dimensions before.
  int64_t one = slice->elementsOfIndex();
  int64_t row = one * slice->shape[slice->dim], own = one * slice->size;
  visitRuns(shape, box, start, count,
            [&](int64_t global, int64_t local, int64_t run) {
              for (int64_t end = global + run; global < end;) {
                int64_t inRow = global % own;
                int64_t n = std::min(own - inRow, end - global);
                visit(global / own * row + one * slice->first + inRow, local,
                      n);
                global += n;
                local += n;
              }
            });
}

} // namespace mtc::runtime
