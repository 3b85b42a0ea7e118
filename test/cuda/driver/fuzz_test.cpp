//===- fuzz_test.cpp - random programs, with and without one wait ---------===//
//
// Programs of two streams on five vectors with the fewest waits that make them
// right: each operation waits for the last one of the other stream that it
// conflicts with, unless it is behind that one anyway. One wait less is a race.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/driver/harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

using namespace mtc::standin::test;

namespace {

constexpr int kVectors = 5, kOperations = 14, kPrograms = 400;

struct Step {
  int stream, to, from; ///< to += from / 2
};

struct Wait {
  int step, forStep;
};

struct Program {
  std::vector<Step> steps;
  std::vector<Wait> waits;
};

bool conflict(const Step &a, const Step &b) {
  return a.to == b.to || a.to == b.from || a.from == b.to;
}

Program make(unsigned seed) {
  std::mt19937 random(seed);
  auto below = [&](unsigned n) { return int(random() % n); };
  Program program;
  for (int k = 0; k < kOperations; ++k) {
    int to = below(kVectors);
    program.steps.push_back(
        {below(2), to, (to + 1 + below(kVectors - 1)) % kVectors});
  }
  // Of each step: the last one of either stream that is before it.
  std::vector<std::array<int, 2>> before(kOperations);
  std::array<int, 2> latest{-1, -1};
  for (int k = 0; k < kOperations; ++k) {
    const Step &step = program.steps[k];
    int own = step.stream, other = 1 - own, needed = -1;
    int known = latest[own] < 0 ? -1 : before[latest[own]][other];
    for (int j = 0; j < k; ++j)
      if (program.steps[j].stream == other && conflict(step, program.steps[j]))
        needed = j;
    if (needed > known)
      program.waits.push_back({k, needed});
    before[k][other] = std::max(known, needed);
    before[k][own] = k;
    latest[own] = k;
  }
  return program;
}

std::array<float, kVectors> expected(const Program &program) {
  std::array<float, kVectors> values{1, 2, 3, 4, 5};
  for (const Step &step : program.steps)
    values[step.to] += 0.5f * values[step.from];
  return values;
}

/// `dropped` of the waits is left out.
void execute(const Program &program, int dropped) {
  Gpu gpu;
  CUstream streams[] = {gpu.s, gpu.t};
  std::vector<CUdeviceptr> vectors;
  for (int k = 0; k < kVectors; ++k)
    vectors.push_back(gpu.floats(float(k + 1)));
  std::vector<CUevent> ends;
  for (int k = 0; k < kOperations; ++k) {
    const Step &step = program.steps[k];
    for (int w = 0; w < int(program.waits.size()); ++w)
      if (program.waits[w].step == k && w != dropped)
        MTC_OK(cuStreamWaitEvent(streams[step.stream],
                                 ends[program.waits[w].forStep], 0));
    CUresult issued =
        gpu.axpy(streams[step.stream], vectors[step.to], vectors[step.from]);
    if (issued != CUDA_SUCCESS)
      fail("race");
    ends.push_back(Gpu::event());
    if (cuEventRecord(ends.back(), streams[step.stream]) != CUDA_SUCCESS)
      fail("race");
  }
  if (cuCtxSynchronize() != CUDA_SUCCESS)
    fail("race");
  auto values = expected(program);
  for (int k = 0; k < kVectors; ++k)
    MTC_TRUE(gpu.first(vectors[k]) == values[k]);
}

TEST(Fuzz, RightProgramsPassAndEachDroppedWaitIsFound) {
  int tried = 0;
  for (unsigned seed = 1; tried < kPrograms; ++seed) {
    Program program = make(seed);
    if (program.waits.empty())
      continue;
    ++tried;
    Outcome right = run([&] { execute(program, -1); }, seed);
    EXPECT_TRUE(right.good()) << seed << right.note << right.said;
    int dropped = int(seed % program.waits.size());
    Outcome wrong = run([&] { execute(program, dropped); }, seed);
    EXPECT_TRUE(!wrong.good() && wrong.has("nothing orders them"))
        << seed << ": wait " << dropped << " is not missed";
  }
}

} // namespace
