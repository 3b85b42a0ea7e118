//===- number_text.cpp - numbers for people -------------------------------===//

#include "runtime/base/number_text.h"

#include <fmt/format.h>

namespace mtc::runtime {

std::string grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3)
    text.insert(at, ",");
  return text;
}

std::string sized(int64_t bytes) {
  static constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit)
    value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes)
                   : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string inMilliseconds(double seconds) {
  double ms = 1e3 * seconds;
  return ms < 999.9995 ? fmt::format("{:.3f}", ms) : fmt::format("{:.0f}", ms);
}

std::string scaled(double number) {
  constexpr const char *kUnits[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t unit = 0;
  for (; number >= 999.5 && unit + 1 < std::size(kUnits); ++unit)
    number /= 1000;
  return number >= 99.95 || unit == 0
             ? fmt::format("{:.0f}{}", number, kUnits[unit])
             : fmt::format("{:.1f}{}", number, kUnits[unit]);
}

std::string shortLine(std::string line) {
  constexpr size_t kColumns = 100;
  if (line.size() > kColumns)
    line.replace(kColumns - 3, std::string::npos, "...");
  return line;
}

} // namespace mtc::runtime
