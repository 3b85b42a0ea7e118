//===- splits.cpp - does a strategy fit the parameters --------------------===//

#include "compiler/splits.h"

#include "compiler/problems.h"
#include "dialects/tfm/Tfm.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <map>
#include <set>

#include <fmt/ranges.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

struct Parameter {
  std::vector<models::LogicalAxis> axes; ///< by dimension
  bool isFactor = false;                 ///< of a product
};
/// By name. Of slices it is the tensor, which a strategy names.
using Parameters = std::map<std::string, Parameter>;

/// Whether a product reads it: as it is stored, in the type of the product, or
/// with heads that are repeated for the ranks.
bool isFactor(mlir::Value value) {
  return llvm::any_of(value.getUsers(), [](mlir::Operation *user) {
    return mlir::isa<tfm::EinsumOp>(user) ||
           (mlir::isa<tfm::CastOp, tfm::RepeatOp>(user) &&
            isFactor(user->getResult(0)));
  });
}

Parameters parametersOf(mlir::ModuleOp module) {
  Parameters found;
  module.walk([&](mlir::FunctionOpInterface function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto param =
              function.getArgAttrOfType<tfm::ParamAttr>(i, "tfm.param")) {
        tfm::SliceAttr slice = param.getSlice();
        auto [it, isNew] =
            found.try_emplace((slice ? slice.getOf() : param.getName()).str());
        Parameter &own = it->second;
        mlir::ArrayAttr axes = slice ? slice.getAxes() : param.getAxes();
        for (auto name : axes.getAsRange<mlir::StringAttr>())
          for (models::LogicalAxis axis : models::allLogicalAxes())
            if (isNew && toString(axis) == std::string_view(name.getValue()))
              own.axes.push_back(axis);
        own.isFactor = isFactor(function.getArgument(i));
      }
  });
  return found;
}

/// An override of which no parameter has the name, or none of them an axis, is
/// a typing error.
void checkOverride(const models::ShardOverride &override,
                   const Parameters &parameters, Problems &problems) {
  std::set<std::string_view> axes;
  std::string last;
  bool hasFactor = false;
  for (const auto &[name, own] : parameters)
    if (models::matches(override.pattern, name)) {
      for (models::LogicalAxis axis : own.axes)
        axes.insert(toString(axis));
      hasFactor |= own.isFactor;
      last = name;
    }
  problems.demand(
      !last.empty(),
      fmt::format("override '{}': expected a pattern that a "
                  "parameter has, such as '{}', found none that "
                  "matches",
                  override.pattern,
                  parameters.empty() ? "*" : parameters.rbegin()->first));
  if (last.empty())
    return;
  problems.demand(hasFactor || !override.gatherOutput,
                  fmt::format("override '{}': expected gather_output of "
                              "weights that something is multiplied by, found "
                              "none that matches",
                              override.pattern));
  for (auto [axis, mesh] : override.axes)
    problems.demand(axes.count(toString(axis)),
                    fmt::format("override '{}': expected axes of parameters "
                                "that match, such as '{}' ({}), found '{}'",
                                override.pattern, last, fmt::join(axes, ", "),
                                toString(axis)));
}

/// Two dimensions that one mesh axis would split.
struct Clash {
  std::string_view mesh, one, other;
  auto operator<=>(const Clash &) const = default;
};

/// Parameters with the same two dimensions are named together.
void checkClashes(const models::Strategy &strategy,
                  const Parameters &parameters, Problems &problems) {
  std::map<Clash, std::vector<std::string>> clashes;
  for (const auto &[name, own] : parameters) {
    std::map<models::MeshAxis, std::string_view> taken;
    std::map<models::LogicalAxis, models::MeshAxis> over =
        strategy.meshAxes(name, own.axes);
    for (models::LogicalAxis axis : own.axes) {
      models::MeshAxis mesh = over.at(axis);
      if (mesh == models::MeshAxis::none ||
          strategy.mesh[static_cast<MtcAxis>(mesh)] == 1)
        continue;
      auto [first, isNew] = taken.try_emplace(mesh, toString(axis));
      if (!isNew)
        clashes[{toString(mesh), first->second, toString(axis)}].push_back(
            name);
    }
  }
  for (const auto &[clash, names] : clashes)
    problems.demand(
        false,
        fmt::format(
            "expected one dimension of a parameter over {}, found {} and {} "
            "of '{}'{}; nearest: shard.{} = none, or an override of these "
            "parameters that names one of them",
            clash.mesh, clash.one, clash.other, names.front(),
            names.size() > 1 ? fmt::format(" and {} more", names.size() - 1)
                             : "",
            clash.other));
}

} // namespace

Status checkSplits(mlir::ModuleOp module, const models::Strategy &strategy) {
  Problems problems(StatusCode::infeasible);
  Parameters parameters = parametersOf(module);
  for (const models::ShardOverride &override : strategy.overrides)
    checkOverride(override, parameters, problems);
  checkClashes(strategy, parameters, problems);
  return problems.status();
}

} // namespace mtc::compiler
