//===- kv_heads.cpp - ranks that share heads of keys and values -----------===//

#include "models/kv_heads.h"

#include <numeric>

namespace mtc::models {

int64_t kvCopies(const ModelSpec &spec, const Strategy &strategy) {
  MeshAxis over = strategy.shard.meshAxis(LogicalAxis::heads);
  if (over == MeshAxis::none)
    return 1;
  int64_t ranks = strategy.mesh[static_cast<MtcAxis>(over)];
  return ranks / std::gcd(ranks, spec.kvHeads);
}

int64_t kvRanks(const ModelSpec &spec, const Strategy &strategy) {
  int64_t copies = kvCopies(spec, strategy);
  MeshAxis over = strategy.shard.meshAxis(LogicalAxis::heads);
  bool isOneEach = copies > 1 && copies * spec.kvHeads ==
                                     strategy.mesh[static_cast<MtcAxis>(over)];
  bool isSplit = strategy.shard.meshAxis(LogicalAxis::kvHeads) == over;
  // The group kv is of ranks along tp.
  return isOneEach && isSplit && over == MeshAxis::tp ? copies : 1;
}

int64_t kvRanksOf(std::string_view parameter,
                  const std::vector<LogicalAxis> &axes, const ModelSpec &spec,
                  const Strategy &strategy) {
  auto own = strategy.meshAxes(parameter, axes);
  auto heads = own.find(LogicalAxis::kvHeads);
  if (own.contains(LogicalAxis::qkv)) // with queries, of which none are shared
    return 1;
  bool isSplit = heads != own.end() &&
                 heads->second == strategy.shard.meshAxis(LogicalAxis::heads);
  return isSplit ? kvRanks(spec, strategy) : 1;
}

bool slicesFused(const std::string &name, const ModelSpec &spec,
                 const Strategy &strategy) {
  if (spec.attention.qkv == QkvKind::separate || kvCopies(spec, strategy) == 1)
    return false;
  MeshAxis heads = strategy.shard.meshAxis(LogicalAxis::heads);
  for (const char *part : {".weight", ".bias"})
    for (auto [axis, mesh] : strategy.meshAxes(
             name + part, {LogicalAxis::embed, LogicalAxis::kvHeads,
                           LogicalAxis::qkv, LogicalAxis::headDim}))
      if (mesh != (axis == LogicalAxis::kvHeads ? heads : MeshAxis::none))
        return false;
  return true;
}

} // namespace mtc::models
