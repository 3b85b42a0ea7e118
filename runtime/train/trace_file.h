//===- trace_file.h - a trace as Chrome trace events ------------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_TRACE_FILE_H
#define MTC_RUNTIME_TRAIN_TRACE_FILE_H

#include "runtime/base/json.h"
#include "runtime/program/rank.h"
#include "runtime/train/job.h"

#include <functional>
#include <memory>
#include <span>

namespace mtc::runtime {

/// Writes the traces of all ranks, called by every rank with its own, one of
/// each step of the order, and what its host had of other steps (IssueTimes),
/// which is null where devices keep none; `meet`
/// returns when every rank has called it. One process of the file is a rank,
/// one thread of it a stream; times are in microseconds from the order's
/// origin. The file appears when it is whole. Errors: writeFailed of the rank
/// that could not write, and inputRejected of rank 0, which then lacks a part,
/// when all have met; those of `meet`.
Status writeTrace(const TraceOrder &order, RankState &rank,
                  std::span<const std::unique_ptr<RankTrace>> traces,
                  const Json &host, const std::function<Status()> &meet);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_TRACE_FILE_H
