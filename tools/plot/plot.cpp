//===- plot.cpp - runs as a picture of curves -----------------------------===//

#include "tools/plot/plot.h"

#include "tools/plot/axis.h"
#include "tools/plot/series.h"

#include "mtc/runtime/log_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::plot {
namespace {

constexpr Colour kInk = 0x1f2933, kPale = 0x52606d, kGrid = 0xe4e7eb;
constexpr Colour kColours[] = {0x3b76c4, 0xd9822b, 0x3a9b6f, 0x8a63c9,
                               0xc23b4a, 0x2a9db0, 0x8c6239, 0x6b7280};
constexpr double kLeft = 70, kRight = 24, kPanel = 200, kPanelTop = 30,
                 kBottom = 44, kFont = 12;

/// What people call a key of the log.
std::string nameOf(const std::string &key) {
  static const std::map<std::string, std::string> kNames = {
      {"grad_norm", "gradient norm"},
      {"loss", "loss"},
      {"lr", "learning rate"},
      {"mfu", "MFU"},
      {"resident_bytes", "bytes in memory"},
      {"step_ms", "milliseconds a step"},
      {"tflops", "TFLOP/s of a rank"},
      {"tokens_per_s", "tokens a second"}};
  auto at = kNames.find(key);
  return at == kNames.end() ? key : at->second;
}

class Plot {
public:
  Plot(const std::vector<Run> &runs, const PlotRequest &request, Drawing &out)
      : runs_(runs), request_(request), out_(out) {}

  Status draw() {
    MTC_RETURN_IF_ERROR(checkKeys());
    out_.width = request_.width;
    out_.title =
        fmt::format("{} over {}", fmt::join(request_.keys, ", "), request_.x);
    double y = addLegend();
    Axis x = xAxis();
    for (const std::string &key : request_.keys) {
      addPanel(key, x, y + kPanelTop, &key == &request_.keys.back());
      y += kPanelTop + kPanel;
    }
    out_.height = static_cast<int>(y + kBottom);
    return Status::okay();
  }

private:
  Status checkKeys() {
    std::set<std::string> found;
    for (const Run &run : runs_)
      for (const Sample &sample : run.samples)
        for (const auto &[key, value] : sample.values)
          found.insert(key);
    std::string lacking;
    for (const std::string &key : request_.keys)
      if (!found.contains(key))
        lacking += (lacking.empty() ? "'" : ", '") + key + "'";
    if (!found.contains(request_.x))
      lacking += (lacking.empty() ? "'" : ", '") + request_.x + "'";
    if (lacking.empty())
      return Status::okay();
    return {StatusCode::usage,
            fmt::format("expected keys of the log with numbers, found no {}; "
                        "there are: {}",
                        lacking, fmt::join(found, ", "))};
  }

  Colour colourOf(size_t run) const {
    return kColours[run % std::size(kColours)];
  }

  /// Names of runs beside pieces of their curves, in as many rows as they need.
  double addLegend() {
    double x = kLeft, y = 22;
    for (size_t i = 0; i < runs_.size(); ++i) {
      double wide = 26 + 1.15 * textWidth(runs_[i].name, kFont) + 22;
      if (x > kLeft && x + wide > request_.width - kRight) {
        x = kLeft;
        y += 18;
      }
      out_.curves.push_back({{{x, y - 4}, {x + 20, y - 4}}, colourOf(i), 2.5});
      out_.labels.push_back(
          {x + 26, y, runs_[i].name, kFont, Label::start, kInk});
      x += wide;
    }
    return y + 4;
  }

  /// Only of what is drawn: another program's events may count samples, too.
  void addPlaces(const Run &run, const std::string &key, Range &range) const {
    Series places = seriesOf(run, request_.x, key);
    for (Point &point : places)
      point.second = point.first;
    range.add(places, request_.logX);
  }

  Axis xAxis() const {
    Range range;
    for (const Run &run : runs_)
      for (const std::string &key : request_.keys) {
        addPlaces(run, key, range);
        if (key == "loss") // evaluations lie in its panel
          addPlaces(run, "eval_loss", range);
      }
    return {range.low(), range.high(), kLeft, request_.width - kRight,
            request_.logX};
  }

  void addPanel(const std::string &key, const Axis &x, double top,
                bool isLast) {
    std::vector<Series> all;
    Range range;
    for (const Run &run : runs_) {
      all.push_back(seriesOf(run, request_.x, key));
      range.add(all.back(), request_.logY);
    }
    std::vector<Series> evaluations;
    if (key == "loss")
      for (const Run &run : runs_) {
        evaluations.push_back(seriesOf(run, request_.x, "eval_loss"));
        range.add(evaluations.back(), request_.logY);
      }
    range.pad(request_.logY);
    Axis y(range.low(), range.high(), top + kPanel - 24, top, request_.logY);
    out_.labels.push_back(
        {kLeft, top - 8, nameOf(key), kFont + 1, Label::start, kInk, true});
    addGrid(x, y, top, isLast);
    for (size_t i = 0; i < all.size(); ++i)
      addCurves(all[i], key, i, x, y);
    for (size_t i = 0; i < evaluations.size(); ++i)
      addDots(evaluations[i], i, x, y);
  }

  void addGrid(const Axis &x, const Axis &y, double top, bool isLast) {
    double left = kLeft, right = request_.width - kRight,
           bottom = top + kPanel - 24;
    for (const Axis::Tick &tick : y.ticks(5)) {
      double at = y.at(tick.value);
      out_.curves.push_back({{{left, at}, {right, at}}, kGrid, 1});
      out_.labels.push_back(
          {left - 8, at + 4, tick.label, kFont, Label::end, kPale});
    }
    for (const Axis::Tick &tick : x.ticks(8)) {
      double at = x.at(tick.value);
      out_.curves.push_back({{{at, top}, {at, bottom}}, kGrid, 1});
      if (isLast)
        out_.labels.push_back(
            {at, bottom + 18, tick.label, kFont, Label::middle, kPale});
    }
    if (isLast)
      out_.labels.push_back({(left + right) / 2, bottom + 38, request_.x, kFont,
                             Label::middle, kInk});
  }

  void addCurves(const Series &series, const std::string &key, size_t run,
                 const Axis &x, const Axis &y) {
    bool isSmooth = request_.smooth > 1;
    std::string label = runs_[run].name + ": " + key;
    addCurve(
        series,
        {{}, colourOf(run), isSmooth ? 1. : 1.6, isSmooth ? 0.3 : 1, label}, x,
        y);
    if (isSmooth)
      addCurve(runningMean(series, request_.smooth),
               {{}, colourOf(run), 1.8, 1, label + ", mean"}, x, y);
  }

  /// A curve for each stretch without a gap.
  void addCurve(const Series &series, Curve style, const Axis &x,
                const Axis &y) {
    Curve curve = style;
    auto end = [&] {
      if (!curve.points.empty())
        out_.curves.push_back(curve);
      curve.points.clear();
    };
    for (auto [at, value] : thinned(series, request_.width))
      if (x.has(at) && y.has(value))
        curve.points.push_back({x.at(at), y.at(value)});
      else
        end();
    end();
  }

  void addDots(const Series &series, size_t run, const Axis &x, const Axis &y) {
    for (auto [at, value] : series)
      if (x.has(at) && y.has(value))
        out_.curves.push_back({{{x.at(at), y.at(value)}},
                               colourOf(run),
                               6,
                               1,
                               runs_[run].name + ": eval_loss"});
  }

  const std::vector<Run> &runs_;
  const PlotRequest &request_;
  Drawing &out_;
};

} // namespace

Status plot(const std::vector<Run> &runs, const PlotRequest &request,
            Drawing &drawing) {
  return Plot(runs, request, drawing).draw();
}

} // namespace mtc::plot
