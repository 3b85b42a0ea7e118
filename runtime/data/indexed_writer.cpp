//===- indexed_writer.cpp - writes Megatron-LM's .bin and .idx ------------===//

#include "runtime/data/indexed_writer.h"

#include "runtime/data/indexed_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace mtc::runtime {
namespace {

constexpr int64_t kBufferBytes = int64_t{1} << 20;

/// Writes arrays one behind the other.
class ArrayFile {
public:
  explicit ArrayFile(AtomicFile &file) : file_(file) {}
  Status put(const void *data, int64_t bytes) {
    MTC_RETURN_IF_ERROR(file_.write(at_, data, bytes));
    at_ += bytes;
    return Status::okay();
  }

private:
  AtomicFile &file_;
  int64_t at_ = 0;
};

Status putPointers(ArrayFile &file, std::span<const int32_t> lengths,
                   int64_t tokenBytes) {
  constexpr size_t block = size_t{1} << 16;
  std::vector<int64_t> pointers;
  int64_t next = 0;
  for (size_t at = 0; at < lengths.size(); at += block) {
    pointers.clear();
    for (int32_t length :
         lengths.subspan(at, std::min(block, lengths.size() - at))) {
      pointers.push_back(next);
      next += length * tokenBytes;
    }
    MTC_RETURN_IF_ERROR(
        file.put(pointers.data(), static_cast<int64_t>(8 * pointers.size())));
  }
  return Status::okay();
}

} // namespace

Status IndexedWriter::create(const std::string &prefix, TokenType type,
                             IndexedWriter &out) {
  if (infoOf(type).code == 0)
    return {StatusCode::usage,
            fmt::format("'{}': expected a type of tokens that an .idx can "
                        "have, such as u16 or i32, found {}",
                        prefix, infoOf(type).name)};
  IndexedWriter writer;
  writer.prefix_ = prefix;
  writer.type_ = type;
  MTC_RETURN_IF_ERROR(AtomicFile::create(prefix + ".bin", writer.bin_));
  writer.buffer_.reserve(kBufferBytes);
  out = std::move(writer);
  return Status::okay();
}

Status IndexedWriter::add(std::span<const int32_t> tokens) {
  std::vector<std::byte> bytes(tokens.size() *
                               static_cast<size_t>(infoOf(type_).bytes));
  if (narrowTokens(tokens, type_, bytes.data()))
    return addBytes(bytes);
  return {StatusCode::inputRejected,
          fmt::format("'{}', sequence {}: expected tokens from {} to {}, which "
                      "{} holds, found another; take a wider type",
                      prefix_, sequences(), infoOf(type_).least,
                      infoOf(type_).most, infoOf(type_).name)};
}

Status IndexedWriter::addBytes(std::span<const std::byte> tokens) {
  auto bytes = static_cast<int64_t>(tokens.size());
  int64_t count = bytes / infoOf(type_).bytes;
  if (count > INT32_MAX)
    return {StatusCode::inputRejected,
            fmt::format("'{}', sequence {}: expected at most {} tokens, found "
                        "{}",
                        prefix_, sequences(), INT32_MAX, count)};
  MTC_RETURN_IF_ERROR(putTokens(tokens.data(), bytes));
  lengths_.push_back(static_cast<int32_t>(count));
  tokens_ += count;
  return Status::okay();
}

void IndexedWriter::endDocument() { starts_.push_back(sequences()); }

Status IndexedWriter::append(const IndexedDataset &other) {
  IndexedSummary summary;
  if (other.type() != type_ || other.hasModes())
    return {StatusCode::inputRejected,
            fmt::format("'{}': expected tokens of {} without modes, found {}{}",
                        other.indexFile(), infoOf(type_).name,
                        infoOf(other.type()).name,
                        other.hasModes() ? " with modes" : "")};
  MTC_RETURN_IF_ERROR(other.check(summary, /*wantsLengths=*/true));
  std::vector<std::byte> block(kBufferBytes);
  int64_t most = kBufferBytes / other.tokenBytes();
  for (int64_t at = 0; at < summary.tokens; at += most) {
    int64_t count = std::min(most, summary.tokens - at);
    MTC_RETURN_IF_ERROR(other.tokenBytes(at, count, block.data()));
    MTC_RETURN_IF_ERROR(putTokens(block.data(), count * other.tokenBytes()));
  }
  std::vector<int64_t> starts(static_cast<size_t>(other.documents()));
  MTC_RETURN_IF_ERROR(
      other.documentStarts(1, other.documents(), starts.data()));
  for (int64_t start : starts)
    starts_.push_back(sequences() + start);
  lengths_.insert(lengths_.end(), summary.lengths.begin(),
                  summary.lengths.end());
  tokens_ += summary.tokens;
  return Status::okay();
}

Status IndexedWriter::putTokens(const std::byte *tokens, int64_t bytes) {
  while (bytes > 0) {
    int64_t room = kBufferBytes - static_cast<int64_t>(buffer_.size());
    int64_t part = std::min(room, bytes);
    buffer_.insert(buffer_.end(), tokens, tokens + part);
    tokens += part;
    bytes -= part;
    if (part == room)
      MTC_RETURN_IF_ERROR(flush());
  }
  return Status::okay();
}

Status IndexedWriter::flush() {
  auto bytes = static_cast<int64_t>(buffer_.size());
  MTC_RETURN_IF_ERROR(bin_.write(written_, buffer_.data(), bytes));
  written_ += bytes;
  buffer_.clear();
  return Status::okay();
}

Status IndexedWriter::commit() {
  if (starts_.back() != sequences())
    endDocument();
  MTC_RETURN_IF_ERROR(flush());
  return writeIndex();
}

Status IndexedWriter::writeIndex() {
  std::string name = prefix_ + ".idx";
  AtomicFile idx;
  MTC_RETURN_IF_ERROR(AtomicFile::create(name, idx));
  IndexedHeader header{};
  std::memcpy(header.magic, kIndexedMagic, sizeof(kIndexedMagic));
  header.version = kIndexedVersion;
  header.code = static_cast<uint8_t>(infoOf(type_).code);
  header.sequences = lengths_.size();
  header.documentStarts = starts_.size();
  char bytes[IndexedHeader::kBytes];
  header.write(bytes);
  ArrayFile file(idx);
  MTC_RETURN_IF_ERROR(file.put(bytes, IndexedHeader::kBytes));
  MTC_RETURN_IF_ERROR(
      file.put(lengths_.data(), static_cast<int64_t>(4 * lengths_.size())));
  MTC_RETURN_IF_ERROR(putPointers(file, lengths_, infoOf(type_).bytes));
  MTC_RETURN_IF_ERROR(
      file.put(starts_.data(), static_cast<int64_t>(8 * starts_.size())));
  if (unlink(behindLinks(name).c_str()) != 0 && errno != ENOENT)
    return {StatusCode::writeFailed,
            fmt::format("cannot replace '{}': {}", name, std::strerror(errno))};
  MTC_RETURN_IF_ERROR(bin_.commit());
  return idx.commit();
}

} // namespace mtc::runtime
