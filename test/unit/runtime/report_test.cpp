//===- report_test.cpp - what a run tells while it trains -----------------===//

#include "run_fixture.h"

#include "mtc/runtime/abi.h"
#include "runtime/base/event_record.h"
#include "runtime/train/step_report.h"

#include <fcntl.h>
#include <map>
#include <unistd.h>

namespace mtc::runtime::test {
namespace {

std::string hexOf(std::string_view bytes) {
  std::string text;
  for (unsigned char byte : bytes) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", byte);
    text += two;
  }
  return text;
}

// Records that TensorBoard's own writer makes of the same events.
TEST(EventRecord, AreTensorBoards) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EventRecord event;
  std::string bytes;
  event.begin(1, 0);
  event.fileVersion();
  event.finish(bytes);
  EXPECT_EQ(hexOf(bytes),
            "1800000000000000a37f4b2209000000000000f03f1a0d627261696e2e4576656e"
            "743a3286bf577a");
  bytes.clear();
  event.begin(2, 7);
  event.scalar("loss", 2.5f);
  event.finish(bytes);
  EXPECT_EQ(hexOf(bytes),
            "1a00000000000000129bd82d09000000000000004010072a0d0a0b0a046c6f7373"
            "1500002040c2dfec60");
}

class ReportTest : public RunFixture {
protected:
  /// The log of `steps` steps of 10, the first one behind `start`, each of 0.5
  /// s, 8 samples of 4 tokens.
  std::vector<Json> logOf(Job &job, int64_t start, int64_t steps) {
    std::string path = folder_.path("report.jsonl");
    int fd = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0666);
    job.recipe.steps = 10;
    job.logFd = fd;
    job.logFile = path;
    job.report.header = formatRun({});
    {
      StepReport report(job, /*ranks=*/2);
      EXPECT_TRUE(report.open("").ok());
      StepFacts facts;
      facts.seq = 4;
      facts.samples = 8;
      facts.seconds = 0.5;
      for (facts.step = start + 1; facts.step <= start + steps; ++facts.step) {
        facts.loss = static_cast<float>(facts.step);
        facts.allTokens = 32 * facts.step;
        report.step(facts);
      }
      EXPECT_TRUE(report.status().ok());
    }
    close(fd);
    return linesOf(path);
  }
};

TEST_F(ReportTest, IntervalAndTheLastStep) {
  Job job;
  job.report.interval = 4;
  job.report.flops = {{4, 1e12}};
  job.report.peak = 64;
  std::vector<Json> lines = logOf(job, 0, 10);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[1]["step"], 4);
  EXPECT_EQ(lines[2]["step"], 8);
  EXPECT_EQ(lines[3]["step"], 10) << "the last one";
  for (size_t i = 1; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i]["step_ms"], 500);
    EXPECT_EQ(lines[i]["tokens_per_s"], 64);
    EXPECT_EQ(lines[i]["tflops"], 32) << "64 tokens of 1e12, by two ranks";
    EXPECT_EQ(lines[i]["mfu"], 0.5);
    EXPECT_GT(lines[i]["resident_bytes"], 100000);
    EXPECT_GT(lines[i]["time"], 1.7e9);
  }
}

TEST_F(ReportTest, WhatIsNotKnownIsLeftOut) {
  Job job;
  job.report.flops = {{8, 1e12}}; // of another length
  job.report.peak = 64;
  std::vector<Json> lines = logOf(job, 0, 1);
  EXPECT_FALSE(lines[1].contains("tflops"));
  EXPECT_FALSE(lines[1].contains("mfu"));
}

TEST_F(ReportTest, EachRunHasAnEventFileOfItsOwn) {
  Job job;
  job.report.events = folder_.path("events");
  std::filesystem::create_directory(job.report.events);
  (void)logOf(job, 0, 2);
  size_t files = 0;
  for (const auto &entry :
       std::filesystem::directory_iterator(job.report.events)) {
    ++files;
    std::string name = entry.path().filename(), bytes = readFile(entry.path());
    EXPECT_TRUE(name.starts_with("events.out.tfevents.")) << name;
    // The first record is of 24 bytes.
    EXPECT_EQ(bytes.substr(0, 8), std::string("\x18\0\0\0\0\0\0\0", 8));
    EXPECT_NE(bytes.find("train/loss"), std::string::npos);
    EXPECT_EQ(bytes.find("speed/mfu"), std::string::npos);
  }
  EXPECT_EQ(files, 1u);
  StepReport report(job, 1);
  Status status = report.open("");
  EXPECT_EQ(status.code(), StatusCode::writeFailed)
      << "of the same second and process";
}

TEST_F(ReportTest, TheHeaderSaysWhatTheRunIs) {
  for (CommKind comm : {CommKind::threads, CommKind::shm}) {
    RunOptions o = options(twoPipe(), comm);
    o.logFile = folder_.path("header.jsonl");
    o.logInterval = 3;
    o.peakTflops = 2;
    o.tensorboardDir = folder_.path("new/events");
    Status status = runBundle(o);
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<Json> lines = linesOf(o.logFile);
    ASSERT_EQ(lines.size(), 3u);
    const Json &header = lines[0];
    EXPECT_EQ(header["plan"], "00000000000000a2");
    EXPECT_EQ(header["model"], "toy");
    EXPECT_EQ(header["ranks"], 4);
    EXPECT_EQ(header["mesh"]["pp"], 2);
    EXPECT_EQ(header["abi"], MTC_ABI_VERSION);
    EXPECT_EQ(header["seed"], 11);
    EXPECT_EQ(header["recipe"]["steps"], 5);
    EXPECT_EQ(header["recipe"]["data"], o.recipe.data);
    EXPECT_EQ(header["peak_tflops"], 2);
    EXPECT_FALSE(header.contains("flops_per_token")) << "no plan says them";
    EXPECT_EQ(lines[1]["step"], 3);
    EXPECT_EQ(lines[2]["step"], 5);
    EXPECT_EQ(lines[2]["samples"], 40);
  }
  EXPECT_EQ(
      std::distance(
          std::filesystem::directory_iterator(folder_.path("new/events")), {}),
      2);
}

/// A span of so many nanoseconds.
TraceSpan spanOf(TraceKind kind, const MtcStep *row, int64_t ns) {
  TraceSpan span{kind, row};
  span.time = {1000, 1000 + ns};
  return span;
}

// A row's time is without that of the calls in it, which stand before it.
TEST(StepTimes, AddUpToTheStep) {
  Descriptor program;
  program.fragments = {"stage0_fwd", "stage0_bwd", "apply"};
  MtcStep load{MTC_STEP_LOAD, -1, 0, 0, 0, 0, 0, 0},
      forward{MTC_STEP_RUN, 0, 0, 0, 0, 0, 0, 0},
      backward{MTC_STEP_RUN, 1, 0, 0, 0, 0, 0, 0},
      update{MTC_STEP_RUN, 2, -1, 0, 0, 0, 0, 0},
      wait{MTC_STEP_WAIT, -1, 0, 0, 0, 0, 0, 0};
  RankTrace trace;
  trace.compute = {spanOf(TraceKind::load, &load, 10),
                   spanOf(TraceKind::gemm, &forward, 100),
                   spanOf(TraceKind::collective, &forward, 200),
                   spanOf(TraceKind::fragment, &forward, 1000),
                   spanOf(TraceKind::waitTransfers, &wait, 30),
                   spanOf(TraceKind::waitEvent, &backward, 40),
                   spanOf(TraceKind::fragment, &backward, 2000),
                   spanOf(TraceKind::fragment, &update, 500)};
  trace.compute[2].call.group = MTC_GROUP_DP;
  StepTimes times;
  for (int step = 0; step < 2; ++step)
    times.add(program, trace, 1e-9 * 4000);
  std::map<std::string, double> found;
  double levels[3] = {};
  for (size_t i = 0; i < timeParts().size(); ++i)
    for (int64_t level : {1, 2})
      if (isOfLevel(timeParts()[i], level)) {
        found[timeParts()[i].name] = times.seconds()[i] / 2 * 1e9;
        if (std::string_view(timeParts()[i].name) != "step")
          levels[level] += times.seconds()[i] / 2 * 1e9;
      }
  EXPECT_NEAR(levels[1], 4000, 1e-6);
  EXPECT_NEAR(levels[2], 4000, 1e-6);
  std::pair<const char *, double> wanted[] = {
      {"data", 10},          {"forward", 800},
      {"forward-rest", 700}, {"forward-products", 100},
      {"backward", 1960},    {"optimizer", 500},
      {"collectives", 200},  {"collectives-dp", 200},
      {"p2p", 30},           {"collective-waits", 40},
      {"other", 460},        {"step", 4000}};
  for (auto [name, ns] : wanted)
    EXPECT_NEAR(found[name], ns, 1e-6) << name;
}

TEST(StepTimes, AreJsonOfWhatIsNotNothing) {
  TimesOverRanks times{};
  char buffer[2048];
  EXPECT_EQ(formatTimes(times, 1, buffer), "{}");
  times.parts[0] = {1, 1.5, 2};
  times.parts[1] = {0, 0.25, 0.5};
  EXPECT_EQ(formatTimes(times, 1, buffer),
            "{\"data\": [1, 1.5, 2], \"forward\": [0, 0.25, 0.5]}");
  for (TimesOverRanks::Part &part : times.parts)
    part = {1.2345678e-38f, 1.2345678e-38f, 1.2345678e-38f};
  EXPECT_TRUE(Json::accept(formatTimes(times, 2, buffer)));
}

} // namespace
} // namespace mtc::runtime::test
