//===- event_record.cpp - the records of TensorBoard's files --------------===//

#include "runtime/base/event_record.h"

#include <array>
#include <bit>
#include <cstring>

namespace mtc::runtime {
namespace {

constexpr std::array<uint32_t, 256> makeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t sum = i;
    for (int bit = 0; bit < 8; ++bit)
      sum = (sum >> 1) ^ ((sum & 1) ? 0x82f63b78u : 0);
    table[i] = sum;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kTable = makeTable();

template <typename T> void appendFixed(T value, std::string &out) {
  for (size_t i = 0; i < sizeof value; ++i)
    out.push_back(static_cast<char>(value >> (8 * i)));
}

void appendVarint(uint64_t value, std::string &out) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

/// How the value of a field is written.
enum Wire { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

void appendKey(int field, Wire wire, std::string &out) {
  appendVarint(static_cast<uint64_t>(field << 3 | wire), out);
}

void appendBytes(int field, std::string_view value, std::string &out) {
  appendKey(field, Wire::bytes, out);
  appendVarint(value.size(), out);
  out += value;
}

void appendVarint(int field, int64_t value, std::string &out) {
  appendKey(field, Wire::varint, out);
  appendVarint(static_cast<uint64_t>(value), out);
}

} // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t sum = ~0u;
  for (char byte : bytes)
    sum = (sum >> 8) ^ kTable[(sum ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~sum;
}

uint32_t maskedCrc32c(std::string_view bytes) {
  return std::rotr(crc32c(bytes), 15) + 0xa282ead8u;
}

void appendRecord(std::string_view bytes, std::string &out) {
  size_t at = out.size();
  appendFixed<uint64_t>(bytes.size(), out);
  appendFixed(maskedCrc32c(std::string_view(out).substr(at)), out);
  out += bytes;
  appendFixed(maskedCrc32c(bytes), out);
}

void EventRecord::begin(double wallTime, int64_t step) {
  event_.clear();
  summary_.clear();
  appendKey(1, Wire::fixed64, event_);
  appendFixed(std::bit_cast<uint64_t>(wallTime), event_);
  if (step != 0) // as protocol buffers write a 0: not at all
    appendVarint(2, step, event_);
}

void EventRecord::fileVersion() { appendBytes(3, "brain.Event:2", event_); }

void EventRecord::sessionStart() {
  value_.clear();
  appendVarint(1, 1, value_);
  appendBytes(7, value_, event_);
}

void EventRecord::scalar(std::string_view tag, float value) {
  value_.clear();
  appendBytes(1, tag, value_);
  appendKey(2, Wire::fixed32, value_);
  appendFixed(std::bit_cast<uint32_t>(value), value_);
  appendBytes(1, value_, summary_);
}

void EventRecord::text(std::string_view tag, std::string_view markdown) {
  std::string plugin, metadata, tensor;
  appendBytes(1, "text", plugin); // SummaryMetadata.PluginData.plugin_name
  appendBytes(1, plugin, metadata);
  appendVarint(1, 7, tensor);       // TensorProto.dtype: DT_STRING
  appendBytes(2, "", tensor);       // tensor_shape: a scalar
  appendBytes(8, markdown, tensor); // string_val
  value_.clear();
  appendBytes(1, tag, value_);
  appendBytes(8, tensor, value_);
  appendBytes(9, metadata, value_);
  appendBytes(1, value_, summary_);
}

void EventRecord::finish(std::string &out) {
  if (!summary_.empty())
    appendBytes(5, summary_, event_);
  appendRecord(event_, out);
}

} // namespace mtc::runtime
