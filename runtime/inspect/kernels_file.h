//===- kernels_file.h - what report.json says of calls ----------*- C++ -*-===//
#ifndef MTC_RUNTIME_INSPECT_KERNELS_FILE_H
#define MTC_RUNTIME_INSPECT_KERNELS_FILE_H

#include "mtc/runtime/gpu_cards.h"
#include "runtime/control/bundle.h"

#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime {

/// An entry of the PTX, as a launch starts it.
struct PlannedEntry {
  std::string name;
  int64_t threads = 0, sharedBytes = 0;
};

/// Calls of a step that do the same, all of them together.
struct PlannedCalls {
  std::string op, name, part, unit;
  int64_t calls = 0;
  double flops = 0, bytes = 0, linkBytes = 0;
  double seconds = 0; ///< at least, on the card that was asked for
  std::string bound;
  std::vector<PlannedEntry> entries;
};

/// A stage's calls, and what the report says of the card.
struct PlannedStage {
  const GpuCard *card = nullptr;
  int64_t stage = 0;
  double busySeconds = 0; ///< of the busiest stage
  double stepSeconds = 0;
  std::optional<double> mfu; ///< 0 to 1
  std::vector<PlannedCalls> calls;
};

/// Reads report.json in the folder of a bundle for GPUs: the calls of a stage
/// on a card. An empty card: that which the plan is for; no stage: the busiest
/// on that card. Errors: usage for a card or stage that is none, and for a
/// bundle for CPUs; inputRejected, all that is wrong with the file at once.
Status readKernels(const Bundle &bundle, const std::string &card,
                   std::optional<int64_t> stage, PlannedStage &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_INSPECT_KERNELS_FILE_H
