//===- event_records.cpp - records of TensorBoard's files, read -----------===//

#include "tools/plot/event_records.h"

#include "runtime/base/event_record.h"

#include <fmt/format.h>

#include <bit>
#include <optional>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::plot {
namespace {

constexpr size_t kLength = 8, kSum = 4; ///< bytes of a length, of a checksum

/// A little-endian number; `bytes` has as many.
template <typename T> T fixed(std::string_view bytes) {
  T value = 0;
  for (size_t i = 0; i < sizeof value; ++i)
    value |= static_cast<T>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return value;
}

bool hasSum(std::string_view bytes, std::string_view sum) {
  return runtime::maskedCrc32c(bytes) == fixed<uint32_t>(sum);
}

/// A field of a message in the wire format of protocol buffers.
struct Field {
  uint64_t number = 0;
  uint64_t value = 0;     ///< of a varint, or the bits of a fixed one
  std::string_view bytes; ///< of a message or a text
  enum Wire { varint = 0, fixed64 = 1, text = 2, fixed32 = 5 } wire = varint;
};

/// The fields of a message, one after the other.
class Fields {
public:
  explicit Fields(std::string_view message) : rest_(message) {}

  /// The next one; none at the end, and where the bytes are no field.
  std::optional<Field> next() {
    Field field;
    uint64_t key = 0;
    if (rest_.empty())
      return std::nullopt;
    if (!take(key) || key >> 3 == 0)
      return fail();
    field.number = key >> 3;
    field.wire = static_cast<Field::Wire>(key & 7);
    switch (key & 7) {
    case Field::varint:
      return take(field.value) ? std::optional(field) : fail();
    case Field::fixed64:
      return takeFixed<uint64_t>(field);
    case Field::fixed32:
      return takeFixed<uint32_t>(field);
    case Field::text:
      if (!take(field.value) || field.value > rest_.size())
        return fail();
      field.bytes = rest_.substr(0, field.value);
      rest_.remove_prefix(field.value);
      return field;
    }
    return fail(); // groups, which no message here has
  }

  /// Behind the last field: whether the message ended there, and no bytes that
  /// are no field stopped it.
  bool atEnd() const { return !failed_; }

private:
  std::optional<Field> fail() {
    failed_ = true;
    return std::nullopt;
  }

  bool take(uint64_t &value) {
    value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80)
        return true;
    }
    return false;
  }

  template <typename T> std::optional<Field> takeFixed(Field &field) {
    if (rest_.size() < sizeof(T))
      return fail();
    field.value = fixed<T>(rest_);
    rest_.remove_prefix(sizeof(T));
    return field;
  }

  std::string_view rest_;
  bool failed_ = false;
};

/// Summary.Value: 1 tag, 2 simple_value; of others there is nothing to draw.
bool readValue(std::string_view message, Event &event) {
  Fields fields(message);
  std::optional<float> value;
  std::string_view tag;
  while (std::optional<Field> field = fields.next()) {
    if (field->number == 1 && field->wire == Field::text)
      tag = field->bytes;
    else if (field->number == 2 && field->wire == Field::fixed32)
      value = std::bit_cast<float>(static_cast<uint32_t>(field->value));
  }
  if (value)
    event.scalars.push_back({std::string(tag), *value});
  return fields.atEnd();
}

/// Summary: 1 values.
bool readSummary(std::string_view message, Event &event) {
  Fields fields(message);
  while (std::optional<Field> field = fields.next())
    if (field->number == 1 && field->wire == Field::text &&
        !readValue(field->bytes, event))
      return false;
  return fields.atEnd();
}

/// SessionLog: 1 status, of which 1 is the start.
bool readSession(std::string_view message, Event &event) {
  Fields fields(message);
  while (std::optional<Field> field = fields.next())
    if (field->number == 1 && field->wire == Field::varint)
      event.isStart = field->value == 1;
  return fields.atEnd();
}

bool readEvent(std::string_view message, Event &event) {
  Fields fields(message);
  while (std::optional<Field> field = fields.next()) {
    bool isText = field->wire == Field::text;
    if (field->number == 1 && field->wire == Field::fixed64)
      event.time = std::bit_cast<double>(field->value);
    else if (field->number == 2 && field->wire == Field::varint)
      event.step = static_cast<int64_t>(field->value);
    else if (field->number == 5 && isText && !readSummary(field->bytes, event))
      return false;
    else if (field->number == 7 && isText && !readSession(field->bytes, event))
      return false;
  }
  return fields.atEnd();
}

} // namespace

bool beginsWithRecord(std::string_view bytes) {
  return bytes.size() >= kLength + kSum &&
         hasSum(bytes.substr(0, kLength), bytes.substr(kLength));
}

Status readEventRecords(std::string_view bytes, const std::string &name,
                        const std::function<void(Event &&)> &take) {
  size_t at = 0;
  auto rejected = [&](const char *expected, const char *found) {
    return Status(StatusCode::inputRejected,
                  fmt::format("'{}', the record at byte {}: expected {}, found "
                              "{}; the file is damaged",
                              name, at, expected, found));
  };
  while (bytes.size() - at >= kLength + kSum) {
    std::string_view rest = bytes.substr(at);
    if (!beginsWithRecord(rest))
      return rejected("the checksum of its length", "another");
    uint64_t length = fixed<uint64_t>(rest);
    rest.remove_prefix(kLength + kSum);
    if (rest.size() < kSum || length > rest.size() - kSum)
      break;
    if (!hasSum(rest.substr(0, length), rest.substr(length)))
      return rejected("the checksum of its bytes", "another");
    Event event;
    if (!readEvent(rest.substr(0, length), event))
      return rejected("an event of TensorBoard", "other bytes");
    take(std::move(event));
    at += kLength + kSum + length + kSum;
  }
  return Status::okay();
}

} // namespace mtc::plot
