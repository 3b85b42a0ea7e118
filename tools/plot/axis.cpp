//===- axis.cpp - from values to places, with round ticks -----------------===//

#include "tools/plot/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mtc::plot {
namespace {

/// The next distance of ticks that is 1, 2 or 5 times a power of ten.
double roundDistance(double least) {
  double power = std::pow(10, std::floor(std::log10(least)));
  for (double factor : {1., 2., 5.})
    if (factor * power >= least * (1 - 1e-9))
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

Axis::Axis(double low, double high, double from, double to, bool isLog)
    : low_(low), high_(high), from_(from), to_(to), isLog_(isLog) {
  if (high_ > low_)
    return;
  if (isLog_) {
    low_ /= 2;
    high_ *= 2;
    return;
  }
  double half = low_ == 0 ? 1 : std::abs(low_) / 10;
  low_ -= half;
  high_ += half;
}

bool Axis::has(double value) const {
  return std::isfinite(value) && (!isLog_ || value > 0);
}

double Axis::placeOf(double value) const {
  return isLog_ ? std::log10(value) : value;
}

double Axis::at(double value) const {
  double low = placeOf(low_), high = placeOf(high_);
  return from_ + (to_ - from_) * (placeOf(value) - low) / (high - low);
}

std::vector<Axis::Tick> Axis::ticks(int count) const {
  std::vector<Tick> ticks;
  double decades = isLog_ ? std::log10(high_ / low_) : 0;
  if (isLog_ && decades >= 0.7) {
    std::vector<double> factors = {1};
    if (decades < 3)
      factors = {1, 2, 5};
    double every = std::max(1., std::ceil(decades / count));
    double first = std::floor(std::log10(low_)),
           last = std::ceil(std::log10(high_));
    for (double power = first; power <= last; power += every)
      for (double factor : factors) {
        double value = factor * std::pow(10, power);
        if (value >= low_ * (1 - 1e-9) && value <= high_ * (1 + 1e-9))
          ticks.push_back({value, shortNumber(value)});
      }
    return ticks;
  }
  double distance = roundDistance((high_ - low_) / std::max(1, count));
  // Numbers of a narrow range far from 0 need more digits to differ.
  double size = std::max(std::abs(low_), std::abs(high_));
  int digits = std::clamp(
      static_cast<int>(std::floor(std::log10(size / distance))) + 2, 4, 15);
  // Counted, as numbers that are large beside their range do not grow by one.
  double first = std::ceil(low_ / distance - 1e-9);
  for (int i = 0; i <= 2 * std::max(1, count); ++i) {
    double value = (first + i) * distance + 0.; // no -0
    if (!(value <= high_ + 1e-9 * distance))
      break;
    if (ticks.empty() || value > ticks.back().value)
      ticks.push_back({value, shortNumber(value, digits)});
  }
  return ticks;
}

} // namespace mtc::plot
