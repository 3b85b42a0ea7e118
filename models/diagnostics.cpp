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

Parsed<std::string> readTextFile(const std::string &path) {
  constexpr std::uintmax_t limit = 1 << 20;
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return rejected(path, "expected a file, found a directory");
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return rejected(path,
                    fmt::format("cannot read the file: {}",
                                errno ? std::strerror(errno) : "open failed"));
  std::string text(limit + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad())
    return rejected(path, "cannot read the file: reading failed");
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > limit)
    return rejected(path,
                    "expected a file of at most 1 MiB, found a longer one");
  return {std::move(text), {}};
}

} // namespace mtc::models
