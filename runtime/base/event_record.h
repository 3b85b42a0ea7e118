//===- event_record.h - the records of TensorBoard's files ------*- C++ -*-===//
//
// A file is a list of records: u64 length, u32 checksum of the length, the
// bytes, u32 checksum of the bytes, all little-endian; a checksum is the
// CRC-32C turned right by 15 and increased by 0xa282ead8. The bytes are an
// `Event` in the wire format of protocol buffers: 1 wall_time (double), 2 step
// (varint), 3 file_version (text), 5 summary, 7 session_log. The first event of
// a file is the version "brain.Event:2". Sources:
// tensorboard/compat/proto/event.proto, summary.proto, and
// tensorboard/summary/writer/record_writer.py.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_BASE_EVENT_RECORD_H
#define MTC_RUNTIME_BASE_EVENT_RECORD_H

#include <cstdint>
#include <string>
#include <string_view>

namespace mtc::runtime {

/// CRC-32C (Castagnoli), as of "123456789" is 0xe3069283.
uint32_t crc32c(std::string_view bytes);
/// The checksum that records have.
uint32_t maskedCrc32c(std::string_view bytes);

/// Appends one record of these bytes.
void appendRecord(std::string_view bytes, std::string &out);

/// An event, built field by field into a buffer that keeps its memory.
class EventRecord {
public:
  /// Begins an event; seconds since 1970.
  void begin(double wallTime, int64_t step);
  void fileVersion();
  /// The run begins with this step (1 in SessionLog.status): readers forget
  /// what earlier files have of it and later ones.
  void sessionStart();
  /// A number under a tag. All scalars of an event are one summary.
  void scalar(std::string_view tag, float value);
  /// A text under a tag, which TensorBoard shows as Markdown.
  void text(std::string_view tag, std::string_view markdown);
  /// Appends the event as a record.
  void finish(std::string &out);

private:
  std::string event_, summary_, value_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_EVENT_RECORD_H
