//===- command_test.cpp - the mtc command as people call it ---------------===//

#include "compiler/schedules.h"
#include "passes/phases.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace {

struct Outcome {
  int code = -1;
  std::string text; ///< stdout and stderr
};

Outcome mtc(const std::string &arguments, const std::string &variables = "") {
  std::string command =
      variables + std::string(MTC_BIN_DIR) + "/mtc " + arguments + " 2>&1";
  Outcome outcome;
  FILE *pipe = popen(command.c_str(), "r");
  std::array<char, 4096> buffer;
  while (size_t n = fread(buffer.data(), 1, buffer.size(), pipe))
    outcome.text.append(buffer.data(), n);
  int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

std::string contentOf(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class CommandTest : public testing::Test {
protected:
  void SetUp() override {
    folder =
        fs::temp_directory_path() / ("mtc-command-" + std::to_string(getpid()));
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }
  std::string path(const std::string &name) const {
    return (folder / name).string();
  }
  fs::path folder;
};

constexpr const char *imported =
    "compile gpt2-nano --mbs 2 --gbs 8 --compile-to=import ";

TEST_F(CommandTest, ImportsASpecByName) {
  Outcome outcome = mtc(std::string(imported) + "-o " + path("a.mlir"));
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  std::string text = contentOf(folder / "a.mlir");
  EXPECT_NE(text.find("mtc.phase = \"import\""), std::string::npos);
  EXPECT_NE(text.find("func.func @microbatch"), std::string::npos);
  EXPECT_NE(text.find("isa = \"x86-64-v"), std::string::npos);
}

TEST_F(CommandTest, SavedIRContinuesWhereItStopped) {
  ASSERT_EQ(mtc(std::string(imported) + "-o " + path("a.mlir")).code, 0);
  std::string to = " --compile-to=verify-training -o ";
  Outcome resumed = mtc("compile " + path("a.mlir") + to + path("b.mlir"));
  EXPECT_EQ(resumed.code, 0) << resumed.text;
  ASSERT_EQ(mtc("compile gpt2-nano --mbs 2 --gbs 8 --save-ir " + path("ir") +
                to + path("c.mlir"))
                .code,
            0);
  EXPECT_EQ(contentOf(folder / "b.mlir"), contentOf(folder / "c.mlir"));
  EXPECT_EQ(contentOf(folder / "ir/00-import.mlir"),
            contentOf(folder / "a.mlir"));
  EXPECT_EQ(contentOf(folder / "ir/03-verify-training.mlir"),
            contentOf(folder / "c.mlir"));
}

TEST_F(CommandTest, ReadsIRFromStandardInput) {
  ASSERT_EQ(mtc(std::string(imported) + "-o " + path("a.mlir")).code, 0);
  std::string to = " --compile-to=partition -o ";
  ASSERT_EQ(mtc("compile " + path("a.mlir") + to + path("b.mlir")).code, 0);
  std::string from = " < " + path("a.mlir");
  Outcome outcome = mtc("compile -" + to + path("c.mlir") + from);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(contentOf(folder / "b.mlir"), contentOf(folder / "c.mlir"));
  outcome = mtc("compile - --from partition -o " + path("x") + from);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.text, "error: --from: expected import, as '<stdin>' says "
                          "of itself, found partition\n");
  std::ofstream(folder / "bad.mlir") << "module { what }";
  outcome = mtc("compile - -o " + path("x") + " < " + path("bad.mlir"));
  EXPECT_EQ(outcome.code, 4);
  EXPECT_NE(outcome.text.find("<stdin>:1:10: error:"), std::string::npos)
      << outcome.text;
}

TEST_F(CommandTest, PrintsIRAfterPhases) {
  Outcome outcome =
      mtc("compile --mlir-print-ir-after import,partition,lower-to-llvm "
          "gpt2-nano --pp 2 --mbs 2 --gbs 8 --save-ir " +
          path("ir") + " -o " + path("out"));
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  size_t at = 0;
  using mtc::passes::Phase;
  for (auto [phase, stage] : {std::pair(Phase::import, -1),
                              {Phase::partition, -1},
                              {Phase::lowerToLLVM, 0},
                              {Phase::lowerToLLVM, 1}}) {
    std::string number = std::to_string(stage);
    std::string file =
        phaseFileName(phase) + (stage < 0 ? "" : "-stage" + number);
    std::string saved = contentOf(folder / "ir" / (file + ".mlir"));
    ASSERT_FALSE(saved.empty()) << file;
    std::string title = std::string("// -----// IR Dump After ") +
                        toString(phase) +
                        (stage < 0 ? "" : " of stage " + number);
    at = outcome.text.find(title + " //----- //\n" + saved, at);
    ASSERT_NE(at, std::string::npos) << title;
  }
  EXPECT_EQ(outcome.text.find("IR Dump After differentiate"),
            std::string::npos);
}

TEST_F(CommandTest, SaysWhereTheTimeWent) {
  std::string command = "compile gpt2-nano --mbs 2 --gbs 8 -o " + path("out");
  EXPECT_EQ(mtc(command).text.find("Execution time report"), std::string::npos);
  Outcome outcome = mtc(command + " --mlir-timing");
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  size_t at = outcome.text.find("Execution time report");
  for (const char *part :
       {"import", "  differentiate\n", "  plan-memory\n", "  verify-plan\n",
        "objects", "machine code", "link"})
    EXPECT_NE(outcome.text.find(part, at), std::string::npos) << part;
}

TEST_F(CommandTest, ReportsAllErrorsOfSpecAndStrategyTogether) {
  std::ofstream(folder / "s.toml") << "name = \"x\"\nvocab = \"many\"\n";
  std::ofstream(folder / "st.toml") << "tp = 0\nunknown_key = 3\n";
  Outcome outcome = mtc("compile " + path("s.toml") + " --strategy " +
                        path("st.toml") + " --pp none -o " + path("out"));
  EXPECT_EQ(outcome.code, 2);
  for (const char *what : {"vocab", "tp", "unknown_key", "--pp"})
    EXPECT_NE(outcome.text.find(what), std::string::npos) << outcome.text;
  EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(CommandTest, OverridesToNoneKeepParametersWhole) {
  std::ofstream(folder / "s.toml")
      << "tp = 2\nglobal_batch_size = 2\n[[override]]\npattern = "
         "\"layers.*.mlp.*\"\nshard = { ffn = \"none\" }\n";
  Outcome outcome =
      mtc("compile gpt2-nano --strategy " + path("s.toml") +
          " --compile-to annotate-shardings -o " + path("a.mlir"));
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  std::string text = contentOf(folder / "a.mlir");
  size_t up = text.find("\"layers.0.mlp.up.weight\"");
  ASSERT_NE(up, std::string::npos);
  size_t at = text.rfind("dist.sharding = ", up); // attributes are sorted
  EXPECT_EQ(text.substr(at, 37), "dist.sharding = #dist.sharding<[{}, {")
      << text.substr(at, 200);
  EXPECT_EQ(text.substr(at, up - at).find("tp"), std::string::npos);
}

TEST_F(CommandTest, ExitCodes) {
  EXPECT_EQ(mtc("").code, 2);
  EXPECT_EQ(mtc("compile").code, 2);
  EXPECT_EQ(mtc("compile gpt2-nano --nonsense -o x").code, 2);
  EXPECT_EQ(mtc("compile gpt2-nano --gbs 8").code, 2) << "no -o";
  EXPECT_EQ(mtc("compile no-such-spec --gbs 8 -o " + path("x")).code, 3);
  EXPECT_EQ(mtc("compile gpt2-nano --gbs 8 --tp 3 -o " + path("x")).code, 4);
  EXPECT_EQ(mtc("run " + path("nothing")).code, 3);
  EXPECT_EQ(mtc("inspect " + path("nothing")).code, 3);
  EXPECT_EQ(mtc("help exit-codes").code, 0);
  EXPECT_EQ(mtc("help schedules").code, 0);
  EXPECT_NE(mtc("help strategies").text.find("tp2-pp2-dp2\n"),
            std::string::npos);
  EXPECT_NE(mtc("help compile").text.find("--save-ir"), std::string::npos);
  EXPECT_NE(mtc("help run").text.find("--warmup"), std::string::npos);
  EXPECT_NE(mtc("help recipe").text.find("warmup_steps"), std::string::npos);
  EXPECT_NE(mtc("help").text.find("compiles a model"), std::string::npos);
  EXPECT_EQ(mtc("--version").code, 0);
}

TEST_F(CommandTest, EveryScheduleOfTrainingCompiles) {
  for (const mtc::compiler::ScheduleInfo &info :
       mtc::compiler::allSchedules()) {
    Outcome outcome =
        mtc("compile gpt2-nano --gbs 8 --pp 2 --compile-to import "
            "-o " +
            path("s.mlir") + " --schedule " + info.name +
            (info.needsChunks ? " --chunks 2" : ""));
    EXPECT_EQ(outcome.code, info.entry == "train" ? 0 : 2)
        << info.name << outcome.text;
  }
}

TEST_F(CommandTest, RejectsBadIR) {
  std::ofstream(folder / "bad.mlir") << "module { what }";
  Outcome outcome =
      mtc("compile " + path("bad.mlir") + " --from=import -o " + path("x"));
  EXPECT_EQ(outcome.code, 4);
  EXPECT_NE(outcome.text.find("bad.mlir:1:10: error:"), std::string::npos)
      << outcome.text;
}

TEST_F(CommandTest, VerifiesAgainWhatAVerifierWrote) {
  Outcome outcome = mtc("compile gpt2-nano --pp 2 --mbs 2 --gbs 8 --compile-to "
                        "verify-plan -o " +
                        path("plan.mlir"));
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  std::string text = contentOf(folder / "plan.mlir");
  size_t call = text.find("group embedding");
  ASSERT_NE(call, std::string::npos);
  size_t begin = text.rfind('\n', call), end = text.find('\n', call);
  std::ofstream(folder / "edited.mlir") << text.erase(begin, end - begin);
  std::string edited = "compile " + path("edited.mlir") + " -o " + path("x");
  outcome = mtc(edited);
  EXPECT_NE(outcome.code, 0);
  EXPECT_NE(outcome.text.find("expected whole gradients"), std::string::npos)
      << outcome.text;
  EXPECT_FALSE(std::filesystem::exists(folder / "x"));
  outcome = mtc(edited + " --no-verify");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("verified       no"), std::string::npos);
  EXPECT_NE(contentOf(folder / "x/report.json").find("\"verified\": false"),
            std::string::npos);
}

// Stages 0 and 1 of two tp ranks each: two tp groups, two of the token table at
// both ends, and one of all. The rows of one stage at tp 1 are a load, forward
// and backward of each of 4 microbatches, reduce and apply: 10 fragments and
// the sum of the norm.
TEST_F(CommandTest, SaysHowMuchWasVerified) {
  std::string compile = "compile gpt2-nano --gbs 4 -o ";
  EXPECT_NE(mtc(compile + path("four") + " --tp 2 --pp 2")
                .text.find("verified       4 ranks, 5 communicators, "),
            std::string::npos);
  EXPECT_NE(mtc(compile + path("one"))
                .text.find("verified       1 ranks, 0 communicators, 11 "
                           "operations, "),
            std::string::npos);
  EXPECT_NE(contentOf(folder / "one/report.json").find("\"operations\": 11,"),
            std::string::npos);
}

TEST_F(CommandTest, KeepsWhatIsNoBundle) {
  std::ofstream(folder / "file") << "precious";
  Outcome outcome = mtc(std::string("compile ") + MTC_HAND_PLAN +
                        " --no-verify -o " + path("file"));
  EXPECT_EQ(outcome.code, 2) << outcome.text;
  EXPECT_EQ(contentOf(folder / "file"), "precious");
}

TEST_F(CommandTest, FailedCompilationLeavesNothing) {
  // A limit of memory that no plan keeps.
  std::string text = contentOf(MTC_HAND_PLAN);
  std::string threads = "threads = 1";
  size_t at = text.find(threads);
  ASSERT_NE(at, std::string::npos);
  text.insert(at + threads.size(), ", memory = 9");
  std::ofstream(folder / "small.mlir") << text;
  Outcome outcome =
      mtc("compile " + path("small.mlir") + " --no-verify -o " + path("out"));
  EXPECT_EQ(outcome.code, 4) << outcome.text;
  EXPECT_NE(outcome.text.find("stage 0: expected at most 9 bytes"),
            std::string::npos)
      << outcome.text;
  size_t left = 0;
  for (const auto &entry : fs::directory_iterator(folder))
    left += entry.path().filename() != "small.mlir";
  EXPECT_EQ(left, 0u);
}

TEST_F(CommandTest, BundleIsWholeAndRepeatable) {
  for (std::string out : {"a", "b", "a"}) { // the last replaces a bundle
    Outcome outcome =
        mtc("compile gpt2-nano --tp 2 --pp 2 --dp 2 --zero 1 --mbs 2 --gbs 16 "
            "--json -o " +
            path(out));
    ASSERT_EQ(outcome.code, 0) << outcome.text;
    EXPECT_EQ(nlohmann::json::parse(outcome.text)["ranks"], 8);
  }
  for (const char *file :
       {"manifest.json", "report.txt", "report.json", "explain.json",
        "programs/stage0", "programs/stage0.so", "programs/stage1",
        "programs/stage1.so"}) {
    std::string text = contentOf(folder / "a" / file);
    EXPECT_FALSE(text.empty()) << file;
    EXPECT_TRUE(text == contentOf(folder / "b" / file)) << file;
    EXPECT_EQ(text.find(folder.string()), std::string::npos) << file;
  }
  Outcome inspected = mtc("inspect " + path("a/programs/stage1.so"));
  EXPECT_EQ(inspected.code, 0);
  EXPECT_NE(inspected.text.find("stage 1 of 2"), std::string::npos);
  size_t left = 0;
  for ([[maybe_unused]] const auto &entry : fs::directory_iterator(folder))
    ++left;
  EXPECT_EQ(left, 2u) << "a, b and nothing temporary";
}

// Of four stages, whose kernels are for the most part the same, at least two
// are compiled at a time with four threads.
TEST_F(CommandTest, BundleIsTheSameOnOneThreadAndOnFour) {
  for (std::string jobs : {"1", "4"}) {
    Outcome outcome = mtc("compile gpt2-nano --pp 4 --gbs 4 -j " + jobs +
                          " -o " + path(jobs));
    ASSERT_EQ(outcome.code, 0) << outcome.text;
  }
  size_t files = 0;
  for (const fs::path one : {"", "programs"}) {
    for (const auto &entry : fs::directory_iterator(folder / "1" / one)) {
      if (entry.is_directory())
        continue;
      ++files;
      fs::path name = one / entry.path().filename();
      EXPECT_TRUE(contentOf(entry.path()) == contentOf(folder / "4" / name))
          << name;
    }
  }
  EXPECT_EQ(files, 12u) << "four files, and two programs of each stage";
}

// What stands for ptxas notes each call; the text is the cubin. The stages in
// the middle are alike, those at the ends are not.
TEST_F(CommandTest, CodeOfAlikeStagesIsMadeOnce) {
  fs::path calls = folder / "calls";
  std::ofstream(folder / "ptxas") << "#!/bin/sh\necho call >> '"
                                  << calls.string() << "'\ncat > /dev/fd/3\n";
  fs::permissions(folder / "ptxas", fs::perms::owner_all);
  Outcome outcome = mtc("compile gpt2-nano --pp 4 --gbs 4 --target cuda:sm_90 "
                        "--cubin --compile-to kernels -o " +
                            path("ptx"),
                        "PATH='" + folder.string() + "':\"$PATH\" ");
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  auto ptx = [&](int stage) {
    return contentOf(folder / "ptx" /
                     ("stage" + std::to_string(stage) + ".ptx"));
  };
  EXPECT_FALSE(ptx(1).empty());
  EXPECT_TRUE(ptx(1) == ptx(2));
  EXPECT_FALSE(ptx(0) == ptx(1));
  EXPECT_FALSE(ptx(3) == ptx(1));
  EXPECT_EQ(contentOf(calls), "call\ncall\ncall\n");
}

} // namespace
