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

} // namespace mtc::models
