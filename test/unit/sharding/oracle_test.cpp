//===- oracle_test.cpp - GPT-2's collectives and gradients, exactly -------===//
#include "gpt2.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

using namespace mtc::sharding;
using namespace mtc::sharding::test;
using nlohmann::json;

namespace {

json readOracle(const std::string &variant) {
  std::ifstream file(std::string(MTC_GOLDEN_DIR) + "/sharding/" + variant +
                     ".json");
  return json::parse(file);
}

Gpt2 modelOf(const json &oracle) {
  const json &s = oracle["sizes"], &c = oracle["config"];
  return {
      s["batch"], s["seq"],    s["hidden"],  s["heads"],          s["ffn"],
      s["vocab"], s["layers"], c["dropout"], c["qkv"] == "fused", c["tied"]};
}

std::string section(const json &oracle, int64_t layer) {
  int64_t layers = oracle["sizes"]["layers"];
  return layer == 0       ? "embed"
         : layer > layers ? "head"
                          : "layers." + std::to_string(layer - 1);
}

Shape localShape(Shape shape, const std::vector<State> &states,
                 const std::vector<Axis> &axes) {
  for (size_t a = 0; a < axes.size(); ++a)
    if (states[a] >= 0)
      shape[states[a]] /= axes[a].size;
  return shape;
}

/// "layers.0.attn.q.weight" -> "attn.q"; "head.weight" -> "head".
std::string moduleOf(std::string name) {
  if (name.rfind("layers.", 0) == 0)
    name = name.substr(name.find('.', 7) + 1);
  size_t weight = name.rfind(".weight");
  return weight == std::string::npos ? name : name.substr(0, weight);
}

/// Origin and what is served. Several sources are named as one, in the order of
/// the forward: attn.q+k+v.
std::pair<std::string, std::string> purpose(const Graph &g,
                                            const AxisPlan &plan, int value) {
  std::vector<int> sources = sourcesOf(g, plan, value);
  bool isBackward = g.ops[sources.front()].backward;
  if (isBackward)
    std::reverse(sources.begin(), sources.end());
  std::string origin, serves;
  for (int i : sources) {
    const Op &op = g.ops[i];
    if (op.name != "embed" && op.name != "einsum")
      return {"loss", "loss"};
    origin = op.name == "embed" ? "embedding" : isBackward ? "f" : "g";
    std::string module = moduleOf(g.values[parameterOperand(g, i)].name);
    if (module == "embed.tokens" && op.name == "einsum")
      module = "head"; // the tied table's second use
    serves +=
        serves.empty() ? module : "+" + module.substr(module.find('.') + 1);
  }
  return {origin, serves};
}

json collectives(const json &oracle, const Graph &g, const Plan &plan,
                 const std::vector<Axis> &axes) {
  json list = json::array();
  for (const Reshard &r : planReshards(g, plan))
    for (size_t a = 0; a < axes.size(); ++a) {
      if (r.from[a] == r.to[a])
        continue;
      EXPECT_EQ(axes[a].name, "tp");
      EXPECT_TRUE(isPartial(r.from[a]) && r.to[a] == kReplicated);
      const Op &op = g.ops[g.values[r.value].producer];
      auto [origin, serves] = purpose(g, plan.axes[a], r.value);
      list.push_back({op.backward ? "bwd" : "fwd", section(oracle, op.layer),
                      r.from[a] == kMax ? "max" : "sum", origin, serves,
                      localShape(g.values[r.value].shape, r.to, axes)});
    }
  return list;
}

std::vector<std::string> namesWhere(const std::vector<Axis> &axes,
                                    const std::function<bool(size_t)> &holds) {
  std::vector<std::string> names;
  for (size_t a = 0; a < axes.size(); ++a)
    if (holds(a))
      names.push_back(axes[a].name);
  return names;
}

/// (partial axes, splitting axes) -> parameter -> local elements.
using Names = std::vector<std::string>;
using Classes =
    std::map<std::pair<Names, Names>, std::map<std::string, int64_t>>;

Classes gradientClasses(const Graph &g, const Plan &plan,
                        const std::vector<Axis> &axes) {
  Classes classes;
  for (size_t i = 0; i < g.outputs.size(); ++i) {
    const Output &out = g.outputs[i];
    if (out.kind != OutputKind::Gradient)
      continue;
    std::vector<State> states;
    for (const AxisPlan &axis : plan.axes) {
      EXPECT_EQ(axis.state[out.value], axis.outputRequired[i]);
      states.push_back(axis.outputRequired[i]);
    }
    auto partial =
        namesWhere(axes, [&](size_t a) { return states[a] == kPartial; });
    auto split = namesWhere(axes, [&](size_t a) { return states[a] >= 0; });
    int64_t elements = 1;
    for (int64_t n : localShape(g.values[out.value].shape, states, axes))
      elements *= n;
    classes[{partial, split}][g.values[out.parameter].name] = elements;
  }
  return classes;
}

Classes classesOf(const json &layout) {
  Classes classes;
  for (const json &c : layout["gradients"])
    classes[{c["partial_over"], c["split_over"]}] = c["params"];
  return classes;
}

class Oracle : public testing::TestWithParam<std::string> {};

TEST_P(Oracle, EveryLayout) {
  json oracle = readOracle(GetParam());
  ASSERT_EQ(oracle["layouts"].size(), 3u);
  for (const json &layout : oracle["layouts"]) {
    SCOPED_TRACE(layout["dp"].dump() + " x " + layout["tp"].dump());
    Program program = buildGpt2(modelOf(oracle));
    std::vector<Axis> axes = program.axes(layout["dp"], layout["tp"]);
    Plan plan = planShardings(program.graph, axes);
    EXPECT_EQ(collectives(oracle, program.graph, plan, axes),
              layout["collectives"]);
    EXPECT_EQ(gradientClasses(program.graph, plan, axes), classesOf(layout));
    auto partial = namesWhere(axes, [&](size_t a) {
      return plan.axes[a].outputRequired[0] == kPartial;
    });
    EXPECT_EQ(json(partial), layout["loss_partial_over"]);
  }
}

INSTANTIATE_TEST_SUITE_P(Gpt2, Oracle,
                         testing::Values("gpt2", "gpt2-nodrop", "gpt2-sepqkv",
                                         "gpt2-untied"),
                         [](const auto &info) {
                           std::string name = info.param;
                           for (char &c : name)
                             c = c == '-' ? '_' : c;
                           return name;
                         });

} // namespace
