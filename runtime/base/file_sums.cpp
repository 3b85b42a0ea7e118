//===- file_sums.cpp - digests of a file, chunk by chunk ------------------===//

#include "runtime/base/file_sums.h"

#include "runtime/base/file.h"
#include "runtime/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace mtc::runtime {

void SumsOfWrites::add(std::string_view bytes) {
  while (!bytes.empty()) {
    auto room = static_cast<size_t>(kSumChunk - sums_.bytes % kSumChunk);
    std::string_view part = bytes.substr(0, room);
    digest_.add(part);
    sums_.bytes += static_cast<int64_t>(part.size());
    bytes.remove_prefix(part.size());
    if (sums_.bytes % kSumChunk == 0)
      endChunk();
  }
}

void SumsOfWrites::endChunk() {
  sums_.digests.push_back(digest_.text());
  digest_ = Digest();
}

FileSums SumsOfWrites::finish() {
  if (sums_.bytes % kSumChunk != 0)
    endChunk();
  return std::exchange(sums_, FileSums());
}

std::string textOf(const FileSums &sums) {
  return Json({{"bytes", sums.bytes},
               {"chunk", kSumChunk},
               {"xxh3_128", sums.digests}})
             .dump(1) +
         "\n";
}

Status parseSums(std::string_view text, const std::string &path,
                 FileSums &out) {
  Json json;
  MTC_RETURN_IF_ERROR(parseJson(text, "'" + path + "'", json));
  Problems problems;
  FieldReader reader(json, "", problems);
  FileSums sums;
  sums.bytes = reader.integer("bytes", 0, INT64_MAX);
  reader.integer("chunk", kSumChunk, kSumChunk);
  sums.digests = reader.texts("xxh3_128");
  int64_t expected = sums.bytes / kSumChunk + (sums.bytes % kSumChunk != 0);
  if (problems.empty() && static_cast<int64_t>(sums.digests.size()) != expected)
    problems.add(fmt::format("expected a digest of each of {} chunks, found {}",
                             expected, sums.digests.size()));
  MTC_RETURN_IF_ERROR(problems.status("'" + path + "'"));
  out = std::move(sums);
  return Status::okay();
}

Status checkSums(const std::string &path, const FileSums &sums) {
  InputFile file;
  MTC_RETURN_IF_ERROR(InputFile::open(path, file));
  if (file.size() != sums.bytes)
    return {StatusCode::inputRejected,
            fmt::format("'{}': expected {} bytes, found {}", path, sums.bytes,
                        file.size())};
  std::string chunk;
  for (int64_t at = 0; at < sums.bytes; at += kSumChunk) {
    chunk.resize(static_cast<size_t>(std::min(kSumChunk, sums.bytes - at)));
    auto bytes = static_cast<int64_t>(chunk.size());
    MTC_RETURN_IF_ERROR(file.read(at, chunk.data(), bytes));
    if (digestOf(chunk) != sums.digests[static_cast<size_t>(at / kSumChunk)])
      return {StatusCode::inputRejected,
              fmt::format("'{}': bytes {} to {} are not those that were "
                          "written (another digest)",
                          path, at, at + bytes - 1)};
  }
  return Status::okay();
}

} // namespace mtc::runtime
