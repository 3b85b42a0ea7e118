//===- counted_parts.h - the norm of what a call makes ----------*- C++ -*-===//
#ifndef MTC_RUNTIME_PROGRAM_COUNTED_PARTS_H
#define MTC_RUNTIME_PROGRAM_COUNTED_PARTS_H

#include "mtc/runtime/abi.h"
#include "runtime/comm/comm.h"
#include "runtime/kernels/cpu/norm_counter.h"

#include <span>

namespace mtc::runtime {

/// One thread's sum of squares of what is made of a buffer, as far as it lies
/// in parts of it, which share no element and live as long as this.
class CountedParts final : public SumReader {
public:
  CountedParts(const float *buffer, std::span<const MtcCounted> parts)
      : buffer(buffer), parts(parts) {}

  void made(int64_t first, int64_t count) override;
  /// Adds what was counted here.
  void addTo(NormSum &sum) const { counter.addTo(sum); }

private:
  const float *buffer;
  std::span<const MtcCounted> parts;
  NormCounter counter;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_PROGRAM_COUNTED_PARTS_H
