//===- clock.h - what has happened before an operation ----------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_DRIVER_CLOCK_H
#define MTC_TEST_CUDA_DRIVER_CLOCK_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mtc::standin {

/// Operations form chains, each of which is ordered. A clock says how many of
/// each chain have ended; an operation is behind another one if its clock
/// counts that one.
class Clock {
public:
  uint32_t of(size_t chain) const {
    return chain < counts.size() ? counts[chain] : 0;
  }
  void set(size_t chain, uint32_t count) {
    if (chain >= counts.size())
      counts.resize(chain + 1);
    counts[chain] = count;
  }
  void join(const Clock &other) {
    if (counts.size() < other.counts.size())
      counts.resize(other.counts.size());
    for (size_t k = 0; k < other.counts.size(); ++k)
      counts[k] = std::max(counts[k], other.counts[k]);
  }

private:
  std::vector<uint32_t> counts;
};

} // namespace mtc::standin
#endif // MTC_TEST_CUDA_DRIVER_CLOCK_H
