//===- step_batches_test.cpp - how many samples a step has ----------------===//

#include "runtime/train/step_batches.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

using namespace mtc::runtime;

namespace {

/// With entries for training in batches of a few microbatches of one sample.
Descriptor programOf(std::vector<int64_t> batches) {
  Descriptor program;
  int64_t most = *std::ranges::max_element(batches);
  program.batch = {1, most, most, 8, 16};
  for (int64_t batch : batches)
    program.entries.push_back(
        {entryName("train", {8, batch}, program.shape()), {}, 0, {}, batch});
  return program;
}

Recipe ramping(const std::string &ramp, int64_t last = 0) {
  Recipe recipe;
  recipe.rampup_batch_size = ramp;
  recipe.global_batch_size = last;
  return recipe;
}

/// Goldens by megatron-core 0.12.0: test/golden/rampup/generate.py.
TEST(StepBatches, EqualMegatrons) {
  std::ifstream in(MTC_GOLDEN_DIR "/rampup/cases.txt");
  std::string line;
  int cases = 0;
  for (; std::getline(in, line); ++cases) {
    std::istringstream text(line);
    int64_t start, increment, samples, last, consumed;
    text >> start >> increment >> samples >> last >> consumed;
    std::vector<BatchPart> expected;
    std::vector<int64_t> batches;
    char colon;
    for (BatchPart part; text >> part.firstStep >> colon >> part.firstSample >>
                         colon >> part.batch;) {
      expected.push_back(part);
      batches.push_back(part.batch);
    }
    std::string ramp = std::to_string(start) + " " + std::to_string(increment) +
                       " " + std::to_string(samples);
    StepBatches found;
    Status status =
        StepBatches::plan(ramping(ramp), programOf(batches),
                          {0, INT64_MAX, consumed}, /*ramps=*/true, found);
    ASSERT_TRUE(status.ok()) << line << ": " << status.message();
    ASSERT_EQ(found.parts().size(), expected.size()) << line;
    for (size_t i = 0; i < expected.size(); ++i) {
      const BatchPart &part = found.parts()[i], &wanted = expected[i];
      EXPECT_EQ(part.firstStep, wanted.firstStep) << line;
      EXPECT_EQ(part.firstSample, wanted.firstSample) << line;
      EXPECT_EQ(part.batch, wanted.batch) << line;
      EXPECT_EQ(found.firstSample(wanted.firstStep), wanted.firstSample);
      EXPECT_EQ(found.of(wanted.firstStep), wanted.batch);
      if (i > 0) {
        EXPECT_EQ(found.of(wanted.firstStep - 1), expected[i - 1].batch);
      }
    }
    EXPECT_EQ(found.ofEvaluation(), last);
  }
  EXPECT_GE(cases, 150);
}

/// From any sample of a run another one goes on with the same steps.
TEST(StepBatches, GoOnFromAnyStep) {
  Descriptor program = programOf({2, 4, 6, 8, 10});
  Recipe recipe = ramping("2 2 45");
  StepBatches whole;
  ASSERT_TRUE(StepBatches::plan(recipe, program, {0, 30, 0}, true, whole).ok());
  for (int64_t done = 0; done < 30; ++done) {
    StepBatches rest;
    ASSERT_TRUE(StepBatches::plan(recipe, program,
                                  {done, 30, whole.firstSample(done + 1)}, true,
                                  rest)
                    .ok());
    for (int64_t step = done + 1; step <= 31; ++step) {
      EXPECT_EQ(rest.of(step), whole.of(step)) << done << " " << step;
      EXPECT_EQ(rest.firstSample(step), whole.firstSample(step));
    }
  }
}

StepCount count(const Recipe &recipe, const Descriptor &program,
                int64_t samples) {
  StepCount found;
  Status status = StepBatches::countSteps(recipe, program, samples, found);
  EXPECT_TRUE(status.ok()) << status.message();
  return found;
}

/// Samples in place of steps: all that begin and end within them.
TEST(StepBatches, CountedBySamples) {
  Descriptor program = programOf({2, 4, 6, 8, 10});
  Recipe recipe = ramping("2 2 45");
  StepBatches whole;
  ASSERT_TRUE(StepBatches::plan(recipe, program, {0, 30, 0}, true, whole).ok());
  int64_t steps = 0;
  for (int64_t samples = 0; samples < 200; ++samples) {
    while (whole.firstSample(steps + 2) <= samples)
      ++steps;
    StepCount wanted{steps, whole.firstSample(steps + 1)};
    EXPECT_EQ(count(recipe, program, samples), wanted) << samples;
  }
  EXPECT_EQ(count({}, program, 59), (StepCount{5, 50}));
  EXPECT_EQ(count(ramping("", 4), program, 59), (StepCount{14, 56}));
  EXPECT_EQ(count({}, program, INT64_MAX).steps, INT64_MAX / 10);
  StepCount none;
  EXPECT_EQ(StepBatches::countSteps(ramping("4 4 60"), program, 9, none).code(),
            StatusCode::usage);
}

TEST(StepBatches, OfOneSize) {
  StepBatches found;
  Descriptor program = programOf({4, 8});
  ASSERT_TRUE(StepBatches::plan({}, program, {3, 9, 50}, true, found).ok());
  EXPECT_EQ(found.of(4), 8);
  EXPECT_EQ(found.firstSample(6), 66);
  EXPECT_EQ(found.firstSample(INT64_MAX), INT64_MAX);
  ASSERT_TRUE(
      StepBatches::plan(ramping("", 4), program, {0, 9, 0}, true, found).ok());
  EXPECT_EQ(found.of(4), 4);
  // An evaluation has the batch of the end.
  ASSERT_TRUE(
      StepBatches::plan(ramping("4 4 99"), program, {0, 3, 7}, false, found)
          .ok());
  EXPECT_EQ(found.of(1), 8);
  EXPECT_EQ(found.firstSample(3), 23);
}

std::string problemOf(const Recipe &recipe, const Descriptor &program,
                      int64_t steps = 100) {
  StepBatches found;
  return StepBatches::plan(recipe, program, {0, steps, 0}, true, found)
      .message();
}

TEST(StepBatches, ThatTheProgramLacksAreNamed) {
  Descriptor program = programOf({4, 16});
  EXPECT_EQ(problemOf(ramping("4 4 60"), program),
            "rampup_batch_size: expected global batches that the bundle was "
            "compiled for (4, 16), found 8, 12; compile it with --gbs "
            "4,8,12,16");
  // Of batches that no step has, none.
  EXPECT_EQ(problemOf(ramping("4 4 60"), program, 5), "");
  EXPECT_EQ(problemOf(ramping("4 4 2"), program), "");
  EXPECT_EQ(problemOf(ramping("", 8), program),
            "global_batch_size: expected global batches that the bundle was "
            "compiled for (4, 16), found 8; compile it with --gbs 4,8,16");
  EXPECT_EQ(problemOf(ramping("4 5 60"), program),
            "rampup_batch_size: expected a start below the global batch of the "
            "end, 16, and an increment that divides their difference, found 4 "
            "and 5");
  EXPECT_NE(problemOf(ramping("16 4 60"), program), "");
}

TEST(StepBatches, RejectsWhatSaysNoRamp) {
  BatchRamp ramp;
  for (const char *text :
       {"16", "16 16", "16 16 100 1", "16,16,100", "0 16 100", "16 0 100",
        "16 16 0", "-1 16 100", "x", "16 16 1e5", "16 16 99999999999999999999"})
    EXPECT_EQ(BatchRamp::parse(text, ramp).code(), StatusCode::usage) << text;
  ASSERT_TRUE(BatchRamp::parse(" 16  8 100 ", ramp).ok());
  EXPECT_EQ(ramp.start, 16);
  EXPECT_EQ(ramp.increment, 8);
  EXPECT_EQ(ramp.samples, 100);
  ASSERT_TRUE(BatchRamp::parse("  ", ramp).ok());
  EXPECT_TRUE(ramp.isNone());
}

} // namespace
