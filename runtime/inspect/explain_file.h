//===- explain_file.h - explain.json of a bundle ----------------*- C++ -*-===//
//
// What the compiler wrote of the reasons of a plan (compiler/explain). Bytes;
// rows are those of the timeline of the entry train.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_INSPECT_EXPLAIN_FILE_H
#define MTC_RUNTIME_INSPECT_EXPLAIN_FILE_H

#include "runtime/control/bundle.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

struct ExplainedParameter {
  std::string name;
  std::string spec; ///< file and line of its part; may be empty
};

struct ExplainedCollective {
  std::string kind, group, fragment;
  std::string origin; ///< why it is there: "f", "gradient"
  std::string serves; ///< the tensor, or the op, that needs it; may be empty
  std::string part;   ///< of the model; may be empty
  std::string spec;   ///< file and line that say the part; may be empty
  std::optional<int64_t> bucket; ///< whose gradients or parameters it moves
  std::string arena; ///< where its buffer lies; empty if it has none
  int64_t offset = 0, bytes = 0;
  int64_t times = 0; ///< a step
};

/// In the workspace from call `begin` to call `end` of its fragment.
struct ExplainedValue {
  std::string part, maker;
  int64_t bytes = 0, begin = 0, end = 0;
};

struct ExplainedFragment {
  int64_t index = 0;
  std::string name;
  int64_t calls = 0, peakBytes = 0, peakCall = 0;
  std::vector<ExplainedValue> values;
};

struct ExplainedPool {
  std::string name;
  int64_t bytes = 0; ///< of a slot
};

struct ExplainedSlot {
  std::string pool;
  int64_t slot = 0, microbatch = 0;
};

struct KeptPart {
  std::string pool, part;
  int64_t bytes = 0;
};

/// What an op that takes time does once on a rank; ranks have the same, or this
/// is their mean.
struct ExplainedWork {
  std::string op, name; ///< of rt; what tells it from others of the op
  std::string factors;  ///< type of what products multiply; empty: no products
  int64_t stream = 0;   ///< MtcStream
  double flops = 0, bytes = 0, linkBytes = 0;
  std::optional<int64_t> row; ///< of a product: in `gemms` of the descriptor
};

/// The ops of a fragment that take time, in their order.
struct TimedFragment {
  int64_t index = 0;
  bool update = false;              ///< it runs once a step, behind the others
  std::vector<int64_t> work, parts; ///< of each op, in the stage's lists
};

struct ExplainedStage {
  std::vector<ExplainedParameter> parameters;
  std::vector<ExplainedCollective> collectives;
  std::vector<ExplainedFragment> fragments; ///< of the entry train
  std::vector<ExplainedPool> pools;
  std::vector<KeptPart> kept; ///< what slots of a pool hold
  /// By row: the fragment that it runs or -1, its microbatch or -1, and the
  /// bytes of slots in use.
  std::vector<int64_t> rowFragment, rowMicrobatch, rowSlotBytes;
  /// Of bundles for CPUs; else empty.
  std::vector<ExplainedWork> work;
  std::vector<std::string> parts;       ///< of the model
  std::vector<TimedFragment> timed;     ///< all of the program
  int64_t peakRow = 0;                  ///< where most lives
  std::vector<ExplainedSlot> peakSlots; ///< in use there

  /// The fragment of this index; null of -1 and others.
  const ExplainedFragment *fragment(int64_t index) const;
  /// File and line of a parameter; empty if none is known.
  std::string specOf(std::string_view parameter) const;
};

/// Reads explain.json in the folder of a bundle, by stage. Errors:
/// inputRejected, all that is wrong with it at once.
Status readExplanation(const std::string &folder, const Bundle &bundle,
                       std::vector<ExplainedStage> &stages);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_INSPECT_EXPLAIN_FILE_H
