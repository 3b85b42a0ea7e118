//===- unsupported.cpp - what cannot be compiled yet ----------------------===//
//
// The formats are ahead of the compiler. Each row leaves this file when its
// mathematics is built.
//
//===----------------------------------------------------------------------===//

#include <fmt/format.h>

#include "models/spec.h"
#include "models/strategy.h"

namespace mtc::models {

std::vector<std::string> unsupported(const ModelSpec &spec) {
  std::vector<std::string> sentences;
  auto reject = [&](bool found, const char *what, const char *instead) {
    if (found)
      sentences.push_back(
          fmt::format("{} cannot be compiled yet; use {}", what, instead));
  };
  reject(spec.norm.placement != NormPlacement::pre, "norm.placement = \"post\"",
         "\"pre\"");
  reject(spec.mlp.kind == MlpKind::geluErf, "mlp.kind = \"gelu_erf\"",
         "\"gelu\"");
  reject(spec.mlp.kind == MlpKind::relu, "mlp.kind = \"relu\"", "\"gelu\"");
  reject(spec.mlp.kind == MlpKind::swiglu, "mlp.kind = \"swiglu\"", "\"gelu\"");
  reject(spec.mlp.kind == MlpKind::geglu, "mlp.kind = \"geglu\"", "\"gelu\"");
  reject(!spec.mlp.bias, "mlp.bias = false", "true");
  reject(!spec.attention.bias, "attention.bias = false", "true");
  reject(!spec.attention.causal, "attention.causal = false", "true");
  reject(spec.positions == PositionKind::rope, "positions = \"rope\"",
         "\"learned\"");
  reject(spec.positions == PositionKind::none, "positions = \"none\"",
         "\"learned\"");
  reject(spec.kvHeads != spec.heads,
         "kv_heads different from heads (grouped queries)",
         "kv_heads equal to heads");
  return sentences;
}

std::vector<std::string> unsupported(const Strategy &strategy) {
  std::vector<std::string> sentences;
  auto check = [&](bool isBuilt, LogicalAxis axis, MeshAxis mesh,
                   const std::string &where) {
    if (!isBuilt)
      sentences.push_back(fmt::format(
          "{}: splitting '{}' over '{}' cannot be compiled yet; use \"{}\"",
          where, toString(axis), toString(mesh),
          toString(ShardRules().meshAxis(axis))));
  };
  for (LogicalAxis axis : allLogicalAxes()) {
    MeshAxis mesh = strategy.shard.meshAxis(axis);
    check(ShardRules::buildable(axis, mesh), axis, mesh, "shard");
  }
  for (const ShardOverride &override : strategy.overrides)
    for (auto [axis, mesh] : override.axes)
      check(ShardRules::buildableOfParameters(axis, mesh), axis, mesh,
            fmt::format("override '{}'", override.pattern));
  return sentences;
}

} // namespace mtc::models
