//===- series.h - values over an axis ---------------------------*- C++ -*-===//
#ifndef MTC_TOOLS_PLOT_SERIES_H
#define MTC_TOOLS_PLOT_SERIES_H

#include "tools/plot/axis.h"
#include "tools/plot/drawing.h"
#include "tools/plot/runs.h"

namespace mtc::plot {

/// Points (x, value) in the order of the log. A value that a line lacks, though
/// it has its kind, is NaN: a gap.
using Series = std::vector<Point>;

/// The values of `key` over those of `x`, of the lines that have the key or,
/// where what is lacking is a gap, are of a step: one whose number was null is.
Series seriesOf(const Run &run, const std::string &x, const std::string &key);

/// The mean of each value and up to `count` - 1 before it; a gap begins anew.
Series runningMean(const Series &series, int64_t count);

/// At most four points for each of `columns` equal parts of the points: the
/// first, the least, the largest and the last, in their order. Unchanged if it
/// has no more.
Series thinned(const Series &series, int columns);

/// The least and the largest finite value.
class Range {
public:
  /// On a log scale those above 0.
  void add(const Series &series, bool isLog);
  /// Some room above and below.
  void pad(bool isLog);
  Wide low() const { return isEmpty_ ? 1 : low_; }
  Wide high() const { return isEmpty_ ? 1 : high_; }

private:
  Wide low_ = 0, high_ = 0;
  bool isEmpty_ = true;
};

} // namespace mtc::plot
#endif // MTC_TOOLS_PLOT_SERIES_H
