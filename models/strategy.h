//===- strategy.h - how to spread a model -----------------------*- C++ -*-===//
#ifndef MTC_MODELS_STRATEGY_H
#define MTC_MODELS_STRATEGY_H

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "models/diagnostics.h"
#include "models/recompute.h"
#include "models/settings.h"
#include "models/shard_rules.h"

namespace mtc::models {

/// A strategy as given. Keys of the file are the names in snake case
/// (`micro_batch_size`); the table is `[shard]`, overrides are `[[override]]`
/// with `pattern` and `shard = { axis = "tp" | "dp" | "none" }` or what else
/// they say of parameters; mesh.h has the axes of the mesh.
struct Strategy {
  Mesh mesh;                   ///< the axes' names are the keys
  int64_t ranksPerHost = 0;    ///< 0: not said
  int64_t microBatchSize = 1;  ///< samples of one replica
  int64_t globalBatchSize = 0; ///< samples of one step; 0: not given, an error
  /// Of other steps, falling; all are smaller than `globalBatchSize`.
  std::vector<int64_t> smallerGlobalBatches;
  int64_t seqLength = 0; ///< tokens of a sample; 0: the model's max_seq
  /// Of samples of other steps, falling; all are shorter than `seqLength`.
  std::vector<int64_t> shorterSeqLengths;
  /// A name, or the path of a file of slots; empty: the compiler's default.
  std::string schedule;
  /// What the file says, a line per stage: whoever reads it puts it here.
  std::vector<std::string> scheduleSlots = {};
  int64_t chunks = 1;                  ///< virtual stages of a stage
  int64_t microbatchGroup = 0;         ///< of interleaving; 0: pp of them
  std::vector<int64_t> layersPerStage; ///< by virtual stage; empty: even
  bool balancedStages = false;         ///< layers by cost, not by number
  std::optional<int64_t> firstStageLayers, lastStageLayers;
  int64_t zero = 0; ///< split over dp; 1: the optimizer, 2: + gradients
  /// Norms, dropout and sums of the residual stream are split over tp along the
  /// sequence.
  bool sequenceParallel = false;
  Recompute recompute;
  /// What ranks along tp all have is saved in parts, and gathered in backward.
  bool splitSaved = false;
  /// Of overlapKinds, in that order.
  std::vector<std::string> overlap = {"p2p"};
  /// Of epilogueKinds, in that order; a target has its own of them.
  std::vector<std::string> gemmEpilogues = {"bias", "gelu"};
  std::string gemm = "own"; ///< or "onednn"; of cpus
  /// Weights that are packed for products once a step: or "auto", "always".
  std::string prepack = "never";
  std::string gemmTable; ///< the file of a table of `mtc tune`; empty: none
  int64_t threadsPerRank = 1;
  bool commThread = false; ///< a thread of collectives beside these
  int64_t bucketSize = 0;  ///< elements of a gradient bucket; 0: `resolve` says
  std::string bucketLayout = "aligned"; ///< or "dense"
  /// Or "cuda:sm_NN": only its kernels can be compiled, none run.
  std::string target = "cpu";
  std::string dtype = "f32";
  std::string gradDtype = "f32"; ///< of sums of gradients
  std::string optimizer = "adamw";
  /// The last token of a document, whose label is of another, is not in the
  /// loss. Where tokens are left out, the gradient is that of the mean over
  /// microbatches of their own means, or of the mean over the step's tokens.
  bool maskDocumentEnds = false, lossPerToken = false;
  /// Positions begin again with each document; attention sees nothing of the
  /// documents before.
  bool resetPositions = false, resetAttention = false;
  int64_t deviceMemory = 0; ///< bytes of one rank; 0: not limited
  ShardRules shard;
  std::vector<ShardOverride> overrides; ///< a later one beats an earlier one
  /// The keys at the top level that a file or an option says.
  std::set<std::string, std::less<>> given;

  /// Microbatches of a step; the strategy must be valid.
  int64_t microbatches() const {
    return globalBatchSize / (microBatchSize * mesh[MTC_AXIS_DP]);
  }
  /// The samples of a step, the most first.
  std::vector<int64_t> globalBatches() const;
  /// The tokens of a sample, the most first; 0: the model's max_seq.
  std::vector<int64_t> seqLengths() const;
  /// A strategy for each length of samples and each global batch, falling in
  /// the length and then in the batch; they differ in nothing else.
  std::vector<Strategy> ofEachShape() const;
  /// Virtual stages along the model.
  int64_t virtualStages() const { return mesh.stages() * chunks; }
  /// What each of the logical axes of parameter `name` is split over: by the
  /// table, then by each override that matches. A rule takes its mesh axis from
  /// earlier ones, as a mesh axis splits one dimension; two that one override
  /// gives are both in the result.
  std::map<LogicalAxis, MeshAxis>
  meshAxes(std::string_view name, const std::vector<LogicalAxis> &axes) const;
  /// Whether an override gathers what the weight `name` makes.
  bool gathersOutput(std::string_view name) const;
  /// The type in which parameter `name` is stored: that of the last override
  /// which matches and has one, else `dtype`.
  const std::string &dtypeOf(std::string_view name) const;
  /// The group of parameter `name`: that of the last override which matches and
  /// has one; empty if none does.
  std::string groupOf(std::string_view name) const;
  /// Whether parameter `name` is subject to weight decay, which the last
  /// override that matches may say.
  bool decays(std::string_view name, bool byDefault) const;
  /// All groups, in the order in which overrides name them.
  std::vector<std::string> groups() const;
};

/// Whether a value of `schedule` is the path of a file of slots, not a name: it
/// has a slash or a dot.
bool isScheduleFile(std::string_view schedule);

/// What `schedule` may be, beside a file. Schedules are made by passes, which
/// this library does not know: the caller hands their names down.
struct ScheduleNames {
  std::vector<std::string_view> names;
};

/// Parses a strategy; as parseModelSpec.
Parsed<Strategy> parseStrategy(std::string_view text, const std::string &file,
                               const ScheduleNames &schedules,
                               const Settings &settings = {});
Parsed<Strategy> loadStrategy(const std::string &path,
                              const ScheduleNames &schedules,
                              const Settings &settings = {});

/// An option of the command line without its dashes, and its value.
using StrategyOption = std::pair<std::string, std::string>;

/// Options replace what the file says: ("micro-batch-size", "2"),
/// ("layers-per-stage", "1,3"), ("device-memory", "80GiB"), ("shard.ffn",
/// "none"). Each wrong option gives one diagnostic whose `where` is
/// "--option"; the others are applied.
Diagnostics applyOptions(Strategy &strategy,
                         const std::vector<StrategyOption> &options,
                         const ScheduleNames &schedules);

/// Keys that both an option and a setting give, a diagnostic for each.
Diagnostics checkContradictions(const std::vector<StrategyOption> &options,
                                const Settings &settings);

/// An option that `applyOptions` knows.
struct StrategyOptionInfo {
  std::string name;      ///< dashes between words
  std::string aliases;   ///< as those of Field
  std::string what;      ///< what it says, its type and its default
  std::string byDefault; ///< the default as its value, of a text
  bool isFlag;           ///< without a value it means "true"
};

/// `defaults` is the strategy of no file and no option.
std::vector<StrategyOptionInfo> strategyOptions(const ScheduleNames &schedules,
                                                const Strategy &defaults);

/// "80GiB", "512MB", "4096" -> bytes; -1 if it is none (or beyond 2^62).
int64_t parseBytes(std::string_view text);

/// What the compiler cannot build yet, as for a spec.
std::vector<Unbuilt> unsupported(const Strategy &strategy);

/// With the names and nesting of a file; for the descriptor and for people.
nlohmann::ordered_json toJson(const Strategy &strategy);

} // namespace mtc::models
#endif // MTC_MODELS_STRATEGY_H
