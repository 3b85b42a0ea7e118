//===- least_recompute.cpp - the policy that `fit` stands for -------------===//

#include "compiler/least_recompute.h"

#include "compiler/memory_limit.h"
#include "models/validate.h"
#include "runtime/base/number_text.h"

#include <fmt/format.h>

using mtc::runtime::Status;

namespace mtc::compiler {

using models::ModelSpec, models::Recompute, models::Strategy;
using Policy = Recompute::Policy;

namespace {

/// What the plan of a policy needs.
struct Need {
  Recompute policy;
  int64_t bytes = 0;     ///< of the rank that needs most
  double operations = 0; ///< of a step of all stages, floating-point
};

double operationsOf(const BundlePlan &plan) {
  double sum = 0;
  for (const ProgramPlan &program : plan.programs)
    for (const PlanTimeline &timeline : program.timelines)
      for (const MtcStep &row : timeline.rows)
        if (timeline.entry == "train" && row.kind == MTC_STEP_RUN &&
            row.fragment >= 0)
          sum += program.fragments[size_t(row.fragment)].flops;
  return sum;
}

class LeastRecompute {
public:
  LeastRecompute(const ModelSpec &spec, const Strategy &strategy,
                 const PlanRequest &request,
                 const std::function<void(const std::string &)> &progress)
      : spec(spec), strategy(strategy), request(request), progress(progress),
        layers(models::mostLayers(spec, strategy)) {
    this->request.verify = false; // the answer's plan is verified
  }

  Status find(Recompute &out) {
    Need least;
    MTC_RETURN_IF_ERROR(need({Policy::none, 0, {}}, least));
    if (!fits(least)) {
      Need below = least, selective;
      MTC_RETURN_IF_ERROR(need(ofLayers(layers), least));
      if (fits(least))
        MTC_RETURN_IF_ERROR(narrow(below, least));
      MTC_RETURN_IF_ERROR(need({Policy::selective, 0, {}}, selective));
      if (fits(selective) &&
          (!fits(least) || selective.operations < least.operations))
        least = selective;
    }
    say(fmt::format("{}, {} of {}{}", toString(least.policy),
                    runtime::sized(least.bytes),
                    runtime::sized(strategy.deviceMemory),
                    fits(least) ? "" : "; no policy fits"));
    out = least.policy;
    return Status::okay();
  }

private:
  /// Of the first layers of each stage; of all of them it has its own name.
  Recompute ofLayers(int64_t count) const {
    if (count == layers)
      return {Policy::full, 0, {}};
    return {Policy::layers, count, {}};
  }

  bool fits(const Need &need) const {
    return need.bytes <= strategy.deviceMemory;
  }

  /// `below`, no layer, does not fit; `least`, all layers, does.
  Status narrow(Need below, Need &least) {
    for (int64_t low = 0, high = layers; high - low > 1;) {
      int64_t middle = low + (high - low) / 2;
      Need tried;
      MTC_RETURN_IF_ERROR(need(ofLayers(middle), tried));
      (fits(tried) ? high : low) = middle;
      (fits(tried) ? least : below) = tried;
    }
    return Status::okay();
  }

  Status need(const Recompute &policy, Need &out) {
    Strategy with = strategy;
    with.recompute = policy;
    BundlePlan plan;
    MTC_RETURN_IF_ERROR(planStrategy(spec, with, request, plan));
    out = {policy, mostBytes(plan), operationsOf(plan)};
    say(fmt::format("{} takes {}, {}", toString(policy),
                    runtime::sized(out.bytes),
                    fits(out) ? "fits" : "too much"));
    return Status::okay();
  }

  void say(const std::string &line) const {
    if (progress)
      progress("recompute = fit: " + line);
  }

  const ModelSpec &spec;
  const Strategy &strategy;
  PlanRequest request;
  const std::function<void(const std::string &)> &progress;
  int64_t layers; ///< of the stage that has most
};

} // namespace

Status
chooseRecompute(const ModelSpec &spec, Strategy &strategy,
                const PlanRequest &request,
                const std::function<void(const std::string &)> &progress) {
  if (strategy.recompute.policy != Policy::fit)
    return Status::okay();
  Recompute found;
  MTC_RETURN_IF_ERROR(
      LeastRecompute(spec, strategy, request, progress).find(found));
  strategy.recompute = found;
  return Status::okay();
}

} // namespace mtc::compiler
