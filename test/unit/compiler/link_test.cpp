//===- link_test.cpp - tables to an object, a program, a shared object ----===//
//
// Fragments written in the LLVM dialect take the place of what lower-to-llvm
// makes, so the way from a plan to a file that the runtime opens is tested
// alone.
//
//===----------------------------------------------------------------------===//

#include "compiler/descriptor.h"
#include "compiler/kernel_sets.h"
#include "compiler/link/helpers.h"
#include "compiler/link/link.h"
#include "compiler/link/program_links.h"
#include "compiler/object.h"
#include "compiler/read_plan.h"
#include "compiler/run_phase.h"
#include "compiler/stage.h"
#include "compiler/tables.h"
#include "mtc/runtime/abi.h"
#include "mtc/runtime/run.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace fs = std::filesystem;

namespace mtc::compiler {
namespace {

constexpr const char *lowered = R"(
llvm.func @mtc_zero(!llvm.ptr, !llvm.ptr, i64)
llvm.func @stage0_fwd(%ctx: !llvm.ptr, %step: !llvm.ptr) { llvm.return }
llvm.func @stage0_bwd(%ctx: !llvm.ptr, %step: !llvm.ptr) {
  %n = llvm.mlir.constant(4 : i64) : i64
  llvm.call @mtc_zero(%ctx, %step, %n) : (!llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.return
}
llvm.func @reduce(%ctx: !llvm.ptr, %step: !llvm.ptr) { llvm.return }
llvm.func @apply(%ctx: !llvm.ptr, %step: !llvm.ptr) { llvm.return }
)";

std::string contentOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class LinkTest : public testing::Test {
protected:
  void SetUp() override {
    folder =
        fs::temp_directory_path() / ("mtc-link-" + std::to_string(getpid()));
    fs::create_directories(folder);
    context = makeContext();
    log = std::make_unique<DiagnosticLog>(*context);
    std::optional<Phase> phase;
    ASSERT_TRUE(parseModule(MTC_HAND_PLAN, *context, *log, module, phase).ok());
    ASSERT_TRUE(readPlan(*module, plan).ok());
    auto status = findToolchain(toolchain);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string path(const std::string &name) const {
    return (folder / name).string();
  }
  void writeObject(const std::string &name) {
    auto code = mlir::parseSourceString<mlir::ModuleOp>(lowered, context.get());
    ASSERT_TRUE(code) << log->take();
    const ProgramPlan &program = plan.programs[0];
    EXPECT_EQ(
        appendTables(
            *code, program, program.fragments,
            runtimeKernelsOf(plan.config, programsByStage(*module)[0], program),
            describe(plan, program).dump()),
        "");
    auto status = emitObject(*code, "x86-64-v3", path(name));
    ASSERT_TRUE(status.ok()) << status.message() << log->take();
  }

  fs::path folder;
  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<DiagnosticLog> log;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  BundlePlan plan;
  Toolchain toolchain;
};

TEST_F(LinkTest, SharedObjectHasTheTables) {
  writeObject("a.o");
  auto status = linkShared(toolchain, {path("a.o")}, path("a.so"));
  ASSERT_TRUE(status.ok()) << status.message();
  // Lazy: mtc_zero belongs to the process that runs programs.
  void *library = dlopen(path("a.so").c_str(), RTLD_LAZY | RTLD_LOCAL);
  ASSERT_TRUE(library) << dlerror();
  auto *rows =
      static_cast<const MtcStep *>(dlsym(library, "mtc_timeline_train"));
  auto *transfers =
      static_cast<const MtcTransfer *>(dlsym(library, "mtc_transfers"));
  auto *fragments =
      static_cast<const MtcFragment *>(dlsym(library, "mtc_fragments"));
  auto *text = static_cast<const char *>(dlsym(library, "mtc_descriptor"));
  ASSERT_TRUE(rows && transfers && fragments && text);
  EXPECT_EQ(rows[4].first, 1);
  EXPECT_EQ(rows[4].count, 2);
  EXPECT_EQ(transfers[2].tag, 9);
  EXPECT_EQ(transfers[2].offset, 8704);
  EXPECT_EQ(reinterpret_cast<void *>(fragments[2]), dlsym(library, "reduce"));
  EXPECT_EQ(text, describe(plan, plan.programs[0]).dump());
  dlclose(library);
}

TEST_F(LinkTest, ExecutableCarriesItsDescriptor) {
  writeObject("a.o");
  auto status = linkExecutable(toolchain, {path("a.o")}, path("a"));
  ASSERT_TRUE(status.ok()) << status.message();
  std::string text;
  status = runtime::readDescriptorText(path("a"), text);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(text, describe(plan, plan.programs[0]).dump());
}

TEST_F(LinkTest, EqualInputsGiveEqualBytes) {
  writeObject("a.o");
  writeObject("b.o");
  for (std::string name : {"a", "b"}) {
    ASSERT_TRUE(
        linkExecutable(toolchain, {path(name + ".o")}, path(name)).ok());
    ASSERT_TRUE(
        linkShared(toolchain, {path(name + ".o")}, path(name + ".so")).ok());
  }
  EXPECT_EQ(contentOf(path("a.o")), contentOf(path("b.o")));
  EXPECT_EQ(contentOf(path("a")), contentOf(path("b")));
  EXPECT_EQ(contentOf(path("a.so")), contentOf(path("b.so")));
  EXPECT_EQ(contentOf(path("a")).find(folder.string()), std::string::npos);
}

TEST_F(LinkTest, NamesTheFragmentThatIsMissing) {
  auto code =
      mlir::parseSourceString<mlir::ModuleOp>("module {}", context.get());
  EXPECT_EQ(appendTables(*code, plan.programs[0], plan.programs[0].fragments,
                         {}, "{}"),
            "stage0_fwd");
}

TEST_F(LinkTest, FailureShowsTheLinkersWords) {
  std::ofstream(path("bad.o")) << "no object";
  auto status = linkShared(toolchain, {path("bad.o")}, path("bad.so"));
  EXPECT_EQ(status.code(), runtime::StatusCode::failed);
  EXPECT_NE(status.message().find("bad.o"), std::string::npos)
      << status.message();
  writeObject("good.o");
  status = linkShared(toolchain, {path("good.o")}, path("good.so"));
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(LinkTest, NamesAreNoOptions) {
  writeObject("-shared.o");
  fs::copy_file(path("-shared.o"), path("@b.o"));
  fs::path before = fs::current_path();
  fs::current_path(folder);
  for (std::string name : {"-shared", "@b"}) {
    auto status = linkExecutable(toolchain, {name + ".o"}, name);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  fs::current_path(before);
  std::string text;
  EXPECT_TRUE(runtime::readDescriptorText(path("-shared"), text).ok());
  EXPECT_EQ(contentOf(path("-shared")), contentOf(path("@b")));
}

TEST_F(LinkTest, ThreadsLinkOneAfterTheOther) {
  writeObject("a.o");
  std::vector<std::thread> threads;
  std::array<runtime::Status, 4> status;
  for (size_t i = 0; i < status.size(); ++i)
    threads.emplace_back([&, i] {
      status[i] =
          linkExecutable(toolchain, {path("a.o")}, path(std::to_string(i)));
    });
  for (std::thread &thread : threads)
    thread.join();
  for (size_t i = 0; i < status.size(); ++i) {
    EXPECT_TRUE(status[i].ok()) << status[i].message();
    EXPECT_EQ(contentOf(path("0")), contentOf(path(std::to_string(i))));
  }
}

/// Whether a process runs; one that nobody has waited for does not.
bool isAlive(int process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text(std::istreambuf_iterator<char>(file), {});
  size_t name = text.rfind(')');
  return name != text.npos && text.substr(name + 2, 1) != "Z";
}

bool hasEnded(int process) {
  for (int attempt = 0; attempt < 1000 && isAlive(process); ++attempt)
    usleep(10000);
  return !isAlive(process);
}

TEST_F(LinkTest, HelpersLinkToTheSameBytes) {
  LinkHelpers helpers(2);
  ASSERT_EQ(helpers.size(), 2u);
  writeObject("a.o");
  ASSERT_TRUE(linkProgram(toolchain, {path("here"), {path("a.o")}}).ok());
  std::vector<LinkJob> jobs;
  for (int i = 0; i < 5; ++i)
    jobs.push_back({path(std::to_string(i)), {path("a.o")}});
  ProgramLinks links(toolchain, jobs, &helpers);
  for (size_t i : {3, 0, 4, 1, 2})
    links.ready(i);
  auto status = links.finish();
  ASSERT_TRUE(status.ok()) << status.message();
  for (const LinkJob &job : jobs) {
    EXPECT_EQ(contentOf(job.file), contentOf(path("here")));
    EXPECT_EQ(contentOf(job.file + ".so"), contentOf(path("here.so")));
  }
}

TEST_F(LinkTest, FormsAreLinkedSideBySideToTheSameBytes) {
  LinkHelpers helpers(2);
  writeObject("a.o");
  ASSERT_TRUE(linkProgram(toolchain, {path("both"), {path("a.o")}}).ok());
  ProgramLinks links(toolchain,
                     {{path("a"), {path("a.o")}, LinkForm::executable},
                      {path("b"), {path("a.o")}, LinkForm::shared}},
                     &helpers);
  links.ready(1);
  links.ready(0);
  ASSERT_TRUE(links.finish().ok());
  EXPECT_EQ(contentOf(path("a")), contentOf(path("both")));
  EXPECT_EQ(contentOf(path("b.so")), contentOf(path("both.so")));
  EXPECT_FALSE(fs::exists(path("a.so")));
  EXPECT_FALSE(fs::exists(path("b")));
}

TEST_F(LinkTest, WithoutHelpersProgramsAreLinkedHere) {
  writeObject("a.o");
  ProgramLinks links(toolchain, {{path("a"), {path("a.o")}}}, nullptr);
  links.ready(0);
  EXPECT_FALSE(fs::exists(path("a")));
  EXPECT_TRUE(links.finish().ok());
  EXPECT_TRUE(fs::exists(path("a.so")));
}

TEST_F(LinkTest, HelpersSayTheLinkersWordsAndGoOn) {
  LinkHelpers helpers(1);
  std::ofstream(path("bad.o")) << "no object";
  auto status = helpers.link(0, {path("bad"), {path("bad.o")}});
  EXPECT_EQ(status.code(), runtime::StatusCode::failed);
  EXPECT_EQ(status.message(),
            linkProgram(toolchain, {path("bad"), {path("bad.o")}}).message());
  status = helpers.link(0, {path("none/a"), {path("bad.o")}});
  EXPECT_EQ(status.code(), runtime::StatusCode::failed);
  writeObject("good.o");
  EXPECT_TRUE(helpers.link(0, {path("good"), {path("good.o")}}).ok());
}

TEST_F(LinkTest, AFailureIsThatOfTheFirstProgramAndEndsTheLinks) {
  LinkHelpers helpers(1);
  std::ofstream(path("bad.o")) << "no object";
  writeObject("a.o");
  ProgramLinks links(toolchain,
                     {{path("a"), {path("a.o")}}, {path("b"), {path("bad.o")}}},
                     &helpers);
  links.ready(1);
  links.ready(0);
  auto status = links.finish();
  EXPECT_NE(status.message().find("bad.o"), std::string::npos)
      << status.message();
  EXPECT_FALSE(fs::exists(path("a")));
}

TEST_F(LinkTest, AHelperThatIsKilledIsAnError) {
  LinkHelpers helpers(1);
  kill(helpers.process(0), SIGINT); // for mtc, which tells it
  writeObject("a.o");
  EXPECT_TRUE(helpers.link(0, {path("a"), {path("a.o")}}).ok());
  kill(helpers.process(0), SIGKILL);
  auto status = helpers.link(0, {path("a"), {path("a.o")}});
  EXPECT_EQ(status.code(), runtime::StatusCode::failed);
  EXPECT_NE(status.message().find("ended by signal 9"), std::string::npos)
      << status.message();
}

TEST_F(LinkTest, HelpersEndWithTheirOwner) {
  int process;
  {
    LinkHelpers helpers(1);
    process = helpers.process(0);
    EXPECT_TRUE(isAlive(process));
  }
  EXPECT_FALSE(isAlive(process));
}

TEST_F(LinkTest, HelpersEndWithAProcessThatIsKilled) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0); // a namespace has that name
  pid_t owner = fork();
  if (owner == 0) {
    LinkHelpers helpers(2);
    int processes[2] = {helpers.process(0), helpers.process(1)};
    if (write(ends[1], processes, sizeof processes) == sizeof processes)
      kill(getpid(), SIGKILL);
    _exit(1);
  }
  close(ends[1]); // or the read would wait for an owner that failed
  int processes[2] = {0, 0};
  ASSERT_EQ(read(ends[0], processes, sizeof processes),
            ssize_t(sizeof processes));
  int status;
  waitpid(owner, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  for (int process : processes)
    EXPECT_TRUE(hasEnded(process)) << process;
  close(ends[0]);
}

} // namespace
} // namespace mtc::compiler
