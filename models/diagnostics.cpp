//===- diagnostics.cpp - what is wrong with an input ----------------------===//

#include "models/diagnostics.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

namespace mtc::models {

std::string render(const Diagnostic &diagnostic) {
  std::string text = diagnostic.where;
  if (diagnostic.line > 0)
    text += fmt::format(":{}", diagnostic.line);
  if (!text.empty())
    text += ": ";
  return text + diagnostic.message;
}

std::string render(const Diagnostics &diagnostics) {
  std::string text;
  for (const Diagnostic &diagnostic : diagnostics)
    text += render(diagnostic) + "\n";
  return text;
}

int exitCode(const Diagnostics &diagnostics) {
  for (ErrorClass errorClass :
       {ErrorClass::inputRejected, ErrorClass::usage, ErrorClass::infeasible})
    for (const Diagnostic &diagnostic : diagnostics)
      if (diagnostic.errorClass == errorClass)
        return static_cast<int>(errorClass);
  return 0;
}

void sortByLine(Diagnostics &diagnostics) {
  std::stable_sort(
      diagnostics.begin(), diagnostics.end(),
      [](const Diagnostic &a, const Diagnostic &b) { return a.line < b.line; });
}

static Parsed<std::string> rejected(const std::string &path,
                                    const std::string &why) {
  return {{}, {{ErrorClass::inputRejected, path, 0, why}}};
}

std::string specialKind(const std::string &path) {
  std::error_code error;
  std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status) ||
      std::filesystem::is_regular_file(status))
    return "";
  return std::filesystem::is_directory(status) ? "a folder"
         : std::filesystem::is_fifo(status)    ? "a pipe (FIFO)"
                                               : "a device";
}

/// In pieces: what a file says of its size need not hold, and `most` is far
/// more than nearly all have.
static std::string readAtMost(std::istream &stream, std::size_t most) {
  constexpr std::size_t kPiece = 64 << 10;
  std::string text;
  while (stream && text.size() < most) {
    const std::size_t size = text.size();
    text.resize(size + std::min(kPiece, most - size));
    stream.read(text.data() + size,
                static_cast<std::streamsize>(text.size() - size));
    text.resize(size + static_cast<std::size_t>(stream.gcount()));
  }
  return text;
}

Parsed<std::string> readTextFile(const std::string &path, int64_t mebibytes) {
  const auto limit = static_cast<std::size_t>(mebibytes) << 20;
  if (std::string kind = specialKind(path); !kind.empty())
    return rejected(path, "expected a regular file, found " + kind);
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return rejected(path,
                    fmt::format("cannot read the file: {}",
                                errno ? std::strerror(errno) : "open failed"));
  std::string text = readAtMost(stream, limit + 1);
  if (stream.bad())
    return rejected(path, "cannot read the file: reading failed");
  if (text.size() > limit)
    return rejected(path,
                    fmt::format("expected a file of at most {} MiB, found a "
                                "longer one",
                                mebibytes));
  return {std::move(text), {}};
}

} // namespace mtc::models
