//===- validate_splits.cpp - may these axes split these sizes -------------===//

#include "models/validate_splits.h"

#include <numeric>

#include <fmt/format.h>

#include "models/kv_heads.h"
#include "models/nearest.h"

namespace mtc::models {

namespace {
struct SplitSize {
  LogicalAxis axis;
  std::string_view key;
  int64_t size;
};
} // namespace

static std::vector<SplitSize> splitSizes(const ModelSpec &spec) {
  bool isFused = spec.attention.qkv == QkvKind::fused;
  return {{LogicalAxis::seq, "max_seq", spec.maxSeq},
          {LogicalAxis::qkv, "qkv", isFused ? spec.queriesPerKvHead() + 2 : 0},
          {LogicalAxis::heads, "heads", spec.heads},
          {LogicalAxis::kvHeads, "kv_heads", spec.kvHeads},
          {LogicalAxis::headDim, "head_dim", spec.headDim},
          {LogicalAxis::embed, "hidden", spec.hidden},
          {LogicalAxis::ffn, "ffn", spec.ffn},
          {LogicalAxis::vocab, "padded_vocab", spec.paddedVocab}};
}

/// Whether the table or an override splits the axis over `mesh`, and so its
/// size has to allow it.
static bool splits(const ModelSpec &spec, const Strategy &strategy,
                   LogicalAxis axis, MeshAxis mesh) {
  bool isFree = axis == LogicalAxis::kvHeads && kvCopies(spec, strategy) > 1;
  if (strategy.shard.meshAxis(axis) == mesh && !isFree)
    return true;
  bool isShared = isFree && kvRanks(spec, strategy) > 1 &&
                  strategy.shard.meshAxis(LogicalAxis::heads) == mesh;
  for (const ShardOverride &override : strategy.overrides)
    for (auto [overridden, over] : override.axes)
      if (overridden == axis && over == mesh && !isShared)
        return true;
  return false;
}

static void checkSizes(const ModelSpec &spec, const Strategy &strategy,
                       MeshAxis mesh, int64_t ranks,
                       std::vector<Violation> &out) {
  int64_t common = 0;
  for (const SplitSize &split : splitSizes(spec))
    if (splits(spec, strategy, split.axis, mesh))
      common = std::gcd(common, split.size);
  std::string_view name = toString(mesh);
  for (const SplitSize &split : splitSizes(spec))
    if (splits(spec, strategy, split.axis, mesh) && split.size % ranks != 0)
      out.push_back(
          {fmt::format("{} % {} == 0", split.key, name),
           fmt::format("{} = {}, {} = {}", split.key, split.size, name, ranks),
           fmt::format("{} = {}", name,
                       joinOr(nearestDivisors(common, ranks)))});
}

/// Where heads are split over replicas these gather the samples' documents,
/// once for all layers: chunks would have to send them to their own stage.
static void checkDocuments(const ModelSpec &spec, const Strategy &strategy,
                           std::vector<Violation> &out) {
  if (!strategy.resetAttention || strategy.chunks == 1 ||
      strategy.mesh[MTC_AXIS_DP] == 1)
    return;
  for (LogicalAxis axis :
       {LogicalAxis::heads, LogicalAxis::kvHeads, LogicalAxis::headDim})
    if (splits(spec, strategy, axis, MeshAxis::dp)) {
      out.push_back({"one chunk a stage with reset_attention and heads over dp",
                     fmt::format("chunks = {}, reset_attention = true, {} over "
                                 "dp",
                                 strategy.chunks, toString(axis)),
                     fmt::format("chunks = 1, or {} over tp", toString(axis))});
      return;
    }
}

void checkSplits(const ModelSpec &spec, const Strategy &strategy,
                 std::vector<Violation> &out) {
  // Ranks along an axis that cuts in heads and tails have the same parameters,
  // and parts of the sequence that is trained (checkSequence), not of the
  // longest.
  for (const AxisInfo &axis : kAxes)
    if (axis.splits && !axis.headAndTail)
      checkSizes(spec, strategy, static_cast<MeshAxis>(axis.id),
                 strategy.mesh[axis.id], out);
  checkDocuments(spec, strategy, out);
}

} // namespace mtc::models
