//===- sums.h - what a rank's reductions are held to ------------*- C++ -*-===//
#ifndef MTC_TEST_CONFORMANCE_COMM_SUMS_H
#define MTC_TEST_CONFORMANCE_COMM_SUMS_H

#include "values.h"
#include "worlds.h"

namespace mtc::test {

/// checkReduced, or checkAdded where the backend has an order of its own; of
/// two ranks there is one order, and a maximum has none.
inline std::string checkSum(const Rank &r, MtcReduce op, MtcDtype dtype,
                            std::span<const int> members, int64_t first,
                            int64_t count, uint64_t salt, const char *buffer) {
  if (r.addsInRankOrder || members.size() < 3 || op != MTC_SUM)
    return checkReduced(op, dtype, members, first, count, salt, buffer);
  return checkAdded(dtype, members, first, count, salt, buffer);
}

} // namespace mtc::test
#endif // MTC_TEST_CONFORMANCE_COMM_SUMS_H
