//===- oracle.cpp - cases of test/golden/schedules ------------------------===//

#include "oracle.h"

#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace mtc::schedules::test {
namespace {

/// `>1:a0.0@0`: direction, peer, kind, microbatch, virtual stage, slot.
Transfer parseTransfer(const std::string &word) {
  char direction, kind;
  Transfer t;
  int count =
      std::sscanf(word.c_str(), "%c%d:%c%d.%d@%d", &direction, &t.peer, &kind,
                  &t.microbatch, &t.virtualStage, &t.buffer.slot);
  EXPECT_EQ(count, 6) << word;
  t.send = direction == '>';
  t.name.gradient = kind == 'g';
  t.bytes = 1024;
  t.buffer.pool = valueOf(t).pool;
  return t;
}

std::vector<Item> parseProgram(const std::string &line) {
  std::vector<Item> items;
  std::istringstream words(line);
  bool inGroup = false;
  for (std::string word; words >> word;) {
    if (word.front() == '{') {
      items.push_back(Exchange{});
      word.erase(0, 1);
      inGroup = true;
    }
    bool closes = word.back() == '}';
    if (closes)
      word.pop_back();
    if (inGroup)
      std::get<Exchange>(items.back()).transfers.push_back(parseTransfer(word));
    else
      items.push_back(Compute{parseSlot(word).value(), {}, {}});
    inGroup = inGroup && !closes;
  }
  return items;
}

Operand operandOf(const Json &json) {
  if (auto pool = poolNamed(json[0].get<std::string>()))
    return {*pool, json[1]};
  ADD_FAILURE() << json;
  return {};
}

std::vector<Operand> operandsOf(const Json &json) {
  std::vector<Operand> operands;
  for (const Json &operand : json)
    operands.push_back(operandOf(operand));
  return operands;
}

Phase phaseOf(const std::string &name) {
  return static_cast<Phase>(std::string("FBIW").find(name));
}

Item itemOf(const Json &json) {
  if (json[0] == "C")
    return Compute{{phaseOf(json[1]), json[2], json[3]},
                   operandsOf(json[4]),
                   operandsOf(json[5])};
  Exchange exchange;
  for (const Json &op : json[1])
    exchange.transfers.push_back({op[0] == "S", CrossingName{op[1] == "g"},
                                  op[2], op[3], op[4], op[5],
                                  operandOf(op[6])});
  return exchange;
}

} // namespace

Json loadCases(const std::string &name) {
  std::ifstream file(std::string(MTC_GOLDEN_DIR) + "/schedules/" + name +
                     ".json");
  EXPECT_TRUE(file.good()) << name;
  return Json::parse(file)["cases"];
}

Params paramsOf(const Json &item) {
  bool grouped = item.contains("G") && !item["G"].is_null();
  return {item["p"], item["m"], item["v"], grouped ? item["G"].get<int>() : 0};
}

Shape shapeOf(const Json &item) {
  return {item["p"], item["m"], item["v"], Placement::Straight, kilobyte};
}

std::string nameOf(const Json &item) {
  std::string text;
  for (const char *key :
       {"schedule", "name", "generator", "p", "m", "v", "G", "mutation", "why"})
    if (item.contains(key))
      text += item[key].dump() + " ";
  return text;
}

Schedule userSchedule(const Json &item) {
  std::string text;
  for (const Json &line : item["slots"])
    text += line.get<std::string>() + "\n";
  Findings findings;
  Schedule schedule = parseSchedule(text, shapeOf(item), findings);
  EXPECT_EQ(render(findings), "");
  return schedule;
}

Plan parsePlan(const Json &item) {
  Plan plan{shapeOf(item), {}, {}};
  for (const Json &line : item["plan"])
    plan.ranks.push_back(parseProgram(line));
  return plan;
}

Plan mutantPlan(const Json &item) {
  Plan plan{shapeOf(item), {}, {}};
  for (const Json &program : item["ranks"]) {
    std::vector<Item> &items = plan.ranks.emplace_back();
    for (const Json &json : program)
      items.push_back(itemOf(json));
  }
  for (const Json &counts : item["slots"]) {
    PoolCounts &pools = plan.pools.emplace_back();
    for (const PoolInfo &pool : kPools)
      pools.push_back(counts.value(std::string(pool.name), 0)); // not all
  }
  return plan;
}

Schedule make(std::string_view name, const Params &params) {
  Findings findings;
  std::optional<Schedule> schedule = generate(name, params, findings);
  EXPECT_TRUE(schedule) << name << "\n" << render(findings);
  return schedule.value_or(Schedule{});
}

Plan makePlan(const Schedule &schedule, int depth, Grouping grouping,
              bool apart) {
  ExpandOptions options;
  options.depth = depth;
  options.grouping = grouping;
  options.apart = apart;
  Schedule sized = schedule;
  if (sized.crossings.isChain())
    sized.crossings = kilobyte;
  Findings findings;
  std::optional<Plan> plan = expand(sized, options, findings);
  EXPECT_TRUE(plan) << render(findings);
  return plan.value_or(Plan{});
}

std::vector<Setting> settings(int maxP, int maxM, int maxV) {
  std::vector<Setting> all;
  for (const Generator &generator : generators())
    for (int p = 1; p <= maxP; ++p)
      for (int m = 1; m <= maxM; ++m)
        for (int v = 1; v <= maxV; ++v)
          for (int G = 0; G <= m; ++G)
            if (generator.check({p, m, v, G}).empty())
              all.push_back({generator.name, {p, m, v, G}});
  return all;
}

std::string nameOf(const Setting &setting) {
  const Params &a = setting.params;
  return fmt::format("{} p={} m={} v={} G={}", setting.name, a.p, a.m, a.v,
                     a.G);
}

int depthOf(const std::string &text) {
  return text == "inf" ? unlimitedDepth : std::stoi(text);
}

std::set<std::string> codesOf(const Findings &findings) {
  std::set<std::string> codes;
  for (const Finding &finding : findings)
    codes.insert(finding.code);
  return codes;
}

} // namespace mtc::schedules::test
