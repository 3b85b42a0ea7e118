//===- idle_options.cpp - options that change nothing ---------------------===//

#include "runtime/control/idle_options.h"

#include "mtc/runtime/recipe_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace mtc::runtime {
namespace {

const Descriptor &programOf(const RunFacts &run) {
  return run.bundle.stages.front().descriptor;
}

bool hasOptimizer(const RunFacts &run,
                  std::initializer_list<std::string_view> names) {
  return std::ranges::count(names, programOf(run).optimizer) > 0;
}

/// Of training, or of evaluations. Where nothing is left to read nobody knows.
bool hasSource(const RunFacts &run, bool (*holds)(const SourceFiles &)) {
  return run.job.sources.empty() ||
         std::ranges::any_of(run.job.sources, holds) ||
         (run.job.evaluation.interval > 0 && holds(run.job.evaluation.source));
}

bool isRaw(const SourceFiles &source) {
  return !source.flat.path.empty() && source.flat.firstByte == 0;
}
bool isOfCorpora(const SourceFiles &source) { return source.flat.path.empty(); }

// What an option needs to have an effect.
bool talksByMpi(const RunFacts &run) { return run.comm == CommKind::mpi; }
bool scalesDynamically(const RunFacts &run) {
  return programOf(run).scalesLoss() && run.job.recipe.loss_scale == 0;
}
bool hasMomentum(const RunFacts &run) {
  return hasOptimizer(run, {"sgd", "nesterov"});
}
bool hasBetas(const RunFacts &run) { return !hasMomentum(run); }
bool dividesByRoot(const RunFacts &run) {
  return hasOptimizer(run, {"adamw", "adam_l2"});
}
bool readsRaw(const RunFacts &run) { return hasSource(run, isRaw); }
bool readsCorpora(const RunFacts &run) { return hasSource(run, isOfCorpora); }
bool evaluates(const RunFacts &run) { return run.job.evaluation.interval > 0; }
bool writesLines(const RunFacts &run) {
  return !run.job.logFile.empty() || run.job.report.megatron ||
         !run.job.report.events.empty();
}
bool timesNothingOrTells(const RunFacts &run) {
  return run.job.report.timing == 0 || writesLines(run);
}
bool knowsDocuments(const RunFacts &run) {
  return std::ranges::any_of(run.bundle.stages, [](const auto &program) {
    return program.descriptor.knowsDocuments();
  });
}

bool namesEod(const Recipe &recipe) { return recipe.eod >= 0; }

constexpr const char *kOfMpi = "it is of ranks that talk by mpi (--comm mpi)";
constexpr const char *kOfScale =
    "it is of a dynamic loss scale, which only programs in fp16 have, and only "
    "without --loss-scale";
constexpr const char *kOfOptimizer =
    "the optimizer that the bundle was compiled with does not have it";
constexpr const char *kOfCorpora =
    "it is of Megatron-LM's corpora, and the data are a flat file";
constexpr const char *kOfLines =
    "the run has no --log, no --tensorboard-dir and no --log-style megatron";

struct IdleOption {
  std::string_view name; ///< without the dashes
  bool (*acts)(const RunFacts &);
  const char *why; ///< it does not
  /// Whether a recipe file asks for it; null: it is never told of.
  bool (*isInRecipe)(const Recipe &) = nullptr;
};

constexpr IdleOption kOptions[] = {
    {"mpi", talksByMpi, kOfMpi},
    {"mpi-inside-hosts", talksByMpi, kOfMpi},
    {"master", talksByMpi, kOfMpi},
    {"rdzv-timeout", talksByMpi, kOfMpi},
    {"heartbeat-timeout", talksByMpi, kOfMpi},
    {"initial-loss-scale", scalesDynamically, kOfScale},
    {"min-loss-scale", scalesDynamically, kOfScale},
    {"loss-scale-window", scalesDynamically, kOfScale},
    {"hysteresis", scalesDynamically, kOfScale},
    {"momentum", hasMomentum, kOfOptimizer},
    {"beta1", hasBetas, kOfOptimizer},
    {"beta2", hasBetas, kOfOptimizer},
    {"eps", dividesByRoot, kOfOptimizer},
    {"data-type", readsRaw, "the data say themselves of which type they are"},
    {"data-samples", readsCorpora, kOfCorpora},
    {"data-cache-path", readsCorpora, kOfCorpora},
    {"eval-steps", evaluates,
     "no step is followed by an evaluation (--eval-interval)"},
    {"timing-log-level", timesNothingOrTells, kOfLines},
    {"log-interval", writesLines, kOfLines},
    {"peak-tflops", writesLines, kOfLines},
    {"eod", knowsDocuments,
     "the bundle was compiled without --mask-document-ends, --reset-positions "
     "and --reset-attention",
     namesEod},
};

/// How the option was given: on the command line, or as a key.
std::optional<std::string> given(const IdleOption &option,
                                 const RunFacts &facts) {
  const std::vector<GivenOption> &line = facts.options.given;
  if (auto at = std::ranges::find(line, option.name, &GivenOption::name);
      at != line.end())
    return at->value;
  const Recipe &recipe = facts.job.recipe;
  if (!option.isInRecipe || !option.isInRecipe(recipe))
    return std::nullopt;
  auto field =
      std::ranges::find(recipeFields(), option.name, [](const RecipeField &f) {
        return std::string_view(f.option);
      });
  return textOf(*field, recipe);
}

} // namespace

std::vector<std::string> idleOptions(const RunFacts &facts) {
  std::vector<std::string> lines;
  for (const IdleOption &option : kOptions)
    if (auto value = given(option, facts); value && !option.acts(facts))
      lines.push_back(fmt::format("--{}{}{} has no effect: {}", option.name,
                                  value->empty() ? "" : " ", *value,
                                  option.why));
  return lines;
}

} // namespace mtc::runtime
