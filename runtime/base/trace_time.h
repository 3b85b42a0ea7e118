//===- trace_time.h - when something began and ended ------------*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_TRACE_TIME_H
#define MTC_RUNTIME_BASE_TRACE_TIME_H

#include <chrono>
#include <cstdint>

namespace mtc::runtime {

/// Nanoseconds of a clock that all processes of a host share.
inline int64_t traceNow() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// By traceNow().
struct TraceTime {
  int64_t begin = 0, end = 0;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_TRACE_TIME_H
