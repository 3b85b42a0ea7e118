//===- BucketLayout.h - parameters in flat buckets --------------*- C++ -*-===//
//
// Megatron's layout of gradient buffers (megatron/core/optimizer and
// distributed): parameters in reverse model order, so that gradients that are
// ready first lie first. Gradients that are partial over the same groups lie in
// buckets of their own, so that one collective per bucket and group sums them;
// under ZeRO-2 so do those that one fragment makes, at whose end they are
// summed; and parameters of one type, which one all-gather moves.
//
//   | d       pad| c  pad || b          pad || a  pad |      || bucket end
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_PLAN_BUCKETLAYOUT_H
#define MTC_PASSES_PLAN_BUCKETLAYOUT_H

#include "mtc/runtime/mesh.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::passes {

struct LayoutParam {
  std::string name;
  int64_t elements = 0;
  bool shared = false; ///< tied across uses: a bucket of its own
  /// The groups whose ranks have parts of its gradient until the end of the
  /// step, in the order of their sums: the same for all parameters of a bucket.
  std::vector<MtcGroup> partial = {};
  /// The fragment that makes its gradient, where buckets are not to mix
  /// fragments: the same for all parameters of a bucket.
  int64_t fragment = 0;
  /// In which it is stored: the same for all parameters of a bucket.
  MtcDtype dtype = MTC_F32;
};
struct LayoutOptions {
  int64_t dp = 1;
  int64_t bucketSize = 0; ///< elements; a bucket closes at this size
  bool zero = false;      ///< align starts to 64, pad ends to lcm(dp, 128)
  bool dense = false;     ///< with zero: align no start, pad ends to dp
};
struct PlacedParam {
  std::string name;
  int64_t start = 0, end = 0; ///< elements in the whole buffer
  int64_t bucket = 0;
};
struct PlacedBucket {
  int64_t start = 0, end = 0; ///< elements in the whole buffer, end padded
  int64_t unpadded = 0;       ///< elements up to the end of the last parameter
  MtcDtype dtype = MTC_F32;   ///< of its parameters
};
struct BucketLayout {
  std::vector<PlacedParam> params; ///< in layout order
  std::vector<PlacedBucket> buckets;
};

/// Lays out `params` (given in model order) by their types, f32 first; of one
/// type first those that are partial over nothing, then the others by their
/// groups; of these the later fragments first. Pure.
BucketLayout layOutBuckets(const std::vector<LayoutParam> &params,
                           const LayoutOptions &options);

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_BUCKETLAYOUT_H
