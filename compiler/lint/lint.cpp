//===- lint.cpp - what is wrong with a strategy, and what would do --------===//

#include "compiler/lint/lint.h"

#include "compiler/descriptor.h"
#include "compiler/front.h"
#include "compiler/least_recompute.h"
#include "compiler/lint/fit.h"
#include "compiler/lint/rules.h"
#include "compiler/lint/text.h"
#include "compiler/memory_limit.h"
#include "compiler/plan_strategy.h"
#include "compiler/report.h"
#include "compiler/schedules.h"
#include "models/without_effect.h"

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostRepairs = 3;

/// One run of lint: what it reads, and what it has to say so far.
class Linter {
public:
  Linter(const LintOptions &options, Json &json)
      : options(options), json(json), keys(scheduleNames()) {}

  Status run() {
    MTC_RETURN_IF_ERROR(readAll());
    StrategyRules rules(spec, options.ranks);
    MTC_RETURN_IF_ERROR(say(rules.unreadable(strategy)));
    MTC_RETURN_IF_ERROR(checkRules(rules));
    json["notes"] = models::choicesWithoutEffect(strategy);
    BundlePlan plan;
    MTC_RETURN_IF_ERROR(planAll(rules, plan));
    Status fits = checkMemory(plan);
    if (plan.config.deviceMemory)
      json["fits"] = fits.ok();
    if (!fits.ok())
      search(rules, plan);
    return fits;
  }

private:
  Status readAll() {
    json["errors"] = Json::array();
    return say(readFiles(options.inputs, spec, strategy));
  }

  /// What keeps lint from looking at rules.
  Status say(const models::Diagnostics &errors) {
    for (const models::Diagnostic &error : errors)
      json["errors"].push_back({{"where", error.where},
                                {"line", error.line},
                                {"message", error.message}});
    return toStatus(errors);
  }

  models::RepairSearch repairsOf(const StrategyRules &rules) {
    std::vector<std::string> fixed = {"device_memory"}; // the device's
    std::string replicas(axisName(MTC_AXIS_DP));
    if (options.ranks && !strategy.given.contains(replicas))
      fixed.push_back(replicas); // they follow from the ranks
    return {spec, keys, rules.layers(), fixed, budget};
  }

  Status checkRules(const StrategyRules &rules) {
    models::RepairSearch search = repairsOf(rules);
    strategy = rules.onRanks(strategy);
    std::vector<models::Violation> broken = search.broken(strategy);
    json["model"] = spec.name;
    json["ranks"] = options.ranks.value_or(strategy.mesh.worldSize());
    json["mesh"] = describeMesh(strategy.mesh);
    json["violations"] = Json::array();
    if (broken.empty())
      return Status::okay();
    std::vector<models::Remedies> remedies = search.remedies(strategy);
    for (size_t i = 0; i < broken.size(); ++i)
      json["violations"].push_back({{"rule", broken[i].rule},
                                    {"found", broken[i].found},
                                    {"nearest", broken[i].nearest},
                                    {"holds_with", toJson(remedies[i])}});
    json["nearest"] = Json::array();
    for (const models::Changes &changes :
         search.repairs(strategy, kMostRepairs))
      json["nearest"].push_back(
          {{"changes", toJson(changes)}, {"options", toOptions(changes)}});
    json["search"] = {{"checks", budget.used},
                      {"limit", budget.limit},
                      {"ended_early", budget.isSpent()}};
    return {StatusCode::infeasible, violationText(broken, remedies, json)};
  }

  PlanRequest request(bool verify) const {
    return {options.inputs.isa, options.inputs.threads, verify};
  }

  Status planAll(const StrategyRules &rules, BundlePlan &plan) {
    models::Strategy resolved = rules.resolved(strategy);
    MTC_RETURN_IF_ERROR(chooseRecompute(
        spec, resolved, request(/*verify=*/false), options.inputs.progress));
    strategy.recompute = resolved.recompute;
    strategy.splitSaved = resolved.splitSaved;
    MTC_RETURN_IF_ERROR(
        planStrategy(spec, resolved, request(/*verify=*/true), plan));
    Json whole = report(plan);
    for (const char *key : {"plan_hash", "isa", "dtype", "recompute",
                            "bubble_fraction", "verified", "hosts"})
      if (whole.contains(key))
        json[key] = whole[key];
    json["device_memory"] = nullptr;
    if (plan.config.deviceMemory)
      json["device_memory"] = *plan.config.deviceMemory;
    json["fits"] = nullptr;
    json["stages"] = Json::array();
    for (const Json &stage : whole["stages"]) {
      Json &said = json["stages"].emplace_back();
      for (const char *key : {"stage", "parameters", "memory", "beside_plan"})
        if (stage.contains(key))
          said[key] = stage[key];
    }
    return Status::okay();
  }

  void search(const StrategyRules &rules, const BundlePlan &plan) {
    FitSearch how{spec,
                  keys,
                  rules,
                  /*fixesReplicas=*/!options.ranks,
                  request(/*verify=*/false),
                  options.tries,
                  options.inputs.progress};
    FitResult result = findFitting(how, strategy, plan);
    json["tries"] = {{"made", result.tried}, {"limit", options.tries}};
    json["nearest"] = Json::array();
    for (const Fitting &fit : result.fitting)
      json["nearest"].push_back({{"changes", toJson(fit.changes)},
                                 {"options", toOptions(fit.changes)},
                                 {"ranks", fit.strategy.mesh.worldSize()},
                                 {"mesh", describeMesh(fit.strategy.mesh)},
                                 {"bytes", fit.bytes}});
  }

  const LintOptions &options;
  Json &json;
  models::StrategyKeys keys;
  models::SearchBudget budget;
  models::ModelSpec spec;
  models::Strategy strategy;
};

/// Whether a report that is not ok says why: a file or an option, a rule, or
/// too little memory. Phases of the compiler have rules of their own.
bool saysWhy(const Json &json) {
  auto lists = [&](const char *key) {
    return json.contains(key) && !json[key].empty();
  };
  return lists("errors") || lists("violations") ||
         json.value("fits", Json()) == false;
}

Status check(const LintOptions &options, Json &json) {
  if (options.inputs.startsFromIR())
    return {StatusCode::usage,
            fmt::format("lint: expected a spec, found IR ('{}'); mtc compile "
                        "checks IR",
                        options.inputs.inputName())};
  return Linter(options, json).run();
}

} // namespace

Status lint(const LintOptions &options, LintResult &result) {
  result.json = {{"ok", false}};
  Status status = check(options, result.json);
  result.json["ok"] = status.ok();
  if (!status.ok() && !saysWhy(result.json))
    result.json["errors"] = Json::array(
        {{{"where", ""}, {"line", 0}, {"message", status.message()}}});
  result.text = lintText(result.json);
  return status;
}

} // namespace mtc::compiler
