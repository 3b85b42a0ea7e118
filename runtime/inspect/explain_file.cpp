//===- explain_file.cpp - explain.json of a bundle ------------------------===//

#include "runtime/inspect/explain_file.h"

#include "runtime/base/file.h"
#include "runtime/base/json.h"

#include <fmt/format.h>

#include <filesystem>

namespace mtc::runtime {
namespace {

ExplainedCollective readCollective(FieldReader &in) {
  ExplainedCollective c;
  c.kind = in.text("kind");
  c.group = in.text("group");
  c.fragment = in.text("fragment");
  c.origin = in.text("origin");
  c.serves = in.text("serves");
  c.part = in.text("part");
  c.arena = in.text("arena");
  c.offset = in.integer("offset", 0, kHuge);
  c.bytes = in.integer("bytes", 0, kHuge);
  c.times = in.integer("times", 0, kHuge);
  return c;
}

ExplainedFragment readFragment(FieldReader &in) {
  ExplainedFragment f;
  f.index = in.integer("index", 0, kHuge);
  f.name = in.text("name");
  f.calls = in.integer("calls", 0, kHuge);
  f.peakBytes = in.integer("peak_bytes", 0, kHuge);
  f.peakCall = in.integer("peak_call", 0, kHuge);
  for (FieldReader &each : in.objects("values")) {
    ExplainedValue value;
    value.part = each.text("part");
    value.maker = each.text("maker");
    value.bytes = each.integer("bytes", 0, kHuge);
    value.begin = each.integer("begin", 0, kHuge);
    value.end = each.integer("end", value.begin, kHuge);
    f.values.push_back(std::move(value));
  }
  return f;
}

void readRows(FieldReader &in, ExplainedStage &stage) {
  stage.rowFragment = in.integers("row_fragment", -1);
  stage.rowMicrobatch = in.integers("row_microbatch", -1);
  stage.rowSlotBytes = in.integers("row_slot_bytes", 0);
  size_t rows = stage.rowFragment.size();
  if (rows == 0 || stage.rowMicrobatch.size() != rows ||
      stage.rowSlotBytes.size() != rows)
    in.problem("expected as many rows in each list, and at least one");
  stage.peakRow =
      in.integer("peak_row", 0, rows == 0 ? 0 : static_cast<int64_t>(rows) - 1);
  for (FieldReader &each : in.objects("peak_slots"))
    stage.peakSlots.push_back({each.text("pool"),
                               each.integer("slot", 0, kHuge),
                               each.integer("microbatch", 0, kHuge)});
}

ExplainedStage readStage(FieldReader &in) {
  ExplainedStage stage;
  for (FieldReader &each : in.objects("collectives"))
    stage.collectives.push_back(readCollective(each));
  for (FieldReader &each : in.objects("fragments"))
    stage.fragments.push_back(readFragment(each));
  for (FieldReader &each : in.objects("pools"))
    stage.pools.push_back({each.text("name"), each.integer("bytes", 0, kHuge)});
  for (FieldReader &each : in.objects("kept"))
    stage.kept.push_back({each.text("pool"), each.text("part"),
                          each.integer("bytes", 0, kHuge)});
  readRows(in, stage);
  return stage;
}

} // namespace

const ExplainedFragment *ExplainedStage::fragment(int64_t index) const {
  for (const ExplainedFragment &each : fragments)
    if (each.index == index)
      return &each;
  return nullptr;
}

Status readExplanation(const std::string &folder, const Bundle &bundle,
                       std::vector<ExplainedStage> &stages) {
  std::string path = folder + "/explain.json", text;
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return {StatusCode::inputRejected,
            fmt::format("'{}': expected the file that mtc explain reads, found "
                        "none; compile the bundle again",
                        path)};
  MTC_RETURN_IF_ERROR(readWholeFile(path, text));
  Json json;
  MTC_RETURN_IF_ERROR(parseJson(text, "'" + path + "'", json));
  Problems problems;
  FieldReader root(json, "", problems);
  if (std::string hash = root.text("plan_hash");
      problems.empty() && hash != bundle.planHash)
    root.problem(
        fmt::format("expected plan {}, found {}", bundle.planHash, hash));
  for (FieldReader &stage : root.objects("stages"))
    stages.push_back(readStage(stage));
  if (problems.empty() && stages.size() != bundle.stages.size())
    root.problem(fmt::format("expected {} stages, found {}",
                             bundle.stages.size(), stages.size()));
  return problems.status("'" + path + "'");
}

} // namespace mtc::runtime
