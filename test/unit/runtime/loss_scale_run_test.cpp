//===- loss_scale_run_test.cpp - runs in fp16, and steps that are skipped -===//

#include "run_fixture.h"
#include "runtime/base/json.h"
#include "runtime/checkpoint/checkpoint.h"

namespace mtc::runtime::test {
namespace {

class LossScaleRun : public RunFixture {
protected:
  /// The toy's gradients of y are up to some 0.1: 2^20 is too much for f16.
  RunOptions scaled(CommKind comm = CommKind::threads) {
    RunOptions o = options(fp16(), comm);
    o.recipe.steps = 12;
    o.recipe.initial_loss_scale = 0x1p24;
    o.recipe.loss_scale_window = 3;
    o.logFile = folder_.path("log");
    return o;
  }

  std::vector<Json> run(const RunOptions &o) {
    std::filesystem::remove(o.logFile);
    Status status = runBundle(o);
    EXPECT_TRUE(status.ok()) << status.message();
    std::vector<Json> log = linesOf(o.logFile);
    log.erase(log.begin()); // the header
    return log;
  }

  /// Both parameters, of a dump.
  std::vector<float> parameters(const std::string &file) {
    std::vector<float> all = tensor(file, "w"), b = tensor(file, "b");
    all.insert(all.end(), b.begin(), b.end());
    return all;
  }
};

bool wasSkipped(const Json &line) { return line["grad_norm"].is_null(); }

TEST_F(LossScaleRun, SkipsStepsThatOverflowAndGoesOn) {
  for (CommKind comm : {CommKind::threads, CommKind::shm}) {
    std::vector<Json> log = run(scaled(comm));
    ASSERT_EQ(log.size(), 12u);
    // 2^24: two overflows until it halves. Then one each, until f16 holds it.
    int64_t skipped = 0, free = 2, good = 0;
    double scale = 0x1p24;
    for (size_t i = 0; i < log.size(); ++i) {
      EXPECT_EQ(log[i]["step"], i + 1);
      EXPECT_EQ(log[i]["loss_scale"], scale);
      if (wasSkipped(log[i])) {
        ++skipped;
        good = 0;
        if (--free <= 0)
          scale /= 2;
      } else if (++good == 3) {
        scale *= 2;
        free = 2;
        good = 0;
      }
      EXPECT_EQ(log[i]["skipped_steps"], skipped) << i;
      EXPECT_TRUE(log[i]["loss"].is_number());
    }
    EXPECT_GT(skipped, 3);
    EXPECT_LT(skipped, 10);
    EXPECT_LT(log.back()["loss"].get<double>(), log[0]["loss"].get<double>());
  }
}

TEST_F(LossScaleRun, ASkippedStepChangesNothing) {
  RunOptions o = scaled();
  o.checkpoints = folder_.path("checkpoints");
  o.saveInterval = 1;
  std::vector<Json> log = run(o);
  int64_t skipped = 0;
  Json before;
  double rate = 0;
  for (size_t i = 0; i < log.size(); ++i) {
    Checkpoint now;
    char name[32];
    std::snprintf(name, sizeof name, "/step-%08zu", i + 1);
    ASSERT_TRUE(Checkpoint::open(o.checkpoints + name, now).ok());
    const RunPosition &at = now.manifest.position;
    skipped += wasSkipped(log[i]);
    EXPECT_EQ(at.skippedSteps, skipped);
    EXPECT_EQ(at.samples, 8 * int64_t(i + 1)) << "samples are used up";
    EXPECT_EQ(at.skippedSamples, 8 * skipped);
    // Of all parameters and states of the optimizer.
    Json sums = now.manifest.sums;
    if (i > 0) {
      EXPECT_EQ(sums == before, wasSkipped(log[i])) << "step " << i + 1;
    }
    before = sums;
    // The rate is that of the update: one that was skipped comes again.
    if (i > 0) {
      EXPECT_EQ(log[i]["lr"] == rate, wasSkipped(log[i - 1])) << i;
    }
    rate = log[i]["lr"];
  }
}

TEST_F(LossScaleRun, SchedulesInSamplesDoNotCountWhatWasSkipped) {
  RunOptions o = scaled();
  std::vector<Json> inSteps = run(o);
  o.recipe.decay_samples = 8 * o.recipe.steps; // powers of 2: the same bits
  std::vector<Json> inSamples = run(o);
  ASSERT_EQ(inSamples.size(), inSteps.size());
  for (size_t i = 0; i < inSteps.size(); ++i)
    EXPECT_EQ(inSamples[i]["lr"], inSteps[i]["lr"]) << i;
}

TEST_F(LossScaleRun, GoesOnToTheBit) {
  RunOptions o = scaled();
  o.dumps = {{DumpRequest::params, 0, folder_.path("whole")}};
  std::vector<Json> whole = run(o);
  for (int64_t stop : {1, 4, 7}) {
    RunOptions first = scaled();
    first.checkpoints = folder_.path("checkpoints" + std::to_string(stop));
    first.exitInterval = stop;
    EXPECT_EQ(runBundle(first).code(), StatusCode::stoppedSaved);
    RunOptions second = scaled();
    second.checkpoints = first.checkpoints;
    second.resume = true;
    second.dumps = {{DumpRequest::params, 0, folder_.path("parts")}};
    std::vector<Json> rest = run(second);
    ASSERT_EQ(rest.size(), 12u - size_t(stop));
    for (size_t i = 0; i < rest.size(); ++i)
      for (const char *key : {"step", "loss", "grad_norm", "lr", "loss_scale",
                              "skipped_steps", "tokens"})
        EXPECT_EQ(rest[i][key], whole[i + size_t(stop)][key]) << key << i;
    EXPECT_EQ(parameters(folder_.path("whole/params.safetensors")),
              parameters(folder_.path("parts/params.safetensors")));
  }
}

TEST_F(LossScaleRun, TheScaleDoesNotShow) {
  // Powers of two that neither overflow nor underflow here: the same bits.
  std::vector<Json> logs[2];
  for (double scale : {64.0, 4096.0}) {
    RunOptions o = scaled();
    o.recipe.loss_scale = scale;
    o.dumps = {
        {DumpRequest::grads, 2, folder_.path(std::to_string(int(scale)))}};
    std::vector<Json> log = run(o);
    for (Json &line : log)
      for (const char *key :
           {"loss_scale", "tokens_per_s", "step_ms", "resident_bytes", "time"})
        line.erase(key);
    logs[scale == 64] = log;
  }
  EXPECT_EQ(logs[0], logs[1]);
  EXPECT_EQ(parameters(folder_.path("64/grads@2.safetensors")),
            parameters(folder_.path("4096/grads@2.safetensors")));
}

TEST_F(LossScaleRun, AConstantScaleSkipsToo) {
  RunOptions o = scaled();
  o.recipe.loss_scale = 0x1p24;
  o.recipe.steps = 3;
  o.dumps = {{DumpRequest::init, 0, folder_.path("a")},
             {DumpRequest::params, 0, folder_.path("a")}};
  std::vector<Json> log = run(o);
  ASSERT_EQ(log.size(), 3u);
  for (const Json &line : log) {
    EXPECT_TRUE(wasSkipped(line));
    EXPECT_EQ(line["loss_scale"], 0x1p24);
  }
  EXPECT_EQ(parameters(folder_.path("a/init.safetensors")),
            parameters(folder_.path("a/params.safetensors")));
}

TEST_F(LossScaleRun, SaysOnceThatSkippingIsUseless) {
  RunOptions o = scaled(CommKind::shm);
  o.recipe.loss_scale = 0x1p24;
  o.recipe.steps = 25;
  testing::internal::CaptureStderr();
  run(o);
  std::string said = testing::internal::GetCapturedStderr();
  std::string words = "warning: step 10: the last 10 steps were skipped, and "
                      "the loss scale 16777216 is constant";
  size_t at = said.find(words);
  ASSERT_NE(at, said.npos) << said;
  EXPECT_EQ(said.find("warning", at + words.size()), said.npos) << said;
}

// A float32 tensor of a safetensors file by hand.
std::string tensorText(const std::string &name, std::vector<float> values,
                       size_t begin) {
  return "\"" + name + "\": {\"dtype\": \"F32\", \"shape\": [" +
         std::to_string(values.size()) + "], \"data_offsets\": [" +
         std::to_string(begin) + ", " +
         std::to_string(begin + 4 * values.size()) + "]}";
}

TEST_F(LossScaleRun, ParametersThatAreNotFiniteEndIt) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  // What f16 makes an infinity, too; the fp32 main parameter is finite.
  for (float bad : {kNaN, 65520.0f}) {
    std::vector<float> w = {1, 1, 1, 1}, b = {1, bad, 1};
    std::string header =
        "{" + tensorText("w", w, 0) + ", " + tensorText("b", b, 16) + "}";
    uint64_t size = header.size();
    std::string file(reinterpret_cast<const char *>(&size), 8);
    file += header;
    file.append(reinterpret_cast<const char *>(w.data()), 16);
    file.append(reinterpret_cast<const char *>(b.data()), 12);
    writeFile(folder_.path("weights"), file);
    for (CommKind comm : {CommKind::threads, CommKind::shm}) {
      RunOptions o = scaled(comm);
      o.initFrom = folder_.path("weights");
      std::filesystem::remove(o.logFile);
      Status status = runBundle(o);
      EXPECT_EQ(status.code(), StatusCode::nonFinite) << status.message();
      EXPECT_NE(status.message().find("step 1: the loss is not finite (loss "),
                std::string::npos);
      EXPECT_NE(status.message().find(
                    "the parameters are not good either: 'b' is not finite in "
                    "f16, which "
                    "holds up to 65504, it was so before the first step"),
                std::string::npos)
          << status.message();
      std::vector<Json> log = linesOf(o.logFile);
      ASSERT_EQ(log.size(), 2u);
      EXPECT_EQ(log[1]["not_finite"], "loss");
      EXPECT_EQ(log[1]["bad_parameter"], "b");
      EXPECT_EQ(log[1]["skipped_steps"], 0);
    }
  }
}

TEST_F(LossScaleRun, IsRejectedWhereNothingIsScaled) {
  RunOptions o = options(bf16(), CommKind::threads);
  o.recipe.loss_scale = 64;
  Status status = runBundle(o);
  EXPECT_EQ(status.code(), StatusCode::usage);
  EXPECT_NE(status.message().find("expected a program in fp16"),
            std::string::npos)
      << status.message();
}

} // namespace
} // namespace mtc::runtime::test
