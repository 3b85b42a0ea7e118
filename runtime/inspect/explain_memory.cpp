//===- explain_memory.cpp - what lives on a rank, and when ----------------===//

#include "runtime/inspect/explain.h"

#include "mtc/runtime/memory.h"
#include "runtime/base/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace mtc::runtime {
namespace {

/// Bytes that are there all the time: arenas that no fragment gives up.
int64_t fixedBytes(const Descriptor &d) {
  int64_t bytes = 0;
  for (const ArenaInfo &arena : kArenas)
    if (!arena.transient)
      bytes += d.arenas[arena.id];
  return bytes;
}

Json reservedJson(const Descriptor &d) {
  Json json;
  for (const ArenaInfo &arena : kArenas)
    json[std::string(arena.name)] = d.arenas[arena.id];
  json["total"] = std::accumulate(d.arenas.begin(), d.arenas.end(), int64_t{0});
  return json;
}

std::string sizeOfSlot(const ExplainedStage &stage, const std::string &pool,
                       int64_t &bytes) {
  for (const ExplainedPool &each : stage.pools)
    if (each.name == pool)
      bytes = each.bytes;
  std::string holds;
  int64_t parts = 0;
  for (const KeptPart &kept : stage.kept)
    if (kept.pool == pool && parts++ == 0)
      holds = kept.part;
  return parts > 1 ? fmt::format("{} values of {} and others", parts, holds)
                   : holds;
}

/// Largest first; of equals the first in the list stays first.
void sortBySize(Json &list) {
  std::stable_sort(list.begin(), list.end(), [](const Json &a, const Json &b) {
    return a["bytes"].get<int64_t>() > b["bytes"].get<int64_t>();
  });
}

Json liveAtPeak(const ExplainedStage &stage, const Descriptor &d) {
  Json live = Json::array();
  for (const ArenaInfo &arena : kArenas)
    if (!arena.transient)
      live.push_back({{"where", arena.name},
                      {"what", "all the time"},
                      {"bytes", d.arenas[arena.id]}});
  for (const ExplainedSlot &slot : stage.peakSlots) {
    int64_t bytes = 0;
    std::string holds = sizeOfSlot(stage, slot.pool, bytes);
    live.push_back({{"where", fmt::format("{} slot {}", slot.pool, slot.slot)},
                    {"what", fmt::format("microbatch {}{}{}", slot.microbatch,
                                         holds.empty() ? "" : ": ", holds)},
                    {"bytes", bytes}});
  }
  if (const ExplainedFragment *fragment =
          stage.fragment(stage.rowFragment[stage.peakRow]))
    for (const ExplainedValue &value : fragment->values)
      if (value.begin <= fragment->peakCall && fragment->peakCall <= value.end)
        live.push_back(
            {{"where", "workspace"},
             {"what", value.part.empty() ? value.maker
                                         : value.part + ", " + value.maker},
             {"bytes", value.bytes}});
  sortBySize(live);
  return live;
}

int64_t workspaceOf(const ExplainedStage &stage, size_t row) {
  const ExplainedFragment *fragment = stage.fragment(stage.rowFragment[row]);
  return fragment ? fragment->peakBytes : 0;
}

Json peakJson(const ExplainedStage &stage, const Descriptor &d) {
  auto row = static_cast<size_t>(stage.peakRow);
  const ExplainedFragment *fragment = stage.fragment(stage.rowFragment[row]);
  return {{"row", row},
          {"fragment", fragment ? fragment->name : ""},
          {"microbatch", stage.rowMicrobatch[row]},
          {"call", fragment ? fragment->peakCall : 0},
          {"bytes",
           fixedBytes(d) + stage.rowSlotBytes[row] + workspaceOf(stage, row)},
          {"live", liveAtPeak(stage, d)}};
}

/// A column of a drawing: the row of most bytes among those that it stands for.
std::vector<size_t> columns(const Json &answer, size_t most) {
  const Json &slots = answer["rows"]["slots"];
  const Json &workspace = answer["rows"]["workspace"];
  size_t rows = slots.size(), count = std::min(rows, most);
  std::vector<size_t> result;
  for (size_t c = 0; c < count; ++c) {
    size_t best = c * rows / count;
    auto bytes = [&](size_t row) {
      return slots[row].get<int64_t>() + workspace[row].get<int64_t>();
    };
    for (size_t row = best; row < (c + 1) * rows / count; ++row)
      if (bytes(row) > bytes(best))
        best = row;
    result.push_back(best);
  }
  return result;
}

/// What is at a height of a row, from the bottom: what is there all the time,
/// slots, temporaries, nothing.
char layerAt(const Json &answer, size_t row, double bytes) {
  auto fixed = answer["fixed_bytes"].get<int64_t>(),
       slots = answer["rows"]["slots"][row].get<int64_t>(),
       workspace = answer["rows"]["workspace"][row].get<int64_t>();
  return bytes <= static_cast<double>(fixed)                       ? '.'
         : bytes <= static_cast<double>(fixed + slots)             ? 'o'
         : bytes <= static_cast<double>(fixed + slots + workspace) ? '#'
                                                                   : ' ';
}

std::string drawing(const Json &answer) {
  constexpr size_t kHeight = 12, kWidth = 72;
  auto top = std::max(answer["peak"]["bytes"].get<int64_t>(), int64_t{1});
  std::vector<size_t> at = columns(answer, kWidth);
  size_t wide = kWidth / at.size(); // few rows are broad
  std::string text;
  for (size_t line = kHeight; line >= 1; --line) {
    double level =
        (static_cast<double>(line) - 0.5) * static_cast<double>(top) / kHeight;
    text += fmt::format("{:>10} |", line == kHeight ? sized(top) : "");
    for (size_t row : at)
      text.append(wide, layerAt(answer, row, level));
    text += "\n";
  }
  return text + fmt::format("{:>10} +{}\n{:>12}rows 0 to {} of a step: . all "
                            "the time, o slots, # workspace\n",
                            "0", std::string(at.size() * wide, '-'), "",
                            answer["rows"]["slots"].size() - 1);
}

} // namespace

Status explainMemory(const Bundle &bundle,
                     const std::vector<ExplainedStage> &stages, int64_t rank,
                     Json &answer) {
  if (rank >= bundle.mesh.worldSize())
    return {StatusCode::usage,
            fmt::format("--rank: expected one of 0 to {}, found {}",
                        bundle.mesh.worldSize() - 1, rank)};
  int64_t index = bundle.mesh.coordinate(rank, MTC_AXIS_PP);
  const ExplainedStage &stage = stages[index];
  const Descriptor &d = bundle.stages[index].descriptor;
  Json workspace = Json::array();
  for (size_t row = 0; row < stage.rowFragment.size(); ++row)
    workspace.push_back(workspaceOf(stage, row));
  answer = {{"rank", rank},
            {"stage", index},
            {"reserved", reservedJson(d)},
            {"fixed_bytes", fixedBytes(d)},
            {"peak", peakJson(stage, d)},
            {"rows",
             {{"fragment", stage.rowFragment},
              {"microbatch", stage.rowMicrobatch},
              {"slots", stage.rowSlotBytes},
              {"workspace", std::move(workspace)}}}};
  return Status::okay();
}

std::string memoryText(const Json &answer) {
  constexpr size_t kMost = 20;
  const Json &peak = answer["peak"];
  std::string text = fmt::format(
      "rank {}, stage {}: {} reserved\n", answer["rank"].get<int64_t>(),
      answer["stage"].get<int64_t>(), sized(answer["reserved"]["total"]));
  for (const auto &[arena, bytes] : answer["reserved"].items())
    if (arena != "total")
      text += fmt::format("  {:<12} {:>10}\n", arena, sized(bytes));
  text += fmt::format(
      "most lives in row {}, {}{}, at call {}: {}\n",
      peak["row"].get<int64_t>(), peak["fragment"].get<std::string>(),
      peak["microbatch"] < 0
          ? ""
          : fmt::format(" of microbatch {}", peak["microbatch"].get<int64_t>()),
      peak["call"].get<int64_t>(), sized(peak["bytes"]));
  size_t shown = 0;
  for (const Json &value : peak["live"]) {
    if (shown++ == kMost) {
      text += fmt::format("  and {} smaller ones (--json has all)\n",
                          peak["live"].size() - kMost);
      break;
    }
    text += fmt::format("  {:>10}  {:<24} {}\n", sized(value["bytes"]),
                        value["where"].get<std::string>(),
                        value["what"].get<std::string>());
  }
  return text + drawing(answer);
}

std::string memorySvg(const Json &answer) {
  constexpr double kWidth = 720, kHeight = 240, kLeft = 80, kTop = 20;
  std::vector<size_t> at = columns(answer, 1000);
  auto top = static_cast<double>(
      std::max(answer["peak"]["bytes"].get<int64_t>(), int64_t{1}));
  auto fixed = answer["fixed_bytes"].get<int64_t>();
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<title>memory of rank {} over a step</title>\n",
      kLeft + kWidth + 20, kTop + kHeight + 50, answer["rank"].get<int64_t>());
  double width = kWidth / static_cast<double>(at.size());
  auto bar = [&](size_t c, int64_t from, int64_t bytes, const char *colour) {
    if (bytes <= 0)
      return;
    double height = kHeight * static_cast<double>(bytes) / top;
    double y = kTop + kHeight * (1 - static_cast<double>(from + bytes) / top);
    text += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" "
                        "height=\"{:.2f}\" fill=\"{}\"/>\n",
                        kLeft + width * static_cast<double>(c), y, width,
                        height, colour);
  };
  for (size_t c = 0; c < at.size(); ++c) {
    int64_t slots = answer["rows"]["slots"][at[c]];
    bar(c, 0, fixed, "#9aa5b1");
    bar(c, fixed, slots, "#3b76c4");
    bar(c, fixed + slots, answer["rows"]["workspace"][at[c]], "#d98032");
  }
  text += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n",
                      kLeft - 6, kTop + 10, sized(answer["peak"]["bytes"]));
  text += fmt::format(
      "<text x=\"{}\" y=\"{}\">rows of a step; grey: all the time, blue: slots "
      "of pools, orange: workspace</text>\n</svg>\n",
      kLeft, kTop + kHeight + 24);
  return text;
}

} // namespace mtc::runtime
