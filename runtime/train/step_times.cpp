//===- step_times.cpp - where the time of a step goes ---------------------===//

#include "runtime/train/step_times.h"

#include "runtime/base/fixed_text.h"

#include <algorithm>
#include <cstring>

namespace mtc::runtime {
namespace {

// In the order of kTimes.
enum PartId : size_t {
  kTimeData,
  kTimeForward,
  kTimeForwardProducts,
  kTimeForwardRest,
  kTimeBackward,
  kTimeBackwardProducts,
  kTimeBackwardRest,
  kTimeOptimizer,
  kTimeCollectives,
  kTimeCollectivesOfGroup, ///< one for each group, in the order of MtcGroup
  kTimeTransfers = size_t(kTimeCollectivesOfGroup) + size_t(MTC_GROUP_COUNT),
  kTimeCollectiveWaits,
  kTimeOther,
  kTimeStep ///< all of them
};

constexpr TimePart kTimes[] = {
    {"data", "tokens into their places"},
    {"forward", "fragments of the forward, without their collectives"},
    {"forward-products", "GEMMs", "forward"},
    {"forward-rest", "all else: attention, norms, ...", "forward"},
    {"backward", "fragments of the backward, without their collectives, with "
                 "what they compute again"},
    {"backward-products", "GEMMs", "backward"},
    {"backward-rest", "all else", "backward"},
    {"optimizer", "norm, clipping and update, without collectives"},
    {"collectives", "on the stream of fragments: sums over ranks, gathers, and "
                    "the wait for the others in them"},
    {"collectives-tp", "over tp", "collectives"},
    {"collectives-dp", "over dp", "collectives"},
    {"collectives-embedding", "of tied embeddings", "collectives"},
    {"collectives-all", "over all ranks", "collectives"},
    {"collectives-cp", "over cp", "collectives"},
    {"collectives-kv", "of ranks with the same key heads", "collectives"},
    {"p2p", "transfers between stages, and the wait for them"},
    {"collective-waits", "for collectives on a stream of their own"},
    {"other", "of the step: its block, reading the loss, what was dumped"},
    {"step", "all of it, which the others add up to"},
};
static_assert(std::size(kTimes) == StepTimes::kParts);
static_assert(kTimeStep + 1 == StepTimes::kParts);
static_assert(MTC_GROUP_COUNT == 6, "each group has a part, in its order");

/// Spans, with the time that is their own. Rows follow each other; what a
/// fragment calls lies in its row, ended before it and so stands before it.
class OwnTimes {
public:
  explicit OwnTimes(const Descriptor &program) : program_(program) {}

  /// Calls `use(part, nanoseconds)` for each span.
  template <typename Use>
  void of(std::span<const TraceSpan> spans, Use use) const {
    int64_t inside = 0; // of the row to come
    for (const TraceSpan &span : spans) {
      int64_t whole = span.time.end - span.time.begin;
      if (isNested(span.kind)) {
        inside += whole;
        use(partOf(span), whole);
        continue;
      }
      use(partOf(span), whole - inside);
      inside = 0;
    }
  }

private:
  /// Made by a call of a fragment; rows hold them and do not lie in each other.
  static bool isNested(TraceKind kind) {
    return kind == TraceKind::collective || kind == TraceKind::waitEvent ||
           kind == TraceKind::gemm;
  }

  PartId partOf(const TraceSpan &span) const {
    switch (span.kind) {
    case TraceKind::load:
      return kTimeData;
    case TraceKind::exchange:
    case TraceKind::post:
    case TraceKind::waitTransfers:
      return kTimeTransfers;
    case TraceKind::collective:
      return static_cast<PartId>(size_t(kTimeCollectivesOfGroup) +
                                 size_t(span.call.group));
    case TraceKind::waitEvent:
      return kTimeCollectiveWaits;
    case TraceKind::fragment:
    case TraceKind::gemm:
      break;
    }
    bool isProduct = span.kind == TraceKind::gemm;
    switch (phaseOf(span)) {
    case kTimeForward:
      return isProduct ? kTimeForwardProducts : kTimeForwardRest;
    case kTimeBackward:
      return isProduct ? kTimeBackwardProducts : kTimeBackwardRest;
    default:
      return kTimeOptimizer;
    }
  }

  /// Rows of the update have no microbatch; names of the forward's fragments
  /// say that they are.
  PartId phaseOf(const TraceSpan &span) const {
    if (!span.row || span.row->kind != MTC_STEP_RUN || span.row->microbatch < 0)
      return kTimeOptimizer;
    const std::string &name = program_.fragments[size_t(span.row->fragment)];
    return name.find("fwd") != std::string::npos ? kTimeForward : kTimeBackward;
  }

  const Descriptor &program_;
};

size_t indexOf(const char *name) {
  for (size_t i = 0; i < std::size(kTimes); ++i)
    if (std::strcmp(kTimes[i].name, name) == 0)
      return i;
  return kTimeOther;
}

} // namespace

std::span<const TimePart> timeParts() { return kTimes; }

bool isOfLevel(const TimePart &part, int64_t level) {
  if (level == 1)
    return !part.within;
  // A part that others lie in is those others.
  return part.within || std::ranges::none_of(kTimes, [&](const TimePart &it) {
           return it.within && std::strcmp(it.within, part.name) == 0;
         });
}

void StepTimes::add(const Descriptor &program, const RankTrace &trace,
                    double seconds) {
  double known = 0;
  OwnTimes(program).of(trace.compute, [&](PartId part, int64_t ns) {
    double time = static_cast<double>(ns) * 1e-9;
    known += time;
    seconds_[part] += time;
    if (kTimes[part].within)
      seconds_[indexOf(kTimes[part].within)] += time;
  });
  seconds_[kTimeOther] += seconds - known;
  seconds_[kTimeStep] += seconds;
  ++steps_;
}

void StepTimes::clear() {
  seconds_ = {};
  steps_ = 0;
}

Status gatherTimes(RankState &rank, const StepTimes &times,
                   TimesOverRanks &out) {
  constexpr size_t n = StepTimes::kParts;
  // The least is the largest of the negated ones.
  std::array<float, 2 * n> largest;
  std::array<float, n> sum;
  static_assert(sizeof largest <= kAnywhereBytes);
  for (size_t i = 0; i < n; ++i) {
    double mean = times.steps() == 0 ? 0
                                     : 1000 * times.seconds()[i] /
                                           static_cast<double>(times.steps());
    sum[i] = largest[i] = static_cast<float>(mean);
    largest[n + i] = -largest[i];
  }
  Communicator &comm = rank.comm();
  MTC_RETURN_IF_ERROR(comm.allReduce(MTC_GROUP_ALL, MTC_MAX, MTC_F32,
                                     largest.data(), int64_t(2 * n)));
  MTC_RETURN_IF_ERROR(
      comm.allReduce(MTC_GROUP_ALL, MTC_SUM, MTC_F32, sum.data(), int64_t(n)));
  MTC_RETURN_IF_ERROR(rank.complete());
  float ranks = static_cast<float>(rank.mesh().worldSize());
  for (size_t i = 0; i < n; ++i)
    out.parts[i] = {-largest[n + i], sum[i] / ranks, largest[i]};
  return Status::okay();
}

std::string_view formatTimes(const TimesOverRanks &times, int64_t level,
                             std::span<char> buffer) {
  FixedText text(buffer);
  for (size_t i = 0; i < std::size(kTimes); ++i) {
    const TimesOverRanks::Part &part = times.parts[i];
    if (!isOfLevel(kTimes[i], level) || (part.least == 0 && part.largest == 0))
      continue;
    text.add("{}\"{}\": [{}, {}, {}]", text.view().empty() ? "{" : ", ",
             kTimes[i].name, part.least, part.mean, part.largest);
  }
  return text.add("{}", text.view().empty() ? "{}" : "}").view();
}

} // namespace mtc::runtime
