//===- indexed_dataset.cpp - Megatron-LM's .bin and .idx ------------------===//

#include "runtime/data/indexed_dataset.h"

#include "runtime/data/indexed_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <sys/stat.h>

namespace mtc::runtime {
namespace {

Status badIndex(const std::string &file, const std::string &what) {
  return {StatusCode::inputRejected,
          fmt::format("index file '{}': {}", file, what)};
}

/// What is said of a code that is none of tokens'.
std::string codeProblem(int code) {
  std::string types;
  for (const TokenTypeInfo &info : tokenTypes())
    if (info.code != 0)
      types += fmt::format("{}{} {}", types.empty() ? "" : ", ", info.code,
                           info.name);
  const char *why = code == 6 || code == 7 ? ", a type of real numbers" : "";
  return fmt::format("type code at byte 17: expected that of a type of tokens "
                     "({}), found {}{}",
                     types, code, why);
}

} // namespace

bool IndexedDataset::isThere(const std::string &prefix) {
  struct stat info;
  return stat((prefix + ".idx").c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

Status IndexedDataset::open(const std::string &prefix, IndexedDataset &out) {
  IndexedDataset set;
  set.prefix_ = prefix;
  MTC_RETURN_IF_ERROR(MappedFile::open(set.indexFile(), set.idx_));
  MTC_RETURN_IF_ERROR(MappedFile::open(set.tokenFile(), set.bin_));
  MTC_RETURN_IF_ERROR(set.readHeader());
  out = std::move(set);
  return Status::okay();
}

Status IndexedDataset::readHeader() {
  if (idx_.size() < IndexedHeader::kBytes)
    return badIndex(indexFile(),
                    fmt::format("expected a header of {} bytes, found {} bytes",
                                IndexedHeader::kBytes, idx_.size()));
  char bytes[IndexedHeader::kBytes];
  MTC_RETURN_IF_ERROR(idx_.read(0, bytes, IndexedHeader::kBytes));
  IndexedHeader header = IndexedHeader::parse(bytes);
  if (std::memcmp(header.magic, kIndexedMagic, sizeof(kIndexedMagic)) != 0)
    return badIndex(indexFile(), "expected \"MMIDIDX\" and two zero bytes at "
                                 "the start, found others; it is no index of "
                                 "Megatron-LM");
  if (header.version != kIndexedVersion)
    return badIndex(indexFile(),
                    fmt::format("version at byte 9: expected {}, found {}",
                                kIndexedVersion, header.version));
  const TokenTypeInfo *type = tokenTypeOfCode(header.code);
  if (!type)
    return badIndex(indexFile(), codeProblem(header.code));
  type_ = type->type;
  return checkSizes(header.sequences, header.documentStarts);
}

Status IndexedDataset::checkSizes(uint64_t sequences, uint64_t starts) {
  // What is counted lies in the file: no count that passes overflows below.
  auto room = static_cast<uint64_t>(idx_.size() - IndexedHeader::kBytes);
  if (sequences > room / 12)
    return badIndex(indexFile(),
                    fmt::format("sequences at byte 18: expected at most {}, "
                                "for which the file has room, found {}",
                                room / 12, sequences));
  uint64_t left = room - 12 * sequences;
  if (starts < 1 || starts > left / 8)
    return badIndex(indexFile(),
                    fmt::format("document indices at byte 26: expected 1 to "
                                "{}, for which the file has room, found {}",
                                left / 8, starts));
  uint64_t rest = left - 8 * starts;
  if (rest != 0 && rest != sequences)
    return badIndex(
        indexFile(),
        fmt::format("expected {} bytes for {} sequences and {} document "
                    "indices, or {} with modes, found {}",
                    IndexedHeader::kBytes + room - rest, sequences, starts,
                    IndexedHeader::kBytes + room - rest + sequences,
                    idx_.size()));
  sequences_ = static_cast<int64_t>(sequences);
  documents_ = static_cast<int64_t>(starts) - 1;
  hasModes_ = rest != 0;
  if (bin_.size() % tokenBytes() != 0)
    return {StatusCode::inputRejected,
            fmt::format("token file '{}': expected a multiple of the {} bytes "
                        "of a {} token, found {} bytes",
                        tokenFile(), tokenBytes(), infoOf(type_).name,
                        bin_.size())};
  return Status::okay();
}

Status IndexedDataset::lengths(int64_t first, int64_t count,
                               int32_t *out) const {
  return idx_.read(IndexedHeader::kBytes + 4 * first, out, 4 * count);
}

Status IndexedDataset::pointers(int64_t first, int64_t count,
                                int64_t *out) const {
  return idx_.read(IndexedHeader::kBytes + 4 * sequences_ + 8 * first, out,
                   8 * count);
}

Status IndexedDataset::documentStarts(int64_t first, int64_t count,
                                      int64_t *out) const {
  return idx_.read(IndexedHeader::kBytes + 12 * sequences_ + 8 * first, out,
                   8 * count);
}

Status IndexedDataset::modes(int64_t first, int64_t count, int8_t *out) const {
  return idx_.read(IndexedHeader::kBytes + 12 * sequences_ +
                       8 * (documents_ + 1) + first,
                   out, count);
}

Status IndexedDataset::tokenBytes(int64_t first, int64_t count,
                                  std::byte *out) const {
  return bin_.read(first * tokenBytes(), out, count * tokenBytes());
}

} // namespace mtc::runtime
