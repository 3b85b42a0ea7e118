//===- byte_map.h - who wrote which bytes last ------------------*- C++ -*-===//
#ifndef MTC_PASSES_VERIFY_BYTE_MAP_H
#define MTC_PASSES_VERIFY_BYTE_MAP_H

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace mtc::passes::verify {

/// The last writer of every byte, as disjoint ranges. A write costs O(log n)
/// and the ranges that it covers, which then are gone: a sequence of writes is
/// O(n log n).
class ByteMap {
public:
  /// Bytes [begin, end) now belong to `value` (>= 0).
  void write(int64_t begin, int64_t end, int64_t value) {
    if (begin >= end)
      return;
    // Most writes are of what the last microbatch wrote in the same place.
    if (auto same = cells.find(begin);
        same != cells.end() && same->second.end == end) {
      same->second.value = value;
      return;
    }
    cut(begin);
    cut(end);
    cells.erase(cells.lower_bound(begin), cells.lower_bound(end));
    cells[begin] = {end, value};
  }

  /// What [begin, end) holds: `value` if all of it was written last by one
  /// value; else -1, and `other` is a value that holds part, -1 if none does.
  struct Content {
    int64_t value = -1, other = -1;
    bool gap = false; ///< some bytes were never written
  };
  /// All ranges of [begin, end) that were written, in order: `visit` gets
  /// their begin, their end and the value.
  template <typename Visit>
  void forEach(int64_t begin, int64_t end, Visit visit) const {
    auto it = cells.upper_bound(begin);
    if (it != cells.begin() && std::prev(it)->second.end > begin)
      --it;
    for (; it != cells.end() && it->first < end; ++it)
      visit(std::max(it->first, begin), std::min(it->second.end, end),
            it->second.value);
  }
  Content read(int64_t begin, int64_t end) const {
    Content content;
    int64_t at = begin;
    bool one = true;
    auto it = cells.upper_bound(begin);
    if (it != cells.begin() && std::prev(it)->second.end > begin)
      --it;
    for (; it != cells.end() && it->first < end; ++it) {
      content.gap |= it->first > at;
      one &= content.other < 0 || content.other == it->second.value;
      content.other = it->second.value;
      at = it->second.end;
    }
    content.gap |= at < end;
    if (one && !content.gap)
      content.value = content.other;
    return content;
  }

private:
  struct Cell {
    int64_t end = 0, value = -1;
  };
  /// Splits the range that goes over `at`.
  void cut(int64_t at) {
    auto it = cells.lower_bound(at);
    if (it == cells.begin())
      return;
    Cell &before = std::prev(it)->second;
    if (before.end <= at)
      return;
    cells[at] = before;
    before.end = at;
  }

  std::map<int64_t, Cell> cells; ///< by first byte
};

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_BYTE_MAP_H
