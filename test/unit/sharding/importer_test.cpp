//===- importer_test.cpp --------------------------------------------------===//
// The passes on imported models, against the facts.
//
// import, differentiate, the sharding passes: the collectives in the IR, in
// order, and the shardings of the gradients are those of the golden facts; and
// verify-partitioned sees each collective that is dropped or doubled.
//
//===----------------------------------------------------------------------===//
#include "dialects/dist/Dist.h"
#include "dialects/tfm/Tfm.h"
#include "models/import/import.h"
#include "models/resolve.h"
#include "models/spec.h"
#include "models/strategy.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

using namespace mlir;
using namespace mtc;
using nlohmann::json;

namespace {

json readOracle(const std::string &variant) {
  std::ifstream file(std::string(MTC_GOLDEN_DIR) + "/sharding/" + variant +
                     ".json");
  return json::parse(file);
}

models::ModelSpec specOf(const json &oracle) {
  const json &s = oracle["sizes"], &c = oracle["config"];
  models::ModelSpec spec;
  spec.name = "facts";
  spec.vocab = spec.paddedVocab = s["vocab"];
  spec.layers = s["layers"];
  spec.hidden = s["hidden"];
  spec.heads = spec.kvHeads = s["heads"];
  spec.headDim = spec.hidden / spec.heads;
  spec.ffn = s["ffn"];
  spec.maxSeq = s["seq"];
  spec.tied = c["tied"];
  if (c["qkv"] == "separate")
    spec.attention.qkv = models::QkvKind::separate;
  if (c["dropout"])
    spec.dropout = {0.1, 0.1, 0.1};
  return spec;
}

using Create = std::unique_ptr<Pass> (*)();
bool run(ModuleOp module, std::initializer_list<Create> list) {
  PassManager manager(module.getContext());
  for (Create create : list)
    manager.addPass(create());
  return succeeded(manager.run(module));
}

std::string section(const json &oracle, int64_t layer) {
  int64_t layers = oracle["sizes"]["layers"];
  return layer == 0       ? "embed"
         : layer > layers ? "head"
                          : "layers." + std::to_string(layer - 1);
}

/// "layers.0.attn.q.weight+layers.0.attn.k.weight" -> "attn.q+k".
std::string served(dist::AllReduceOp op) {
  if (op.getOrigin() == dist::Origin::Loss)
    return "loss";
  SmallVector<StringRef> names;
  op.getServes().split(names, '+');
  std::string text;
  for (StringRef name : names) {
    name.consume_back(".weight");
    if (name.consume_front("layers."))
      name = name.split('.').second;
    if (name == "embed.tokens" && op.getOrigin() == dist::Origin::F)
      name = "head"; // the tied table's second use
    text += text.empty() ? name.str() : "+" + name.split('.').second.str();
  }
  return text;
}

json collectives(func::FuncOp fn, const json &oracle) {
  json list = json::array();
  for (Operation &op : fn.front()) {
    if (!isa_and_nonnull<dist::DistDialect>(op.getDialect()))
      continue;
    auto reduce = dyn_cast<dist::AllReduceOp>(op);
    EXPECT_TRUE(reduce && reduce.getAxis() == "tp")
        << "found another collective";
    if (!reduce)
      continue;
    auto shape = cast<RankedTensorType>(reduce.getType()).getShape();
    list.push_back({tfm::isBackward(&op) ? "bwd" : "fwd",
                    section(oracle, tfm::layerOf(&op)),
                    dist::stringifyReduceKind(reduce.getKind()).str(),
                    dist::stringifyOrigin(reduce.getOrigin()).str(),
                    served(reduce), shape.vec()});
  }
  return list;
}

using Names = std::vector<std::string>;
using Classes =
    std::map<std::pair<Names, Names>, std::map<std::string, int64_t>>;

/// Axes over which a result is partial, and those that split it.
std::pair<Names, Names> classOf(dist::ShardingAttr sharding) {
  std::pair<Names, Names> axes;
  for (auto [axis, state] : llvm::zip(sharding.getAxes(), sharding.getStates()))
    (state >= 0 ? axes.second : axes.first).push_back(axis.str());
  return axes;
}

Classes gradientClasses(func::FuncOp fn) {
  Classes classes;
  for (unsigned i = 0; i < fn.getNumResults(); ++i)
    if (auto grad = fn.getResultAttrOfType<tfm::GradAttr>(i, "tfm.grad")) {
      auto sharding =
          fn.getResultAttrOfType<dist::ShardingAttr>(i, dist::shardingAttrName);
      classes[classOf(sharding)][grad.getParam().str()] =
          cast<ShapedType>(fn.getResultTypes()[i]).getNumElements();
    }
  return classes;
}

Classes classesOf(const json &layout) {
  Classes classes;
  for (const json &c : layout["gradients"])
    classes[{c["partial_over"], c["split_over"]}] = c["params"];
  return classes;
}

class Imported : public testing::TestWithParam<std::string> {
protected:
  /// One microbatch of the facts' samples.
  static models::Strategy strategyOf(const json &oracle, int64_t dp,
                                     int64_t tp) {
    models::Strategy strategy;
    strategy.mesh[MTC_AXIS_DP] = dp;
    strategy.mesh[MTC_AXIS_TP] = tp;
    strategy.globalBatchSize = oracle["sizes"]["batch"];
    strategy.microBatchSize = strategy.globalBatchSize / dp;
    strategy.schedule = "1f1b";
    strategy.sequenceParallel =
        StringRef(oracle["variant"].get<std::string>()).ends_with("-sp");
    return strategy;
  }
  OwningOpRef<ModuleOp> partitioned(const json &oracle, int64_t dp,
                                    int64_t tp) {
    return partitioned(oracle, strategyOf(oracle, dp, tp));
  }
  OwningOpRef<ModuleOp> partitioned(const json &oracle,
                                    const models::Strategy &strategy) {
    return partitioned(specOf(oracle), strategy);
  }
  OwningOpRef<ModuleOp> partitioned(const models::ModelSpec &spec,
                                    const models::Strategy &strategy) {
    auto module =
        models::importModel(context, spec, models::resolve(spec, strategy));
    EXPECT_TRUE(
        run(*module,
            {passes::createDifferentiate, passes::createPlanRecompute,
             passes::createAnnotateShardings, passes::createPropagateShardings,
             passes::createInsertCollectives, passes::createPartition,
             passes::createVerifyPartitioned}));
    return module;
  }
  MLIRContext context{MLIRContext::Threading::DISABLED};
};

func::FuncOp microbatch(ModuleOp module) {
  return module.lookupSymbol<func::FuncOp>("microbatch");
}

TEST_P(Imported, HasTheCollectivesOfTheFacts) {
  json oracle = readOracle(GetParam());
  for (const json &layout : oracle["layouts"]) {
    SCOPED_TRACE(layout["dp"].dump() + " x " + layout["tp"].dump());
    auto module = partitioned(oracle, layout["dp"], layout["tp"]);
    func::FuncOp fn = microbatch(*module);
    EXPECT_EQ(collectives(fn, oracle), layout["collectives"]);
    EXPECT_EQ(gradientClasses(fn), classesOf(layout));
    EXPECT_EQ(json(classOf(fn.getResultAttrOfType<dist::ShardingAttr>(
                               0, dist::shardingAttrName))
                       .first),
              layout["loss_partial_over"]);
  }
}

class SequenceParallel : public Imported {};

/// Phase, section, kind and both local shapes.
json allKinds(func::FuncOp fn, const json &oracle) {
  json list = json::array();
  for (Operation &op : fn.front()) {
    if (!isa<dist::AllReduceOp, dist::AllGatherOp, dist::ReduceScatterOp>(op))
      continue;
    auto reduce = dyn_cast<dist::AllReduceOp>(op);
    std::string kind = op.getName().stripDialect().str();
    if (reduce && reduce.getKind() == dist::ReduceKind::Max)
      kind += "_max";
    auto shape = [](Value value) {
      return cast<RankedTensorType>(value.getType()).getShape().vec();
    };
    list.push_back({tfm::isBackward(&op) ? "bwd" : "fwd",
                    section(oracle, tfm::layerOf(&op)), kind,
                    shape(op.getOperand(0)), shape(op.getResult(0))});
  }
  return list;
}

/// The forward in order. In the backward of a section the facts make the
/// gradient of a weight before that of its input, `differentiate` after it, and
/// what is gathered for it comes with it: there the same ones, in any order.
std::vector<json> bySection(const json &collectives) {
  std::vector<json> ordered(collectives.begin(), collectives.end());
  for (auto first = ordered.begin(); first != ordered.end();) {
    auto last = std::find_if(first, ordered.end(), [&](const json &c) {
      return c[0] != (*first)[0] || c[1] != (*first)[1];
    });
    if ((*first)[0] == "bwd")
      std::sort(first, last);
    first = last;
  }
  return ordered;
}

TEST_P(SequenceParallel, HasTheCollectivesOfTheFacts) {
  json oracle = readOracle(GetParam());
  for (const json &layout : oracle["layouts"]) {
    SCOPED_TRACE(layout["dp"].dump() + " x " + layout["tp"].dump());
    auto module = partitioned(oracle, layout["dp"], layout["tp"]);
    func::FuncOp fn = microbatch(*module);
    EXPECT_EQ(bySection(allKinds(fn, oracle)),
              bySection(layout["collectives"]));
    EXPECT_EQ(gradientClasses(fn), classesOf(layout));
  }
}

class ContextParallel : public Imported {};

/// How often each kind of collective over cp stands in a section of a phase.
std::map<std::string, int> countsOverCp(func::FuncOp fn, const json &oracle) {
  std::map<std::string, int> counts;
  for (Operation &op : fn.front()) {
    auto axis = op.getAttrOfType<StringAttr>("axis");
    if (isa_and_nonnull<dist::DistDialect>(op.getDialect()) && axis == "cp")
      ++counts[section(oracle, tfm::layerOf(&op)) +
               (tfm::isBackward(&op) ? " bwd " : " fwd ") +
               op.getName().stripDialect().str()];
  }
  return counts;
}

/// Keys and values are gathered for the attention of a layer, and again for its
/// backward; their gradients are scattered. Nothing else moves over cp,
/// whatever is computed again and whatever tp splits beside it.
TEST_P(ContextParallel, HasTheCollectivesOfTheFacts) {
  json oracle = readOracle(GetParam());
  std::map<std::string, int> expected;
  for (int64_t layer = 0; layer < oracle["sizes"]["layers"]; ++layer) {
    std::string name = "layers." + std::to_string(layer);
    expected[name + " fwd all_gather"] = 2;
    expected[name + " bwd all_gather"] = 2;
    expected[name + " bwd reduce_scatter"] = 2;
  }
  using Policy = models::Recompute::Policy;
  for (int64_t tp : {1, 2})
    for (Policy policy : {Policy::none, Policy::selective, Policy::full}) {
      models::Strategy strategy = strategyOf(oracle, 1, tp);
      strategy.mesh[MTC_AXIS_CP] = 2;
      strategy.recompute.policy = policy;
      SCOPED_TRACE(toString(strategy.recompute) + ", tp " + std::to_string(tp));
      auto module = partitioned(oracle, strategy);
      EXPECT_EQ(countsOverCp(microbatch(*module), oracle), expected);
    }
}

class GroupedQueries : public Imported {};

/// Whatever number of key heads there is, and whether ranks share them: a layer
/// has the collectives that it has with as many as heads. Where ranks share
/// them, gradients of their parameters are partial over tp until the end of the
/// step, and nothing else is.
bool isOfKeys(llvm::StringRef parameter) {
  return parameter.contains("attn.k.") || parameter.contains("attn.v.");
}

/// How many ranks in a row have the same part of keys' and values' parameters,
/// of which there are four: the same for all.
int64_t ranksOfKeys(func::FuncOp fn) {
  std::set<int64_t> ranks;
  for (unsigned i = 0; i < fn.getNumArguments(); ++i)
    if (auto param = fn.getArgAttrOfType<tfm::ParamAttr>(i, "tfm.param")) {
      int64_t found = param.ranksOfPart();
      if (isOfKeys(param.getName().getValue()))
        ranks.insert(found);
      else
        EXPECT_EQ(found, 1) << param.getName().str();
    }
  EXPECT_LE(ranks.size(), 1u);
  return ranks.empty() ? 1 : *ranks.begin();
}

TEST_P(GroupedQueries, HaveTheCollectivesOfTheFacts) {
  json oracle = readOracle(GetParam());
  models::ModelSpec spec = specOf(oracle);
  bool anyShared = false;
  for (const json &layout : oracle["layouts"])
    for (spec.kvHeads = 1; spec.kvHeads <= spec.heads; ++spec.kvHeads) {
      if (spec.heads % spec.kvHeads != 0)
        continue;
      int64_t tp = layout["tp"];
      SCOPED_TRACE(layout["dp"].dump() + " x " + layout["tp"].dump() + ", " +
                   std::to_string(spec.kvHeads) + " key heads");
      auto module = partitioned(spec, strategyOf(oracle, layout["dp"], tp));
      func::FuncOp fn = microbatch(*module);
      EXPECT_EQ(collectives(fn, oracle), layout["collectives"]);
      // Each rank stores the one head that it reads, or all of them.
      bool storesOne = tp % spec.kvHeads == 0;
      bool storesAll = !storesOne && spec.kvHeads % tp != 0;
      EXPECT_EQ(ranksOfKeys(fn), storesOne ? tp / spec.kvHeads : 1);
      anyShared |= storesOne && tp > spec.kvHeads;
      for (auto &[axes, parameters] : gradientClasses(fn))
        for (auto &[name, elements] : parameters) {
          bool isPartial = llvm::is_contained(axes.first, "tp");
          EXPECT_EQ(isPartial, isOfKeys(name) && storesAll) << name;
        }
    }
  EXPECT_TRUE(anyShared);
}

bool isSound(ModuleOp module) {
  ScopedDiagnosticHandler quiet(module.getContext(),
                                [](Diagnostic &) { return success(); });
  return run(module, {passes::createVerifyPartitioned});
}

TEST_P(Imported, VerifierSeesEveryDroppedAndDoubledReduction) {
  auto module = partitioned(readOracle(GetParam()), 2, 2);
  std::vector<dist::AllReduceOp> all;
  microbatch(*module).walk([&](dist::AllReduceOp op) { all.push_back(op); });
  ASSERT_EQ(all.size(), 13u);
  for (dist::AllReduceOp op : all) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : op.getResult().getUses())
      uses.push_back(&use);
    auto readAs = [&](Value value) {
      for (OpOperand *use : uses)
        use->set(value);
    };
    readAs(op.getX());
    EXPECT_FALSE(isSound(*module)) << "dropped " << op.getServes().str();
    OpBuilder b(op->getNextNode());
    Operation *twice = b.clone(*op);
    twice->setOperand(0, op.getResult());
    readAs(twice->getResult(0));
    EXPECT_FALSE(isSound(*module)) << "doubled " << op.getServes().str();
    readAs(op.getResult());
    twice->erase();
    EXPECT_TRUE(isSound(*module));
  }
}

TEST(Locations, NamePartsAndLinesOfTheSpec) {
  auto parsed = models::parseModelSpec("name = \"small\"\n"
                                       "vocab = 8\n"
                                       "layers = 2\n"
                                       "hidden = 8\n"
                                       "heads = 2\n"
                                       "ffn = 16\n"
                                       "max_seq = 4\n"
                                       "[mlp]\n"
                                       "kind = \"relu\"\n",
                                       "small.toml");
  ASSERT_TRUE(parsed.ok());
  models::Strategy strategy;
  strategy.globalBatchSize = 1;
  strategy.schedule = "1f1b";
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = models::importModel(context, parsed.value,
                                    models::resolve(parsed.value, strategy));
  auto named = [&](StringRef part, Location written) -> Location {
    return NameLoc::get(StringAttr::get(&context, part), written);
  };
  Location line = FileLineColLoc::get(&context, "small.toml", 8, 1);
  SmallVector<Location> found;
  module->walk([&](tfm::ActivationOp op) { found.push_back(op.getLoc()); });
  EXPECT_EQ(found,
            (SmallVector<Location>{named("layers.0.mlp.activation", line),
                                   named("layers.1.mlp.activation", line)}));
  // [norm] is left to its default.
  found.clear();
  module->walk([&](tfm::NormOp op) { found.push_back(op.getLoc()); });
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(found.front(), named("layers.0.norm1", UnknownLoc::get(&context)));
  module->walk([](Operation *op) {
    EXPECT_TRUE(isa<NameLoc>(op->getLoc()))
        << op->getName().getStringRef().str();
  });
}

/// GoogleTest wants letters, digits and underscores.
std::string nameOf(const testing::TestParamInfo<std::string> &info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Gpt2, SequenceParallel,
                         testing::Values("gpt2-sp", "gpt2-nodrop-sp",
                                         "gpt2-sepqkv-sp", "gpt2-untied-sp"),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Gpt2, ContextParallel,
                         testing::Values("gpt2", "gpt2-sepqkv", "gpt2-untied",
                                         "gpt2-sp", "gpt2-sepqkv-sp"),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Gpt2, GroupedQueries, testing::Values("gpt2-sepqkv"),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Gpt2, Imported,
                         testing::Values("gpt2", "gpt2-nodrop", "gpt2-sepqkv",
                                         "gpt2-untied"),
                         nameOf);

} // namespace
