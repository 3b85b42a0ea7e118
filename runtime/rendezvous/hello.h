//===- hello.h - ranks prove that they are of one job -----------*- C++ -*-===//
//
// Who listens sends a challenge; who connects answers with what it is and an
// HMAC-SHA-256 of that and of the challenge, keyed by the job's secret; who
// listens proves itself in the same way. So nothing that was overheard is of
// use twice. What follows is neither signed nor encrypted.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_RENDEZVOUS_HELLO_H
#define MTC_RUNTIME_RENDEZVOUS_HELLO_H

#include "runtime/base/status.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace mtc::runtime {

/// Goes up by one with any change of what ranks send each other.
inline constexpr uint16_t kRendezvousVersion = 2;
/// Of frames before a proof.
inline constexpr size_t kMostHelloBytes = 4096;

/// What a rank says of itself. Those of one job differ in `rank` and `host`
/// only.
struct Member {
  int rank = 0;
  int world = 1;
  std::string plan;   ///< the hash of the plan
  std::string bundle; ///< the digest of the bundle's manifest
  std::string host;   ///< for people
};

/// 16 random bytes. Errors: failed.
Status makeNonce(std::string &out);

std::string packChallenge(std::string_view nonce);
/// Errors: communication, when it is of something else or another version.
Status readChallenge(std::string_view payload, std::string &nonce);

std::string packHello(const Member &self, std::string_view ownNonce,
                      std::string_view challenge, std::string_view secret);
/// What the proof is worth.
enum class HelloProof { none, otherVersion, otherSecret, good };
/// `out` and `nonce` are of use only with a proof that is good; but the rank
/// may be named with another secret, as a guess.
HelloProof readHello(std::string_view payload, std::string_view challenge,
                     std::string_view secret, Member &out, std::string &nonce);

std::string packWelcome(std::string_view nonce, std::string_view challenge,
                        std::string_view secret);
bool isWelcome(std::string_view payload, std::string_view nonce,
               std::string_view challenge, std::string_view secret);

/// Ok when `other` may be of the job of `self`, who listens. Errors:
/// communication, all differences at once, as both are told them.
Status checkSameJob(const Member &self, const Member &other);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_RENDEZVOUS_HELLO_H
