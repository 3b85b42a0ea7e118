//===- counted_parts.cpp - the norm of what a call makes ------------------===//
#include "runtime/program/counted_parts.h"

#include <algorithm>

namespace mtc::runtime {

void CountedParts::made(int64_t first, int64_t count) {
  for (const MtcCounted &part : parts) {
    int64_t begin = std::max(first, part.at - buffer),
            end = std::min(first + count, part.at - buffer + part.count);
    if (begin < end)
      counter.count(buffer + begin, end - begin);
  }
}

} // namespace mtc::runtime
