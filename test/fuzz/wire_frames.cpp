//===- wire_frames.cpp - any bytes as what a peer sends -------------------===//

#include "runtime/rendezvous/failure.h"
#include "runtime/rendezvous/frame.h"
#include "runtime/rendezvous/hello.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

using namespace mtc::runtime;

namespace {

constexpr size_t kMost = 1000;

void demand(bool holds) {
  if (!holds)
    std::abort();
}

/// The frames of a stream that comes in pieces, up to what is none.
std::vector<Frame> framesOf(std::string_view stream, size_t piece) {
  FrameReader reader(kMost);
  std::vector<Frame> frames;
  for (size_t at = 0; at < stream.size(); at += piece) {
    reader.add(stream.substr(at, piece));
    for (std::optional<Frame> frame;;) {
      if (!reader.next(frame).ok())
        return frames;
      if (!frame)
        break;
      frames.push_back(*std::move(frame));
    }
    // More of a frame than may be is none.
    demand(!reader.full());
  }
  return frames;
}

/// Frames are what they were packed from, in whatever pieces they come.
std::vector<Frame> checkFrames(std::string_view stream, size_t piece) {
  std::vector<Frame> frames = framesOf(stream, piece);
  std::vector<Frame> whole = framesOf(stream, stream.size() + 1);
  demand(frames.size() == whole.size());
  std::string packed;
  for (size_t i = 0; i < frames.size(); ++i) {
    demand(frames[i].kind == whole[i].kind &&
           frames[i].payload == whole[i].payload);
    packed += packFrame(frames[i].kind, frames[i].payload);
  }
  demand(stream.starts_with(packed));
  return frames;
}

/// What is read says the same when it is packed again.
void checkPayload(std::string_view payload) {
  Failure failure;
  if (readFailure(payload, failure)) {
    demand(packFailure(failure) == payload);
    (void)verdictOf(failure, 1, "rank 2");
  }
  Given given;
  if (readGiven(payload, given))
    demand(packGiven(given) == payload);
  Progress progress;
  if (readProgress(payload, progress))
    demand(packProgress(progress) == payload);
  Status outcome;
  if (readOutcome(payload, outcome))
    demand(packOutcome(outcome) == payload);
}

/// Nobody finds a proof, and none of another greeting is one.
void checkGreetings(std::string_view payload) {
  const std::string challenge(16, 'c'), secret = "secret";
  std::string nonce;
  if (readChallenge(payload, nonce).ok())
    demand(packChallenge(nonce) == payload);
  Member other;
  demand(readHello(payload, challenge, secret, other, nonce) !=
         HelloProof::good);
  demand(!isWelcome(payload, nonce, challenge, secret));
  if (payload.size() < 6)
    return;
  std::string text(payload.substr(6));
  Member self{payload[0], payload[1], text, text, text};
  std::string hello = packHello(self, std::string(16, 'n'), challenge, secret);
  demand(readHello(hello, challenge, secret, other, nonce) == HelloProof::good);
  demand(other.rank == self.rank && other.world == self.world);
  size_t at = (uint8_t(payload[2]) * 256u + uint8_t(payload[3])) % hello.size();
  hello[at] = char(hello[at] ^ (1 << uint8_t(payload[4]) % 8));
  demand(readHello(hello, challenge, secret, other, nonce) != HelloProof::good);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  std::string_view stream = bytes.substr(1);
  for (const Frame &frame : checkFrames(stream, 1 + data[0] % 64)) {
    checkPayload(frame.payload);
    if (frame.kind == FrameKind::challenge || frame.kind == FrameKind::hello)
      checkGreetings(frame.payload);
  }
  checkPayload(stream);
  checkGreetings(stream);
  return 0;
}
