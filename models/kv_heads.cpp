//===- kv_heads.cpp - ranks that share heads of keys and values -----------===//

#include "models/kv_heads.h"

#include <numeric>

namespace mtc::models {

bool kvHeadsFollow(const ModelSpec &spec, const Strategy &strategy) {
  return spec.attention.qkv == QkvKind::separate &&
         strategy.shard.meshAxis(LogicalAxis::heads) != MeshAxis::none;
}

int64_t kvCopies(const ModelSpec &spec, const Strategy &strategy) {
  if (!kvHeadsFollow(spec, strategy))
    return 1;
  MeshAxis over = strategy.shard.meshAxis(LogicalAxis::heads);
  int64_t ranks = strategy.mesh[static_cast<MtcAxis>(over)];
  return ranks / std::gcd(ranks, spec.kvHeads);
}

int64_t kvRanks(const ModelSpec &spec, const Strategy &strategy) {
  int64_t copies = kvCopies(spec, strategy);
  MeshAxis over = strategy.shard.meshAxis(LogicalAxis::heads);
  bool isOneEach = copies > 1 && copies * spec.kvHeads ==
                                     strategy.mesh[static_cast<MtcAxis>(over)];
  bool isSplit = strategy.shard.meshAxis(LogicalAxis::kvHeads) == over;
  return isOneEach && isSplit ? copies : 1;
}

int64_t kvRanksOf(std::string_view parameter,
                  const std::vector<LogicalAxis> &axes, const ModelSpec &spec,
                  const Strategy &strategy) {
  auto own = strategy.meshAxes(parameter, axes);
  auto heads = own.find(LogicalAxis::kvHeads);
  bool isSplit = heads != own.end() &&
                 heads->second == strategy.shard.meshAxis(LogicalAxis::heads);
  return isSplit ? kvRanks(spec, strategy) : 1;
}

} // namespace mtc::models
