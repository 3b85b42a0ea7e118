//===- strategy_fields.cpp - every key of a strategy ----------------------===//

#include "models/strategy_fields.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/document_fields.h"
#include "models/epilogues.h"
#include "models/key_names.h"
#include "models/mesh_fields.h"
#include "models/overlap.h"
#include "models/stage_layout.h"
#include "models/stages.h"
#include "models/target.h"
#include "models/update_fields.h"
#include "models/validate_stages.h"

namespace mtc::models {

static constexpr IntegerRange countRange{1, 1 << 20};

using StrategyRows = std::vector<Field<Strategy>>;
using OfStrategy = Kind<Strategy>;

/// An integer, or several in any order: the largest one and, falling, the
/// others.
static Kind<Strategy> oneOrMore(IntegerRange range, int64_t Strategy::*largest,
                                std::vector<int64_t> Strategy::*others) {
  auto kind = OfStrategy::integer(range, largest);
  kind.type += ", or a list of such, each once";
  kind.read = [=, one = kind.read, type = kind.type](TomlReader &in,
                                                     std::string_view key,
                                                     Strategy &out, Need need) {
    if (const toml::node *node = in.has(key) ? in.node(key) : nullptr;
        !node || !node->is_array()) {
      if (node)
        (out.*others).clear();
      return one(in, key, out, need);
    }
    std::vector<int64_t> values;
    in.integers(key, values, range);
    if (!in.good(key))
      return;
    std::sort(values.begin(), values.end(), std::greater<>());
    if (values.empty())
      return in.wrong(key, type);
    if (auto twice = std::adjacent_find(values.begin(), values.end());
        twice != values.end())
      return in.wrong(key, type, fmt::format(", with {} twice", *twice));
    out.*largest = values.front();
    (out.*others).assign(values.begin() + 1, values.end());
  };
  kind.valueOf = [=, one = kind.valueOf](const Strategy &s) {
    nlohmann::ordered_json value = one(s);
    if ((s.*others).empty())
      return value;
    auto list = nlohmann::ordered_json::array({value});
    for (int64_t other : s.*others)
      list.push_back(other);
    return list;
  };
  return kind;
}

static Kind<Strategy> seqLength() {
  auto kind =
      oneOrMore(countRange, &Strategy::seqLength, &Strategy::shorterSeqLengths);
  kind.unset = [](const ModelSpec &spec) { return spec.maxSeq; };
  return kind;
}

static StrategyRows batchFields() {
  return {
      {"", "micro_batch_size",
       OfStrategy::integer(countRange, &Strategy::microBatchSize),
       "samples of a replica that go through the pipeline together", "2",
       Need::optional, "", "mbs"},
      {"", "global_batch_size",
       oneOrMore({1, 1 << 30}, &Strategy::globalBatchSize,
                 &Strategy::smallerGlobalBatches),
       "samples of a step, a multiple of micro_batch_size x dp; of several "
       "batches, the steps of a run have one or the other (keys "
       "global_batch_size and rampup_batch_size of a recipe), with the same "
       "parameters",
       "16", Need::optional, "none, and one is needed", "gbs"},
      {"", "seq_length", seqLength(),
       "tokens of a sample; of several lengths, the steps of a run have one "
       "or the other (key seq of a recipe), with the same parameters",
       "512", Need::optional, "the spec's max_seq", "seq"},
      {"", "zero", OfStrategy::integer({0, 2}, &Strategy::zero),
       "1: each replica keeps and updates its part of the optimizer's states "
       "(ZeRO-1); 2: it also keeps its part of the sums of gradients only "
       "(ZeRO-2)",
       "1", Need::optional, "", "use-distributed-optimizer=1"},
      {"", "sequence_parallel",
       OfStrategy::boolean(&Strategy::sequenceParallel),
       "norms, dropout and sums of the residual stream are split over tp along "
       "the sequence, which tp must divide",
       "true", Need::optional, "", "sp"},
      {"", "threads_per_rank",
       OfStrategy::integer({1, 1024}, &Strategy::threadsPerRank),
       "threads with which a rank computes", "4", Need::optional, "",
       "threads"},
      {"", "comm_thread", OfStrategy::boolean(&Strategy::commThread),
       "a cpu rank has one more thread, which does its collectives while the "
       "others compute what does not need them, as a GPU does on a stream of "
       "their own",
       "true"},
      {"", "bucket_size",
       OfStrategy::integer({1, int64_t{1} << 40}, &Strategy::bucketSize),
       "a bucket of gradients, which are reduced together, is full when it has "
       "so many elements; the parameter that fills it is in it as a whole",
       "10_000_000", Need::optional,
       "40,000,000, or 1,000,000 x dp where that is more", "ddp-bucket-size"},
  };
}

/// One of `values`, or what `isOther` takes, which is `other` in words.
template <typename T>
static Kind<T> named(const std::vector<std::string_view> &values,
                     std::string T::*member,
                     bool (*isOther)(std::string_view) = nullptr,
                     std::string_view other = "") {
  std::string type =
      values.size() == 1 ? std::string(values[0]) : "one of " + join(values);
  type += other;
  auto read = [=](TomlReader &in, std::string_view key, T &out, Need need) {
    std::optional<std::string> value = in.text(key, need);
    if (!value)
      return;
    bool isKnown =
        std::find(values.begin(), values.end(), *value) != values.end() ||
        (isOther && isOther(*value));
    if (!isKnown) {
      std::string near = nearestName(*value, values);
      return in.wrong(key, type,
                      near.empty() ? "" : ", did you mean '" + near + "'?");
    }
    out.*member = *value;
  };
  return {type, read,
          [=](const T &of) -> nlohmann::ordered_json { return of.*member; },
          Kind<T>::quoted(values)};
}

/// A text with a grammar of its own: `parse` reads it into the member, and
/// `print` writes it back.
template <typename T>
static Kind<Strategy> grammar(std::string type, T Strategy::*member,
                              ReadText (*parse)(std::string_view, T &),
                              std::string (*print)(const T &)) {
  auto read = [=](TomlReader &in, std::string_view key, Strategy &out,
                  Need need) {
    std::optional<std::string> text = in.text(key, need);
    if (!text)
      return;
    if (ReadText result = parse(*text, out.*member); !result.ok)
      in.wrong(key, type, result.advice);
  };
  return {type, read, [=](const Strategy &s) -> nlohmann::ordered_json {
            return print(s.*member);
          }};
}

/// The types that parameters may have.
static const std::vector<std::string_view> &allDtypes() {
  static const std::vector<std::string_view> types = {"f32", "fp16", "bf16"};
  return types;
}

static Kind<Strategy> target() {
  Kind<Strategy> kind = grammar(
      describeTarget(), &Strategy::target, parseTarget,
      +[](const std::string &text) { return text; });
  kind.choices = Kind<Strategy>::quoted(allTargets());
  return kind;
}

static StrategyRows nameFields(const ScheduleNames &schedules) {
  return {
      {"", "schedule",
       named(schedules.names, &Strategy::schedule, isScheduleFile,
             ", or the path of a file"),
       "the order of forwards and backwards (mtc help schedules; of a file: "
       "docs/schedules.md)",
       "\"gpipe\""},
      {"", "target", target(),
       "what ranks compute with: processors, or NVIDIA GPUs of these "
       "architectures and newer ones, of which a rank takes the newest code "
       "that its GPU runs; sm_90a is H100 and H200 alone, with faster "
       "attention",
       "\"cuda:sm_80,sm_90a\""},
      {"", "dtype", named(allDtypes(), &Strategy::dtype),
       "type of weights and activations in computations; bf16 and fp16 keep "
       "main parameters in f32, and fp16 scales the loss",
       "\"bf16\"", Need::optional, "", "bf16=bf16 fp16=fp16"},
      {"", "grad_dtype", named(allDtypes(), &Strategy::gradDtype),
       "type in which gradients are accumulated over microbatches and summed "
       "over ranks: the dtype, bf16 or fp16, takes half the memory and moves "
       "half the bytes, and rounds each sum; parameters that an override "
       "stores in "
       "f32 keep gradients in f32",
       "\"bf16\"", Need::optional, "", "grad-reduce-in-bf16=bf16"},
      {"", "optimizer",
       named({"adamw", "adam_l2", "sgd", "nesterov", "lion"},
             &Strategy::optimizer),
       "what updates parameters (docs/numerics.md), its numbers are the "
       "recipe's: AdamW (which Megatron-LM calls adam), Adam with L2 decay "
       "(torch.optim.Adam), SGD with momentum or with Nesterov's, or Lion",
       "\"lion\""},
      {"", "bucket_layout",
       named({"aligned", "dense"}, &Strategy::bucketLayout),
       "how parameters lie in buckets under zero 1 and 2: with aligned each "
       "begins at a multiple of 64 elements and a bucket ends at one of "
       "lcm(dp, 128), with dense they lie side by side and a bucket ends at a "
       "multiple of dp; numbers do not depend on it",
       "\"dense\""},
  };
}

/// Bytes, as a number or with a unit.
static Kind<Strategy> bytes() {
  std::string type = "bytes, as a number or like \"80GiB\" (KiB MiB GiB TiB, "
                     "KB MB GB TB)";
  auto read = [=](TomlReader &in, std::string_view key, Strategy &out, Need) {
    const toml::node *node = in.node(key);
    if (!node)
      return;
    int64_t bytes = -1;
    if (const auto *value = node->as_integer())
      bytes = value->get();
    else if (const auto *text = node->as_string())
      bytes = parseBytes(text->get());
    if (bytes < 0)
      return in.wrong(key, type);
    out.deviceMemory = bytes;
  };
  return {type, read, [](const Strategy &s) -> nlohmann::ordered_json {
            return s.deviceMemory;
          }};
}

static Kind<Strategy> recompute() {
  Kind<Strategy> kind = grammar(describeRecompute(), &Strategy::recompute,
                                parseRecompute, toString);
  kind.tries = [](const ModelSpec &spec, const Strategy &strategy) {
    std::vector<nlohmann::ordered_json> values;
    for (const Recompute &policy : recomputeLadder(mostLayers(spec, strategy)))
      values.push_back(toString(policy));
    return values;
  };
  return kind;
}

/// What is computed again, and what beside what.
static StrategyRows timeFields() {
  return {
      {"", "recompute", recompute(),
       "what the backward of a transformer layer computes again instead of "
       "saving it: what attention makes (selective), all but the layer's input "
       "(full), that in the first N layers of each stage or for N of the "
       "microbatches that a stage has in flight, what ops of some families "
       "make, or the least of these but of families that fits device_memory "
       "(fit)",
       "\"selective\"", Need::optional, "",
       "recompute-granularity recompute-activations=selective"},
      {"", "distribute_saved_activations",
       OfStrategy::boolean(&Strategy::splitSaved),
       "with recompute: of what all ranks along tp have, such as the input of "
       "a layer, each saves a part only, and the backward gathers it again; "
       "with sequence_parallel they have parts anyway",
       "true"},
      {"", "overlap",
       grammar(describeOverlap(), &Strategy::overlap, parseOverlap,
               overlapText),
       "what runs beside computations: with p2p a stage goes on while a value "
       "that it sent is on its way, and waits where it needs one or its buffer "
       "again; with grad-reduce gradients of a bucket are summed over ranks as "
       "soon as the last microbatch has made the bucket's last one, not at the "
       "end of the step (zero 2 sums those of every microbatch there); with "
       "param-gather, under zero 1 and 2, what the replicas updated of a "
       "bucket is gathered before its first reader, in the next step's first "
       "forward, not at the end of the step",
       "\"p2p\"", Need::optional, "",
       "overlap-grad-reduce+=grad-reduce overlap-param-gather+=param-gather"},
  };
}

/// How products are computed, and what with them.
static StrategyRows productFields() {
  return {
      {"", "gemm_epilogues",
       grammar(describeEpilogues(), &Strategy::gemmEpilogues, parseEpilogues,
               epiloguesText),
       "what is done within products, in place of a kernel behind them: on a "
       "GPU, to sums before these are rounded, with bias the bias is added, "
       "with gelu GELU is computed; each rounds once where kernels round per "
       "op. On a cpu, with pointwise, what a kernel computes of each element "
       "of a product (gemm = \"own\") by itself is done to blocks of it while "
       "they lie in a cache, with the same bits",
       "\"bias\""},
      {"", "gemm", named({"own", "onednn"}, &Strategy::gemm),
       "how products of a cpu are computed: by kernels of our own, whose bits "
       "do not depend on threads_per_rank, or by oneDNN's matmul (a "
       "gemm_table may name it or oneDNN's inner_product for some)",
       "\"onednn\""},
      {"", "prepack", named({"never", "auto", "always"}, &Strategy::prepack),
       "weights that products of a cpu (gemm = \"own\") read are packed for "
       "them once a step, in memory of their own, not in each microbatch: with "
       "auto where it takes less time, as gemm_table says or, of a product "
       "that it lacks, from 8 microbatches on; with always all that they read "
       "as they lie. No bit "
       "of our products depends on it (one that a table would give to oneDNN "
       "is ours where that is faster); a weight has such a copy for its "
       "forward and one for its backward",
       "\"auto\""},
      {"", "gemm_table", OfStrategy::text(&Strategy::gemmTable),
       "a file of `mtc tune`, or the name of one that comes with mtc (`mtc "
       "help gemm-tables`, docs/tune.md): a product of a cpu that it has is "
       "computed by the kernel that was fastest there, others as gemm says. A "
       "path in a "
       "strategy begins where the strategy lies",
       "\"zen4.json\"", Need::optional, "none"},
  };
}

/// The word that stands for a list.
static constexpr std::string_view kBalanced = "balanced";

static Kind<Strategy> layersPerStage() {
  auto list = OfStrategy::integers({0, 65535}, &Strategy::layersPerStage);
  list.type = fmt::format("\"{}\", a layout like \"Et*2|(ttt|)*2tL\" (E "
                          "embedding, t layer, L head, | the end of a stage), "
                          "or {}",
                          kBalanced, list.type);
  auto read = [inner = list.read, type = list.type](TomlReader &in,
                                                    std::string_view key,
                                                    Strategy &out, Need need) {
    const toml::node *node = in.has(key) ? in.node(key) : nullptr;
    if (node && !node->is_string() && !node->is_array())
      return in.wrong(key, type);
    if (!node || !node->is_string()) {
      out.balancedStages &= !node;
      return inner(in, key, out, need);
    }
    auto text = node->value_or(std::string());
    out.balancedStages = text == kBalanced;
    out.layersPerStage.clear();
    if (out.balancedStages)
      return;
    if (ReadText result = parseStageLayout(text, out.layersPerStage);
        !result.ok)
      in.wrong(key, type,
               nearestName(text, {kBalanced}).empty()
                   ? result.advice
                   : fmt::format(", did you mean '{}'?", kBalanced));
  };
  auto valueOf = [inner = list.valueOf](const Strategy &s) {
    return s.balancedStages ? nlohmann::ordered_json(kBalanced) : inner(s);
  };
  list.read = read;
  list.valueOf = valueOf;
  list.tries = [](const ModelSpec &spec, const Strategy &strategy) {
    std::vector<nlohmann::ordered_json> values = {
        nlohmann::ordered_json::array()};
    // More stages than layers leave some in the middle without one.
    if (int64_t stages = strategy.virtualStages(); stages <= spec.layers)
      values.push_back(evenStages(spec.layers, stages));
    return values;
  };
  return list;
}

/// Layers of the first or the last stage.
static Kind<Strategy> endLayers(std::optional<int64_t> Strategy::*member) {
  static constexpr IntegerRange range{0, 65535};
  auto read = [=](TomlReader &in, std::string_view key, Strategy &out,
                  Need need) {
    int64_t layers = 0;
    in.integer(key, layers, range, need);
    if (in.has(key) && in.good(key))
      out.*member = layers;
  };
  return {describe(range), read,
          [=](const Strategy &s) -> nlohmann::ordered_json {
            if (s.*member)
              return *(s.*member);
            return nullptr;
          }};
}

static StrategyRows stageAndMemoryFields() {
  return {
      {"", "chunks", OfStrategy::integer({1, 1 << 10}, &Strategy::chunks),
       "pieces of the model that each stage has: virtual stages, which go "
       "round "
       "the stages in the order of the model (schedule interleaved-1f1b)",
       "2", Need::optional, "", "num-virtual-stages-per-pipeline-rank"},
      {"", "microbatch_group",
       OfStrategy::integer(countRange, &Strategy::microbatchGroup),
       "with chunks: microbatches that go through a chunk before the next "
       "chunk "
       "has its turn",
       "4", Need::optional, "pp",
       "microbatch-group-size-per-virtual-pipeline-stage"},
      {"", "layers_per_stage", layersPerStage(),
       "layers of each of the pp x chunks virtual stages, in the order of the "
       "model and with the sum layers; 0, of the first and the last one only, "
       "leaves the embedding or the head alone; balanced: so that the stage "
       "that computes most, embedding and head counted, computes as little as "
       "can be; a layout as Megatron-LM's --pipeline-model-parallel-layout has "
       "it",
       "[1, 3]", Need::optional,
       "the same number each; pp x chunks must divide layers",
       "stages pipeline-model-parallel-layout"},
      {"", "first_stage_layers", endLayers(&Strategy::firstStageLayers),
       "layers of the first stage; those between the ends share the rest", "2",
       Need::optional, "as the others", "decoder-first-pipeline-num-layers"},
      {"", "last_stage_layers", endLayers(&Strategy::lastStageLayers),
       "layers of the last stage, which has the head as well", "2",
       Need::optional, "as the others", "decoder-last-pipeline-num-layers"},
      {"", "device_memory", bytes(),
       "what a rank may use: a plan that needs more, on a GPU with what CUDA "
       "and NCCL hold, is rejected",
       "\"2GiB\"", Need::optional, "no limit"},
  };
}

std::vector<Field<Strategy>> strategyFields(const ScheduleNames &schedules) {
  StrategyRows rows;
  for (const StrategyRows &part :
       {meshFields(), batchFields(), nameFields(schedules), documentFields(),
        stageAndMemoryFields(), timeFields(), productFields()})
    rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

/// What dimensions can be split over, in the order of messages.
static const std::vector<Choice<MeshAxis>> &meshAxisChoices() {
  static const std::vector<Choice<MeshAxis>> choices = [] {
    std::vector<Choice<MeshAxis>> rows;
    for (const AxisInfo &axis : kAxes)
      if (axis.splits)
        rows.push_back({axis.name, static_cast<MeshAxis>(axis.id)});
    rows.push_back({toString(MeshAxis::none), MeshAxis::none});
    return rows;
  }();
  return choices;
}

/// The mesh axis of one dimension. What the table leaves out is general.
static Kind<ShardAxes> meshAxisOf(LogicalAxis axis) {
  std::vector<std::string_view> names;
  for (const Choice<MeshAxis> &choice : meshAxisChoices())
    names.push_back(choice.name);
  auto read = [=](TomlReader &in, std::string_view key, ShardAxes &out, Need) {
    MeshAxis mesh = MeshAxis::none;
    in.choice(key, mesh, meshAxisChoices());
    if (in.has(key) && in.good(key))
      out.emplace_back(axis, mesh);
  };
  auto valueOf = [=](const ShardAxes &axes) -> nlohmann::ordered_json {
    for (auto [given, mesh] : axes)
      if (given == axis)
        return toString(mesh);
    return toString(ShardRules().meshAxis(axis));
  };
  return {"one of " + join(names), read, valueOf,
          Kind<ShardAxes>::quoted(names)};
}

const std::vector<Field<ShardAxes>> &shardFields() {
  static const std::vector<Field<ShardAxes>> fields = [] {
    std::vector<Field<ShardAxes>> rows;
    for (LogicalAxis axis : allLogicalAxes())
      rows.push_back({"shard", toString(axis), meshAxisOf(axis),
                      meaningOf(axis),
                      ShardRules::buildable(axis, MeshAxis::none) ? "\"none\""
                      : axis == LogicalAxis::seq                  ? "\"cp\""
                                                                  : "\"dp\""});
    return rows;
  }();
  return fields;
}

static ShardAxes readShardTable(TomlReader &reader) {
  ShardAxes axes;
  readTable(reader, shardFields(), "shard", axes);
  reader.finish();
  return axes;
}

static Kind<ShardOverride> pattern() {
  auto read = [](TomlReader &in, std::string_view key, ShardOverride &out,
                 Need need) {
    in.string(key, out.pattern, need);
    if (in.good(key) && out.pattern.empty())
      in.wrong(key, "a parameter name, '*' for any characters");
  };
  return {"a string", read,
          [](const ShardOverride &override) -> nlohmann::ordered_json {
            return override.pattern;
          }};
}

static Kind<ShardOverride> ownAxes() {
  auto read = [](TomlReader &in, std::string_view key, ShardOverride &out,
                 Need) {
    if (const toml::table *table = in.subtable(key)) {
      TomlReader shard = in.inner(key, *table);
      out.axes = readShardTable(shard);
    } else if (!in.has(key) && !in.has("gather_output") && !in.has("dtype") &&
               !in.has("group") && !in.has("decay")) {
      in.error(key, "is missing; write shard = { ffn = \"none\" }, "
                    "gather_output = true, dtype = \"f32\", group = \"slow\" "
                    "or decay = false");
    }
  };
  return {"a table with keys of [shard]", read,
          [](const ShardOverride &override) {
            nlohmann::ordered_json json;
            for (auto [axis, mesh] : override.axes)
              json[std::string(toString(axis))] = toString(mesh);
            return json;
          }};
}

const std::vector<Field<ShardOverride>> &overrideFields() {
  static const std::vector<Field<ShardOverride>> fields = {
      {"override", "pattern", pattern(),
       "a parameter's name, in which a star stands for any characters; "
       "of overrides that match the last one holds, and takes its mesh axis "
       "from other dimensions",
       "\"layers.*.mlp.*\"", Need::required},
      {"override", "shard", ownAxes(),
       "another rule for some dimensions of these parameters; others keep that "
       "of [shard]",
       "{ ffn = \"none\" }", Need::required},
      {"override", "gather_output",
       Kind<ShardOverride>::boolean(&ShardOverride::gatherOutput),
       "what these weights make is gathered, with its bias, before anything "
       "else reads it",
       "true"},
      {"override", "dtype", named(allDtypes(), &ShardOverride::dtype),
       "the type in which these parameters are stored, read and gathered: f32, "
       "or that of the strategy; in f32 they are the main ones",
       "\"f32\"", Need::optional, "that of the strategy"},
      groupField(),
      decayField(),
  };
  return fields;
}

static void readOverrides(TomlReader &root, Strategy &strategy) {
  const toml::node *node = root.node("override");
  if (!node)
    return;
  const toml::array *list = node->as_array();
  if (!list)
    return root.wrong("override", "tables headed [[override]]");
  for (const toml::node &item : *list) {
    const toml::table *table = item.as_table();
    if (!table)
      return root.error("override", fmt::format("expected tables headed "
                                                "[[override]], found {}",
                                                describe(item)));
    TomlReader reader = root.inner("override", *table);
    ShardOverride override;
    readTable(reader, overrideFields(), "override", override);
    reader.finish();
    strategy.overrides.push_back(std::move(override));
  }
}

void readStrategy(TomlReader &root, Strategy &strategy,
                  const ScheduleNames &schedules) {
  std::vector<Field<Strategy>> fields = strategyFields(schedules);
  readTable(root, fields, "", strategy);
  for (const Field<Strategy> &field : fields)
    if (root.has(field.key))
      strategy.given.emplace(field.key);
  if (const toml::table *table = root.subtable("shard")) {
    TomlReader reader = root.inner("shard", *table);
    for (auto [axis, mesh] : readShardTable(reader))
      strategy.shard.set(axis, mesh);
  }
  readOverrides(root, strategy);
  root.suggestAlso(otherNames());
  root.finish();
}

} // namespace mtc::models
