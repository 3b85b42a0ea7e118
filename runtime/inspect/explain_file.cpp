//===- explain_file.cpp - explain.json of a bundle ------------------------===//

#include "runtime/inspect/explain_file.h"

#include "mtc/runtime/memory.h"
#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "runtime/inspect/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace mtc::runtime {
namespace {

/// One of the names that `isKnown` knows.
std::string name(FieldReader &in, const char *key, const std::string &expected,
                 bool (*isKnown)(std::string_view)) {
  std::string found = in.line(key);
  if (!isKnown(found))
    in.problem(
        fmt::format("'{}': expected {}, found '{}'", key, expected, found));
  return found;
}

bool isKind(std::string_view kind) {
  constexpr std::string_view kKinds[] = {"all_reduce", "all_reduce_max",
                                         "reduce_scatter", "all_gather",
                                         "norm_reduce"};
  return std::ranges::find(kKinds, kind) != std::end(kKinds);
}
bool isGroup(std::string_view group) { return groupNamed(group).has_value(); }
bool isArena(std::string_view arena) {
  return arena.empty() || idNamed(kArenas, arena);
}
/// IR that somebody wrote may say none.
bool isOriginOrNone(std::string_view origin) {
  return origin.empty() || isOrigin(origin);
}
bool isPool(std::string_view pool) { return poolNamed(pool).has_value(); }

ExplainedCollective readCollective(FieldReader &in, int64_t buckets) {
  ExplainedCollective c;
  c.kind = name(in, "kind", "a kind of collective", isKind);
  c.group = name(in, "group", "a group", isGroup);
  c.fragment = in.line("fragment");
  c.origin = name(in, "origin", "one of " + originNames(), isOriginOrNone);
  c.serves = in.line("serves");
  c.part = in.line("part");
  c.spec = in.line("spec");
  c.bucket = in.integerOrNull("bucket", 0, buckets - 1);
  c.arena = name(in, "arena", "an arena or nothing", isArena);
  c.offset = in.integer("offset", 0, kHuge);
  c.bytes = in.integer("bytes", 0, kHuge);
  c.times = in.integer("times", 0, kHuge);
  return c;
}

ExplainedFragment readFragment(FieldReader &in) {
  ExplainedFragment f;
  f.index = in.integer("index", 0, kHuge);
  f.name = in.line("name");
  f.calls = in.integer("calls", 0, kHuge);
  f.peakBytes = in.integer("peak_bytes", 0, kHuge);
  f.peakCall = in.integer("peak_call", 0, kHuge);
  for (FieldReader &each : in.objects("values")) {
    ExplainedValue value;
    value.part = each.line("part");
    value.maker = each.line("maker");
    value.bytes = each.integer("bytes", 0, kHuge);
    value.begin = each.integer("begin", 0, kHuge);
    value.end = each.integer("end", value.begin, kHuge);
    f.values.push_back(std::move(value));
  }
  return f;
}

ExplainedWork readWork(FieldReader &in, int64_t products) {
  ExplainedWork work;
  work.op = in.line("op");
  work.name = in.line("name");
  work.factors = in.line("factors");
  work.stream = in.integer("stream", 0, MTC_STREAM_COUNT - 1);
  work.flops = in.amount("flops");
  work.bytes = in.amount("bytes");
  work.linkBytes = in.amount("link_bytes");
  if (in.has("row"))
    work.row = in.integer("row", 0, products - 1);
  return work;
}

/// Numbers of entries of a list.
std::vector<int64_t> readPlaces(FieldReader &in, const char *key,
                                size_t entries) {
  std::vector<int64_t> places = in.integers(key, 0);
  for (int64_t &place : places)
    if (place >= static_cast<int64_t>(entries)) {
      in.problem(fmt::format("'{}': expected numbers below {}, found {}", key,
                             entries, place));
      return {};
    }
  return places;
}

void readTimed(FieldReader &in, const Descriptor &d, ExplainedStage &stage) {
  for (FieldReader &each : in.objects("work"))
    stage.work.push_back(readWork(each, static_cast<int64_t>(d.gemms.size())));
  stage.parts = in.texts("parts");
  for (FieldReader &each : in.objects("timed")) {
    TimedFragment fragment;
    fragment.index =
        each.integer("index", 0, static_cast<int64_t>(d.fragments.size()) - 1);
    fragment.update = each.boolean("update");
    fragment.work = readPlaces(each, "ops", stage.work.size());
    fragment.parts = readPlaces(each, "parts", stage.parts.size());
    if (fragment.work.size() != fragment.parts.size())
      each.problem("expected as many 'parts' as 'ops'");
    stage.timed.push_back(std::move(fragment));
  }
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
    stage.peakSlots.push_back({name(each, "pool", "a pool", isPool),
                               each.integer("slot", 0, kHuge),
                               each.integer("microbatch", 0, kHuge)});
}

ExplainedStage readStage(FieldReader &in, const Descriptor &d) {
  ExplainedStage stage;
  for (FieldReader &each : in.objects("parameters"))
    stage.parameters.push_back({each.line("name"), each.line("spec")});
  for (FieldReader &each : in.objects("collectives"))
    stage.collectives.push_back(
        readCollective(each, static_cast<int64_t>(d.buckets.size())));
  for (FieldReader &each : in.objects("fragments"))
    stage.fragments.push_back(readFragment(each));
  for (FieldReader &each : in.objects("pools"))
    stage.pools.push_back({name(each, "name", "a pool", isPool),
                           each.integer("bytes", 0, kHuge)});
  for (FieldReader &each : in.objects("kept"))
    stage.kept.push_back({name(each, "pool", "a pool", isPool),
                          each.line("part"), each.integer("bytes", 0, kHuge)});
  readRows(in, stage);
  if (!d.isForGpu())
    readTimed(in, d, stage);
  return stage;
}

} // namespace

const ExplainedFragment *ExplainedStage::fragment(int64_t index) const {
  for (const ExplainedFragment &each : fragments)
    if (each.index == index)
      return &each;
  return nullptr;
}

std::string ExplainedStage::specOf(std::string_view parameter) const {
  for (const ExplainedParameter &each : parameters)
    if (each.name == parameter)
      return each.spec;
  return "";
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
  if (std::string hash = root.line("plan_hash");
      problems.empty() && hash != bundle.planHash)
    root.problem(
        fmt::format("expected plan {}, found {}", bundle.planHash, hash));
  std::vector<FieldReader> found = root.objects("stages");
  if (problems.empty() && found.size() != bundle.stages.size())
    root.problem(fmt::format("expected {} stages, found {}",
                             bundle.stages.size(), found.size()));
  for (size_t s = 0; s < std::min(found.size(), bundle.stages.size()); ++s)
    stages.push_back(readStage(found[s], bundle.stages[s].descriptor));
  return problems.status("'" + path + "'");
}

} // namespace mtc::runtime
