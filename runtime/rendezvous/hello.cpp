//===- hello.cpp - ranks prove that they are of one job -------------------===//

#include "runtime/rendezvous/hello.h"

#include "runtime/base/messages.h"
#include "runtime/rendezvous/frame.h"
#include "runtime/rendezvous/sha256.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/random.h>
#include <vector>

namespace mtc::runtime {
namespace {

constexpr std::string_view kMagic = "MTCR";
constexpr size_t kNonceBytes = 16;
constexpr int kVersionBytes = 2;
constexpr size_t kProofBytes = sizeof(Sha256);

/// `what` keeps an answer to one question from being one to another.
std::string proofOf(std::string_view secret, std::string_view what,
                    std::string_view challenge, std::string_view said) {
  PayloadWriter all;
  all.text(what).text(challenge).text(said);
  Sha256 proof = hmacSha256(secret, all.str());
  return {proof.begin(), proof.end()};
}

bool equalBytes(std::string_view a, std::string_view b) {
  Sha256 x{}, y{};
  if (a.size() != x.size() || b.size() != y.size())
    return false;
  std::ranges::copy(a, x.begin());
  std::ranges::copy(b, y.begin());
  return equalProofs(x, y);
}

} // namespace

Status makeNonce(std::string &out) {
  out.assign(kNonceBytes, '\0');
  if (getrandom(out.data(), out.size(), 0) == ssize_t(out.size()))
    return Status::okay();
  return {StatusCode::failed,
          fmt::format("no random numbers: {}", std::strerror(errno))};
}

std::string packChallenge(std::string_view nonce) {
  PayloadWriter fields;
  return fields.bytes(kMagic)
      .number(kRendezvousVersion, kVersionBytes)
      .bytes(nonce)
      .str();
}

Status readChallenge(std::string_view payload, std::string &nonce) {
  PayloadReader fields(payload);
  bool ours = fields.bytes(kMagic.size()) == kMagic;
  uint64_t version = fields.number(kVersionBytes);
  nonce = fields.bytes(kNonceBytes);
  if (ours && version != kRendezvousVersion)
    return {StatusCode::communication,
            fmt::format("rank 0 speaks version {} of the rendezvous, this rank "
                        "version {}; run the same mtc on all hosts",
                        version, kRendezvousVersion)};
  if (ours && fields.ended())
    return Status::okay();
  return {StatusCode::communication,
          "what listens there is no rank 0 of mtc; name another port "
          "(MTC_MASTER_PORT)"};
}

std::string packHello(const Member &self, std::string_view ownNonce,
                      std::string_view challenge, std::string_view secret) {
  PayloadWriter fields;
  fields.bytes(kMagic).number(kRendezvousVersion, kVersionBytes);
  fields.bytes(ownNonce).number(uint64_t(self.rank), 4);
  fields.number(uint64_t(self.world), 4).text(self.plan).text(self.bundle);
  fields.text(self.host);
  return fields.str() + proofOf(secret, "hello", challenge, fields.str());
}

HelloProof readHello(std::string_view payload, std::string_view challenge,
                     std::string_view secret, Member &out, std::string &nonce) {
  PayloadReader fields(payload);
  if (fields.bytes(kMagic.size()) != kMagic)
    return HelloProof::none;
  if (fields.number(kVersionBytes) != kRendezvousVersion)
    return fields.good() ? HelloProof::otherVersion : HelloProof::none;
  nonce = fields.bytes(kNonceBytes);
  out.rank = int(fields.number(4));
  out.world = int(fields.number(4));
  out.plan = printable(fields.text());
  out.bundle = printable(fields.text());
  out.host = printable(fields.text());
  std::string proof = fields.bytes(kProofBytes);
  if (!fields.ended())
    return HelloProof::none;
  std::string_view said = payload.substr(0, payload.size() - kProofBytes);
  return equalBytes(proof, proofOf(secret, "hello", challenge, said))
             ? HelloProof::good
             : HelloProof::otherSecret;
}

std::string packWelcome(std::string_view nonce, std::string_view challenge,
                        std::string_view secret) {
  return proofOf(secret, "welcome", challenge, nonce);
}

bool isWelcome(std::string_view payload, std::string_view nonce,
               std::string_view challenge, std::string_view secret) {
  return equalBytes(payload, packWelcome(nonce, challenge, secret));
}

Status checkSameJob(const Member &self, const Member &other) {
  std::vector<std::string> found;
  if (other.world != self.world)
    found.push_back(
        fmt::format("{} ranks and not {}", other.world, self.world));
  if (other.plan != self.plan)
    found.push_back(
        fmt::format("the plan {} and not {}", other.plan, self.plan));
  else if (other.bundle != self.bundle)
    found.push_back(fmt::format("a bundle with the digest {} and not {}",
                                other.bundle, self.bundle));
  if (found.empty())
    return Status::okay();
  return {StatusCode::communication,
          fmt::format("rank {} on {} is of another job than rank 0 on {}: it "
                      "has {}; start all ranks with one bundle",
                      other.rank, other.host, self.host,
                      fmt::join(found, " and "))};
}

} // namespace mtc::runtime
