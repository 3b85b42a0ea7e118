//===- roofline_text.cpp - floors of a plan for people --------------------===//

#include "compiler/roofline.h"

#include <fmt/format.h>

namespace mtc::compiler {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kWidth = 100; ///< of a line

double milliseconds(const Json &seconds) { return 1e3 * seconds.get<double>(); }

std::string shortened(std::string line) {
  if (line.size() > kWidth)
    line.replace(kWidth - 3, std::string::npos, "...");
  return line;
}

std::string cardLine(const Json &card) {
  const Json &bounds = card["bounds"];
  std::string mfu =
      card["mfu"].is_null()
          ? "?"
          : fmt::format("{:.1f} %", 100 * card["mfu"].get<double>());
  return fmt::format(
      "  {:<16}{:>11.3f}{:>8}{:>11.3f}{:>14.3f}{:>9.3f}{:>10.3f}"
      "{:>9.3f}\n",
      card["description"].get<std::string>(),
      milliseconds(card["step_seconds"]), mfu,
      milliseconds(card["busy_seconds"]), milliseconds(bounds["tensor cores"]),
      milliseconds(bounds["fp32"]), milliseconds(bounds["memory"]),
      milliseconds(bounds["link"]));
}

std::string callLine(const Json &call) {
  auto part = call["part"].get<std::string>();
  return shortened(fmt::format(
      "  {:>10.3f} {:>6} x  {:<12}  {} {}{}", milliseconds(call["seconds"]),
      call["calls"].get<int64_t>(), call["bound"].get<std::string>(),
      call["op"].get<std::string>(), call["name"].get<std::string>(),
      part.empty() ? "" : ", " + part));
}

} // namespace

std::string rooflineText(const Json &report) {
  std::string text =
      "least time     on paper, by data sheets, ms; of the busiest stage: what "
      "bounds its calls\n";
  text += fmt::format("  {:<16}{:>11}{:>8}{:>11}{:>14}{:>9}{:>10}{:>9}\n",
                      "card", "step", "MFU", "stage", "tensor cores", "fp32",
                      "memory", "link");
  for (const Json &card : report["cards"])
    text += cardLine(card);
  for (const Json &card : report["cards"])
    if (card["card"] == report["card"]) {
      text +=
          fmt::format("largest calls  of stage {} on {}: ms and calls a step, "
                      "bound, what\n",
                      card["busiest_stage"].get<int64_t>(),
                      card["description"].get<std::string>());
      for (const Json &call : card["largest"])
        text += callLine(call) + "\n";
    }
  return text;
}

} // namespace mtc::compiler
