//===- axis.h - from values to places, with round ticks ---------*- C++ -*-===//
#ifndef MTC_TOOLS_PLOT_AXIS_H
#define MTC_TOOLS_PLOT_AXIS_H

#include <string>
#include <vector>

namespace mtc::plot {

/// Of numbers that are values or a little beyond them: differences, quotients
/// and products of two are finite, and not 0 where they should not be, whatever
/// doubles they are.
using Wide = long double;

/// From values to pixels. Linear ticks are 1, 2 or 5 times a power of ten
/// apart; those of a log scale are powers of ten, with 2 and 5 times one where
/// there are few.
class Axis {
public:
  /// Values in [low, high] go to [from, to], low to `from`; `to` may be less. A
  /// range without a width is widened. On a log scale, low > 0.
  Axis(Wide low, Wide high, double from, double to, bool isLog);

  double at(double value) const;
  /// Whether a value has a place: finite, and positive on a log scale.
  bool has(double value) const;

  struct Tick {
    double value;
    std::string label; ///< "0.5", "20k", "1.5M", "1e-05"
  };
  /// Those in the range, ascending; about `count`.
  std::vector<Tick> ticks(int count) const;

private:
  Wide placeOf(Wide value) const;
  void addPowers(int count, std::vector<Tick> &ticks) const;
  Wide low_, high_;
  double from_, to_;
  bool isLog_;
};

/// A number as ticks have it, to `digits` significant ones.
std::string shortNumber(double value, int digits = 4);

} // namespace mtc::plot
#endif // MTC_TOOLS_PLOT_AXIS_H
