//===- run_test.cpp - whole runs of hand-written programs -----------------===//

#include "run_fixture.h"
#include "runtime/base/json.h"
#include "runtime/data/permutation.h"
#include "test/unit/half.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace mtc::runtime::test {
namespace {

/// Everything a run leaves behind that must not depend on the layout.
struct Trace {
  std::vector<std::string> losses, norms;
  std::vector<float> w, b, gradW, gradB, initW, logits;
  bool operator==(const Trace &) const = default;
};

class RunTest : public RunFixture {
protected:
  void readLog(const std::string &path, Trace &trace) {
    std::istringstream lines(readFile(path));
    for (std::string line; std::getline(lines, line);) {
      Json json;
      ASSERT_TRUE(parseJson(line, "log", json).ok()) << line;
      if (json.contains("header"))
        continue;
      trace.losses.push_back(json["loss"].dump());
      trace.norms.push_back(json["grad_norm"].dump());
      EXPECT_EQ(json["step"], trace.losses.size());
      EXPECT_EQ(json["tokens"], 32 * trace.losses.size());
      EXPECT_GT(json["tokens_per_s"], 0);
      EXPECT_GT(json["step_ms"], 0);
    }
  }

  Trace run(const std::string &bundlePath, CommKind comm) {
    RunOptions o = options(bundlePath, comm);
    std::string out = folder_.path("out");
    std::filesystem::remove_all(out);
    o.dumps = {{DumpRequest::init, 0, out},
               {DumpRequest::logits, 0, out},
               {DumpRequest::grads, 3, out},
               {DumpRequest::params, 0, out}};
    o.saveTo = folder_.path("saved.safetensors");
    o.logFile = folder_.path("log.jsonl");
    Status status = runBundle(o);
    EXPECT_TRUE(status.ok()) << status.message();
    Trace trace;
    if (!status.ok())
      return trace;
    readLog(o.logFile, trace);
    trace.w = tensor(o.saveTo, "w");
    trace.b = tensor(o.saveTo, "b");
    trace.gradW = tensor(out + "/grads@3.safetensors", "w");
    trace.gradB = tensor(out + "/grads@3.safetensors", "b");
    trace.initW = tensor(out + "/init.safetensors", "w");
    trace.logits = tensor(out + "/logits.safetensors", "logits");
    EXPECT_EQ(readFile(o.saveTo), readFile(out + "/params.safetensors"));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(out), {}), 4)
        << "parts or temporary files were left behind";
    return trace;
  }
};

TEST_F(RunTest, AllLayoutsAndBackendsAgreeToTheBit) {
  Trace a = run(onePipe(), CommKind::threads);
  ASSERT_EQ(a.losses.size(), 5u);
  EXPECT_NE(a.losses[0], a.losses[4]);
  EXPECT_NE(a.w, a.initW) << "nothing was learned";
  EXPECT_EQ(a.logits.size(), 8u * 4 * 16);
  EXPECT_EQ(run(onePipe(), CommKind::shm), a);
  EXPECT_EQ(run(twoPipe(), CommKind::threads), a);
  EXPECT_EQ(run(twoPipe(), CommKind::shm), a);
}

/// The toy by itself, in double: what the programs must compute.
struct Oracle {
  double w[4], b[3] = {1, 1, 1}, gradW[4], gradB[3], norm, loss;
  std::vector<uint16_t> tokens;

  void step(int64_t step, double lr) {
    std::fill_n(gradW, 4, 0);
    std::fill_n(gradB, 3, 0);
    loss = 0;
    for (int64_t k = 8 * (step - 1); k < 8 * step; ++k) {
      int64_t at = Permutation(11, uint64_t(k / 16), 16)(k % 16) * 4;
      for (int64_t i = at; i < at + 4; ++i)
        token(tokens[i], tokens[i + 1]);
    }
    norm = 0;
    for (double g : gradW)
      norm += g * g;
    for (double g : gradB)
      norm += g * g;
    norm = std::sqrt(norm);
    double scale = lr * std::min(1.0, 0.25 / (norm + 1e-6));
    for (int i = 0; i < 4; ++i)
      w[i] -= scale * gradW[i];
    for (int i = 0; i < 3; ++i)
      b[i] -= scale * gradB[i];
  }
  void token(int x, int t) {
    double error = w[x % 4] + b[t % 3] - t / 16.0;
    loss += error * error / 2 / 32;
    gradW[x % 4] += error / 32;
    gradB[t % 3] += error / 32;
  }
};

TEST_F(RunTest, TrainsWhatTheOracleTrains) {
  Trace trace = run(twoPipe(), CommKind::shm);
  ASSERT_EQ(trace.losses.size(), 5u);
  Oracle oracle;
  std::string bytes = readFile(folder_.path("tokens"));
  oracle.tokens.resize(bytes.size() / 2);
  std::memcpy(oracle.tokens.data(), bytes.data(), bytes.size());
  std::copy_n(trace.initW.begin(), 4, oracle.w);
  for (int step = 1; step <= 5; ++step) {
    double x = step / 5.0;
    oracle.step(step, 0.1 + 0.4 * 0.5 * (1 + std::cos(M_PI * x)));
    // Sums of 32 fp32 terms of size <= 1: 32 · 2^-24 = 2e-6.
    EXPECT_NEAR(std::stod(trace.losses[step - 1]), oracle.loss, 2e-6);
    EXPECT_NEAR(std::stod(trace.norms[step - 1]), oracle.norm, 2e-6);
    for (int i = 0; step == 3 && i < 4; ++i)
      EXPECT_NEAR(trace.gradW[i], oracle.gradW[i], 2e-6);
    for (int i = 0; step == 3 && i < 3; ++i)
      EXPECT_NEAR(trace.gradB[i], oracle.gradB[i], 2e-6);
  }
  for (int i = 0; i < 4; ++i)
    EXPECT_NEAR(trace.w[i], oracle.w[i], 5 * 2e-6);
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(trace.b[i], oracle.b[i], 5 * 2e-6);
}

TEST_F(RunTest, LogitsAreInSampleOrder) {
  Trace trace = run(twoPipe(), CommKind::threads);
  std::string bytes = readFile(folder_.path("tokens"));
  std::vector<uint16_t> tokens(bytes.size() / 2);
  std::memcpy(tokens.data(), bytes.data(), bytes.size());
  ASSERT_EQ(trace.logits.size(), 8u * 4 * 16);
  for (int64_t k = 0; k < 8; ++k)
    for (int64_t i = 0; i < 4; ++i) {
      int64_t at = Permutation(11, 0, 16)(k) * 4 + i;
      float y = trace.initW[tokens[at] % 4] + 1;
      EXPECT_EQ(trace.logits[(k * 4 + i) * 16], y) << k << " " << i;
      EXPECT_EQ(trace.logits[(k * 4 + i) * 16 + 15], y * 16);
    }
}

TEST_F(RunTest, StartsFromAFile) {
  RunOptions o = options(onePipe(), CommKind::threads);
  o.saveTo = folder_.path("five.safetensors");
  ASSERT_TRUE(runBundle(o).ok());
  o.initFrom = o.saveTo;
  o.saveTo = folder_.path("copy.safetensors");
  o.recipe.steps = 0;
  o.bundle = onePipe();
  ASSERT_TRUE(runBundle(o).ok());
  EXPECT_EQ(tensor(o.initFrom, "w"), tensor(o.saveTo, "w"));
  EXPECT_EQ(tensor(o.initFrom, "b"), tensor(o.saveTo, "b"));
  writeFile(o.initFrom, "junk");
  for (CommKind comm : {CommKind::threads, CommKind::shm}) {
    o.comm = comm;
    EXPECT_EQ(runBundle(o).code(), StatusCode::inputRejected);
  }
}

TEST_F(RunTest, InBf16FilesHoldTheMainParameters) {
  Trace full = run(onePipe(), CommKind::threads);
  Trace half = run(bf16(), CommKind::threads);
  EXPECT_EQ(run(bf16(), CommKind::shm), half);
  EXPECT_EQ(half.initW, full.initW);
  EXPECT_NE(half.losses, full.losses);
  // y is the sum of two values below 2, each rounded by at most 2^-8, so every
  // error and with it each of the means that the gradients of w and of b are by
  // at most 2^-7, their vector by sqrt(2) as much. Clipping and the descent of
  // a convex function at these rates bring no two points further apart, and the
  // five rates add up to at most 2.5.
  for (int i = 0; i < 4; ++i)
    EXPECT_NEAR(half.w[i], full.w[i], 2.5 * std::sqrt(2.0) * 0x1p-7);
  EXPECT_NE(half.w, mtc::test::roundedTo(MTC_BF16, half.w))
      << "rounded to bf16";

  RunOptions o = options(bf16(), CommKind::shm);
  o.initFrom = folder_.path("saved.safetensors"); // of the last run, in bf16
  o.saveTo = folder_.path("copy.safetensors");
  o.recipe.steps = 0;
  ASSERT_TRUE(runBundle(o).ok());
  for (const char *name : {"w", "b"})
    EXPECT_EQ(tensor(o.saveTo, name), tensor(o.initFrom, name));
  SafetensorsFile saved;
  ASSERT_TRUE(SafetensorsFile::open(o.initFrom, saved).ok());
  EXPECT_EQ(saved.metadata().at("step"), "5");
}

TEST_F(RunTest, InBf16FragmentsSeeRoundedParameters) {
  Trace half = run(bf16(), CommKind::threads);
  Trace full = run(onePipe(), CommKind::threads);
  ASSERT_EQ(half.logits.size(), full.logits.size());
  std::vector<float> w = mtc::test::roundedTo(MTC_BF16, half.initW);
  for (size_t i = 0; i < half.logits.size(); i += 16) {
    // Which weight it was, from the same token in fp32: y = w + 1.
    auto at = std::ranges::find_if(
        full.initW, [&](float x) { return x + 1 == full.logits[i]; });
    ASSERT_NE(at, full.initW.end());
    EXPECT_EQ(half.logits[i], w[at - full.initW.begin()] + 1) << i;
  }
}

TEST_F(RunTest, EvaluationIsTheLossBeforeTraining) {
  Trace trace = run(onePipe(), CommKind::threads);
  for (const std::string &path : {onePipe(), twoPipe()})
    for (CommKind comm : {CommKind::threads, CommKind::shm}) {
      RunOptions o = options(path, comm);
      o.evalBatches = 1;
      o.logFile = folder_.path("eval.jsonl");
      Status status = runBundle(o);
      ASSERT_TRUE(status.ok()) << status.message();
      std::vector<Json> lines = linesOf(o.logFile);
      ASSERT_EQ(lines.size(), 2u);
      const Json &json = lines.back();
      EXPECT_EQ(static_cast<float>(json["eval_loss"].get<double>()),
                std::stof(trace.losses.at(0)));
    }
}

TEST_F(RunTest, Inspect) {
  for (const char *name : {"/fake_pp1", "/fake_pp1.so"}) {
    std::string text;
    Status status = inspectProgram(std::string(FAKE_DIR) + name, text);
    ASSERT_TRUE(status.ok()) << status.message();
    for (const char *part : {"model toy", "plan 00000000000000a1", "dp 2",
                             "zero-1 shards of 4", "entry train: 8 rows"})
      EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
  std::string text;
  EXPECT_EQ(inspectProgram("/proc/self/exe", text).code(),
            StatusCode::inputRejected);
  EXPECT_EQ(inspectProgram(folder_.path("tokens"), text).code(),
            StatusCode::inputRejected);
}

} // namespace
} // namespace mtc::runtime::test
