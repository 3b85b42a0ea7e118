//===- checkpoint_names.cpp - names in a folder of checkpoints ------------===//

#include "runtime/base/checkpoint_names.h"

#include <fmt/format.h>

#include <charconv>

namespace mtc::runtime {

static constexpr std::string_view kStepPrefix = "step-";
static constexpr std::string_view kTemporaryMark = ".tmp-";

std::string stepFolder(int64_t step) {
  return fmt::format("{}{:08}", kStepPrefix, step);
}

std::optional<int64_t> stepOfFolder(std::string_view name) {
  if (!name.starts_with(kStepPrefix))
    return std::nullopt;
  int64_t step = -1;
  const char *end = name.data() + name.size();
  auto [rest, error] =
      std::from_chars(name.data() + kStepPrefix.size(), end, step);
  // Of each step one name only.
  if (error != std::errc() || rest != end || step < 0 ||
      name != stepFolder(step))
    return std::nullopt;
  return step;
}

std::string temporaryFolder(int64_t step, std::string_view nonce) {
  return fmt::format("{}{}{}", stepFolder(step), kTemporaryMark, nonce);
}

bool isTemporaryFolder(std::string_view name) {
  size_t at = name.find(kTemporaryMark);
  return at != std::string_view::npos && stepOfFolder(name.substr(0, at));
}

std::string rankFile(int rank) {
  return fmt::format("rank{:05}.safetensors", rank);
}

std::string sumsFile(int rank) { return fmt::format("rank{:05}.sums", rank); }

} // namespace mtc::runtime
