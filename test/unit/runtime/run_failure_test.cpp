//===- run_failure_test.cpp - runs that must end, and say why -------------===//

#include "run_fixture.h"
#include "runtime/base/json.h"
#include "runtime/control/child.h"
#include "runtime/control/outcome.h"
#include "runtime/control/watchdog.h"

#include <chrono>
#include <csignal>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace mtc::runtime::test {
namespace {

using Clock = std::chrono::steady_clock;

class Variable {
public:
  Variable(const char *name, const char *value) : name_(name) {
    setenv(name, value, 1);
  }
  ~Variable() { unsetenv(name_); }

private:
  const char *name_;
};

class FailureTest : public RunFixture {
protected:
  void expectBoth(RunOptions o, StatusCode code, const std::string &part) {
    for (CommKind comm : {CommKind::threads, CommKind::shm}) {
      o.comm = comm;
      Status status = runBundle(o);
      EXPECT_EQ(status.code(), code) << status.message();
      EXPECT_NE(status.message().find(part), std::string::npos)
          << status.message();
    }
  }
};

TEST_F(FailureTest, ADeadRankEndsTheRunAndIsNamed) {
  // Rank 3 holds the loss, so it is asked in each forward pass.
  Variable death("FAKE_DEATH", "3 2");
  RunOptions o = options(twoPipe(), CommKind::shm);
  o.recipe.steps = 1000000;
  auto begin = Clock::now();
  Status status = runBundle(o);
  // After two seconds the launcher would kill: they must notice before.
  EXPECT_LT(Clock::now() - begin, std::chrono::milliseconds(1900));
  EXPECT_EQ(status.code(), StatusCode::peerDied);
  EXPECT_NE(status.message().find("rank 3: killed by signal 9"),
            std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("in step 2"), std::string::npos);
}

TEST_F(FailureTest, RanksThatDoNotEndBehindAFailureAreKilled) {
  Variable stuck("FAKE_STUCK", "1 2"), grace("MTC_ABORT_GRACE", "0.5");
  RunOptions o = options(twoPipe(), CommKind::shm);
  o.recipe.steps = 1000000;
  Status status = runBundle(o);
  EXPECT_EQ(status.code(), StatusCode::hang) << status.message();
  EXPECT_NE(status.message().find(
                ", and 0.5 s later no rank has ended: all are killed"),
            std::string::npos)
      << status.message();
}

TEST(Outcome, BlamesTheRankThatDidNotFollow) {
  RankOutcome noticed{0, {StatusCode::peerDied, "rank 2 died"}, false};
  RankOutcome killed{2, {StatusCode::peerDied, "killed by signal 9"}, true};
  RankOutcome stopped{1, {StatusCode::interrupted, "stopped"}, false};
  RankOutcome bug{3, {StatusCode::communication, "sizes differ"}, false};
  EXPECT_TRUE(summarize({}, true).ok());
  EXPECT_EQ(summarize({noticed, killed}, false).message(),
            "rank 2: killed by signal 9");
  EXPECT_EQ(summarize({noticed, bug, killed}, false).message(),
            "rank 3: sizes differ");
  EXPECT_EQ(summarize({noticed, stopped}, true).code(),
            StatusCode::interrupted);
  EXPECT_EQ(summarize({stopped, bug}, true).code(), StatusCode::communication);
  EXPECT_EQ(summarize({noticed}, false).code(), StatusCode::peerDied);
  EXPECT_EQ(culpritOf({}), nullptr);
  EXPECT_EQ(culpritOf({noticed, stopped})->rank, noticed.rank);
}

TEST(Outcome, KnowsWhatARankSaidItself) {
  const std::pair<const char *, bool> cases[] = {
      {"echo 'error: rank 2 died' >&2; exit 12", true},
      {"echo 'no error' >&2; exit 12", false},
      {"echo 'error: something' >&2; kill -9 $$", false},
  };
  for (const auto &[script, told] : cases) {
    Child child;
    ASSERT_TRUE(child.start(1, "/bin/sh", {}, {"-c", script}).ok());
    std::optional<RankOutcome> outcome;
    while (!outcome) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      outcome = child.reap();
    }
    EXPECT_EQ(outcome->told, told) << script;
    EXPECT_EQ(outcome->status.code(), StatusCode::peerDied) << script;
    EXPECT_EQ(outcome->status.message() == "rank 2 died", told);
  }
}

/// Looks twice a second for `seconds`.
Status lookFor(Watchdog &dog, const std::vector<RankProgress> &ranks,
               Watchdog::Clock::time_point &now, double seconds) {
  for (int i = 0; i < 2 * seconds; ++i) {
    now += std::chrono::milliseconds(500);
    if (Status status = dog.look(ranks, false, now); !status.ok())
      return status;
  }
  return Status::okay();
}

TEST(Watchdog, NoticesThatNoRankBeginsAStep) {
  Watchdog::Clock::time_point now{};
  std::vector<RankProgress> ranks = {{getpid(), 7}, {getpid(), 6}};
  Watchdog dog(5), never(0);
  EXPECT_TRUE(lookFor(never, ranks, now, 10000).ok());
  EXPECT_TRUE(lookFor(dog, ranks, now, 4).ok());
  ranks[1].step = 7; // progress
  EXPECT_TRUE(lookFor(dog, ranks, now, 4).ok());
  ranks[0].step = 8;
  EXPECT_TRUE(lookFor(dog, ranks, now, 4).ok());
  Status status = lookFor(dog, ranks, now, 2);
  EXPECT_EQ(status.code(), StatusCode::hang);
  EXPECT_NE(status.message().find("5 seconds, the limit of --timeout"),
            std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("rank 1 in step 7"), std::string::npos);
  EXPECT_EQ(status.message().find("rank 0"), std::string::npos);
}

TEST(Watchdog, LearnsItsLimitFromTheSteps) {
  Watchdog::Clock::time_point now{};
  std::vector<RankProgress> ranks = {{getpid(), 0}, {getpid(), 1}};
  auto step = [&] {
    for (RankProgress &rank : ranks)
      ++rank.step;
  };
  Watchdog dog(std::nullopt, /*lastStep=*/5);
  EXPECT_TRUE(lookFor(dog, ranks, now, 3500).ok()); // still starting
  ranks[0].step = 1;
  EXPECT_TRUE(lookFor(dog, ranks, now, 3500).ok()); // a first step of an hour
  step();
  EXPECT_TRUE(lookFor(dog, ranks, now, 590).ok()); // ten minutes a step
  step();
  EXPECT_TRUE(lookFor(dog, ranks, now, 2900).ok()); // 5 x 590 from here on
  Watchdog hung = dog;
  Status status = lookFor(hung, ranks, now, 100);
  EXPECT_EQ(status.code(), StatusCode::hang);
  EXPECT_NE(status.message().find("the limit without --timeout"),
            std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("give --timeout SECONDS"), std::string::npos);
}

TEST(Watchdog, GivesFilesOfTheLastStepAnHour) {
  Watchdog::Clock::time_point now{};
  std::vector<RankProgress> ranks = {{getpid(), 2}};
  Watchdog dog(std::nullopt, /*lastStep=*/3);
  EXPECT_TRUE(lookFor(dog, ranks, now, 500).ok());
  Watchdog hung = dog;
  EXPECT_EQ(lookFor(hung, ranks, now, 200).code(), StatusCode::hang);
  ranks[0].step = 3;
  EXPECT_TRUE(lookFor(dog, ranks, now, 3500).ok());
  EXPECT_EQ(lookFor(dog, ranks, now, 200).code(), StatusCode::hang);
}

TEST(Watchdog, TimeInWhichNobodyLooksDoesNotCount) {
  Watchdog::Clock::time_point now{};
  std::vector<RankProgress> ranks = {{getpid(), 3}};
  Watchdog dog(60);
  EXPECT_TRUE(lookFor(dog, ranks, now, 30).ok());
  now += std::chrono::hours(2); // stopped in a terminal
  EXPECT_TRUE(lookFor(dog, ranks, now, 28).ok());
  EXPECT_EQ(lookFor(dog, ranks, now, 10).code(), StatusCode::hang);
}

TEST_F(FailureTest, NaNStopsEveryRankAndIsNamed) {
  struct {
    const char *what, *logged;
    std::string bundle;
  } cases[] = {
      {"loss 3", "loss", onePipe()},       {"loss 3", "loss", twoPipe()},
      {"w 3", "gradient of w", onePipe()}, {"w 3", "gradient of w", twoPipe()},
      {"b 3", "gradient of b", twoPipe()}, {"b 3", "gradient of b", bf16()}};
  for (auto &[what, logged, bundle] : cases) {
    Variable nan("FAKE_NAN", what);
    for (CommKind comm : {CommKind::threads, CommKind::shm}) {
      RunOptions o = options(bundle, comm);
      o.logFile = folder_.path("log.jsonl");
      Status status = runBundle(o);
      EXPECT_EQ(status.code(), StatusCode::nonFinite) << status.message();
      for (std::string part :
           {std::string("step 3: the ") + logged + " is not finite",
            std::string("the parameters are still those of step 2")})
        EXPECT_NE(status.message().find(part), std::string::npos)
            << status.message();
      std::vector<Json> lines = linesOf(o.logFile);
      ASSERT_EQ(lines.size(), 4u);
      EXPECT_FALSE(lines[2].contains("not_finite"));
      EXPECT_EQ(lines[3]["step"], 3);
      EXPECT_EQ(lines[3]["not_finite"], logged);
      EXPECT_EQ(lines[3]["grad_norm"], Json());
      EXPECT_EQ(lines[3]["loss"].is_null(), std::string("loss") == logged);
      EXPECT_FALSE(lines[3].contains("bad_parameter"));
    }
  }
}

// Nobody looks at parameters before something made of them is not finite.
TEST_F(FailureTest, NamesParametersThatAnUpdateSpoiled) {
  Variable nan("FAKE_NAN", "update 2");
  for (const std::string &bundle : {onePipe(), bf16()}) {
    RunOptions o = options(bundle, CommKind::shm);
    o.logFile = folder_.path("log.jsonl");
    expectBoth(o, StatusCode::nonFinite,
               "step 3: the loss is not finite (loss nan); the parameters are "
               "not good either: 'b' is not finite, the update of step 2, or "
               "of one before it, made it so");
    std::vector<Json> lines = linesOf(o.logFile);
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_EQ(lines[3]["not_finite"], "loss");
    EXPECT_EQ(lines[3]["bad_parameter"], "b");
  }
}

TEST_F(FailureTest, ASignalStopsTheRun) {
  for (CommKind comm : {CommKind::threads, CommKind::shm}) {
    RunOptions o = options(twoPipe(), comm);
    o.recipe.steps = int64_t(1) << 40;
    o.logFile = folder_.path("signal.jsonl");
    std::filesystem::remove(o.logFile);
    std::thread sender([&] {
      // Only when the run is under way is a handler there for certain.
      while (readFile(o.logFile).find("\"step\"") == std::string::npos)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      kill(getpid(), SIGTERM);
    });
    Status status = runBundle(o);
    sender.join();
    EXPECT_EQ(status.code(), StatusCode::interrupted) << status.message();
  }
}

TEST_F(FailureTest, RejectsAnotherAbi) {
  expectBoth(
      options(bundle({"fake_other_abi"}, "00000000000000a1"), CommKind::shm),
      StatusCode::inputRejected, "expected abi 26, found 99");
}

TEST_F(FailureTest, RejectsProgramsOfAnotherPlan) {
  expectBoth(options(bundle({"fake_pp1"}, "00000000000000ff"), CommKind::shm),
             StatusCode::inputRejected, "plan hash");
  expectBoth(options(bundle({"fake_pp2_stage1", "fake_pp2_stage0"},
                            "00000000000000a2"),
                     CommKind::shm),
             StatusCode::inputRejected, "stage");
}

TEST_F(FailureTest, RejectsAManifestThatLeavesItsFolder) {
  std::string path = folder_.path("evil");
  std::filesystem::create_directories(path);
  writeFile(path + "/manifest.json",
            R"({"plan_hash": "00000000000000a1", "files": {},
                "mesh": {"tp": 1, "cp": 1, "dp": 2, "pp": 1},
                "programs": [{"stage": 0, "executable": "../x",
                              "shared": "/bin/true"}]})");
  expectBoth(options(path, CommKind::shm), StatusCode::inputRejected,
             "leaves the bundle");
  expectBoth(options(folder_.path("none"), CommKind::shm),
             StatusCode::inputRejected, "manifest.json");
}

TEST_F(FailureTest, DataErrorsNameTheFile) {
  RunOptions o = options(onePipe(), CommKind::shm);
  o.recipe.data = folder_.path("absent");
  expectBoth(o, StatusCode::inputRejected, "absent");
  writeFile(o.recipe.data, std::string(130, '\x11')); // tokens 0x1111
  expectBoth(o, StatusCode::inputRejected, "vocabulary size 16");
}

TEST_F(FailureTest, UsageErrors) {
  RunOptions o = options(onePipe(), CommKind::shm);
  o.recipe.beta1 = 2;
  expectBoth(o, StatusCode::usage, "beta1");
  o = options(onePipe(), CommKind::shm);
  o.dumps = {{DumpRequest::grads, 6, folder_.path("d")}};
  expectBoth(o, StatusCode::usage, "expected a step up to 5");
  o = options(onePipe(), CommKind::shm);
  o.logFile = "/proc/none/log";
  expectBoth(o, StatusCode::writeFailed, "/proc/none/log");
}

} // namespace
} // namespace mtc::runtime::test
