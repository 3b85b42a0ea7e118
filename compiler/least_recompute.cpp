//===- least_recompute.cpp - the policy that `fit` stands for -------------===//

#include "compiler/least_recompute.h"

#include "compiler/in_flight.h"
#include "compiler/memory_limit.h"
#include "models/validate.h"
#include "models/validate_stages.h"
#include "runtime/base/number_text.h"

#include <algorithm>

#include <fmt/format.h>

using mtc::runtime::Status;

namespace mtc::compiler {

using models::ModelSpec, models::Recompute, models::Strategy;
using Policy = Recompute::Policy;

namespace {

/// What the plan of a policy needs.
struct Need {
  Recompute policy;
  bool isSplit = false;  ///< what it saves lies in parts along tp
  int64_t bytes = 0;     ///< of the rank that needs most
  double operations = 0; ///< of a step of all stages, floating-point
  int64_t inFlight = 0;  ///< microbatches, see mostInFlight
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

  /// Changes `chosen`, which is the strategy of the constructor.
  Status find(Strategy &chosen) {
    Need least;
    MTC_RETURN_IF_ERROR(need(named(Policy::none), /*isSplit=*/false, least));
    inFlight = least.inFlight;
    bool isSplit = strategy.splitSaved;
    if (!fits(least))
      MTC_RETURN_IF_ERROR(findWith(isSplit, least));
    say(fmt::format(
        "{}, {} of {}{}", textOf(least), runtime::sized(least.bytes),
        runtime::sized(strategy.deviceMemory),
        fits(least) ? ""
                    : fmt::format("; no policy fits, {} too much",
                                  runtime::sized(least.bytes -
                                                 strategy.deviceMemory))));
    if (!fits(least) && !isSplit)
      MTC_RETURN_IF_ERROR(sayWhatPartsWouldDo());
    chosen.recompute = least.policy;
    chosen.splitSaved = least.isSplit;
    return Status::okay();
  }

private:
  static Recompute named(Policy policy) { return {policy, 0, {}}; }

  static std::string textOf(const Need &need) {
    return toString(need.policy) + (need.isSplit ? ", distributed" : "");
  }

  /// Of some layers of each stage, or of microbatches in flight; of all it is
  /// `full`.
  static Recompute ofSome(Policy policy, int64_t count) {
    Recompute recompute = named(policy);
    (policy == Policy::layers ? recompute.layers : recompute.microbatches) =
        count;
    return recompute;
  }

  bool fits(const Need &need) const {
    return need.bytes <= strategy.deviceMemory;
  }

  /// The least of all policies but none; full where none fits. Of equal ones
  /// the earlier here.
  Status findWith(bool isSplit, Need &least) {
    Need full, tried;
    MTC_RETURN_IF_ERROR(need(named(Policy::full), isSplit, full));
    least = full;
    // More than the smallest step has are not to be named.
    int64_t flight =
        std::min(inFlight, models::fewestMicrobatches(strategy) + 1);
    if (fits(full)) {
      MTC_RETURN_IF_ERROR(narrow(Policy::layers, layers, full, tried));
      takeLess(tried, least);
      MTC_RETURN_IF_ERROR(narrow(Policy::microbatches, flight, full, tried));
      takeLess(tried, least);
    }
    MTC_RETURN_IF_ERROR(need(named(Policy::selective), isSplit, tried));
    takeLess(tried, least);
    return Status::okay();
  }

  void takeLess(const Need &tried, Need &least) const {
    if (fits(tried) && (!fits(least) || tried.operations < least.operations))
      least = tried;
  }

  /// The fewest of `all` that fit: of none the plan does not, of all, which is
  /// `full`, it does.
  Status narrow(Policy policy, int64_t all, const Need &full, Need &out) {
    out = full;
    for (int64_t low = 0, high = all; high - low > 1;) {
      int64_t middle = low + (high - low) / 2;
      Need tried;
      MTC_RETURN_IF_ERROR(need(ofSome(policy, middle), full.isSplit, tried));
      (fits(tried) ? high : low) = middle;
      if (fits(tried))
        out = tried;
    }
    return Status::okay();
  }

  /// Parts of what is saved cost communication, which nobody asked for: where
  /// nothing fits without, it is said what they would do.
  Status sayWhatPartsWouldDo() {
    if (strategy.mesh[MTC_AXIS_TP] == 1 || strategy.sequenceParallel)
      return Status::okay(); // there is nothing to split
    Need least;
    MTC_RETURN_IF_ERROR(findWith(/*isSplit=*/true, least));
    say(fits(least)
            ? fmt::format("with distribute_saved_activations {} would fit, {}",
                          toString(least.policy), runtime::sized(least.bytes))
            : "nor does any with distribute_saved_activations");
    return Status::okay();
  }

  Status need(const Recompute &policy, bool isSplit, Need &out) {
    Strategy with = strategy;
    with.recompute = policy;
    with.splitSaved = isSplit;
    BundlePlan plan;
    MTC_RETURN_IF_ERROR(planStrategy(spec, with, request, plan));
    out = {policy, isSplit, mostBytes(plan), operationsOf(plan),
           mostInFlight(plan)};
    say(fmt::format("{} takes {}, {}", textOf(out), runtime::sized(out.bytes),
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
  int64_t layers;       ///< of the stage that has most
  int64_t inFlight = 0; ///< microbatches of the stage that has most
};

} // namespace

Status
chooseRecompute(const ModelSpec &spec, Strategy &strategy,
                const PlanRequest &request,
                const std::function<void(const std::string &)> &progress) {
  if (strategy.recompute.policy != Policy::fit)
    return Status::okay();
  // Apart: the search reads what it chooses for.
  Strategy chosen = strategy;
  MTC_RETURN_IF_ERROR(
      LeastRecompute(spec, strategy, request, progress).find(chosen));
  strategy = std::move(chosen);
  return Status::okay();
}

} // namespace mtc::compiler
