//===- messages.h - numbered messages between stages ------------*- C++ -*-===//
#ifndef MTC_TEST_CONFORMANCE_COMM_MESSAGES_H
#define MTC_TEST_CONFORMANCE_COMM_MESSAGES_H

#include "values.h"
#include "worlds.h"

namespace mtc::test {

// Message number `n` of 1000 + n words; sends lie side by side in one
// arena, receives in another.
inline constexpr int64_t kMessageStride = 8192;
inline int64_t messageBytes(int n) { return 4 * (1000 + n); }

inline MtcTransfer send(int stage, int n) {
  return {
      1, stage, MTC_ARENA_ACTIVATIONS, n, n * kMessageStride, messageBytes(n)};
}
inline MtcTransfer receive(int stage, int n) {
  return {
      0, stage, MTC_ARENA_WORKSPACE, n, n * kMessageStride, messageBytes(n)};
}

/// Writes the first `messages` of a rank; another salt gives other words.
inline void prepare(Rank &r, int messages, uint64_t salt) {
  for (int n = 0; n < messages; ++n)
    fill(MTC_I32, r.rank, 0, messageBytes(n) / 4, salt + n,
         r.arena(MTC_ARENA_ACTIVATIONS) + n * kMessageStride);
}

/// Empty if message n of a stage is there.
inline std::string arrived(Rank &r, int fromStage, int n, uint64_t salt) {
  return checkCopied(MTC_I32, r.mesh.moved(r.rank, MTC_AXIS_PP, fromStage), 0,
                     messageBytes(n) / 4, salt + n,
                     r.arena(MTC_ARENA_WORKSPACE) + n * kMessageStride);
}

} // namespace mtc::test
#endif // MTC_TEST_CONFORMANCE_COMM_MESSAGES_H
