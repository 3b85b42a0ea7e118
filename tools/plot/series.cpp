//===- series.cpp - values over an axis -----------------------------------===//

#include "tools/plot/series.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace mtc::plot {

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

Series seriesOf(const Run &run, const std::string &x, const std::string &key) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  Series series;
  for (const Sample &sample : run.samples) {
    auto value = sample.values.find(key), at = sample.values.find(x);
    bool isStep = !sample.values.contains("eval_loss");
    bool ofEvaluation = key.starts_with("eval_");
    if (value == sample.values.end() &&
        (!run.lacksAreGaps || !isStep || ofEvaluation))
      continue; // of another kind
    series.push_back({at == sample.values.end() ? kNone : at->second,
                      value == sample.values.end() ? kNone : value->second});
  }
  return series;
}

Series runningMean(const Series &series, int64_t count) {
  Series means;
  size_t begin = 0; // of the values since the last gap
  Wide sum = 0;     // of values that may be near the largest double
  for (size_t i = 0; i < series.size(); ++i) {
    double value = series[i].second;
    if (!std::isfinite(value)) {
      begin = i + 1;
      sum = 0;
      means.push_back(series[i]);
      continue;
    }
    sum += value;
    if (i - begin >= static_cast<size_t>(count))
      sum -= series[begin++].second;
    means.push_back(
        {series[i].first,
         static_cast<double>(sum / static_cast<Wide>(i - begin + 1))});
  }
  return means;
}

Series thinned(const Series &series, int columns) {
  size_t parts = static_cast<size_t>(columns);
  if (series.size() <= 4 * parts)
    return series;
  // What is not finite is neither the least nor the largest.
  auto low = [](const Point &p) {
    return std::isfinite(p.second) ? p.second : kInfinity;
  };
  auto high = [](const Point &p) {
    return std::isfinite(p.second) ? p.second : -kInfinity;
  };
  Series out;
  for (size_t part = 0; part < parts; ++part) {
    auto begin = series.begin() + std::ptrdiff_t(series.size() * part / parts);
    auto end =
        series.begin() + std::ptrdiff_t(series.size() * (part + 1) / parts);
    std::vector<Series::const_iterator> kept = {
        begin, std::ranges::min_element(begin, end, {}, low),
        std::ranges::max_element(begin, end, {}, high), end - 1};
    // A gap stays one.
    kept.push_back(std::find_if(begin, end - 1, [](const Point &p) {
      return !std::isfinite(p.second);
    }));
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    for (Series::const_iterator each : kept)
      out.push_back(*each);
  }
  return out;
}

void Range::add(const Series &series, bool isLog) {
  for (auto [at, value] : series) {
    if (!std::isfinite(value) || (isLog && value <= 0))
      continue;
    low_ = isEmpty_ ? value : std::min<Wide>(low_, value);
    high_ = isEmpty_ ? value : std::max<Wide>(high_, value);
    isEmpty_ = false;
  }
}

void Range::pad(bool isLog) {
  if (isLog) {
    Wide part = std::pow(high() / low(), Wide(0.05));
    low_ = low() / part;
    high_ = high() * part;
  } else {
    Wide part = Wide(0.05) * (high() - low());
    low_ = low() - part;
    high_ = high() + part;
  }
}

} // namespace mtc::plot
