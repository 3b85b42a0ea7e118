//===- job.h - what every rank of a run is told -----------------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_JOB_H
#define MTC_RUNTIME_TRAIN_JOB_H

#include "mtc/runtime/recipe.h"
#include "runtime/base/status.h"

#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// A dump with its defaults filled in.
struct DumpOrder {
  std::string what; ///< init, logits, grads, params
  int64_t step = 0; ///< grads: within this step; params: after it
  std::string file; ///< the safetensors file to write
};

struct Job {
  Recipe recipe;
  std::vector<DumpOrder> dumps;
  std::string initFrom, saveTo, logFile; ///< empty: none
  int64_t evalBatches = 0;               ///< > 0: evaluate only
  int progressFd = -1;                   ///< -1: no progress line
  bool progressRewrites = false;         ///< a terminal: one line, rewritten
};

/// The form in which the launcher hands a job to a process.
std::string jobToText(const Job &job);
Status jobFromText(std::string_view text, Job &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_JOB_H
