//===- failure.h - what frames of a running job say -------------*- C++ -*-===//
#ifndef MTC_RUNTIME_RENDEZVOUS_FAILURE_H
#define MTC_RUNTIME_RENDEZVOUS_FAILURE_H

#include "runtime/rendezvous/frame.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// A rank failed, and the job with it.
struct Failure {
  int origin = 0;
  Status status;
  std::vector<int> members;    ///< who gets the status as it is
  std::string how = "aborted"; ///< what the origin did, to the others
};

/// Whether the origin said it itself, so that it still lives.
bool saidItself(const Failure &failure);
std::string packFailure(const Failure &failure);
/// False: it is none.
bool readFailure(std::string_view payload, Failure &out);
/// What `rank` is told; the origin is called `name`.
Status verdictOf(const Failure &failure, int rank, const std::string &name);

/// What a rank gave in a round of gathering.
struct Given {
  uint32_t round = 0;
  int rank = 0;
  std::string bytes;
};
/// Of `bytes`: with what is around them a frame has no more.
inline constexpr size_t kMostGivenBytes = kMostFrameBytes - 13;
std::string packGiven(const Given &given);
bool readGiven(std::string_view payload, Given &out);

/// How far a rank is, with each sign of its life.
struct Progress {
  int64_t step = 0, beats = 0;
};
std::string packProgress(const Progress &progress);
bool readProgress(std::string_view payload, Progress &out);

std::string packOutcome(const Status &outcome);
bool readOutcome(std::string_view payload, Status &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_RENDEZVOUS_FAILURE_H
