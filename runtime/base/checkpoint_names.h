//===- checkpoint_names.h - names in a folder of checkpoints ----*- C++ -*-===//
//
//   DIR/step-00001000/rank00000.safetensors   what rank 0 had
//                     rank00000.sums          digests of it
//                     manifest.json           written last
//   DIR/step-00002000.tmp-1f3a...             not whole yet, or on its way out
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_BASE_CHECKPOINT_NAMES_H
#define MTC_RUNTIME_BASE_CHECKPOINT_NAMES_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mtc::runtime {

inline constexpr const char *kManifestFile = "manifest.json";

std::string stepFolder(int64_t step);
/// The step of such a name; none if it is another.
std::optional<int64_t> stepOfFolder(std::string_view name);

/// The name that the folder has until it is whole, and while it is removed.
/// `nonce` is the run's: what another one left is not mistaken for ours.
std::string temporaryFolder(int64_t step, std::string_view nonce);
bool isTemporaryFolder(std::string_view name);

std::string rankFile(int rank);
std::string sumsFile(int rank);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_CHECKPOINT_NAMES_H
