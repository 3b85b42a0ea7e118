//===- index_file.cpp - arrays of integers that runs keep -----------------===//

#include "runtime/data/index_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace mtc::runtime {
namespace {

constexpr std::string_view kIndexFileMagic = "mtcindex";
constexpr uint32_t kIndexFileVersion = 1;
constexpr size_t kKeyDigits = 32;
constexpr uint32_t kMostArrays = 8;

int64_t headerBytes(size_t arrays) {
  return static_cast<int64_t>(8 + 4 + 4 + 3 * kKeyDigits + 16 * arrays);
}

template <typename T> void putRaw(std::string &to, T value) {
  to.append(reinterpret_cast<const char *>(&value), sizeof(T));
}

template <typename T> T takeRaw(std::string_view &from) {
  T value;
  std::memcpy(&value, from.data(), sizeof(T));
  from.remove_prefix(sizeof(T));
  return value;
}

std::string_view takeText(std::string_view &from, size_t count) {
  std::string_view text = from.substr(0, count);
  from.remove_prefix(count);
  return text;
}

Status badIndexFile(const std::string &path, const std::string &what) {
  return {StatusCode::inputRejected,
          fmt::format("cached index '{}': {}", path, what)};
}

} // namespace

Status IndexFile::open(const std::string &path, const std::string &key,
                       IndexFile &out) {
  IndexFile index;
  MTC_RETURN_IF_ERROR(MappedFile::open(path, index.file_));
  int64_t size = index.file_.size();
  std::string head(static_cast<size_t>(std::min(size, headerBytes(0))), '\0');
  MTC_RETURN_IF_ERROR(index.file_.read(0, head.data(), head.size()));
  std::string_view text = head;
  if (size < headerBytes(0) || takeText(text, 8) != kIndexFileMagic)
    return badIndexFile(path, "expected \"mtcindex\" at its start, found "
                              "another file");
  auto version = takeRaw<uint32_t>(text);
  auto arrays = takeRaw<uint32_t>(text);
  if (version != kIndexFileVersion || arrays > kMostArrays)
    return badIndexFile(path, fmt::format("expected version {}, found {}",
                                          kIndexFileVersion, version));
  int64_t header = headerBytes(arrays);
  if (size < header)
    return badIndexFile(path, "it ends in its header");
  head.resize(static_cast<size_t>(header));
  MTC_RETURN_IF_ERROR(index.file_.read(0, head.data(), header));
  text = head;
  std::string_view covered = text.substr(0, head.size() - kKeyDigits);
  if (digestOf(covered) != text.substr(head.size() - kKeyDigits))
    return badIndexFile(path, "its header is damaged");
  text.remove_prefix(16);
  if (takeText(text, kKeyDigits) != key)
    return badIndexFile(path, "it is of other data or another order");
  index.digest_ = takeText(text, kKeyDigits);
  int64_t at = header;
  for (uint32_t i = 0; i < arrays; ++i) {
    auto count = takeRaw<uint64_t>(text), bytes = takeRaw<uint64_t>(text);
    auto left = static_cast<uint64_t>(size - at);
    if ((bytes != 4 && bytes != 8) || count > left / bytes)
      return badIndexFile(path, "it ends in its data");
    index.offsets_.push_back(at);
    index.arrays_.push_back(
        {static_cast<int64_t>(count), static_cast<int64_t>(bytes)});
    at += static_cast<int64_t>(count * bytes);
  }
  if (at != size)
    return badIndexFile(path,
                        fmt::format("expected {} bytes, found {}", at, size));
  out = std::move(index);
  return Status::okay();
}

Status IndexFile::verify(const DataProgress &progress) const {
  constexpr int64_t most = int64_t{1} << 20;
  std::string block;
  Digest digest;
  int64_t first = headerBytes(arrays_.size()), size = file_.size();
  for (int64_t at = first; at < size; at += most) {
    if (progress &&
        !progress(static_cast<double>(at) / static_cast<double>(size)))
      return {StatusCode::interrupted,
              fmt::format("stopped while '{}' was checked", file_.path())};
    block.resize(static_cast<size_t>(std::min(most, size - at)));
    MTC_RETURN_IF_ERROR(
        file_.read(at, block.data(), static_cast<int64_t>(block.size())));
    digest.add(block);
  }
  return digest.text() == digest_
             ? Status::okay()
             : badIndexFile(file_.path(), "its data are damaged");
}

Status IndexFile::read(size_t array, int64_t first, int64_t count,
                       int64_t *out) const {
  const IndexArray &a = arrays_[array];
  if (first < 0 || count < 0 || count > a.count || first > a.count - count)
    return badIndexFile(file_.path(),
                        fmt::format("expected {} elements of array {} from {} "
                                    "on, which has {}",
                                    count, array, first, a.count));
  int64_t at = offsets_[array] + first * a.bytes;
  if (a.bytes == 8)
    return file_.read(at, out, 8 * count);
  // The narrow ones go to the end of the room of the wide ones.
  auto *narrow = reinterpret_cast<std::byte *>(out) + 4 * count;
  MTC_RETURN_IF_ERROR(file_.read(at, narrow, 4 * count));
  for (int64_t i = 0; i < count; ++i) {
    uint32_t value;
    std::memcpy(&value, narrow + 4 * i, 4);
    int64_t wide = value;
    std::memcpy(out + i, &wide, 8);
  }
  return Status::okay();
}

Status IndexFileWriter::create(const std::string &path, const std::string &key,
                               std::vector<IndexArray> arrays,
                               IndexFileWriter &out) {
  IndexFileWriter writer;
  MTC_RETURN_IF_ERROR(AtomicFile::create(path, writer.file_));
  writer.key_ = key;
  writer.at_ = headerBytes(arrays.size());
  int64_t all = writer.at_;
  for (const IndexArray &array : arrays)
    all += array.count * array.bytes;
  MTC_RETURN_IF_ERROR(writer.file_.reserve(all));
  writer.arrays_ = std::move(arrays);
  out = std::move(writer);
  return Status::okay();
}

void IndexFileWriter::put(uint64_t value) {
  while (array_ < arrays_.size() && inArray_ == arrays_[array_].count) {
    ++array_;
    inArray_ = 0;
  }
  if (array_ == arrays_.size())
    return void(array_ = arrays_.size() + 1); // one too many: commit says so
  ++inArray_;
  // Little-endian: the low bytes are the first.
  buffer_.append(reinterpret_cast<const char *>(&value),
                 static_cast<size_t>(arrays_[array_].bytes));
}

Status IndexFileWriter::flush() {
  digest_.add(buffer_);
  auto bytes = static_cast<int64_t>(buffer_.size());
  MTC_RETURN_IF_ERROR(file_.write(at_, buffer_.data(), bytes));
  at_ += bytes;
  buffer_.clear();
  return Status::okay();
}

Status IndexFileWriter::commit() {
  MTC_RETURN_IF_ERROR(flush());
  std::string head(kIndexFileMagic);
  putRaw(head, kIndexFileVersion);
  putRaw(head, static_cast<uint32_t>(arrays_.size()));
  head += key_ + digest_.text();
  int64_t all = headerBytes(arrays_.size());
  for (const IndexArray &array : arrays_) {
    putRaw(head, static_cast<uint64_t>(array.count));
    putRaw(head, static_cast<uint64_t>(array.bytes));
    all += array.count * array.bytes;
  }
  if (at_ != all || array_ > arrays_.size())
    return {StatusCode::internal,
            fmt::format("an index of {} bytes was to have {}", at_, all)};
  head += digestOf(head);
  MTC_RETURN_IF_ERROR(
      file_.write(0, head.data(), static_cast<int64_t>(head.size())));
  return file_.commit();
}

} // namespace mtc::runtime
