//===- plot_test.cpp - logs, axes and curves ------------------------------===//

#include "tools/plot/axis.h"
#include "tools/plot/plot.h"
#include "tools/plot/series.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace mtc::plot {
namespace {

using runtime::StatusCode;
using Runs = std::vector<Run>;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

Runs runsOf(const std::string &text) {
  Runs runs;
  runtime::Status status = readRuns(text, "log", runs);
  EXPECT_TRUE(status.ok()) << status.message();
  return runs;
}

std::vector<double> valuesOf(const Run &run, const std::string &key) {
  std::vector<double> values;
  for (auto [x, value] : seriesOf(run, "step", key))
    values.push_back(value);
  return values;
}

TEST(Runs, AResumeReplacesLaterSteps) {
  Runs runs = runsOf("{\"header\": 1, \"start_step\": 0}\n"
                     "{\"step\": 1, \"loss\": 5}\n"
                     "{\"step\": 2, \"loss\": 4}\n"
                     "{\"step\": 3, \"loss\": 3}\n"
                     "{\"header\": 1, \"start_step\": 2}\n"
                     "{\"step\": 3, \"loss\": 2}\n");
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(valuesOf(runs[0], "loss"), (std::vector<double>{5, 4, 2}));
}

TEST(Runs, ANewRunIsAnotherCurve) {
  Runs runs = runsOf("{\"step\": 1, \"loss\": 5}\n"
                     "{\"header\": 1, \"start_step\": 0}\n"
                     "{\"step\": 1, \"loss\": 4}\n");
  ASSERT_EQ(runs.size(), 2u) << "a log of before there were headers";
  EXPECT_EQ(runs[0].name, "log");
  EXPECT_EQ(runs[1].name, "log (2)");
}

TEST(Runs, WhatIsNoLog) {
  struct {
    const char *text, *says;
  } cases[] = {{"", "no line with 'step'"},
               {"{\"header\": 1}\n", "no line with 'step'"},
               {"{\"step\": \"x\"}\n", "no line with 'step'"},
               {"{\"step\": 1}\nnonsense\n", "line 2"},
               {"[1]\n", "line 1"}};
  for (auto &[text, says] : cases) {
    Runs runs;
    runtime::Status status = readRuns(text, "log", runs);
    EXPECT_EQ(status.code(), StatusCode::inputRejected) << text;
    EXPECT_NE(status.message().find(says), std::string::npos)
        << status.message();
  }
  EXPECT_EQ(runsOf("{\"step\": 1}\n{\"st")[0].samples.size(), 1u)
      << "half a line of a run that was killed";
}

TEST(Series, NullIsAGapAndEvaluationsAreTheirOwn) {
  Runs runs = runsOf("{\"step\": 1, \"loss\": 5}\n"
                     "{\"step\": 1, \"eval_loss\": 6}\n"
                     "{\"step\": 2, \"loss\": null}\n");
  std::vector<double> losses = valuesOf(runs[0], "loss");
  ASSERT_EQ(losses.size(), 2u);
  EXPECT_TRUE(std::isnan(losses[1]));
  EXPECT_EQ(valuesOf(runs[0], "eval_loss"), std::vector<double>{6});
}

TEST(Series, MeansBeginAnewBehindAGap) {
  Series means =
      runningMean({{1, 2}, {2, 4}, {3, 6}, {4, kNone}, {5, 8}, {6, 10}}, 2);
  ASSERT_EQ(means.size(), 6u);
  EXPECT_EQ(means[0].second, 2);
  EXPECT_EQ(means[1].second, 3);
  EXPECT_EQ(means[2].second, 5);
  EXPECT_TRUE(std::isnan(means[3].second));
  EXPECT_EQ(means[4].second, 8);
  EXPECT_EQ(means[5].second, 9);
}

TEST(Series, ThinnedKeepsSpikesAndGaps) {
  Series series;
  for (int i = 0; i < 10000; ++i)
    series.push_back({double(i), std::sin(i / 100.)});
  series[3333].second = 50;
  series[6666].second = kNone;
  Series thin = thinned(series, 100);
  EXPECT_LE(thin.size(), 500u);
  EXPECT_TRUE(std::ranges::is_sorted(thin, {}, &Point::first));
  EXPECT_EQ(std::ranges::count(thin, 50., &Point::second), 1);
  EXPECT_EQ(
      std::ranges::count_if(thin, [](Point p) { return std::isnan(p.second); }),
      1);
  EXPECT_EQ(thin.front(), series.front());
  EXPECT_EQ(thin.back(), series.back());
  EXPECT_EQ(thinned(Series(400, {0, 1}), 100).size(), 400u);
}

std::string labelsOf(const Axis &axis, int count) {
  std::string text;
  for (const Axis::Tick &tick : axis.ticks(count))
    text += (text.empty() ? "" : " ") + tick.label;
  return text;
}

void expectInside(const Drawing &drawing) {
  auto isInside = [&](double x, double y) {
    return x >= 0 && x <= drawing.width && y >= 0 && y <= drawing.height;
  };
  for (const Curve &curve : drawing.curves)
    for (auto [x, y] : curve.points)
      EXPECT_TRUE(isInside(x, y)) << x << ", " << y;
  for (const Label &label : drawing.labels) {
    EXPECT_TRUE(isInside(label.x, label.y)) << label.text;
    EXPECT_EQ(label.text.find("inf"), std::string::npos) << label.text;
  }
}

TEST(Axis, RoundTicks) {
  EXPECT_EQ(labelsOf(Axis(1, 350, 0, 100, false), 8), "50 100 150 200 250 300 "
                                                      "350");
  EXPECT_EQ(labelsOf(Axis(-0.3, 1.1, 0, 100, false), 5), "0 0.5 1");
  EXPECT_EQ(labelsOf(Axis(25000, 30500, 0, 1, false), 5), "26k 28k 30k");
  EXPECT_EQ(labelsOf(Axis(1000000, 1000008, 0, 1, false), 4),
            "1M 1.000002M 1.000004M 1.000006M 1.000008M");
  EXPECT_EQ(labelsOf(Axis(2, 900, 0, 1, true), 5), "2 5 10 20 50 100 200 500");
  EXPECT_EQ(labelsOf(Axis(1e-6, 1e3, 0, 1, true), 5),
            "1e-06 0.0001 0.01 1 100");
  EXPECT_EQ(labelsOf(Axis(7, 7, 0, 1, false), 4), "6.5 7 7.5");
}

TEST(Axis, NumbersThatAreLargeBesideTheirRange) {
  for (double low : {1e16, -1e16, 1e300, 4e-324})
    for (double width : {2., 1e290, 1e-323}) {
      Axis axis(low, low + width, 0, 1, false);
      EXPECT_LE(axis.ticks(5).size(), 11u) << low << " " << width;
    }
  EXPECT_LE(Axis(-1.7e308, 1.7e308, 0, 1, false).ticks(5).size(), 11u);
  EXPECT_LE(Axis(4e-324, 1.7e308, 0, 1, true).ticks(5).size(), 20u);
}

/// A run whose losses, or steps, are two values, the second one twice.
void expectPicture(double first, double second, bool isLog, bool isX) {
  SCOPED_TRACE(testing::Message()
               << first << " and " << second << (isLog ? ", log" : "")
               << (isX ? ", of x" : ""));
  Run run;
  run.name = "run";
  for (double value : {first, second, second}) {
    Sample sample;
    sample.values = {{"step", isX ? value : 1}, {"loss", isX ? 1 : value}};
    run.samples.push_back(sample);
  }
  PlotRequest request;
  request.keys = {"loss"};
  request.smooth = 2;
  request.logX = isLog && isX;
  request.logY = isLog && !isX;
  Drawing drawing;
  ASSERT_TRUE(plot({run}, request, drawing).ok());
  expectInside(drawing);
  bool hasPlace = !isLog || second > 0;
  auto last = std::ranges::find(drawing.curves, "run: loss, mean",
                                [](const Curve &c) { return c.label; });
  EXPECT_EQ(last != drawing.curves.end(), hasPlace);
  EXPECT_GE(drawing.labels.size(), 4u) << "ticks and names";
}

TEST(Plot, ValuesAtTheEndsOfDoubles) {
  constexpr double kMost = std::numeric_limits<double>::max();
  constexpr double kLeast = std::numeric_limits<double>::denorm_min();
  std::pair<double, double> cases[] = {
      {1, 1e307},       {1, kMost},       {-1e308, 1e308}, {-kMost, kMost},
      {kLeast, kMost},  {kLeast, kLeast}, {0, kLeast},     {kMost, kMost},
      {1e-320, 3e-320}, {-kMost, -kMost}, {1, 1 + 1e-15},  {1e-308, 1}};
  for (auto [first, second] : cases)
    for (bool isLog : {false, true})
      for (bool isX : {false, true})
        expectPicture(first, second, isLog, isX);
}

TEST(Axis, TicksAtTheEndsOfDoubles) {
  EXPECT_EQ(labelsOf(Axis(-1.1e308, 1.1e308, 0, 1, false), 5),
            "-1e+308 -5e+307 0 5e+307 1e+308");
  EXPECT_EQ(labelsOf(Axis(9e-8L, 7e313L, 0, 1, true), 3), "1e+99 1e+206")
      << "1e+313 is none";
  EXPECT_EQ(labelsOf(Axis(1e-320L, 3e-320L, 0, 1, false), 2),
            "1e-320 2e-320 3e-320");
}

TEST(Axis, Places) {
  Axis down(0, 10, 200, 100, false), log(1, 100, 0, 10, true);
  EXPECT_EQ(down.at(0), 200);
  EXPECT_EQ(down.at(5), 150);
  EXPECT_EQ(log.at(10), 5);
  EXPECT_FALSE(log.has(0));
  EXPECT_FALSE(down.has(kNone));
}

TEST(Plot, UnknownKeysAreNamedTogether) {
  PlotRequest request;
  request.keys = {"loss", "what"};
  request.x = "when";
  Drawing drawing;
  runtime::Status status =
      plot(runsOf("{\"step\": 1, \"loss\": 5}\n"), request, drawing);
  EXPECT_EQ(status.code(), StatusCode::usage);
  EXPECT_NE(status.message().find("'what', 'when'; there are: loss, step"),
            std::string::npos)
      << status.message();
}

TEST(Plot, NothingToShowIsStillAPicture) {
  PlotRequest request;
  request.keys = {"loss"};
  request.logY = request.logX = true;
  Drawing drawing;
  ASSERT_TRUE(
      plot(runsOf("{\"step\": 0, \"loss\": -5}\n"), request, drawing).ok());
  EXPECT_GT(drawing.height, 100);
  EXPECT_EQ(toSvg(drawing).find("nan"), std::string::npos);
  EXPECT_EQ(toPng(drawing).substr(1, 3), "PNG");
}

// Each character has strokes of its own.
TEST(Png, CharactersDiffer) {
  std::set<std::string> pictures;
  for (char c = '!'; c <= '~'; ++c) {
    Drawing drawing{30, 30, "", {}, {{4, 20, std::string(1, c), 16}}};
    pictures.insert(toPng(drawing));
  }
  EXPECT_EQ(pictures.size(), size_t('~' - '!' + 1));
}

} // namespace
} // namespace mtc::plot
