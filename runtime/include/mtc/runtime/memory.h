//===- memory.h - arenas, pools and tags ------------------------*- C++ -*-===//
//
// The one definition of the memory of a rank, for all levels: the planner and
// its verifier, generated code, descriptors, the runtime, reports.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_MEMORY_H
#define MTC_RUNTIME_MEMORY_H

#include "mtc/runtime/abi.h"
#include "mtc/runtime/table.h"

#include <compare>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace mtc {

/// A kind of memory.
struct ArenaInfo {
  MtcArena id;
  std::string_view name; ///< in IR, reports, messages and names of mappings
  bool slotted;          ///< it is made of pools, whose slots rows name
  /// Its values live for one fragment or microbatch, and start at a cache line;
  /// those of the others lie where buckets say, or rt.packed.
  bool transient;
};

/// By MtcArena.
inline constexpr ArenaInfo kArenas[] = {
    {MTC_ARENA_PARAMS, "params", false, false},
    {MTC_ARENA_GRADS, "grads", false, false},
    {MTC_ARENA_OPTIMIZER, "optimizer", false, false},
    {MTC_ARENA_ACTIVATIONS, "activations", true, true},
    {MTC_ARENA_WORKSPACE, "workspace", false, true},
    {MTC_ARENA_STEP, "step", false, false},
    {MTC_ARENA_PACKED, "packed", false, false},
};
static_assert(std::size(kArenas) == MTC_ARENA_COUNT &&
              inOrder(kArenas, MTC_ARENA_COUNT));

/// What of a sample the data loader writes at each of its positions, in four
/// bytes: an i32, or of a weight an f32.
///
/// The last token of a document is left out of the loss: its label is the first
/// one of another. Of a step's tokens N are in the loss, and of those of a
/// microbatch of one replica n; all replicas have m such microbatches.
enum class InputKind {
  Ids,         ///< the token
  Labels,      ///< the one behind it
  LossWeights, ///< 1/N, or 0 of a token that is left out of the loss
  /// N / (m·max(n, 1)): loss weights times these are the weights in the mean
  /// over microbatches of their own means.
  GradientWeights,
  /// The position in the sample at which the token's document begins; 0 of one
  /// that began before the sample.
  DocumentStarts,
};

/// An input of programs.
struct InputRow {
  InputKind id;
  std::string_view name;
  bool isWeight; ///< f32, else i32

  /// Whether it depends on where documents begin.
  constexpr bool asksForDocuments() const { return id > InputKind::Labels; }
};

/// By InputKind.
inline constexpr InputRow kInputs[] = {
    {InputKind::Ids, "ids", false},
    {InputKind::Labels, "labels", false},
    {InputKind::LossWeights, "loss_weights", true},
    {InputKind::GradientWeights, "gradient_weights", true},
    {InputKind::DocumentStarts, "document_starts", false},
};

/// The input of a name; null if there is none.
constexpr const InputRow *inputNamed(std::string_view name) {
  for (const InputRow &input : kInputs)
    if (input.name == name)
      return &input;
  return nullptr;
}

/// "ids, labels or loss_weights": the names of all, for messages.
inline std::string inputNames() {
  std::string text;
  for (size_t i = 0; i < std::size(kInputs); ++i)
    text += (i == 0                        ? ""
             : i + 1 == std::size(kInputs) ? " or "
                                           : ", ") +
            std::string(kInputs[i].name);
  return text;
}

/// What a value that crosses from one virtual stage to another is called. In a
/// chain one activation goes to the next virtual stage, and its gradient comes
/// back: number 0. Further values of a direction are numbered from 1; numbers
/// of activations and of gradients have nothing to do with each other. A
/// virtual stage sends one value of a name, and receives one.
struct CrossingName {
  static constexpr int kNumberBits = 6;
  static constexpr int64_t kNumbers = int64_t(1) << kNumberBits;

  bool gradient = false;
  int64_t number = 0;

  constexpr bool fits() const { return number >= 0 && number < kNumbers; }
  /// "activation", "gradient", "activation.1".
  std::string text() const {
    std::string name = gradient ? "gradient" : "activation";
    return number == 0 ? name : name + '.' + std::to_string(number);
  }
  auto operator<=>(const CrossingName &) const = default;
};

/// The name that `text` spells; none if it is no name, or one that does not
/// fit.
inline std::optional<CrossingName> crossingNamed(std::string_view text) {
  for (bool gradient : {false, true})
    for (int64_t number = 0; number < CrossingName::kNumbers; ++number)
      if (CrossingName name{gradient, number}; name.text() == text)
        return name;
  return std::nullopt;
}

/// A pool of equal slots in the activation arena (docs/schedules.md).
struct PoolInfo {
  MtcPool id;
  std::string_view name;
};

/// The pools that every program has, by MtcPool. The others are four for each
/// further number of a crossing value, in the order of the first four.
inline constexpr PoolInfo kPools[] = {
    {MTC_POOL_RECV_ACTIVATION, "recv_activation"},
    {MTC_POOL_RECV_GRADIENT, "recv_gradient"},
    {MTC_POOL_SEND_ACTIVATION, "send_activation"},
    {MTC_POOL_SEND_GRADIENT, "send_gradient"},
    {MTC_POOL_SAVED, "saved"},
    {MTC_POOL_SPLIT, "split"},
    {MTC_POOL_OPERAND, "operand"},
    {MTC_POOL_SAVED_AGAIN, "saved_again"},
    {MTC_POOL_SPLIT_AGAIN, "split_again"},
    {MTC_POOL_OPERAND_AGAIN, "operand_again"},
};
static_assert(std::size(kPools) == MTC_POOL_FIXED &&
              inOrder(kPools, MTC_POOL_FIXED));
static_assert(MTC_POOL_LIMIT ==
              MTC_POOL_FIXED + 4 * (CrossingName::kNumbers - 1));

/// Where values are kept that a fragment saves for a later one of its
/// microbatch, by MtcPool from MTC_POOL_SAVED on: all of them, or what is saved
/// where the rest is computed again.
constexpr bool isKept(MtcPool pool) {
  return pool >= MTC_POOL_SAVED && pool <= MTC_POOL_OPERAND_AGAIN;
}
/// The pool that has the part of `pool`, one of the three that save all, for
/// microbatches that are computed again.
constexpr MtcPool againPool(MtcPool pool) {
  return static_cast<MtcPool>(pool + (MTC_POOL_SAVED_AGAIN - MTC_POOL_SAVED));
}

/// The pool of a value that crosses: where it arrives, or whence it is sent.
constexpr MtcPool crossingPool(CrossingName name, bool sends) {
  int64_t first = name.number == 0 ? 0 : MTC_POOL_FIXED + 4 * (name.number - 1);
  return static_cast<MtcPool>(first + (sends ? MTC_POOL_SEND_ACTIVATION : 0) +
                              (name.gradient ? MTC_POOL_RECV_GRADIENT : 0));
}
constexpr MtcPool receivePool(CrossingName name) {
  return crossingPool(name, /*sends=*/false);
}
constexpr MtcPool sendPool(CrossingName name) {
  return crossingPool(name, /*sends=*/true);
}

/// A value that crosses, and at which of its ends.
struct CrossingEnd {
  CrossingName name;
  bool sends = false;
};
/// Whose pool it is: the first four are those of number 0. None of the others
/// that every program has.
constexpr std::optional<CrossingEnd> crossingEnd(MtcPool pool) {
  if (pool > MTC_POOL_SEND_GRADIENT && pool < MTC_POOL_FIXED)
    return std::nullopt;
  int64_t further = pool < MTC_POOL_FIXED ? 0 : (pool - MTC_POOL_FIXED) / 4 + 1;
  int64_t place = pool < MTC_POOL_FIXED ? pool : (pool - MTC_POOL_FIXED) % 4;
  return CrossingEnd{{place % 2 == 1, further}, place >= 2};
}

/// "saved", "recv_activation", "send_gradient.1".
inline std::string poolName(MtcPool pool) {
  if (std::optional<CrossingEnd> end = crossingEnd(pool))
    return (end->sends ? "send_" : "recv_") + end->name.text();
  return std::string(kPools[pool].name);
}
inline std::optional<MtcPool> poolNamed(std::string_view text) {
  if (std::optional<MtcPool> fixed = idNamed(kPools, text))
    return fixed;
  for (std::string_view end : {"recv_", "send_"})
    if (text.substr(0, end.size()) == end)
      if (auto name = crossingNamed(text.substr(end.size())))
        return crossingPool(*name, end == "send_");
  return std::nullopt;
}

/// What a transfer carries, the same on both sides: a value of a microbatch
/// that a virtual stage made.
struct Tag {
  static constexpr int kMicrobatchBits = 20, kStageBits = 10;
  static constexpr int64_t kMicrobatches = int64_t(1) << kMicrobatchBits;
  static constexpr int64_t kStages = int64_t(1) << kStageBits;

  CrossingName value;
  int64_t microbatch = 0;
  int64_t virtualStage = 0; ///< that made the value

  constexpr bool fits() const {
    return value.fits() && microbatch >= 0 && microbatch < kMicrobatches &&
           virtualStage >= 0 && virtualStage < kStages;
  }
  /// MtcTransfer::tag; different tags that fit have different numbers.
  constexpr int64_t encoded() const {
    int64_t which = value.number << 1 | int64_t(value.gradient);
    return (which << kStageBits | virtualStage) << kMicrobatchBits | microbatch;
  }
  /// "a0.1": the activation of microbatch 0 behind virtual stage 1, as
  /// schedules print it; "g0.1" the gradient. Further values have their number:
  /// "a0.1.2" is activation.2.
  std::string text() const {
    return (value.gradient ? "g" : "a") + std::to_string(microbatch) + "." +
           std::to_string(virtualStage) +
           (value.number == 0 ? "" : "." + std::to_string(value.number));
  }
  bool operator==(const Tag &) const = default;
};

} // namespace mtc
#endif // MTC_RUNTIME_MEMORY_H
