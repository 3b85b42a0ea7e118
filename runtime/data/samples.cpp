//===- samples.cpp - samples of tokens by their number --------------------===//

#include "runtime/data/samples.h"

#include <fmt/format.h>

namespace mtc::runtime {

Status rejectionOf(const BadTokens &bad, const std::string &file, int64_t vocab,
                   const char *help) {
  if (bad.count == 0)
    return Status::okay();
  std::string more =
      bad.count > 1 ? fmt::format(" and {} more", bad.count - 1) : "";
  return {StatusCode::inputRejected,
          fmt::format("token file '{}': expected tokens from 0 to {} "
                      "(vocabulary size {}), found {} at position {}{}; check "
                      "{}",
                      file, vocab - 1, vocab, bad.value, bad.position, more,
                      help)};
}

} // namespace mtc::runtime
