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

/// A dimension of a parameter that a mesh axis splits.
struct Cut {
  models::LogicalAxis axis;
  models::MeshAxis mesh;
  auto operator<=>(const Cut &) const = default;
};

std::vector<Cut> cutsOf(const models::Strategy &strategy,
                        const std::string &name, const Parameter &own) {
  std::vector<Cut> cuts;
  std::map<models::LogicalAxis, models::MeshAxis> over =
      strategy.meshAxes(name, own.axes);
  for (models::LogicalAxis axis : own.axes)
    if (models::MeshAxis mesh = over.at(axis);
        mesh != models::MeshAxis::none &&
        strategy.mesh[static_cast<MtcAxis>(mesh)] > 1)
      cuts.push_back({axis, mesh});
  return cuts;
}

/// Of the second cut of a parameter what is wrong beside the first.
std::string clashOf(const Cut &one, const Cut &other) {
  if (one.mesh == other.mesh)
    return fmt::format("one dimension of a parameter over {}, found {} and {}",
                       toString(one.mesh), toString(one.axis),
                       toString(other.axis));
  return fmt::format("one mesh axis that splits a parameter, found {} ({}) and "
                     "{} ({})",
                     toString(one.mesh), toString(one.axis),
                     toString(other.mesh), toString(other.axis));
}

std::string andMore(const std::vector<std::string> &names) {
  return fmt::format(
      "'{}'{}", names.front(),
      names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : "");
}

/// Parameters with the same two dimensions are named together.
void checkClashes(const models::Strategy &strategy,
                  const Parameters &parameters, Problems &problems) {
  std::map<std::pair<Cut, Cut>, std::vector<std::string>> clashes;
  for (const auto &[name, own] : parameters) {
    std::vector<Cut> cuts = cutsOf(strategy, name, own);
    for (size_t i = 1; i < cuts.size(); ++i)
      clashes[{cuts[0], cuts[i]}].push_back(name);
  }
  for (const auto &[clash, names] : clashes)
    problems.demand(
        false,
        fmt::format("expected {} of {}; nearest: shard.{} = none, or an "
                    "override of these parameters that names one of them",
                    clashOf(clash.first, clash.second), andMore(names),
                    toString(clash.second.axis)));
}

/// Values between the parameters of a module have their logical axes, of which
/// one mesh axis splits each. Heads of keys are among those of queries.
void checkModules(const models::Strategy &strategy,
                  const Parameters &parameters, Problems &problems) {
  struct First {
    models::MeshAxis mesh;
    const std::string &name;
  };
  std::map<std::pair<std::string, models::LogicalAxis>, First> seen;
  std::map<std::string, std::vector<std::string>> clashes;
  for (const auto &[name, own] : parameters)
    for (const Cut &cut : cutsOf(strategy, name, own)) {
      std::string module = name.substr(0, name.rfind('.'));
      module.resize(std::min(module.rfind('.'), module.size()));
      models::LogicalAxis axis = cut.axis == models::LogicalAxis::kvHeads
                                     ? models::LogicalAxis::heads
                                     : cut.axis;
      auto [first, isNew] = seen.try_emplace({module, axis}, cut.mesh, name);
      if (!isNew && first->second.mesh != cut.mesh)
        clashes[fmt::format("{} ('{}') and {}", toString(first->second.mesh),
                            first->second.name, toString(cut.mesh))]
            .push_back(name);
    }
  for (const auto &[clash, names] : clashes)
    problems.demand(
        false, fmt::format("expected one mesh axis that splits a logical axis "
                           "of a module, found {} ({}); nearest: an override "
                           "of all parameters of the module",
                           clash, andMore(names)));
}

} // namespace

Status checkSplits(mlir::ModuleOp module, const models::Strategy &strategy) {
  Problems problems(StatusCode::infeasible);
  Parameters parameters = parametersOf(module);
  for (const models::ShardOverride &override : strategy.overrides)
    checkOverride(override, parameters, problems);
  checkClashes(strategy, parameters, problems);
  checkModules(strategy, parameters, problems);
  return problems.status();
}

} // namespace mtc::compiler
