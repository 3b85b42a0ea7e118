//===- diff.cpp - what two plans say differently --------------------------===//

#include "runtime/inspect/diff.h"

#include "mtc/runtime/inspect.h"

#include <map>

namespace mtc::runtime {
namespace {

using Key = std::pair<std::string, std::string>;

Key keyOf(const PlanFact &fact) { return {fact.part, fact.name}; }

std::map<Key, const Json *> byName(const std::vector<PlanFact> &facts) {
  std::map<Key, const Json *> found;
  for (const PlanFact &fact : facts)
    found.emplace(keyOf(fact), &fact.value);
  return found;
}

struct Read {
  ComparedBundle bundle;
  std::vector<PlanFact> facts;
};

Status read(const std::string &folder, Read &out) {
  Bundle bundle;
  MTC_RETURN_IF_ERROR(openBundle(folder, ProgramForm::executable, bundle));
  out.bundle = {folder, bundle.planHash};
  return readPlanFacts(folder, bundle, out.facts);
}

Json sideJson(const ComparedBundle &bundle) {
  return {{"bundle", bundle.folder}, {"plan_hash", bundle.planHash}};
}

std::string diffJson(const ComparedBundle &a, const ComparedBundle &b,
                     const std::vector<PlanDifference> &rows) {
  Json list = Json::array();
  for (const PlanDifference &row : rows)
    list.push_back({{"part", row.part},
                    {"name", row.name},
                    {"a", row.a.value_or(nullptr)},
                    {"b", row.b.value_or(nullptr)}});
  return Json{{"same", a.planHash == b.planHash},
              {"a", sideJson(a)},
              {"b", sideJson(b)},
              {"differences", list}}
             .dump(2) +
         "\n";
}

} // namespace

std::vector<PlanDifference> differences(const std::vector<PlanFact> &a,
                                        const std::vector<PlanFact> &b) {
  std::map<Key, const Json *> inA = byName(a), inB = byName(b);
  std::vector<PlanDifference> rows;
  auto addOnlyB = [&](const std::string *part) { // null: of parts that a lacks
    for (const PlanFact &fact : b) {
      bool isNew = !inA.count(keyOf(fact));
      if (isNew && (!part || fact.part == *part)) {
        rows.push_back({fact.part, fact.name, {}, fact.value});
        inA.emplace(keyOf(fact), nullptr);
      }
    }
  };
  for (size_t i = 0; i < a.size(); ++i) {
    const PlanFact &fact = a[i];
    auto other = inB.find(keyOf(fact));
    if (other == inB.end())
      rows.push_back({fact.part, fact.name, fact.value, {}});
    else if (*other->second != fact.value)
      rows.push_back({fact.part, fact.name, fact.value, *other->second});
    if (i + 1 == a.size() || a[i + 1].part != fact.part)
      addOnlyB(&fact.part);
  }
  addOnlyB(nullptr);
  return rows;
}

Status diffBundles(const std::string &a, const std::string &b, bool json,
                   std::string &text, bool &same) {
  Read left, right;
  MTC_RETURN_IF_ERROR(read(a, left));
  MTC_RETURN_IF_ERROR(read(b, right));
  std::vector<PlanDifference> rows = differences(left.facts, right.facts);
  same = left.bundle.planHash == right.bundle.planHash;
  text = json ? diffJson(left.bundle, right.bundle, rows)
              : diffText(left.bundle, right.bundle, rows);
  return Status::okay();
}

} // namespace mtc::runtime
