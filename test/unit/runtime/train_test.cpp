//===- train_test.cpp - schedule, sample order, data, log, recipe ---------===//

#include "mtc/runtime/recipe_fields.h"
#include "mtc/runtime/run.h"
#include "mtc/runtime/step_field.h"
#include "runtime/base/json.h"
#include "runtime/base/step_gate.h"
#include "runtime/control/check_data.h"
#include "runtime/control/signals.h"
#include "runtime/data/flat_samples.h"
#include "runtime/data/permutation.h"
#include "runtime/train/data.h"
#include "runtime/train/job.h"
#include "runtime/train/metrics.h"
#include "runtime/train/schedule.h"
#include "runtime/train/step_lengths.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <barrier>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <thread>
#include <unistd.h>

namespace mtc::runtime::test {
namespace {

TEST(Schedule, StepBlock) {
  Recipe r;
  r.seed = 7;
  r.clip = 0.5;
  StepSchedule schedule(r);
  MtcStepBlock a{}, b{};
  schedule.fill({1, 16, 4}, a);
  EXPECT_EQ(a.inv_bias1, static_cast<float>(1 / (1 - 0.9)));
  EXPECT_EQ(a.inv_bias2, static_cast<float>(1 / (1 - 0.95)));
  EXPECT_EQ(a.one_minus_beta1, static_cast<float>(1 - 0.9));
  EXPECT_EQ(a.clip_threshold, 0.5f);
  schedule.fill({2, 16, 4}, a);
  schedule.fill({3, 16, 4}, a);
  EXPECT_EQ(a.seed, 7u);
  EXPECT_EQ(a.inv_bias1, static_cast<float>(1 / (1 - 0.9 * 0.9 * 0.9)));
  StepSchedule(r).fill({3, 16, 4}, b); // as after a resume
  EXPECT_EQ(a.inv_bias1, b.inv_bias1);
  EXPECT_EQ(a.inv_bias2, b.inv_bias2);
  schedule.fill({1, 16, 4}, b); // backwards
  EXPECT_EQ(b.inv_bias1, static_cast<float>(1 / (1 - 0.9)));
}

TEST(Schedule, TellsADeviceWhatItCountsOnFrom) {
  Recipe r;
  r.decay_steps = 100;
  StepSchedule schedule(r);
  MtcStepOrder order{};
  schedule.fill({3, 16, 4}, order.block);
  schedule.fillUpdates(order);
  EXPECT_EQ(order.updates.done, 2);
  EXPECT_EQ(order.updates.power1, 0.9 * 0.9);
  EXPECT_EQ(order.updates.power2, 0.95 * 0.95);
  EXPECT_EQ(order.beta1, 0.9);
  EXPECT_EQ(order.beta2, 0.95);
  MtcStepBlock second{};
  StepSchedule(r).fill({2, 12, 4}, second);
  MtcRates rates = schedule.ratesOf({2, 12, 4});
  EXPECT_EQ(std::memcmp(rates.lr, second.lr, sizeof rates.lr), 0);
  EXPECT_EQ(std::memcmp(rates.weight_decay, second.weight_decay,
                        sizeof rates.weight_decay),
            0);
  EXPECT_NE(rates.lr[0], order.block.lr[0]);
}

TEST(Schedule, FillsEveryFieldOfTheStepBlock) {
  MtcStepBlock a, b;
  std::memset(&a, 0xab, sizeof a);
  std::memset(&b, 0xcd, sizeof b);
  StepSchedule schedule{Recipe()};
  schedule.fill({1, 16, 4}, a);
  schedule.fill({1, 16, 4}, b);
  auto bytes = [](MtcStepBlock &block) {
    return reinterpret_cast<char *>(&block);
  };
  for (const StepFieldInfo &field : kStepFields)
    EXPECT_EQ(std::memcmp(bytes(a) + field.offset, bytes(b) + field.offset,
                          field.bytes * field.count),
              0)
        << field.name;
}

/// Ranks that begin steps until the gate stops them; the last step of each.
std::vector<int64_t> runGate(int ranks, int64_t closeAt) {
  std::atomic<int64_t> word{0}, saves{0};
  std::vector<int64_t> last(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      StepGate gate(word, saves);
      for (int64_t step = 1; gate.turn(step, step - 1) == StepTurn::run;
           ++step) {
        last[rank] = step;
        if (rank == 0 && step == closeAt)
          gate.close();
        if (step % 3 == rank % 3)
          std::this_thread::yield();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  return last;
}

TEST(StepGate, AllRanksEndBehindTheSameStep) {
  for (int64_t closeAt = 1; closeAt <= 60; ++closeAt) {
    std::vector<int64_t> last = runGate(4, closeAt);
    EXPECT_GE(last[0], closeAt);
    EXPECT_EQ(std::set<int64_t>(last.begin(), last.end()).size(), 1u)
        << "closed at " << closeAt;
  }
}

TEST(StepGate, ClosedBeforeTheFirstStep) {
  std::atomic<int64_t> word{0}, saves{0};
  StepGate gate(word, saves);
  gate.close();
  EXPECT_EQ(gate.turn(1, 0), StepTurn::end);
}

/// Steps behind which each rank saves. All end each step together, as they do
/// by its sums.
std::vector<std::vector<int64_t>> runSaves(int ranks, int64_t steps,
                                           int64_t askAt) {
  std::atomic<int64_t> word{0}, saves{0};
  std::vector<std::vector<int64_t>> saved(ranks);
  std::barrier together(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      StepGate gate(word, saves);
      int64_t last = -1;
      for (int64_t step = 1; step <= steps; ++step) {
        if (rank == 1 && step == askAt)
          gate.askToSave();
        if (gate.turn(step, last) == StepTurn::save) {
          saved[rank].push_back(last = step - 1);
          EXPECT_EQ(gate.turn(step, last), StepTurn::run);
        }
        if (step % 3 == rank % 3)
          std::this_thread::yield();
        together.arrive_and_wait();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  return saved;
}

TEST(StepGate, AllRanksSaveBehindTheSameStep) {
  for (int64_t askAt = 1; askAt <= 60; ++askAt) {
    std::vector<std::vector<int64_t>> saved = runSaves(4, 70, askAt);
    EXPECT_EQ(std::set(saved.begin(), saved.end()).size(), 1u);
    ASSERT_EQ(saved[0].size(), 1u) << "asked in front of step " << askAt;
    EXPECT_GE(saved[0][0], askAt - 1);
    EXPECT_LE(saved[0][0], askAt);
  }
}

TEST(Permutation, IsOneForEverySize) {
  for (int64_t size : {1, 2, 3, 4, 5, 16, 17, 63, 64, 65, 1000, 4097}) {
    Permutation permutation(1, 0, size);
    std::set<int64_t> seen;
    for (int64_t i = 0; i < size; ++i)
      seen.insert(permutation(i));
    EXPECT_EQ(static_cast<int64_t>(seen.size()), size);
    EXPECT_GE(*seen.begin(), 0);
    EXPECT_LT(*seen.rbegin(), size);
  }
}

TEST(Permutation, MixesAndDependsOnSeedAndEpoch) {
  Permutation a(1, 0, 1000), b(2, 0, 1000), c(1, 1, 1000), again(1, 0, 1000);
  int fixed = 0, sameSeed = 0, sameEpoch = 0, neighbours = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(a(i), again(i));
    fixed += a(i) == i;
    sameSeed += a(i) == b(i);
    sameEpoch += a(i) == c(i);
    neighbours += i > 0 && std::abs(a(i) - a(i - 1)) == 1;
  }
  // Each count is about Poisson with mean 1 (neighbours: 2) for random
  // permutations; 12 or more has probability below 1e-6.
  EXPECT_LT(fixed, 12);
  EXPECT_LT(sameSeed, 12);
  EXPECT_LT(sameEpoch, 12);
  EXPECT_LT(neighbours, 14);
}

TEST(Permutation, KnownValues) {
  // The order of samples is part of every result. From an independent
  // implementation of the header's text in Python.
  Permutation permutation(1234, 0, 10);
  std::vector<int64_t> order;
  for (int64_t i = 0; i < 10; ++i)
    order.push_back(permutation(i));
  EXPECT_EQ(order, (std::vector<int64_t>{9, 0, 2, 1, 7, 8, 5, 3, 4, 6}));
}

Status openFlat(const std::string &path, const char *dtype, int64_t vocab,
                FlatSamples &out, uint64_t seed = 9) {
  FlatTokens tokens;
  MTC_RETURN_IF_ERROR(
      lookAtFlatFile(path, tokenTypeNamed(dtype)->type, tokens));
  return FlatSamples::open(tokens, 4, vocab, seed, false, out);
}

TEST(FlatSamples, AreWindowsWithTheNextToken) {
  TemporaryFolder folder;
  std::vector<uint16_t> tokens(35); // 8 windows of 4, and two tokens too many
  for (size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = static_cast<uint16_t>(i);
  writeValues(folder.path("t"), tokens);
  FlatSamples samples;
  ASSERT_TRUE(openFlat(folder.path("t"), "u16", 64, samples).ok());
  ASSERT_EQ(samples.samples(), 8);
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    std::set<int32_t> starts;
    for (int64_t k = 0; k < 8; ++k) {
      int32_t window[5];
      ASSERT_TRUE(samples.read(epoch * 8 + k, window).ok());
      EXPECT_EQ(window[0], Permutation(9, epoch, 8)(k) * 4);
      for (int i = 0; i < 5; ++i)
        EXPECT_EQ(window[i], window[0] + i);
      starts.insert(window[0]);
    }
    EXPECT_EQ(starts.size(), 8u) << "an epoch shows every window once";
  }
}

TEST(FlatSamples, RejectBadFiles) {
  TemporaryFolder folder;
  FlatSamples samples;
  auto open = [&](const char *dtype, int64_t vocab = 256) {
    return openFlat(folder.path("t"), dtype, vocab, samples, 1);
  };
  EXPECT_EQ(open("u8").code(), StatusCode::inputRejected) << "missing";
  writeFile(folder.path("t"), "");
  EXPECT_NE(open("u8").message().find("empty"), std::string::npos);
  writeFile(folder.path("t"), "abcd");
  EXPECT_NE(open("u8").message().find("one sample needs 5"), std::string::npos);
  writeFile(folder.path("t"), "abcdefghijk");
  EXPECT_EQ(open("u16").code(), StatusCode::inputRejected) << "odd length";
  ASSERT_TRUE(open("u8", 100).ok()); // 'e' is 101
  int32_t out[5];
  Status first = samples.read(0, out), second = samples.read(1, out);
  const Status &bad = first.ok() ? second : first;
  EXPECT_EQ(bad.code(), StatusCode::inputRejected);
  EXPECT_NE(bad.message().find("vocabulary size 100"), std::string::npos);
  writeValues(folder.path("t"), std::vector<int32_t>{0, -1, 2, 3, 4});
  ASSERT_TRUE(open("i32").ok());
  for (const Status &status : {samples.read(0, out), samples.check(0, 1, {})})
    EXPECT_NE(status.message().find("found -1 at position 1"),
              std::string::npos);
  std::filesystem::resize_file(folder.path("t"), 8);
  EXPECT_NE(samples.read(0, out).message().find("ends at byte 8"),
            std::string::npos);
  EXPECT_EQ(samples.check(0, 1, {}).code(), StatusCode::inputRejected);
}

TEST(RecipeFields, ExamplesAreValues) {
  for (const RecipeField &field : recipeFields()) {
    Recipe recipe;
    std::string text = field.example;
    if (text.starts_with('"'))
      text = text.substr(1, text.size() - 2);
    EXPECT_TRUE(setField(field, text, recipe)) << field.key;
    EXPECT_TRUE(holds(field, recipe)) << field.key;
  }
}

using Handler = void (*)(int);
Handler handlerOf(int number) {
  struct sigaction action = {};
  sigaction(number, nullptr, &action);
  return action.sa_handler;
}

TEST(Signals, AfterTheFirstAnySecondOneEndsARunOfThreads) {
  // A shell that starts this test in the background has it ignored.
  Handler old = std::signal(SIGINT, SIG_DFL);
  {
    SignalWatch signals(/*once=*/true);
    raise(SIGINT);
    EXPECT_EQ(signals.count(), 1);
    for (int number : {SIGINT, SIGTERM, SIGHUP})
      EXPECT_EQ(handlerOf(number), SIG_DFL);
  }
  std::signal(SIGINT, old);
}

TEST(Signals, HandlersThatAreKeptStayBehindTheRun) {
  struct sigaction before = {}, pipe = {};
  sigaction(SIGTERM, nullptr, &before);
  sigaction(SIGPIPE, nullptr, &pipe);
  for (bool once : {false, true}) {
    {
      SignalWatch signals(once);
      signals.keep();
    }
    for (int i = 0; i < SignalWatch::kMostLate; ++i) {
      EXPECT_NE(handlerOf(SIGTERM), SIG_DFL);
      raise(SIGTERM); // ends nothing
    }
    EXPECT_EQ(handlerOf(SIGTERM), SIG_DFL); // the next one does
  }
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1})
    sigaction(number, &before, nullptr);
  sigaction(SIGPIPE, &pipe, nullptr);
}

TEST(Signals, WhatWasIgnoredStaysIgnored) {
  Handler old = std::signal(SIGINT, SIG_IGN);
  {
    SignalWatch signals(/*once=*/false);
    EXPECT_EQ(handlerOf(SIGINT), SIG_IGN);
    raise(SIGTERM);
    EXPECT_EQ(signals.count(), 1);
  }
  std::signal(SIGINT, old);
}

TEST(StepLengths, OfEachStep) {
  Descriptor program;
  program.batch.seq = 32;
  program.entries = {{"train", {}, 0, {}}, {"train_seq16", 16, 0, {}}};
  StepLengths lengths;
  ASSERT_TRUE(StepLengths::parse(" 16 : 2 ,32", program, lengths).ok());
  const std::array<int64_t, 4> expected = {16, 16, 32, 32};
  for (int64_t step = 1; step <= 4; ++step)
    EXPECT_EQ(lengths.of(step), expected[step - 1]) << step;
  EXPECT_EQ(lengths.ofEvaluation(), 32);
  ASSERT_TRUE(StepLengths::parse("", program, lengths).ok());
  EXPECT_EQ(lengths.of(1), 32);
}

TEST(StepLengths, RejectsWhatSaysNone) {
  StepLengths lengths;
  for (const char *text : {"16:2", "16,32", "16:0,32", "0", "16:2,", ",16", "x",
                           "16:2:3,32", "16 17", "99999999999999999999"})
    EXPECT_EQ(StepLengths::parse(text, lengths).code(), StatusCode::usage)
        << text;
}

/// A bundle that reads samples of 8 tokens, two a step.
Bundle readingBundle() {
  Bundle bundle;
  Descriptor &descriptor = bundle.stages.emplace_back().descriptor;
  descriptor.batch.globalBatch = 2;
  descriptor.batch.seq = 8;
  descriptor.batch.vocab = 256;
  descriptor.inputs.emplace_back();
  return bundle;
}

TEST(CheckData, TellsRanksTheSizeOfTheFile) {
  TemporaryFolder folder;
  Job job;
  job.recipe.steps = 2;
  job.recipe.data = folder.path("tokens");
  job.recipe.data_dtype = "u8";
  writeFile(job.recipe.data, std::string(100, 'x'));
  std::atomic<bool> stop{false};
  Status status = checkData(job, readingBundle(), stop);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(job.sources.size(), 1u);
  EXPECT_EQ(job.sources[0].flat.count, 100);
  std::unique_ptr<SampleSource> samples;
  EXPECT_TRUE(openSource(job.sources[0], 256, samples).ok());
  writeFile(job.recipe.data, std::string(108, 'x'));
  Status grown = openSource(job.sources[0], 256, samples);
  EXPECT_EQ(grown.code(), StatusCode::inputRejected);
  EXPECT_NE(grown.message().find("expected 100 bytes"), std::string::npos);
}

TEST(CheckData, PreparesWhatIsEvaluatedWhileTraining) {
  TemporaryFolder folder;
  Job job;
  job.recipe.steps = 7;
  job.recipe.data = folder.path("tokens");
  job.recipe.data_dtype = "u8";
  writeFile(job.recipe.data, std::string(100, 'x'));
  job.evaluation.interval = 3;
  job.evaluation.batches = 2;
  std::atomic<bool> stop{false};
  EXPECT_NE(checkData(job, readingBundle(), stop).message().find("--eval-data"),
            std::string::npos);
  job.recipe.eval_data = folder.path("held-out");
  writeFile(job.recipe.eval_data, std::string(32, 'x')); // 3 samples of 4
  Status few = checkData(job, readingBundle(), stop);
  EXPECT_EQ(few.code(), StatusCode::usage);
  EXPECT_NE(few.message().find("at most 1 batches"), std::string::npos)
      << few.message();
  writeFile(job.recipe.eval_data, std::string(33, 'x'));
  Status status = checkData(job, readingBundle(), stop);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(job.evaluation.source.flat.count, 33);
  EXPECT_TRUE(job.evaluation.source.sequential);
}

TEST(EvaluationOrder, IsAFunctionOfTheStep) {
  EvaluationOrder order{3, 5, {}, false};
  std::vector<int64_t> due;
  for (int64_t step = 1; step <= 7; ++step)
    if (order.due(step, 7))
      due.push_back(step);
  EXPECT_EQ(due, (std::vector<int64_t>{3, 6, 7}));
  EXPECT_EQ(order.firstSample(6, 4), 0);
  order.goesOn = true; // 20 samples each
  EXPECT_EQ(order.firstSample(3, 4), 0);
  EXPECT_EQ(order.firstSample(6, 4), 20);
  EXPECT_EQ(order.firstSample(7, 4), 40);
  EXPECT_EQ(order.most(7), 3);
  EXPECT_EQ(EvaluationOrder().due(7, 7), false);
}

TEST(Job, RoundTrips) {
  Job job, back;
  job.plan = "00112233445566ff";
  job.recipe.lr = 1.0 / 3;
  job.recipe.seed = UINT64_MAX;
  job.recipe.data = "a \"b\"\n\xff"; // a name need not be UTF-8
  job.recipe.decay = "linear";
  job.dumps = {{"grads", 3, "d/grads@3.safetensors"}};
  job.evalBatches = 4;
  job.progressFd = 5;
  job.nccl = true;
  job.gpu = 3;
  job.graphs = false;
  job.evaluation = {3, 5, {}, true};
  SourceFiles &source = job.sources.emplace_back();
  source.seq = 32;
  source.flat = {"f\xff", TokenType::u32, 1024, 7};
  source.seed = UINT64_MAX;
  source.corpora = {{"p", "i", "k", 3, 40, {1, 2}}};
  Status status = unpackJob(packJob(job), back);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(packJob(job), packJob(back));
  EXPECT_EQ(back.plan, job.plan);
  EXPECT_EQ(back.recipe.lr, job.recipe.lr);
  EXPECT_EQ(back.recipe.seed, UINT64_MAX);
  EXPECT_EQ(back.recipe.data, job.recipe.data);
  EXPECT_EQ(back.dumps[0].step, 3);
  EXPECT_EQ(back.source(32)->flat.type, TokenType::u32);
  EXPECT_EQ(back.source(32)->seed, UINT64_MAX);
  EXPECT_EQ(back.source(16), nullptr);
}

TEST(RecipeFile, ReadsAndRejects) {
  TemporaryFolder folder;
  writeFile(folder.path("r.toml"), "steps = 5\nlr = 1\nseed = 3\n"
                                   "data = \"x.bin\"\nclip = 0.5\n");
  Recipe recipe;
  Status status = readRecipe(folder.path("r.toml"), recipe);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(recipe.steps, 5);
  EXPECT_EQ(recipe.lr, 1);
  EXPECT_EQ(recipe.seed, 3u);
  EXPECT_EQ(recipe.data, "x.bin");
  EXPECT_EQ(recipe.beta2, 0.95);
  EXPECT_TRUE(checkRecipe(recipe).ok());

  writeFile(folder.path("r.toml"), "stepz = 5\nlr = \"x\"\nseed = -3\n");
  status = readRecipe(folder.path("r.toml"), recipe);
  EXPECT_EQ(status.code(), StatusCode::usage);
  for (const char *part : {"stepz", "'lr'", "'seed'"})
    EXPECT_NE(status.message().find(part), std::string::npos) << part;
  writeFile(folder.path("r.toml"), "steps = \n");
  EXPECT_EQ(readRecipe(folder.path("r.toml"), recipe).code(),
            StatusCode::usage);

  recipe.beta1 = 1;
  recipe.decay = "square";
  status = checkRecipe(recipe);
  EXPECT_NE(status.message().find("beta1"), std::string::npos);
  EXPECT_NE(status.message().find("square"), std::string::npos);
}

// The update divides by sqrt(v) + eps, in fp32.
TEST(RecipeFile, RejectsAnEpsThatIsZeroInFp32) {
  Recipe recipe;
  for (double eps : {0.0, 1e-46, -1e-8, 1.0, double(NAN)}) {
    recipe.eps = eps;
    Status status = checkRecipe(recipe);
    EXPECT_EQ(status.code(), StatusCode::usage) << eps;
    EXPECT_NE(status.message().find("eps: expected"), std::string::npos) << eps;
  }
  for (double eps : {1e-45, 1e-8, 0.5}) {
    recipe.eps = eps;
    EXPECT_TRUE(checkRecipe(recipe).ok()) << eps;
  }
}

TEST(Dump, Spec) {
  DumpRequest dump;
  ASSERT_TRUE(parseDump("grads@7", "d", dump).ok());
  EXPECT_EQ(dump.what, DumpRequest::grads);
  EXPECT_EQ(dump.step, 7);
  EXPECT_EQ(dump.folder, "d");
  for (const char *bad : {"", "grad", "grads@", "grads@0", "grads@x", "init@1"})
    EXPECT_EQ(parseDump(bad, "d", dump).code(), StatusCode::usage) << bad;
}

} // namespace
} // namespace mtc::runtime::test
