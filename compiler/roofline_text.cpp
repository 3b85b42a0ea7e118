//===- roofline_text.cpp - floors of a plan for people --------------------===//

#include "compiler/roofline.h"

#include "runtime/base/number_text.h"

#include <fmt/format.h>

namespace mtc::compiler {
namespace {

using Json = nlohmann::ordered_json;

std::string msOf(const Json &seconds) {
  return runtime::inMilliseconds(seconds.get<double>());
}

std::string cardLine(const Json &card) {
  const Json &bounds = card["bounds"];
  std::string mfu =
      card["mfu"].is_null()
          ? "?"
          : fmt::format("{:.1f} %", 100 * card["mfu"].get<double>());
  return fmt::format(
      "  {:<16}{:>11}{:>8}{:>11}{:>14}{:>9}{:>10}"
      "{:>9}\n",
      card["description"].get<std::string>(), msOf(card["step_seconds"]), mfu,
      msOf(card["busy_seconds"]), msOf(bounds["tensor cores"]),
      msOf(bounds["fp32"]), msOf(bounds["memory"]), msOf(bounds["link"]));
}

std::string callLine(const Json &call) {
  auto part = call["part"].get<std::string>();
  return runtime::shortLine(fmt::format(
      "  {:>10} {:>6} x  {:<12}  {} {}{}", msOf(call["seconds"]),
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
