//===- validate.cpp - does a strategy fit a model -------------------------===//
//
// `validate`, below, asks all rules, in the order in which broken ones are
// told. In front of it stands a function for each kind of rule, in that order;
// kinds with much to say have files of their own, validate_*.cpp. A broken rule
// tells with which values, and the nearest ones that would keep it.
//
//===----------------------------------------------------------------------===//

#include "models/validate.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "models/limits.h"
#include "models/nearest.h"
#include "models/overlap.h"
#include "models/validate_random.h"
#include "models/validate_sequence.h"
#include "models/validate_splits.h"
#include "models/validate_stages.h"

namespace mtc::models {

/// A host with fewer ranks than the others is a rest that nobody asked for; all
/// ranks on one host are none.
static void checkHosts(const Strategy &strategy, std::vector<Violation> &out) {
  int64_t ranks = strategy.mesh.worldSize(), own = strategy.ranksPerHost;
  if (own > 0 && own < ranks && ranks % own != 0)
    out.push_back({"ranks % ranks_per_host == 0",
                   fmt::format("ranks = {} ({}), ranks_per_host = {}", ranks,
                               strategy.mesh.text(), own),
                   fmt::format("ranks_per_host = {}",
                               joinOr(nearestDivisors(ranks, own)))});
}

/// A GPU has a stream of collectives in any case.
static void checkCommThread(const Strategy &strategy,
                            std::vector<Violation> &out) {
  if (strategy.commThread && strategy.target != "cpu")
    out.push_back({"target = cpu with comm_thread",
                   fmt::format("target = {}", strategy.target),
                   "comm_thread = false or target = cpu"});
}

/// Tables of GPUs hold algorithms of a library that a plan does not name.
static void checkGemmTable(const Strategy &strategy,
                           std::vector<Violation> &out) {
  if (!strategy.gemmTable.empty() && strategy.target != "cpu")
    out.push_back({"target = cpu with gemm_table",
                   fmt::format("target = {}", strategy.target),
                   "no gemm_table; runs of GPUs take theirs by `mtc run "
                   "--gemm-table`"});
}

/// The samples of which a global batch is a multiple.
static int64_t samplesOfMicrobatch(const Strategy &strategy) {
  return strategy.microBatchSize * strategy.mesh[MTC_AXIS_DP];
}

static Violation noBatch(int64_t unit) {
  return {fmt::format("global_batch_size, the samples of a step, a multiple of "
                      "micro_batch_size * dp = {}",
                      unit),
          "none", fmt::format("--gbs {}", unit)};
}

static Violation tooManyMicrobatches(const Strategy &strategy, int64_t batch,
                                     int64_t most) {
  int64_t dp = strategy.mesh[MTC_AXIS_DP];
  std::string chunks = strategy.chunks == 1
                           ? ""
                           : fmt::format(" with {} chunks", strategy.chunks);
  return {fmt::format("at most {} microbatches a step{} (a plan has rows for "
                      "each of them)",
                      most, chunks),
          fmt::format("{}: global_batch_size / (micro_batch_size * dp)",
                      batch / samplesOfMicrobatch(strategy)),
          fmt::format("micro_batch_size = {}", (batch / dp - 1) / most + 1)};
}

static Violation noWholeMicrobatches(const Strategy &strategy, int64_t batch) {
  int64_t dp = strategy.mesh[MTC_AXIS_DP], unit = samplesOfMicrobatch(strategy);
  std::string nearest = fmt::format("global_batch_size = {}",
                                    joinOr(nearestMultiples(unit, batch)));
  if (batch % dp == 0)
    nearest += fmt::format(
        ", or micro_batch_size = {}",
        joinOr(nearestDivisors(batch / dp, strategy.microBatchSize)));
  return {"global_batch_size % (micro_batch_size * dp) == 0",
          fmt::format("global_batch_size = {}, micro_batch_size = {}, dp = {}",
                      batch, strategy.microBatchSize, dp),
          nearest};
}

static void checkBatch(const Strategy &strategy, int64_t batch,
                       std::vector<Violation> &out) {
  int64_t unit = samplesOfMicrobatch(strategy);
  if (batch == 0)
    return out.push_back(noBatch(unit));
  if (int64_t most = kMostMicrobatches / strategy.chunks; batch / unit > most)
    out.push_back(tooManyMicrobatches(strategy, batch, most));
  if (batch % unit != 0)
    out.push_back(noWholeMicrobatches(strategy, batch));
}

/// Of the batches that have a number of microbatches; that the others have
/// none, another rule says.
static std::optional<int64_t> fewestOfWholeBatches(const Strategy &strategy) {
  int64_t unit = samplesOfMicrobatch(strategy);
  std::optional<int64_t> fewest;
  for (int64_t batch : strategy.globalBatches())
    if (batch > 0 && batch % unit == 0)
      fewest = std::min(fewest.value_or(batch / unit), batch / unit);
  return fewest;
}

/// No more is computed again than there is.
static void checkRecomputed(const ModelSpec &spec, const Strategy &strategy,
                            std::vector<Violation> &out) {
  int64_t most = mostLayers(spec, strategy);
  if (strategy.recompute.layers > most)
    out.push_back({"recompute = layers=N with no more layers than a stage has",
                   fmt::format("recompute = {}, {} layers in the largest stage",
                               toString(strategy.recompute), most),
                   fmt::format("recompute = layers={} or full", most)});
  if (std::optional<int64_t> all = fewestOfWholeBatches(strategy);
      all && strategy.recompute.microbatches > *all)
    out.push_back({"recompute = microbatches=N with no more microbatches than "
                   "a step has",
                   fmt::format("recompute = {}, {} microbatches a step",
                               toString(strategy.recompute), *all),
                   fmt::format("recompute = microbatches={} or full", *all)});
}

static void checkSplitSaved(const Strategy &strategy,
                            std::vector<Violation> &out) {
  if (strategy.splitSaved &&
      strategy.recompute.policy == Recompute::Policy::none)
    out.push_back({"distribute_saved_activations with recompute",
                   "distribute_saved_activations = true, recompute = none",
                   "recompute = full, or no distribute_saved_activations"});
  if (strategy.splitSaved && strategy.sequenceParallel)
    out.push_back({"distribute_saved_activations without sequence_parallel, "
                   "which splits what is saved already",
                   "distribute_saved_activations = true, sequence_parallel = "
                   "true",
                   "one of both"});
}

static void checkRecomputeToFit(const Strategy &strategy,
                                std::vector<Violation> &out) {
  if (strategy.recompute.policy == Recompute::Policy::fit &&
      strategy.deviceMemory == 0)
    out.push_back({"device_memory with recompute = fit",
                   "recompute = fit, no device_memory",
                   "device_memory = the bytes of a rank, or recompute = full"});
}

/// What computes in f32 has no use for weights that were rounded before, nor
/// for gradients that are.
static void checkTypes(const Strategy &strategy, std::vector<Violation> &out) {
  const std::string &sums = strategy.gradDtype;
  if (sums != "f32" && sums != strategy.dtype)
    out.push_back({fmt::format("dtype = {} with grad_dtype = {}", sums, sums),
                   fmt::format("dtype = {}", strategy.dtype),
                   fmt::format("grad_dtype = f32, or dtype = {}", sums)});
  for (const ShardOverride &override : strategy.overrides)
    if (const std::string &own = override.dtype;
        !own.empty() && own != "f32" && own != strategy.dtype)
      out.push_back({"dtype = f32, or that of the strategy, in an override",
                     fmt::format("dtype = {} of '{}', dtype = {} of the "
                                 "strategy",
                                 own, override.pattern, strategy.dtype),
                     fmt::format("dtype = f32, or {} of the strategy and f32 "
                                 "in overrides of other parameters",
                                 own)});
}

/// The step block has a place for each.
static void checkGroups(const Strategy &strategy, std::vector<Violation> &out) {
  if (size_t groups = strategy.groups().size(); groups >= MTC_PARAM_GROUPS)
    out.push_back({fmt::format("at most {} groups", MTC_PARAM_GROUPS - 1),
                   fmt::format("{} in overrides", groups),
                   "the same group for parameters that are updated alike"});
}

/// Without ZeRO every replica updates all parameters: there is nothing to
/// gather.
static void checkOverlap(const Strategy &strategy,
                         std::vector<Violation> &out) {
  std::vector<std::string> rest = strategy.overlap;
  if (std::erase(rest, "param-gather") == 0 || strategy.zero > 0)
    return;
  out.push_back({"zero >= 1 with overlap = param-gather",
                 fmt::format("zero = {}, overlap = {}", strategy.zero,
                             overlapText(strategy.overlap)),
                 fmt::format("zero = 1, or overlap = {}", overlapText(rest))});
}

std::vector<Violation> validate(const ModelSpec &spec,
                                const Strategy &strategy) {
  std::vector<Violation> out;
  checkSplits(spec, strategy, out);
  checkHosts(strategy, out);
  checkCommThread(strategy, out);
  checkGemmTable(strategy, out);
  for (int64_t batch : strategy.globalBatches())
    checkBatch(strategy, batch, out);
  checkStages(spec, strategy, out);
  checkSequence(spec, strategy, out);
  checkRandomWords(spec, strategy, out);
  checkRecomputed(spec, strategy, out);
  checkSplitSaved(strategy, out);
  checkRecomputeToFit(strategy, out);
  checkTypes(strategy, out);
  checkGroups(strategy, out);
  checkOverlap(strategy, out);
  return out;
}

int64_t fewestMicrobatches(const Strategy &strategy) {
  return strategy.ofEachShape().back().microbatches();
}

Diagnostics toDiagnostics(const std::vector<Violation> &violations) {
  Diagnostics diagnostics;
  for (const Violation &violation : violations)
    diagnostics.push_back(
        {ErrorClass::infeasible, "", 0,
         fmt::format("expected {}, found {}{}{}", violation.rule,
                     violation.found,
                     violation.nearest.empty() ? "" : "; nearest: ",
                     violation.nearest)});
  return diagnostics;
}

} // namespace mtc::models
