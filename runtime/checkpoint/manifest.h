//===- manifest.h - what a checkpoint says of itself ------------*- C++ -*-===//
//
// The file that makes a checkpoint whole: it is written last, names all others
// with their digests, and has its own.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CHECKPOINT_MANIFEST_H
#define MTC_RUNTIME_CHECKPOINT_MANIFEST_H

#include "runtime/base/status.h"
#include "runtime/checkpoint/run_position.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// What the order of samples followed from, by the tokens of one, and then by
/// name: that in which each length was read last.
using SampleOrders = std::map<std::string, std::map<std::string, std::string>>;

struct Manifest {
  /// 1 had no skipped steps, 1 and 2 no name of the optimizer.
  static constexpr int kVersion = 3;

  RunPosition position;
  std::string model, planHash;
  std::string optimizer; ///< whose states it has, as strategies name it
  /// For people and for comparisons: how the run was told to train, by keys of
  /// recipes, and the mesh that it ran on.
  std::map<std::string, std::string> recipe;
  std::string mesh;
  SampleOrders orders; ///< empty: older runs did not say
  /// By rank: the digest of its file of sums.
  std::vector<std::string> sums;
  /// Shapes of all tensors, by name.
  std::map<std::string, std::vector<int64_t>> tensors;
};

/// Of all tensors.
int64_t elementsOf(const Manifest &manifest);

/// JSON that ends with the digest of itself.
std::string textOf(const Manifest &manifest);
/// Errors: inputRejected: another digest than the text's, a newer version, all
/// fields that are missing or of another type.
Status parseManifest(std::string_view text, const std::string &path,
                     Manifest &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CHECKPOINT_MANIFEST_H
