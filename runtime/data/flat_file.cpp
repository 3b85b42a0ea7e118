//===- flat_file.cpp - files of tokens without documents ------------------===//

#include "runtime/data/flat_file.h"

#include <fmt/format.h>

#include <array>

namespace mtc::runtime {
namespace {

/// llm.c's header: 256 numbers of 32 bits, the first of which are magic,
/// version and number of tokens (llmc/dataloader.h).
constexpr int64_t kLlmcHeaderBytes = 256 * 4;

struct LlmcKind {
  int32_t magic, version;
  TokenType type;
};
constexpr LlmcKind kLlmcKinds[] = {{20240520, 1, TokenType::u16},
                                   {20240801, 7, TokenType::u32}};

struct LlmcOther {
  int32_t magic;
  const char *what;
};
constexpr LlmcOther kLlmcOthers[] = {
    {20240522, "an evaluation of llm.c with choices, not a row of tokens"},
    {20240326, "a model of llm.c, not tokens"}};

Status badFlatFile(const std::string &path, const std::string &what) {
  return {StatusCode::inputRejected,
          fmt::format("token file '{}': {}", path, what)};
}

Status readLlmcHeader(const LlmcKind &kind,
                      const std::array<int32_t, 3> &header, int64_t size,
                      FlatTokens &out) {
  out.type = kind.type;
  out.firstByte = kLlmcHeaderBytes;
  out.count = header[2];
  int64_t expected = kLlmcHeaderBytes + out.count * out.tokenBytes();
  if (header[1] != kind.version)
    return badFlatFile(out.path,
                       fmt::format("version in llm.c's header: expected {}, "
                                   "found {}",
                                   kind.version, header[1]));
  if (out.count < 1)
    return badFlatFile(out.path, fmt::format("number of tokens in llm.c's "
                                             "header: expected 1 or more, "
                                             "found {}",
                                             out.count));
  if (size != expected)
    return badFlatFile(
        out.path,
        fmt::format("expected {} bytes, a header of llm.c and {} "
                    "tokens of {} as it says, found {} bytes",
                    expected, out.count, infoOf(out.type).name, size));
  return Status::okay();
}

} // namespace

Status lookAtFlatFile(const std::string &path, TokenType rawType,
                      FlatTokens &out) {
  InputFile file;
  MTC_RETURN_IF_ERROR(InputFile::open(path, file));
  FlatTokens tokens{path, rawType};
  if (file.size() >= 12) {
    std::array<int32_t, 3> header;
    MTC_RETURN_IF_ERROR(file.read(0, header.data(), 12));
    for (const LlmcOther &other : kLlmcOthers)
      if (header[0] == other.magic && file.size() >= kLlmcHeaderBytes)
        return badFlatFile(path, fmt::format("it is {}", other.what));
    for (const LlmcKind &kind : kLlmcKinds)
      if (header[0] == kind.magic) {
        MTC_RETURN_IF_ERROR(readLlmcHeader(kind, header, file.size(), tokens));
        out = std::move(tokens);
        return Status::okay();
      }
  }
  if (file.size() % tokens.tokenBytes() != 0)
    return badFlatFile(path,
                       fmt::format("has {} bytes, no multiple of the {} bytes "
                                   "of a {} token; check --data-type",
                                   file.size(), tokens.tokenBytes(),
                                   infoOf(rawType).name));
  tokens.count = file.size() / tokens.tokenBytes();
  out = std::move(tokens);
  return Status::okay();
}

} // namespace mtc::runtime
