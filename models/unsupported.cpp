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

std::vector<Unbuilt> unsupported(const ModelSpec &spec) {
  std::vector<Unbuilt> found;
  auto rejectValue = [&](bool isChosen, const char *key, const char *value,
                         const char *instead) {
    if (isChosen)
      found.push_back(
          {key, fmt::format("{} = {} cannot be compiled yet; use {}", key,
                            value, instead)});
  };
  rejectValue(spec.norm.placement != NormPlacement::pre, "norm.placement",
              "\"post\"", "\"pre\"");
  rejectValue(spec.mlp.kind == MlpKind::geluErf, "mlp.kind", "\"gelu_erf\"",
              "\"gelu\"");
  rejectValue(spec.mlp.kind == MlpKind::relu, "mlp.kind", "\"relu\"",
              "\"gelu\"");
  rejectValue(spec.mlp.kind == MlpKind::swiglu, "mlp.kind", "\"swiglu\"",
              "\"gelu\"");
  rejectValue(spec.mlp.kind == MlpKind::geglu, "mlp.kind", "\"geglu\"",
              "\"gelu\"");
  rejectValue(!spec.mlp.bias, "mlp.bias", "false", "true");
  rejectValue(!spec.attention.bias, "attention.bias", "false", "true");
  rejectValue(!spec.attention.causal, "attention.causal", "false", "true");
  rejectValue(spec.positions == PositionKind::rope, "positions", "\"rope\"",
              "\"learned\"");
  rejectValue(spec.positions == PositionKind::none, "positions", "\"none\"",
              "\"learned\"");
  return found;
}

std::vector<Unbuilt> unsupported(const Strategy &strategy) {
  std::vector<Unbuilt> found;
  auto check = [&](bool (*buildable)(LogicalAxis, MeshAxis), LogicalAxis axis,
                   MeshAxis mesh, const std::string &key,
                   const std::string &where) {
    if (buildable(axis, mesh))
      return;
    // That of a new strategy: of batch and seq it is for inputs alone.
    MeshAxis instead = ShardRules().meshAxis(axis);
    if (!buildable(axis, instead))
      instead = MeshAxis::none;
    found.push_back(
        {key, fmt::format("{}: splitting '{}' over '{}' cannot be compiled "
                          "yet; use \"{}\"",
                          where, toString(axis), toString(mesh),
                          toString(instead))});
  };
  for (LogicalAxis axis : allLogicalAxes()) {
    MeshAxis mesh = strategy.shard.meshAxis(axis);
    check(ShardRules::buildable, axis, mesh,
          fmt::format("shard.{}", toString(axis)), "shard");
  }
  for (const ShardOverride &override : strategy.overrides)
    for (auto [axis, mesh] : override.axes)
      check(ShardRules::buildableOfParameters, axis, mesh, "override",
            fmt::format("override '{}'", override.pattern));
  return found;
}

} // namespace mtc::models
