//===- validate_sequence.cpp - may samples be split along the sequence ----===//

#include "models/validate_sequence.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "models/nearest.h"

namespace mtc::models {

/// Equal parts of each sample, whose length is a multiple of them: a head and a
/// tail for each rank along cp, and parts of both together for each along tp.
static int64_t sequenceParts(int64_t cp, int64_t tp) {
  return std::lcm(cp > 1 ? 2 * cp : 1, cp * tp);
}

/// The most ranks along cp, fewer than there are, with which all lengths have
/// equal parts; 0: none.
static int64_t fewerAlongCp(const ModelSpec &spec, const Strategy &strategy,
                            int64_t tp) {
  int64_t common = 0, most = 0;
  for (int64_t seq : strategy.seqLengths())
    common = std::gcd(common, seq ? std::min(seq, spec.maxSeq) : spec.maxSeq);
  auto look = [&](int64_t cp) {
    if (cp < strategy.mesh[MTC_AXIS_CP] && common % sequenceParts(cp, tp) == 0)
      most = std::max(most, cp);
  };
  for (int64_t divisor = 1; divisor * divisor <= common; ++divisor)
    if (common % divisor == 0) {
      look(divisor);
      look(common / divisor);
    }
  return most;
}

/// The lengths next to `seq` that have equal parts; where none up to max_seq
/// does, what else does.
static std::string nearestLength(const ModelSpec &spec,
                                 const Strategy &strategy, int64_t tp,
                                 int64_t seq) {
  int64_t cp = strategy.mesh[MTC_AXIS_CP];
  std::vector<int64_t> lengths =
      nearestMultiples(sequenceParts(cp, tp), std::min(seq, spec.maxSeq));
  std::erase_if(lengths, [&](int64_t length) { return length > spec.maxSeq; });
  if (!lengths.empty())
    return fmt::format("seq_length = {}", joinOr(lengths));
  std::string instead;
  if (int64_t fewer = fewerAlongCp(spec, strategy, tp)) {
    instead = fmt::format("cp = {}", fewer);
  } else {
    // Without parts along tp one rank along cp is enough at the least.
    instead = "sequence_parallel = false";
    if (spec.maxSeq < sequenceParts(cp, 1))
      instead += fmt::format(" and cp = {}", fewerAlongCp(spec, strategy, 1));
  }
  return fmt::format("{}, as no seq_length up to max_seq = {} does", instead,
                     spec.maxSeq);
}

static void checkSequenceParts(const ModelSpec &spec, const Strategy &strategy,
                               int64_t seq, std::vector<Violation> &out) {
  int64_t cp = strategy.mesh[MTC_AXIS_CP];
  int64_t tp = strategy.sequenceParallel ? strategy.mesh[MTC_AXIS_TP] : 1;
  if (seq % sequenceParts(cp, tp) == 0)
    return;
  std::string nearest = nearestLength(spec, strategy, tp, seq);
  if (cp > 1 && seq % (2 * cp) != 0)
    out.push_back({"seq_length % (2 * cp) == 0",
                   fmt::format("seq_length = {}, cp = {}", seq, cp), nearest});
  if (tp > 1 && seq % (cp * tp) != 0)
    out.push_back({fmt::format("seq_length % {} == 0 with sequence_parallel",
                               cp > 1 ? "(cp * tp)" : "tp"),
                   fmt::format("seq_length = {}, {}tp = {}", seq,
                               cp > 1 ? fmt::format("cp = {}, ", cp) : "", tp),
                   nearest});
}

void checkSequence(const ModelSpec &spec, const Strategy &strategy,
                   std::vector<Violation> &out) {
  for (int64_t shorter : strategy.shorterSeqLengths)
    checkSequenceParts(spec, strategy, shorter, out);
  if (strategy.seqLength > spec.maxSeq)
    out.push_back({"seq_length <= max_seq",
                   fmt::format("seq_length = {}, max_seq = {}",
                               strategy.seqLength, spec.maxSeq),
                   fmt::format("seq_length = {}", spec.maxSeq)});
  checkSequenceParts(spec, strategy,
                     strategy.seqLength ? strategy.seqLength : spec.maxSeq,
                     out);
}

} // namespace mtc::models
