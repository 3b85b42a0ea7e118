//===- gpt_case_digests.cpp - indices of cases, for comparisons -----------===//
//
// gpt_case_digests FOLDER: reads a case from standard input, a line each
// (gpt_case.h), whose corpora lie in FOLDER, N, N+1 and so on by another
// program, and prints the digest. What IndexedWriter writes for the case must
// be the same files, byte for byte.
//
//===----------------------------------------------------------------------===//

#include "test/unit/data/gpt_case.h"

#include "test/unit/runtime/temporary_folder.h"

#include <fmt/format.h>

#include <iostream>

using namespace mtc::runtime;
using namespace mtc::runtime::test;

namespace {

/// "": the corpora in both folders have the same bytes.
std::string differing(const GptCase &c, const std::string &a,
                      const std::string &b) {
  for (size_t i = 0; i < c.corpora.size(); ++i)
    for (const char *end : {"bin", "idx"})
      if (readFile(fmt::format("{}/{}.{}", a, i, end)) !=
          readFile(fmt::format("{}/{}.{}", b, i, end)))
        return fmt::format("corpus {}.{} differs", i, end);
  return "";
}

std::string answerTo(const std::string &line, const std::string &folder) {
  GptCase c;
  if (!parseCase(line, c))
    return "no case";
  TemporaryFolder own;
  Status status = writeCorpora(c, own.path());
  if (std::string found = differing(c, own.path(), folder); !found.empty())
    return found;
  std::string digest;
  if (status.ok())
    status = digestOfCase(c, folder, digest);
  return status.ok() ? digest : status.message();
}

} // namespace

int main(int argc, char **argv) {
  std::string line;
  while (argc == 2 && std::getline(std::cin, line))
    std::cout << answerTo(line, argv[1]) << std::endl;
  return argc == 2 ? 0 : 2;
}
