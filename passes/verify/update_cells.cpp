//===- update_cells.cpp - what elements of buckets mean -------------------===//
#include "passes/verify/update_cells.h"

#include <iterator>

namespace mtc::passes::verify {

void Cells::split(int64_t at) {
  if (at <= 0 || at >= size_)
    return;
  auto next = intervals.upper_bound(at);
  intervals.try_emplace(at, std::prev(next)->second);
}

void Cells::forEach(
    int64_t begin, int64_t end,
    llvm::function_ref<void(int64_t begin, int64_t end, Copies &)> visit) {
  if (begin >= end)
    return;
  split(begin);
  split(end);
  for (auto it = intervals.lower_bound(begin);
       it != intervals.end() && it->first < end; ++it) {
    auto next = std::next(it);
    visit(it->first, next == intervals.end() ? size_ : next->first, it->second);
  }
}

} // namespace mtc::passes::verify
