//===- launched_world.cpp - ranks that mpirun starts ----------------------===//

#include "launched_world.h"

#include "mpi_world.h"

#include "runtime/base/file.h"
#include "runtime/rendezvous/connection.h"

#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#ifndef MTC_OPENMPI_LAUNCHER
#define MTC_OPENMPI_LAUNCHER "" // then no test comes here
#endif

namespace mtc::test {

using runtime::Mesh;
using Clock = std::chrono::steady_clock;

namespace {

/// In the environment of a rank: the number of the call of runLaunched, and the
/// file of its board.
constexpr const char *kVariable = "MTC_TEST_BOARD";

/// What a rank tells the test, in a file that all map. Zeros at first.
struct Slot {
  std::atomic<bool> ended;
  char text[kResultBytes];
};

struct Board {
  std::atomic<int> port; ///< where rank 0 listens
  Slot slots[];
  static size_t bytes(int world) {
    return sizeof(Board) + size_t(world) * sizeof(Slot);
  }
};

Board *mapBoard(const std::string &file, int world, int flags) {
  int fd = open(file.c_str(), O_RDWR | flags, 0600);
  size_t bytes = Board::bytes(world);
  if (fd < 0 || ftruncate(fd, off_t(bytes)) != 0)
    return nullptr;
  void *memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return memory == MAP_FAILED ? nullptr : static_cast<Board *>(memory);
}

void tell(Slot &slot, const std::string &text) {
  std::strncpy(slot.text, text.c_str(), kResultBytes - 1);
}

template <typename Condition> bool waitUntil(Condition condition) {
  auto deadline = Clock::now() + kPatience;
  while (!condition())
    if (Clock::now() > deadline)
      return false;
    else
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return true;
}

std::string runRank(Board &board, int rank, const Mesh &mesh,
                    int64_t arenaBytes, const Body &body) {
  int fd = -1;
  if (rank == 0) {
    MTC_EXPECT_OK(runtime::listenAt("127.0.0.1", 0, fd));
    board.port = runtime::portOf(fd);
  } else if (!waitUntil([&] { return board.port.load() > 0; })) {
    return "rank 0 does not listen";
  }
  return runMpiRank({"openmpi", fd, board.port, rank, 1}, mesh, arenaBytes,
                    body);
}

/// The process that mpirun started makes another one, which is the rank: at the
/// first end of one of its own mpirun kills all, so that these wait for the
/// ends of all ranks.
[[noreturn]] void beRank(Board &board, const Mesh &mesh, int64_t arenaBytes,
                         const Body &body) {
  const char *said = std::getenv("OMPI_COMM_WORLD_RANK");
  int rank = said ? std::atoi(said) : 0, status = 0;
  Slot &slot = board.slots[rank];
  pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    tell(slot, runRank(board, rank, mesh, arenaBytes, body));
    _exit(0);
  }
  if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
    tell(slot, "killed");
  slot.ended = true;
  waitUntil([&] {
    for (int each = 0; each < mesh.worldSize(); ++each)
      if (!board.slots[each].ended)
        return false;
    return true;
  });
  _exit(0);
}

[[noreturn]] void launch(const std::string &test, const std::string &board,
                         int number, int world) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  int log = open((board + ".log").c_str(), O_CREAT | O_WRONLY, 0600);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  setenv(kVariable, fmt::format("{} {}", number, board).c_str(), 1);
  std::string ranks = std::to_string(world), filter = "--gtest_filter=" + test;
  std::string self = std::filesystem::read_symlink("/proc/self/exe");
  execl(MTC_OPENMPI_LAUNCHER, "mpirun", "-n", ranks.c_str(),
        "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca",
        "odls_base_sigkill_timeout", "0", self.c_str(), filter.c_str(),
        nullptr);
  _exit(127);
}

std::string currentTest() {
  const auto *test = ::testing::UnitTest::GetInstance()->current_test_info();
  return fmt::format("{}.{}", test->test_suite_name(), test->name());
}

/// Counts the calls of a test.
int callOf(const std::string &test) {
  static std::string last;
  static int calls = 0;
  calls = test == last ? calls + 1 : 1;
  last = test;
  return calls;
}

void await(pid_t launcher) {
  auto ended = [launcher] { return waitpid(launcher, nullptr, WNOHANG) != 0; };
  if (waitUntil(ended))
    return;
  kill(launcher, SIGTERM); // it ends its processes
  waitpid(launcher, nullptr, 0);
}

} // namespace

std::vector<std::string> runLaunched(const Mesh &mesh, int64_t arenaBytes,
                                     const Body &body) {
  int world = mesh.worldSize();
  std::string test = currentTest();
  int number = callOf(test);
  if (const char *mine = std::getenv(kVariable)) {
    char *file = nullptr;
    if (std::strtol(mine, &file, 10) != number)
      return std::vector<std::string>(size_t(world));
    if (Board *board = mapBoard(file + 1, world, 0))
      beRank(*board, mesh, arenaBytes, body);
    _exit(1);
  }
  std::string file =
      fmt::format("{}/mtc-board-{}", ::testing::TempDir(), getpid());
  Board *board = mapBoard(file, world, O_CREAT | O_TRUNC);
  if (!board)
    return {"no memory for results"};
  pid_t launcher = fork();
  if (launcher == 0)
    launch(test, file, number, world);
  await(launcher);
  std::vector<std::string> results;
  std::string log;
  (void)runtime::readWholeFile(file + ".log", log);
  for (int rank = 0; rank < world; ++rank)
    results.push_back(board->slots[rank].ended
                          ? board->slots[rank].text
                          : "the launcher ended before: " + log);
  munmap(board, Board::bytes(world));
  unlink(file.c_str());
  unlink((file + ".log").c_str());
  return results;
}

} // namespace mtc::test
