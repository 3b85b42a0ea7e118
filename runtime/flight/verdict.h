//===- verdict.h - who holds a run up ---------------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_FLIGHT_VERDICT_H
#define MTC_RUNTIME_FLIGHT_VERDICT_H

#include "runtime/flight/record.h"

#include <optional>

namespace mtc::runtime {

/// What one rank does when all are looked at.
struct FlightRank {
  int rank = 0;
  std::string doing;         ///< for people
  std::vector<int> waitsFor; ///< ranks without which it cannot go on
};

struct FlightVerdict {
  /// The first operation in which ranks differ: what it is, who called it and
  /// who did not, or called another one; empty: none is known.
  std::string difference;
  std::vector<FlightRank> ranks; ///< by rank
  /// Whom the others wait for in the end; none where nobody is blocked. Of
  /// several: a dead one, else one that is stopped, else the first.
  std::optional<int> culprit;
  std::string why; ///< of the culprit, for people
};

/// What a rank is in, or behind, for people.
std::string doingOf(const FlightRecord &record);

/// From the records of ranks of one run, one each, in any order.
FlightVerdict explainFlight(std::vector<FlightRecord> records);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_FLIGHT_VERDICT_H
