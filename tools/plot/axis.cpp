//===- axis.cpp - from values to places, with round ticks -----------------===//

#include "tools/plot/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mtc::plot {
namespace {

/// The next distance of ticks that is 1, 2 or 5 times a power of ten.
Wide roundDistance(Wide least) {
  Wide power = std::pow(Wide(10), std::floor(std::log10(least)));
  for (int factor : {1, 2, 5})
    if (factor * power >= least * (1 - 1e-9L))
      return factor * power;
  return 10 * power;
}

} // namespace

std::string shortNumber(double value, int digits) {
  struct {
    double least;
    const char *letter;
  } units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  double size = std::abs(value);
  if (size < 10000)
    return fmt::format("{:.{}g}", value, digits);
  for (auto [least, letter] : units)
    if (size >= least && size < 1e15)
      return fmt::format("{:.{}g}{}", value / least, digits, letter);
  return fmt::format("{:.{}g}", value, digits);
}

Axis::Axis(Wide low, Wide high, double from, double to, bool isLog)
    : low_(low), high_(high), from_(from), to_(to), isLog_(isLog) {
  if (high_ > low_)
    return;
  if (isLog_) {
    low_ /= 2;
    high_ *= 2;
    return;
  }
  Wide half = low_ == 0 ? 1 : std::abs(low_) / 10;
  low_ -= half;
  high_ += half;
}

bool Axis::has(double value) const {
  return std::isfinite(value) && (!isLog_ || value > 0);
}

Wide Axis::placeOf(Wide value) const {
  return isLog_ ? std::log10(value) : value;
}

double Axis::at(double value) const {
  Wide low = placeOf(low_), high = placeOf(high_);
  Wide share = (placeOf(value) - low) / (high - low);
  return from_ + (to_ - from_) * static_cast<double>(share);
}

/// Beyond the largest double, or the least, there are none.
void Axis::addPowers(int count, std::vector<Tick> &ticks) const {
  Wide decades = std::log10(high_ / low_);
  std::vector<int> factors = {1};
  if (decades < 3)
    factors = {1, 2, 5};
  Wide every = std::max(Wide(1), std::ceil(decades / count));
  // The double 1e-06 is a little less than it.
  Wide first = std::floor(std::log10(low_) + 1e-9L),
       last = std::ceil(std::log10(high_));
  for (Wide power = first; power <= last; power += every)
    for (int factor : factors) {
      auto value = static_cast<double>(factor * std::pow(Wide(10), power));
      if (has(value) && value >= low_ * (1 - 1e-9L) &&
          value <= high_ * (1 + 1e-9L))
        ticks.push_back({value, shortNumber(value)});
    }
}

std::vector<Axis::Tick> Axis::ticks(int count) const {
  std::vector<Tick> ticks;
  if (isLog_ && std::log10(high_ / low_) >= Wide(0.7)) {
    addPowers(count, ticks);
    return ticks;
  }
  Wide distance = roundDistance((high_ - low_) / std::max(1, count));
  // Numbers of a narrow range far from 0 need more digits to differ.
  Wide size = std::max(std::abs(low_), std::abs(high_));
  int digits = std::clamp(
      static_cast<int>(std::floor(std::log10(size / distance))) + 2, 4, 15);
  // Counted, as numbers that are large beside their range do not grow by one.
  Wide first = std::ceil(low_ / distance - 1e-9L);
  for (int i = 0; i <= 2 * std::max(1, count); ++i) {
    Wide exact = (first + i) * distance + 0; // no -0
    if (!(exact <= high_ + 1e-9L * distance))
      break;
    auto value = static_cast<double>(exact);
    if (has(value) && (ticks.empty() || value > ticks.back().value))
      ticks.push_back({value, shortNumber(value, digits)});
  }
  return ticks;
}

} // namespace mtc::plot
