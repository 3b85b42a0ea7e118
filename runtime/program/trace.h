//===- trace.h - what a rank did when ---------------------------*- C++ -*-===//
//
// Notes of one step, taken while it runs and read behind it. Without a trace
// each place that would take one costs a comparison.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_PROGRAM_TRACE_H
#define MTC_RUNTIME_PROGRAM_TRACE_H

#include "runtime/base/trace_time.h"
#include "runtime/comm/comm.h"

#include <vector>

namespace mtc::runtime {

/// Rows of a timeline, and what fragments call inside them.
enum class TraceKind {
  load,
  fragment,
  exchange,
  post,
  waitTransfers,
  collective,
  waitEvent, ///< for the stream of collectives
  gemm
};

struct TraceSpan {
  TraceKind kind = TraceKind::fragment;
  const MtcStep *row = nullptr; ///< the row, or that in which it was issued
  CollectiveCall call{};        ///< of a collective
  const void *buffer = nullptr; ///< of a collective
  TraceTime time{};
};

/// Of one rank. Kept by the thread that walks the timeline, but for
/// `commTimes`.
struct RankTrace {
  bool products = true; ///< those of fragments as well, which are many
  std::vector<TraceSpan> compute;   ///< on MTC_STREAM_COMPUTE, as they ended
  std::vector<TraceSpan> issued;    ///< to MTC_STREAM_COMM, in order, no times
  std::vector<TraceTime> commTimes; ///< of these, by the thread that ran them

  /// Forgets all, and keeps the memory. Only between steps.
  void clear() {
    compute.clear();
    issued.clear();
    commTimes.clear();
  }
};

/// Notes a span on the stream of fragments, from here to the end of the block.
class TraceScope {
public:
  /// `trace` may be null: nothing is noted.
  TraceScope(RankTrace *trace, const TraceSpan &span) : trace_(trace) {
    if (!trace_)
      return;
    span_ = span;
    span_.time.begin = traceNow();
  }
  TraceScope(const TraceScope &) = delete;
  TraceScope &operator=(const TraceScope &) = delete;
  ~TraceScope() {
    if (!trace_)
      return;
    span_.time.end = traceNow();
    trace_->compute.push_back(span_);
  }

private:
  RankTrace *trace_;
  TraceSpan span_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_PROGRAM_TRACE_H
