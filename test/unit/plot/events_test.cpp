//===- events_test.cpp - runs from files of TensorBoard -------------------===//

#include "tools/plot/events.h"

#include "runtime/base/event_record.h"
#include "tools/plot/event_records.h"
#include "tools/plot/plot.h"
#include "tools/plot/series.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace mtc::plot {
namespace {

using Runs = std::vector<Run>;

/// A file as runs write it; loss `step` + 0.5 of each step.
std::string fileOf(int64_t first, int64_t last) {
  std::string bytes;
  runtime::EventRecord event;
  event.begin(10, 0);
  event.fileVersion();
  event.finish(bytes);
  event.begin(10, first);
  event.sessionStart();
  event.finish(bytes);
  for (int64_t step = first; step <= last; ++step) {
    event.begin(10.0 + static_cast<double>(step), step);
    event.scalar("train/loss", static_cast<float>(step) + 0.5f);
    event.scalar("mine/of a person", 7);
    event.finish(bytes);
  }
  return bytes;
}

Runs runOf(std::initializer_list<std::string> files) {
  EventRun run;
  for (const std::string &file : files) {
    runtime::Status status = run.add(file, "file");
    EXPECT_TRUE(status.ok()) << status.message();
  }
  Runs runs;
  EXPECT_TRUE(run.finish("folder", runs).ok());
  return runs;
}

using Points = std::vector<std::pair<double, double>>;

Points pointsOf(const Run &run, const std::string &x, const std::string &key) {
  Points points;
  for (auto [at, value] : seriesOf(run, x, key))
    points.emplace_back(at, value);
  return points;
}

TEST(Events, ATagIsTheKeyOfTheLogToo) {
  Runs runs = runOf({fileOf(1, 2)});
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].name, "folder");
  Points expected = {{1, 1.5}, {2, 2.5}};
  EXPECT_EQ(pointsOf(runs[0], "step", "loss"), expected);
  EXPECT_EQ(pointsOf(runs[0], "step", "train/loss"), expected);
  EXPECT_EQ(pointsOf(runs[0], "time", "mine/of a person"),
            (Points{{11, 7}, {12, 7}}));
}

TEST(Events, AFileThatGoesOnReplacesLaterSteps) {
  Runs runs = runOf({fileOf(1, 5), fileOf(3, 3)});
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(pointsOf(runs[0], "step", "loss"),
            (Points{{1, 1.5}, {2, 2.5}, {3, 3.5}}));
}

TEST(Events, TagsOfMegatronAndEventsOfOneScalarEach) {
  std::string bytes;
  runtime::EventRecord event;
  for (const char *tag : {"lm loss", "grad-norm", "learning-rate"}) {
    event.begin(10, 4);
    event.scalar(tag, 3);
    event.finish(bytes);
  }
  event.begin(10, 5);
  event.scalar("lm loss", std::numeric_limits<float>::quiet_NaN());
  event.finish(bytes);
  Runs runs = runOf({bytes});
  ASSERT_EQ(runs[0].samples.size(), 2u);
  for (const char *key : {"loss", "grad_norm", "lr"})
    EXPECT_EQ(runs[0].samples[0].values.at(key), 3) << key;
  EXPECT_TRUE(std::isnan(runs[0].samples[1].values.at("loss")));
}

TEST(Events, AStepThatComesAgainReplacesTheOneBefore) {
  // Of a program that does not say where it goes on.
  std::string bytes;
  runtime::EventRecord event;
  for (float value : {3.0f, 2.0f}) {
    event.begin(10, 4);
    event.scalar("lm loss", value);
    event.finish(bytes);
  }
  Runs runs = runOf({bytes});
  for (const char *key : {"loss", "lm loss"})
    EXPECT_EQ(pointsOf(runs[0], "step", key), (Points{{4, 2}})) << key;
}

TEST(Events, EachTagHasItsOwnSteps) {
  std::string bytes;
  runtime::EventRecord event;
  auto add = [&](int64_t step, const char *tag, float value) {
    event.begin(10, step);
    event.scalar(tag, value);
    event.finish(bytes);
  };
  for (int64_t step : {1, 2, 3}) {
    add(step, "lm loss", 3);
    add(256 * step, "lm loss vs samples", 3); // as Megatron-LM has them
    add(step, "step", 9);
    add(step, "loss", 8); // of somebody else
  }
  add(3, "eval/loss", 5);
  Runs runs;
  EventRun run;
  EXPECT_TRUE(run.add(bytes, "file").ok() && run.finish("run", runs).ok());
  EXPECT_EQ(pointsOf(runs[0], "step", "loss"),
            (Points{{1, 3}, {2, 3}, {3, 3}}));
  EXPECT_EQ(pointsOf(runs[0], "step", "eval_loss"), (Points{{3, 5}}));
  PlotRequest request;
  request.keys = {"loss"};
  Drawing drawing;
  ASSERT_TRUE(plot(runs, request, drawing).ok());
  for (const Label &label : drawing.labels)
    EXPECT_NE(label.text, "600") << "the axis ends where the loss does";
}

TEST(Events, EveryCutIsAShorterFile) {
  std::string bytes = fileOf(1, 3);
  for (size_t size = 0; size <= bytes.size(); ++size) {
    EventRun run;
    runtime::Status status = run.add(bytes.substr(0, size), "file");
    EXPECT_TRUE(status.ok()) << size << ": " << status.message();
  }
}

TEST(Events, EveryFlippedBitIsNoticed) {
  const std::string bytes = fileOf(1, 3);
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
    EventRun run;
    runtime::Status status = run.add(damaged, "file");
    EXPECT_EQ(status.code(), runtime::StatusCode::inputRejected) << bit;
    EXPECT_NE(status.message().find("checksum"), std::string::npos) << bit;
  }
}

TEST(Events, WhatIsNoEvent) {
  std::string bytes;
  for (std::string_view event :
       {std::string_view("\x0bgroup"), std::string_view("\x0b"),
        std::string_view("\x2a\x05"), std::string_view("\0", 1),
        std::string_view("\x09\0", 2), std::string_view("\x10\x80")}) {
    bytes.clear();
    runtime::appendRecord(event, bytes);
    EventRun run;
    runtime::Status status = run.add(bytes, "file");
    EXPECT_NE(status.message().find("byte 0: expected an event"),
              std::string::npos)
        << event << ": " << status.message();
  }
  EXPECT_TRUE(beginsWithRecord(bytes));
  EXPECT_FALSE(beginsWithRecord("{\"step\": 1, \"loss\": 5.5}"));
  Runs runs;
  EXPECT_FALSE(EventRun().finish("folder", runs).ok());
}

} // namespace
} // namespace mtc::plot
