//===- profile_text.cpp - a profile for people ----------------------------===//

#include "runtime/base/messages.h"
#include "runtime/base/number_text.h"
#include "runtime/profile/step_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtc::runtime {
namespace {

/// A row that takes less of a step is told with the others of its kind.
constexpr double kLeastShare = 0.002;

double numberOf(const Json &json) { return json.get<double>(); }

std::string inBillions(const Json &number) {
  return fmt::format("{:.1f}", 1e-9 * numberOf(number));
}

std::string msText(double seconds) {
  return fmt::format("{:.3f}", 1e3 * seconds);
}

std::string shareText(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

/// The columns that families and rows have.
std::string figures(const Json &row, double step) {
  double seconds = numberOf(row["seconds"]["mean"]);
  double floor = numberOf(row["floor_seconds"]);
  return fmt::format(
      "{:>10} {:>8} {:>8} {:>6} {:>6} {:>6}", msText(seconds),
      shareText(step > 0 ? seconds / step : 0),
      floor > 0 && seconds > 0 ? shareText(floor / seconds) : "-",
      fmt::format("{:.6g}", numberOf(row["calls"])),
      scaled(numberOf(row["flops"])),
      scaled(numberOf(row["bytes"]) + numberOf(row["link_bytes"])));
}

const std::string kColumns =
    fmt::format("{:>10} {:>8} {:>8} {:>6} {:>6} {:>6}", "ms", "step", "limit",
                "calls", "FLOP", "bytes");

/// Least and largest of the ranks, where there are several.
std::string ofRanks(const Json &seconds) {
  return fmt::format("{:>10} {:>10}", msText(numberOf(seconds["least"])),
                     msText(numberOf(seconds["largest"])));
}

std::string profileHead(const Json &answer) {
  const Json &step = answer["step_seconds"], &limits = answer["limits"];
  std::string text = fmt::format(
      "{}, {}, ranks {}, threads of each {}\n"
      "limits of a rank: f32 {} GFLOP/s, bf16 {}, copy {} GB/s\n"
      "step: {} ms, the mean of {} behind {} (least {}, largest {})\n",
      printable(answer["model"].get<std::string>()),
      printable(answer["dtype"].get<std::string>()),
      answer["ranks"].get<int64_t>(), answer["threads"].get<int64_t>(),
      inBillions(limits["f32_flops"]),
      numberOf(limits["bf16_flops"]) > 0
          ? inBillions(limits["bf16_flops"]) + " GFLOP/s"
          : "none",
      inBillions(limits["copy_bytes"]), msText(numberOf(step["mean"])),
      answer["steps"].size(), answer["warm_up"].get<int64_t>(),
      msText(numberOf(step["least"])), msText(numberOf(step["largest"])));
  if (!answer["step_over_floor"].is_null())
    text += fmt::format("floor: {} ms; step / floor = {:.2f}\n",
                        msText(numberOf(answer["floor_seconds"])),
                        numberOf(answer["step_over_floor"]));
  return text;
}

std::string whatOf(const Json &row) {
  std::string text = row["family"].get<std::string>();
  if (auto name = row["name"].get<std::string>(); !name.empty())
    text = fmt::format("{} {}", row["op"].get<std::string>(), name);
  if (!row["row"].is_null())
    text += fmt::format(" (gemms {})", row["row"].get<int64_t>());
  if (auto part = row["part"].get<std::string>(); !part.empty())
    text += ", " + part;
  if (row.contains("seconds_beside"))
    text += fmt::format(", {} ms beside fragments",
                        msText(numberOf(row["seconds_beside"])));
  return printable(text);
}

std::string familyLines(const Json &answer, bool several) {
  double step = numberOf(answer["step_seconds"]["mean"]);
  std::string text = fmt::format(
      "\n{}{}  family\n", kColumns,
      several ? fmt::format(" {:>10} {:>10}", "least", "largest") : "");
  for (const Json &family : answer["families"])
    text += fmt::format("{}{}  {}\n", figures(family, step),
                        several ? " " + ofRanks(family["seconds"]) : "",
                        family["family"].get<std::string>());
  return text;
}

std::string stageLines(const Json &stage, double step) {
  std::vector<const Json *> rows;
  double rest = 0;
  size_t others = 0;
  for (const Json &row : stage["rows"]) {
    double seconds = numberOf(row["seconds"]["mean"]);
    if (seconds >= kLeastShare * step) {
      rows.push_back(&row);
    } else {
      rest += seconds;
      ++others;
    }
  }
  std::ranges::stable_sort(rows, [](const Json *a, const Json *b) {
    return numberOf((*a)["seconds"]["mean"]) >
           numberOf((*b)["seconds"]["mean"]);
  });
  std::string text = fmt::format("\nstage {}, longest first\n{}  what\n",
                                 stage["stage"].get<int64_t>(), kColumns);
  for (const Json *row : rows)
    text += fmt::format("{}  {}\n", figures(*row, step), whatOf(*row));
  if (others > 0)
    text += fmt::format("{:>10} {:>8}{:>31}  {} shorter ones (--json)\n",
                        msText(rest), shareText(rest / step), "", others);
  return text;
}

} // namespace

std::string profileText(const Json &answer) {
  bool several = answer["ranks"].get<int64_t>() > 1;
  std::string text = profileHead(answer) + familyLines(answer, several);
  for (const Json &each : answer["stages"])
    text += stageLines(each, numberOf(answer["step_seconds"]["mean"]));
  return text;
}

} // namespace mtc::runtime
