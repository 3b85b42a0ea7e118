//===- Streams.h - the streams of a target ----------------------*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_STREAMS_H
#define MTC_PASSES_PLAN_STREAMS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace mtc::passes {

inline constexpr int64_t kComputeStream = 0, kCommStream = 1;

/// Queues of a rank that can run at the same time, for a strategy's `target`: a
/// GPU has one for kernels and one for collectives, a cpu rank is one queue.
inline int64_t streamsOf(llvm::StringRef target) {
  return target.starts_with("cuda") ? 2 : 1;
}

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_STREAMS_H
