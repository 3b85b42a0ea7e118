//===- schedule.h - slots of a pipeline, as data ----------------*- C++ -*-===//
//
// A schedule says which stage computes what in which order, and nothing else:
// sends, receives and buffers are derived (expand.h). Times are integers in any
// unit.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_PIPELINE_SCHEDULES_SCHEDULE_H
#define MTC_PASSES_PIPELINE_SCHEDULES_SCHEDULE_H

#include "passes/pipeline/schedules/crossings.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::schedules {

/// F forward, B whole backward; or I input gradient and W weight gradient.
enum class Phase : uint8_t { F, B, I, W };

char letter(Phase phase);

/// One computation of one stage: `phase` of `microbatch` in its `chunk`.
struct Slot {
  Phase phase = Phase::F;
  int microbatch = 0;
  int chunk = 0;
  auto operator<=>(const Slot &) const = default;
};

/// Which stage holds virtual stage u. Straight: u mod p. Folded: the direction
/// turns with every chunk, so the ends of neighbouring chunks share a stage.
enum class Placement : uint8_t { Straight, Folded };

/// Sizes of a pipeline: p stages (ranks), m microbatches, v chunks per stage.
/// Virtual stages are numbered along the model, 0 to p·v - 1.
struct Shape {
  int stages = 1;
  int microbatches = 1;
  int chunks = 1;
  Placement placement = Placement::Straight;
  Crossings crossings = {}; ///< what they send each other
  /// F saves values that W reads: what the weight gradient is a product of.
  bool savesOperands = false;
  /// Microbatches may be added to sums in any order: somebody wrote it, and its
  /// bits are a class of their own.
  bool anyOrder = false;
  /// B, I and W read activations where F received them.
  bool rereadsReceived = true;
  /// Of what a stage keeps for its backwards, so many slots are small: F saves
  /// little into them, and the rest is computed again.
  int smallSlots = 0;

  int virtualStages() const { return stages * chunks; }
  /// Stage of virtual stage `u`.
  int stageOf(int u) const;
  /// Chunk of virtual stage `u` on its stage.
  int chunkOf(int u) const { return u / stages; }
  /// Inverse of stageOf and chunkOf.
  int virtualStage(int stage, int chunk) const;
  /// What virtual stage `u` receives and sends, by name.
  std::vector<Crossing> into(int u, bool gradient) const {
    return crossings.into(u, gradient, virtualStages());
  }
  std::vector<Crossing> outOf(int u, bool gradient) const {
    return crossings.outOf(u, gradient, virtualStages());
  }
  /// True when the slot's microbatch and chunk exist.
  bool contains(const Slot &slot) const;
};

/// Per stage the list of its slots in order.
struct Schedule : Shape {
  std::string name; ///< of the generator; empty for a user's schedule
  int group = 0;    ///< microbatch group G of interleaving; 0: none
  std::vector<std::vector<Slot>> slots;

  /// True when any stage has a slot other than F.
  bool trains() const;
};

/// `F3`, or `F3.1` when `withChunk`.
std::string toString(const Slot &slot, bool withChunk);

/// The slots of one stage separated by blanks; chunks are shown when v > 1.
std::string printSlots(const std::vector<Slot> &slots, int chunks);

/// One line per stage.
std::string printSchedule(const Schedule &schedule);

/// `<phase><microbatch>[.<chunk>]`; nothing when the text is not that.
std::optional<Slot> parseSlot(std::string_view text);

/// Reads the slots of a line, separated by blanks, up to its end or a #. Words
/// that are no slots are left out. The first with an unknown letter is reported
/// as `phase`, of others the first as `syntax`, in a sentence that begins with
/// `where`, such as `stage 0`, and says how many there are: a file of something
/// else has millions.
std::vector<Slot> readSlots(std::string_view line, const std::string &where,
                            Findings &findings);

/// Takes lines off the front of `text` until one has slots, which is returned;
/// nothing when none is left. `number` counts all lines taken.
std::optional<std::string_view> takeStageLine(std::string_view &text,
                                              int &number);

/// Reads one line per stage; lines without slots, and what is behind a #, are
/// skipped. Findings are those of readSlots. Run checkSchedule on the result.
Schedule parseSchedule(std::string_view text, const Shape &shape,
                       Findings &findings);

} // namespace mtc::schedules
#endif // MTC_PASSES_PIPELINE_SCHEDULES_SCHEDULE_H
