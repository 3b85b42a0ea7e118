//===- validate.cpp - does a strategy fit a model -------------------------===//

#include "models/validate.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/kv_heads.h"
#include "models/limits.h"
#include "models/nearest.h"
#include "models/overlap.h"
#include "models/stages.h"
#include "models/validate_random.h"
#include "models/validate_splits.h"

namespace mtc::models {

static void checkBatch(const Strategy &strategy, int64_t batch,
                       std::vector<Violation> &out) {
  int64_t dp = strategy.mesh[MTC_AXIS_DP];
  int64_t unit = strategy.microBatchSize * dp;
  if (batch == 0) {
    out.push_back({fmt::format("global_batch_size, the samples of a step, a "
                               "multiple of micro_batch_size * dp = {}",
                               unit),
                   "none", fmt::format("--gbs {}", unit)});
    return;
  }
  int64_t most = kMostMicrobatches / strategy.chunks;
  if (batch / unit > most)
    out.push_back(
        {fmt::format("at most {} microbatches a step{} (a plan has rows for "
                     "each of them)",
                     most,
                     strategy.chunks == 1
                         ? ""
                         : fmt::format(" with {} chunks", strategy.chunks)),
         fmt::format("{}: global_batch_size / (micro_batch_size * dp)",
                     batch / unit),
         fmt::format("micro_batch_size = {}", (batch / dp - 1) / most + 1)});
  if (batch % unit == 0)
    return;
  std::string nearest = fmt::format("global_batch_size = {}",
                                    joinOr(nearestMultiples(unit, batch)));
  if (batch % dp == 0)
    nearest += fmt::format(
        ", or micro_batch_size = {}",
        joinOr(nearestDivisors(batch / dp, strategy.microBatchSize)));
  out.push_back({"global_batch_size % (micro_batch_size * dp) == 0",
                 fmt::format("global_batch_size = {}, micro_batch_size = {}, "
                             "dp = {}",
                             batch, strategy.microBatchSize, dp),
                 nearest});
}

std::vector<int64_t> evenStages(int64_t layers, int64_t stages) {
  std::vector<int64_t> list;
  for (int64_t stage = 0; stage < stages; ++stage)
    list.push_back(layers / stages + (stage < layers % stages));
  return list;
}

/// The most even list of `layers` over `stages`, for a suggestion.
static std::string evenList(int64_t layers, int64_t stages) {
  // A long list helps nobody.
  if (stages > 64)
    return "";
  return fmt::format("layers_per_stage = [{}]",
                     fmt::join(evenStages(layers, stages), ", "));
}

/// What the rules below count: without chunks a stage is one virtual stage.
static std::string stagesWord(const Strategy &strategy) {
  return strategy.chunks == 1 ? "pp" : "pp * chunks";
}

static std::string stagesText(const Strategy &strategy) {
  std::string text = fmt::format("pp = {}", strategy.mesh.stages());
  return strategy.chunks == 1
             ? text
             : text + fmt::format(", chunks = {}", strategy.chunks);
}

/// Only the first virtual stage, which has the embedding, and the last, which
/// has the head, have something to do without a layer.
static void checkStagesWithoutLayers(const Strategy &strategy,
                                     std::vector<Violation> &out) {
  const std::vector<int64_t> &stages = strategy.layersPerStage;
  constexpr int kShown = 8; // a long list helps nobody
  std::string empty;
  int count = 0;
  for (size_t u = 1; u + 1 < stages.size() && count <= kShown; ++u)
    if (stages[u] == 0)
      empty += ++count > kShown
                   ? ", ..."
                   : fmt::format("{}{}", empty.empty() ? "" : ", ", u);
  if (!empty.empty())
    out.push_back({"layers_per_stage[i] >= 1 but for the first and the last",
                   fmt::format("0 layers for i = {}", empty),
                   "layers_per_stage[i] = 1"});
}

static void checkExplicitStages(const ModelSpec &spec, const Strategy &strategy,
                                std::vector<Violation> &out) {
  const std::vector<int64_t> &stages = strategy.layersPerStage;
  int64_t wanted = strategy.virtualStages();
  int64_t sum = std::accumulate(stages.begin(), stages.end(), int64_t{0});
  int64_t length = static_cast<int64_t>(stages.size());
  std::string even = spec.layers >= wanted ? evenList(spec.layers, wanted) : "";
  if (length != wanted) {
    std::string nearest = even;
    if (strategy.chunks == 1 || length % strategy.chunks == 0)
      nearest = fmt::format("pp = {}{}{}", length / strategy.chunks,
                            even.empty() ? "" : ", or ", even);
    out.push_back(
        {fmt::format("layers_per_stage has {} entries", stagesWord(strategy)),
         fmt::format("{} entries, {}", length, stagesText(strategy)), nearest});
  }
  if (sum != spec.layers)
    out.push_back({"the sum of layers_per_stage == layers",
                   fmt::format("a sum of {}, layers = {}", sum, spec.layers),
                   even.empty() ? fmt::format("pp = {}", spec.layers) : even});
  checkStagesWithoutLayers(strategy, out);
}

/// Whether some list of stages has all layers, see stageLimits.
static bool fits(int64_t layers, const Strategy &strategy) {
  int64_t stages = strategy.virtualStages();
  std::optional<int64_t> first = strategy.firstStageLayers,
                         last = strategy.lastStageLayers;
  if (stages == 1)
    return last.value_or(first.value_or(layers)) == layers;
  int64_t between = stages - 2;
  int64_t least = first.value_or(0) + last.value_or(0) + between;
  int64_t most =
      first.value_or(layers) + last.value_or(layers) + between * layers;
  return least <= layers && layers <= most;
}

namespace {
/// Stages of which the ends are given, or whose numbers follow from costs.
struct GivenStages {
  GivenStages(int64_t layers, const Strategy &strategy)
      : shares(!strategy.balancedStages),
        given(strategy.firstStageLayers.value_or(0) +
              strategy.lastStageLayers.value_or(0)),
        open(strategy.virtualStages() - strategy.firstStageLayers.has_value() -
             strategy.lastStageLayers.has_value()),
        rest(layers - given),
        hasRoom(fits(layers, strategy) && open >= 0 &&
                !(shares && rest < open) && !(open == 0 && rest != 0)) {}

  bool divides() const { return !shares || open <= 0 || rest % open == 0; }

  bool shares;   ///< the stages between the ends have as many layers each
  int64_t given; ///< layers of the ends
  int64_t open;  ///< virtual stages whose layers are not given
  int64_t rest;  ///< layers of these
  bool hasRoom;  ///< for each of them, and for each layer
};

/// Looks for values of single keys with which all layers have a stage.
class NearestStages {
public:
  NearestStages(const ModelSpec &spec, const Strategy &strategy)
      : layers(spec.layers), strategy(strategy) {}

  /// "pp = 6, or first_stage_layers = 2 or 3", then `last`; empty: one key does
  /// not do.
  std::string text(std::string_view last = "") {
    add(axisName(MTC_AXIS_PP), 1, layers + 2, strategy.mesh.stages(),
        [](Strategy &s, int64_t pp) { s.mesh[MTC_AXIS_PP] = pp; });
    addEnd("first_stage_layers", &Strategy::firstStageLayers);
    addEnd("last_stage_layers", &Strategy::lastStageLayers);
    if (!last.empty())
      append(std::string(last));
    return found;
  }

private:
  void addEnd(std::string_view key, std::optional<int64_t> Strategy::*end) {
    if (strategy.*end)
      add(key, 0, layers, *(strategy.*end),
          [=](Strategy &s, int64_t value) { s.*end = value; });
  }

  /// The nearest values in [least, most] below and above `own`.
  template <typename Set>
  void add(std::string_view key, int64_t least, int64_t most, int64_t own,
           Set set) {
    Strategy changed = strategy;
    auto holds = [&](int64_t value) {
      set(changed, value);
      GivenStages stages(layers, changed);
      return stages.hasRoom && stages.divides();
    };
    std::vector<int64_t> values;
    int64_t below = std::min(own - 1, most), above = std::max(own + 1, least);
    while (below >= least && !holds(below))
      --below;
    if (below >= least)
      values.push_back(below);
    while (above <= most && !holds(above))
      ++above;
    if (above <= most)
      values.push_back(above);
    if (!values.empty())
      append(fmt::format("{} = {}", key, joinOr(values)));
  }

  void append(const std::string &text) {
    found += (found.empty() ? "" : ", or ") + text;
  }

  int64_t layers;
  const Strategy &strategy;
  std::string found;
};
} // namespace

static void checkGivenStages(const ModelSpec &spec, const Strategy &strategy,
                             std::vector<Violation> &out) {
  GivenStages stages(spec.layers, strategy);
  if (strategy.chunks > 1 && stages.shares)
    return out.push_back(
        {"chunks == 1 with first_stage_layers or last_stage_layers",
         fmt::format("chunks = {}", strategy.chunks),
         "layers_per_stage, as a list or balanced"});
  if (!stages.hasRoom)
    return out.push_back(
        {"a layer for each stage between the ends, and a stage for each layer",
         fmt::format("layers = {}, {}, {} of them given to the ends",
                     spec.layers, stagesText(strategy), stages.given),
         NearestStages(spec, strategy).text()});
  if (!stages.divides())
    out.push_back(
        {"(layers - first_stage_layers - last_stage_layers) % the other stages "
         "== 0",
         fmt::format("{} layers for {} stages", stages.rest, stages.open),
         NearestStages(spec, strategy).text("layers_per_stage = balanced")});
}

/// As many as the tags of transfers can tell apart.
static void checkMostStages(const Strategy &strategy,
                            std::vector<Violation> &out) {
  int64_t pp = strategy.mesh.stages();
  constexpr int64_t most = Mesh::kMostVirtualStages;
  if (strategy.virtualStages() <= most)
    return;
  std::string nearest = fmt::format("pp = {}", most / strategy.chunks);
  if (strategy.chunks > 1 && pp <= most)
    nearest += fmt::format(", or chunks = {}", most / pp);
  out.push_back({fmt::format("{} <= {}", stagesWord(strategy), most),
                 stagesText(strategy), nearest});
}

static void checkStages(const ModelSpec &spec, const Strategy &strategy,
                        std::vector<Violation> &out) {
  checkMostStages(strategy, out);
  bool hasEnds = strategy.firstStageLayers || strategy.lastStageLayers;
  if (!strategy.layersPerStage.empty()) {
    if (hasEnds)
      out.push_back({"first_stage_layers and last_stage_layers, or a list",
                     "layers_per_stage, a list, and one of them",
                     "layers_per_stage alone"});
    return checkExplicitStages(spec, strategy, out);
  }
  if (hasEnds || strategy.balancedStages)
    return checkGivenStages(spec, strategy, out);
  int64_t wanted = strategy.virtualStages(), pp = strategy.mesh.stages();
  std::string found =
      fmt::format("layers = {}, {}", spec.layers, stagesText(strategy));
  if (spec.layers < wanted) {
    int64_t most = std::max<int64_t>(spec.layers / strategy.chunks, 1);
    out.push_back({fmt::format("layers >= {}", stagesWord(strategy)), found,
                   strategy.chunks == 1
                       ? fmt::format("pp = {}", spec.layers)
                       : fmt::format("pp = {}, or chunks = {}", most,
                                     std::max<int64_t>(spec.layers / pp, 1))});
  } else if (spec.layers % wanted != 0) {
    std::string list = evenList(spec.layers, wanted);
    std::string nearest =
        strategy.chunks == 1
            ? fmt::format("pp = {}", joinOr(nearestDivisors(spec.layers, pp)))
        : spec.layers % pp == 0
            ? fmt::format(
                  "chunks = {}",
                  joinOr(nearestDivisors(spec.layers / pp, strategy.chunks)))
            : "";
    if (!list.empty())
      nearest += (nearest.empty() ? "" : ", or ") + list;
    out.push_back({fmt::format("layers % {} == 0 without layers_per_stage",
                               strategy.chunks == 1 ? "pp" : "(pp * chunks)"),
                   found, nearest});
  }
}

/// As layersOfStages shares out what the ends leave.
static int64_t mostBetweenEnds(int64_t layers, const Strategy &strategy) {
  GivenStages stages(layers, strategy);
  return stages.open <= 0
             ? 0
             : stages.rest / stages.open + (stages.rest % stages.open > 0);
}

int64_t mostLayers(const ModelSpec &spec, const Strategy &strategy) {
  auto stages = static_cast<size_t>(strategy.mesh.stages());
  bool ends = strategy.firstStageLayers || strategy.lastStageLayers;
  if (strategy.balancedStages || (ends && strategy.chunks > 1))
    return spec.layers; // nobody knows yet, or ever: another rule says so
  if (strategy.firstStageLayers || strategy.lastStageLayers)
    return std::max({strategy.firstStageLayers.value_or(0),
                     strategy.lastStageLayers.value_or(0),
                     mostBetweenEnds(spec.layers, strategy)});
  if (strategy.layersPerStage.empty())
    return (spec.layers + strategy.mesh.stages() - 1) / strategy.mesh.stages();
  std::vector<int64_t> layers(stages);
  for (size_t u = 0; u < strategy.layersPerStage.size(); ++u)
    layers[u % stages] += strategy.layersPerStage[u];
  return *std::max_element(layers.begin(), layers.end());
}

int64_t fewestMicrobatches(const Strategy &strategy) {
  return strategy.ofEachShape().back().microbatches();
}

/// Of the batches that have a number of microbatches; that the others have
/// none, another rule says.
static std::optional<int64_t> fewestOfWholeBatches(const Strategy &strategy) {
  int64_t unit = strategy.microBatchSize * strategy.mesh[MTC_AXIS_DP];
  std::optional<int64_t> fewest;
  for (int64_t batch : strategy.globalBatches())
    if (batch > 0 && batch % unit == 0)
      fewest = std::min(fewest.value_or(batch / unit), batch / unit);
  return fewest;
}

static void checkRecompute(const ModelSpec &spec, const Strategy &strategy,
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
  if (strategy.recompute.policy == Recompute::Policy::fit &&
      strategy.deviceMemory == 0)
    out.push_back({"device_memory with recompute = fit",
                   "recompute = fit, no device_memory",
                   "device_memory = the bytes of a rank, or recompute = full"});
}

/// Equal parts of each sample, whose length is a multiple of them: a head and a
/// tail for each rank along cp, and parts of both together for each along tp.
static int64_t sequenceParts(int64_t cp, int64_t tp) {
  return std::lcm(cp > 1 ? 2 * cp : 1, cp * tp);
}

/// The most ranks along cp, fewer than there are, with which all lengths have
/// equal parts; 0: none.
static int64_t fewerAlongCp(const ModelSpec &spec, const Strategy &strategy,
                            int64_t tp) {
  int64_t common = 0, most = 0;
  for (int64_t seq : strategy.seqLengths())
    common = std::gcd(common, seq ? std::min(seq, spec.maxSeq) : spec.maxSeq);
  auto look = [&](int64_t cp) {
    if (cp < strategy.mesh[MTC_AXIS_CP] && common % sequenceParts(cp, tp) == 0)
      most = std::max(most, cp);
  };
  for (int64_t divisor = 1; divisor * divisor <= common; ++divisor)
    if (common % divisor == 0) {
      look(divisor);
      look(common / divisor);
    }
  return most;
}

/// The lengths next to `seq` that have equal parts; where none up to max_seq
/// does, what else does.
static std::string nearestLength(const ModelSpec &spec,
                                 const Strategy &strategy, int64_t tp,
                                 int64_t seq) {
  int64_t cp = strategy.mesh[MTC_AXIS_CP];
  std::vector<int64_t> lengths =
      nearestMultiples(sequenceParts(cp, tp), std::min(seq, spec.maxSeq));
  std::erase_if(lengths, [&](int64_t length) { return length > spec.maxSeq; });
  if (!lengths.empty())
    return fmt::format("seq_length = {}", joinOr(lengths));
  std::string instead;
  if (int64_t fewer = fewerAlongCp(spec, strategy, tp)) {
    instead = fmt::format("cp = {}", fewer);
  } else {
    // Without parts along tp one rank along cp is enough at the least.
    instead = "sequence_parallel = false";
    if (spec.maxSeq < sequenceParts(cp, 1))
      instead += fmt::format(" and cp = {}", fewerAlongCp(spec, strategy, 1));
  }
  return fmt::format("{}, as no seq_length up to max_seq = {} does", instead,
                     spec.maxSeq);
}

static void checkSequenceParts(const ModelSpec &spec, const Strategy &strategy,
                               int64_t seq, std::vector<Violation> &out) {
  int64_t cp = strategy.mesh[MTC_AXIS_CP];
  int64_t tp = strategy.sequenceParallel ? strategy.mesh[MTC_AXIS_TP] : 1;
  if (seq % sequenceParts(cp, tp) == 0)
    return;
  std::string nearest = nearestLength(spec, strategy, tp, seq);
  if (cp > 1 && seq % (2 * cp) != 0)
    out.push_back({"seq_length % (2 * cp) == 0",
                   fmt::format("seq_length = {}, cp = {}", seq, cp), nearest});
  if (tp > 1 && seq % (cp * tp) != 0)
    out.push_back({fmt::format("seq_length % {} == 0 with sequence_parallel",
                               cp > 1 ? "(cp * tp)" : "tp"),
                   fmt::format("seq_length = {}, {}tp = {}", seq,
                               cp > 1 ? fmt::format("cp = {}, ", cp) : "", tp),
                   nearest});
}

static void checkSequence(const ModelSpec &spec, const Strategy &strategy,
                          std::vector<Violation> &out) {
  for (int64_t shorter : strategy.shorterSeqLengths)
    checkSequenceParts(spec, strategy, shorter, out);
  if (strategy.seqLength > spec.maxSeq)
    out.push_back({"seq_length <= max_seq",
                   fmt::format("seq_length = {}, max_seq = {}",
                               strategy.seqLength, spec.maxSeq),
                   fmt::format("seq_length = {}", spec.maxSeq)});
  checkSequenceParts(spec, strategy,
                     strategy.seqLength ? strategy.seqLength : spec.maxSeq,
                     out);
}

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
  checkRecompute(spec, strategy, out);
  checkTypes(strategy, out);
  checkGroups(strategy, out);
  checkOverlap(strategy, out);
  return out;
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
