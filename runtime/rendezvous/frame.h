//===- frame.h - messages on a stream of bytes ------------------*- C++ -*-===//
//
//   u32 length of what follows, little endian, at most 1 MiB
//   u8  kind
//   payload
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_RENDEZVOUS_FRAME_H
#define MTC_RUNTIME_RENDEZVOUS_FRAME_H

#include "runtime/base/status.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mtc::runtime {

inline constexpr size_t kMostFrameBytes = size_t(1) << 20;

/// What a frame is. Up to `begin` while ranks meet, then the others.
enum class FrameKind : uint8_t {
  challenge = 1, ///< of who listens: a number to prove oneself with
  hello,         ///< of who connects: who it is, with the proof
  welcome,       ///< the proof of who listens
  rejected,      ///< why not, as text
  begin,         ///< all are here
  heartbeat,
  gather,  ///< what a rank gives all others
  failure, ///< a rank failed: how
  finish,  ///< a rank ended, and how: it is no death when it closes
};

struct Frame {
  FrameKind kind = FrameKind::heartbeat;
  std::string payload;
};

/// The bytes of a frame. `payload` has fewer than kMostFrameBytes.
std::string packFrame(FrameKind kind, std::string_view payload);

/// Takes frames off a stream, in whatever pieces it comes.
class FrameReader {
public:
  /// Frames above `most` bytes are none: of a stranger none is large.
  explicit FrameReader(size_t most = kMostFrameBytes) : most_(most) {}
  void allow(size_t most) { most_ = most; }
  void add(std::string_view bytes);
  /// Whether a frame of any size that is allowed would be whole by now.
  bool full() const;
  /// The next frame, none when it is not whole yet. Errors: inputRejected, when
  /// what came is no frame; then the stream is of no use any more.
  Status next(std::optional<Frame> &out);

private:
  std::string bytes_;
  size_t taken_ = 0; ///< of them, in earlier frames
  size_t most_;
};

/// Fields of a payload, one after the other, little endian.
class PayloadWriter {
public:
  PayloadWriter &number(uint64_t value, int bytes);
  PayloadWriter &bytes(std::string_view value) {
    out_ += value;
    return *this;
  }
  /// With its length in front.
  PayloadWriter &text(std::string_view value) {
    return number(value.size(), 4).bytes(value);
  }
  const std::string &str() const { return out_; }

private:
  std::string out_;
};

/// Reads them. After a field that is not there all others are empty and
/// `good` is false.
class PayloadReader {
public:
  explicit PayloadReader(std::string_view in) : in_(in) {}
  uint64_t number(int bytes);
  std::string bytes(size_t count);
  std::string text() { return bytes(number(4)); }
  bool good() const { return good_; }
  /// All was read, and no more.
  bool ended() const { return good_ && in_.empty(); }

private:
  std::string_view in_;
  bool good_ = true;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_RENDEZVOUS_FRAME_H
