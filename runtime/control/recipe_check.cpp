//===- recipe_check.cpp - what a recipe may not say -----------------------===//

#include "mtc/runtime/recipe_fields.h"
#include "mtc/runtime/run.h"
#include "runtime/train/param_groups.h"
#include "runtime/train/step_batches.h"
#include "runtime/train/step_lengths.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mtc::runtime {
namespace {

class RecipeCheck {
public:
  explicit RecipeCheck(const Recipe &recipe) : r_(recipe) {}

  Status run() {
    values();
    if (problems_.empty()) {
      rates();
      units();
      warmup();
      wsd();
      weightDecay();
      lossScale();
    }
    StepLengths lengths;
    if (Status status = StepLengths::parse(r_.seq, lengths); !status.ok())
      problems_.push_back(status.message());
    BatchRamp ramp;
    if (Status status = BatchRamp::parse(r_.rampup_batch_size, ramp);
        !status.ok())
      problems_.push_back(status.message());
    std::vector<ParamGroup> groups;
    if (Status status = parseGroups(r_.groups, groups); !status.ok())
      problems_.push_back(status.message());
    for (const ParamGroup &group : groups)
      if (double lowest = group.minLr.value_or(r_.min_lr);
          group.lr && r_.decay != "constant" && lowest > *group.lr)
        problem("groups: expected a min_lr of at most lr {} for '{}', found "
                "min_lr {} of the recipe; give it one of its own",
                *group.lr, group.name, lowest);
    if (problems_.empty())
      return Status::okay();
    return {StatusCode::usage,
            fmt::format("recipe:\n  {}", fmt::join(problems_, "\n  "))};
  }

private:
  template <typename... Args>
  void problem(fmt::format_string<Args...> text, Args &&...args) {
    problems_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  void values() {
    for (const RecipeField &field : recipeFields())
      if (!holds(field, r_))
        problem("{}: expected {}, found {}", field.key, expectedOf(field),
                textOf(field, r_));
  }

  void rates() {
    if (r_.decay != "constant" && r_.min_lr > r_.lr)
      problem("min_lr: expected at most lr {}, found {}{}; lower min_lr "
              "(--min-lr), or take decay constant",
              r_.lr, r_.min_lr,
              r_.min_lr == Recipe().min_lr ? " (its default)" : "");
    if (r_.init_lr > r_.lr)
      problem("init_lr: expected at most lr {}, found {}", r_.lr, r_.init_lr);
  }

  /// One unit for all phases.
  void units() {
    if (!r_.countsSamples())
      return;
    std::vector<std::string> steps;
    for (auto [key, value] : {std::pair("warmup_steps", r_.warmup_steps),
                              std::pair("decay_steps", r_.decay_steps),
                              std::pair("wsd_decay_steps", r_.wsd_decay_steps)})
      if (value > 0)
        steps.push_back(fmt::format("{} {}", key, value));
    if (!steps.empty())
      problem("expected schedules in samples throughout, as {} is given, "
              "found {}; write them in samples (steps times the global batch)",
              firstOfSamples(), fmt::join(steps, ", "));
  }

  const char *firstOfSamples() const {
    return r_.samples > 0          ? "samples"
           : r_.warmup_samples > 0 ? "warmup_samples"
           : r_.decay_samples > 0  ? "decay_samples"
                                   : "wsd_decay_samples";
  }

  void warmup() {
    if (r_.warmup_fraction > 0 &&
        (r_.warmup_steps > 0 || r_.warmup_samples > 0))
      problem("warmup_fraction: expected no warmup_steps or warmup_samples "
              "with it, found {}",
              r_.warmup_steps > 0 ? r_.warmup_steps : r_.warmup_samples);
  }

  void wsd() {
    int64_t fall =
        r_.countsSamples() ? r_.wsd_decay_samples : r_.wsd_decay_steps;
    int64_t all = r_.countsSamples() ? r_.decay_samples : r_.decay_steps;
    if (all == 0)
      all = r_.countsSamples() ? r_.samples : r_.steps;
    if ((r_.decay == "wsd") != (fall > 0))
      problem("decay {}: expected {}", r_.decay,
              fall > 0 ? "decay wsd, as its fall is given (wsd_decay_steps or "
                         "wsd_decay_samples)"
                       : "how long its fall to min_lr is: wsd_decay_steps or "
                         "wsd_decay_samples of 1 or more");
    else if (fall > 0 && all > 0 && fall > all)
      problem("wsd_decay_{0}: expected at most the {1} {0} of warm-up and "
              "decay, found {2}",
              r_.countsSamples() ? "samples" : "steps", all, fall);
  }

  void weightDecay() {
    if (r_.start_weight_decay > 0 && r_.weight_decay_ramp == "constant")
      problem("start_weight_decay: expected weight_decay_ramp linear or cosine "
              "with it, found constant");
  }

  void lossScale() {
    if (r_.min_loss_scale > r_.initial_loss_scale)
      problem("min_loss_scale: expected at most initial_loss_scale {}, found "
              "{}",
              r_.initial_loss_scale, r_.min_loss_scale);
  }

  const Recipe &r_;
  std::vector<std::string> problems_;
};

} // namespace

Status checkRecipe(const Recipe &recipe) { return RecipeCheck(recipe).run(); }

} // namespace mtc::runtime
