//===- frame.cpp - messages on a stream of bytes --------------------------===//

#include "runtime/rendezvous/frame.h"

#include <fmt/format.h>

namespace mtc::runtime {

namespace {

constexpr size_t kLengthBytes = 4;

} // namespace

std::string packFrame(FrameKind kind, std::string_view payload) {
  PayloadWriter frame;
  frame.number(payload.size() + 1, kLengthBytes);
  frame.number(uint64_t(kind), 1).bytes(payload);
  return frame.str();
}

void FrameReader::add(std::string_view bytes) {
  bytes_.erase(0, taken_);
  taken_ = 0;
  bytes_ += bytes;
}

bool FrameReader::full() const {
  return bytes_.size() - taken_ >= kLengthBytes + most_;
}

Status FrameReader::next(std::optional<Frame> &out) {
  out.reset();
  std::string_view rest = std::string_view(bytes_).substr(taken_);
  if (rest.size() < kLengthBytes)
    return Status::okay();
  size_t length = PayloadReader(rest).number(kLengthBytes);
  // Text, as of a browser, is a large number.
  if (length < 1 || length > most_)
    return {StatusCode::inputRejected,
            fmt::format("expected a message of 1 to {} bytes, found {}", most_,
                        length)};
  if (rest.size() < kLengthBytes + length)
    return Status::okay();
  out = Frame{FrameKind(rest[kLengthBytes]),
              std::string(rest.substr(kLengthBytes + 1, length - 1))};
  taken_ += kLengthBytes + length;
  return Status::okay();
}

PayloadWriter &PayloadWriter::number(uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    out_ += char(value >> (8 * i));
  return *this;
}

uint64_t PayloadReader::number(int count) {
  std::string field = bytes(size_t(count));
  uint64_t value = 0;
  for (size_t i = 0; i < field.size(); ++i)
    value |= uint64_t(uint8_t(field[i])) << (8 * i);
  return value;
}

std::string PayloadReader::bytes(size_t count) {
  good_ = good_ && count <= in_.size();
  if (!good_)
    return {};
  std::string out(in_.substr(0, count));
  in_.remove_prefix(count);
  return out;
}

} // namespace mtc::runtime
