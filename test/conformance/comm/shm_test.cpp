//===- shm_test.cpp - what the launcher sees of shm -----------------------===//

#include "runtime/comm/shm/shm_communicator.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <limits.h>
#include <sched.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mtc::runtime;

namespace {

constexpr ArenaSizes kSizes = {4096, 100, 0, 8192, 4096};

std::unique_ptr<ShmSetup> makeSetup(const Mesh &mesh) {
  std::unique_ptr<ShmSetup> setup;
  std::vector<ArenaSizes> sizes(mesh.worldSize(), kSizes);
  Status status = ShmSetup::create(mesh, sizes, 1, setup);
  EXPECT_TRUE(status.ok()) << status.message();
  return setup;
}

std::unique_ptr<ShmCommunicator> join(const ShmSetup &setup, int rank) {
  std::unique_ptr<ShmCommunicator> comm;
  Status status = ShmCommunicator::attach(setup.controlFd(), rank, {}, comm);
  EXPECT_TRUE(status.ok()) << status.message();
  return comm;
}

bool mapsName(const std::string &name) {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line))
    if (line.find(name) != std::string::npos)
      return true;
  return false;
}

int openDescriptors() {
  int count = 0;
  for (int fd = 0; fd < 256; ++fd) {
    char target[PATH_MAX];
    std::string link = "/proc/self/fd/" + std::to_string(fd);
    ssize_t length = readlink(link.c_str(), target, sizeof target);
    std::string_view view(target, length > 0 ? size_t(length) : 0);
    count += view.find("memfd:mtc:") != view.npos;
  }
  return count;
}

TEST(Shm, ArenasAreWholePagesAndZero) {
  auto setup = makeSetup({2, 1, 1});
  auto comm = join(*setup, 1);
  std::span<const ArenaView> arenas = comm->arenas();
  ASSERT_EQ(arenas.size(), size_t(MTC_ARENA_COUNT));
  EXPECT_EQ(arenas[MTC_ARENA_GRADS].bytes, 4096);
  EXPECT_EQ(arenas[MTC_ARENA_OPTIMIZER].base, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(arenas[0].base) % 4096, 0u);
  EXPECT_EQ(static_cast<char *>(arenas[3].base)[8191], 0);
  EXPECT_TRUE(mapsName("mtc:r1:activations"));
  EXPECT_FALSE(mapsName("mtc:r0:activations")); // only when needed
}

// Either side of a transfer may copy, in a later step than the first, too; what
// a rank maps in a step must not hang on that.
TEST(Shm, APostMapsTheArenasOfItsPeer) {
  auto setup = makeSetup({1, 1, 2});
  auto comm = join(*setup, 0);
  ASSERT_FALSE(mapsName("mtc:r1:"));
  MtcTransfer receive = {0, 1, MTC_ARENA_ACTIVATIONS, 0, 0, 64};
  Status status = comm->post({&receive, 1});
  ASSERT_TRUE(status.ok()) << status.message();
  for (const char *name : {"params", "grads", "activations", "workspace"})
    EXPECT_TRUE(mapsName(std::string("mtc:r1:") + name)) << name;
}

// With nobody to share them with arenas are the caller's; transfers from chunk
// to chunk of one rank go on in them.
TEST(Shm, ARankThatIsAloneHasArenasOfItsOwn) {
  std::vector<ArenaSizes> none(1);
  std::unique_ptr<ShmSetup> setup;
  ASSERT_TRUE(ShmSetup::create({1, 1, 1}, none, 1, setup).ok());
  auto comm = join(*setup, 0);
  std::array<float, 32> memory{};
  memory[3] = 7;
  ArenaViews own{};
  own[MTC_ARENA_ACTIVATIONS] = {memory.data(), sizeof memory};
  comm->useOwn(own);
  EXPECT_EQ(comm->arenas()[MTC_ARENA_ACTIVATIONS].base, memory.data());
  MtcTransfer both[] = {{1, 0, MTC_ARENA_ACTIVATIONS, 5, 0, 64},
                        {0, 0, MTC_ARENA_ACTIVATIONS, 5, 64, 64}};
  Status status = comm->exchange(both);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(memory[16 + 3], 7);
  both[1].offset = 128; // behind the end
  EXPECT_FALSE(comm->exchange(both).ok());
}

TEST(Shm, NothingRemains) {
  ASSERT_EQ(openDescriptors(), 0);
  {
    auto setup = makeSetup({2, 1, 1});
    EXPECT_EQ(openDescriptors(), 1 + 2 * 4);
    auto comm = join(*setup, 0);
    EXPECT_TRUE(mapsName("mtc:control"));
  }
  EXPECT_EQ(openDescriptors(), 0);
  EXPECT_FALSE(mapsName("mtc:"));
}

TEST(Shm, LauncherReadsProgressAndFinish) {
  auto setup = makeSetup({1, 1, 2});
  auto comm = join(*setup, 1);
  comm->state(1, 0).store(17);
  setup->state(1, 63).store(1);
  EXPECT_EQ(setup->state(1, 0).load(), 17);
  EXPECT_EQ(comm->state(1, 63).load(), 1);
  EXPECT_EQ(setup->state(0, 0).load(), 0);
  EXPECT_FALSE(setup->finished(1));
  comm->finish();
  EXPECT_TRUE(setup->finished(1));
  EXPECT_FALSE(setup->finished(0));
}

TEST(Shm, FirstCulpritStays) {
  auto setup = makeSetup({2, 1, 1});
  auto comm = join(*setup, 0);
  EXPECT_FALSE(setup->aborted());
  setup->markDead(1);
  setup->abort();
  comm->abort();
  EXPECT_EQ(setup->abortStatus().message(), "rank 1 died");
  Status status = comm->barrier();
  EXPECT_EQ(status.code(), StatusCode::peerDied);
  EXPECT_EQ(status.message(), "rank 1 died");
}

TEST(Shm, RejectsWhatIsNoControlSegment) {
  std::unique_ptr<ShmCommunicator> comm;
  EXPECT_EQ(ShmCommunicator::attach(-1, 0, {}, comm).code(), StatusCode::usage);
  auto setup = makeSetup({1, 1, 1});
  EXPECT_EQ(ShmCommunicator::attach(setup->controlFd(), 1, {}, comm).code(),
            StatusCode::usage); // no such rank
  int arena = setup->controlFd() + 1;
  EXPECT_EQ(ShmCommunicator::attach(arena, 0, {}, comm).code(),
            StatusCode::usage); // a descriptor, but an arena's
  unsetenv(kShmEnvironment);
  EXPECT_EQ(ShmCommunicator::attachFromEnvironment(0, {}, comm).code(),
            StatusCode::usage);
  setenv(kShmEnvironment, "7x", 1);
  EXPECT_EQ(ShmCommunicator::attachFromEnvironment(0, {}, comm).code(),
            StatusCode::usage);
  unsetenv(kShmEnvironment);
}

// Spinning and sleeping must agree; two threads, as each has its own mappings.
TEST(Shm, SpinsOrSleeps) {
  for (int spin : {0, 2000}) {
    auto setup = makeSetup({2, 1, 1});
    auto body = [&](int rank) {
      std::unique_ptr<ShmCommunicator> comm;
      Status status =
          ShmCommunicator::attach(setup->controlFd(), rank, {spin}, comm);
      for (int i = 0; i < 2000 && status.ok(); ++i)
        status = comm->barrier();
      EXPECT_TRUE(status.ok()) << status.message();
    };
    std::thread other(body, 1);
    body(0);
    other.join();
  }
}

/// Seconds of processor time of this process.
double processorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

// On one core a rank that looks keeps the other from coming: these would look
// for as long as the scheduler lets them, two seconds in all.
TEST(Shm, RanksThatShareACoreSleep) {
  auto setup = makeSetup({2, 1, 1});
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  auto body = [&](int rank) {
    std::unique_ptr<ShmCommunicator> comm;
    Status status =
        ShmCommunicator::attach(setup->controlFd(), rank, {10000000}, comm);
    for (int i = 0; i < 500 && status.ok(); ++i)
      status = comm->barrier();
    EXPECT_TRUE(status.ok()) << status.message();
  };
  double begin = processorSeconds();
  std::thread other(body, 1); // on the same core, as it inherits the set
  body(0);
  other.join();
  EXPECT_LT(processorSeconds() - begin, 0.5);
  EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

// Of any two ranks bits 12 to 20 of the base are equal and 21 to 27 are not:
// the level-1 cache can then hold lines of both (mapping.cpp).
TEST(Shm, ArenasOfRanksLieAtDifferentPlaces) {
  auto setup = makeSetup({3, 1, 1});
  for (int rank = 0; rank < 3; ++rank) {
    auto comm = join(*setup, rank);
    for (const ArenaView &arena : comm->arenas())
      if (arena.bytes > 0) {
        auto base = reinterpret_cast<uintptr_t>(arena.base);
        EXPECT_EQ(base % (1 << 21), 0u);
        EXPECT_EQ(base >> 21 & 127, unsigned(rank));
      }
  }
}

/// What the re-executed test below does as rank 1.
int runExecutedRank() {
  std::unique_ptr<ShmCommunicator> comm;
  if (!ShmCommunicator::attachFromEnvironment(1, {}, comm).ok())
    return 3;
  float value = 2;
  Status status = comm->allReduce(MTC_GROUP_TP, MTC_SUM, MTC_F32, &value, 1);
  return status.ok() && value == 3 ? 0 : 4;
}

// Descriptors pass through exec, found by the environment variable.
TEST(Shm, SurvivesExec) {
  if (std::getenv("MTC_TEST_EXECUTED"))
    _exit(runExecutedRank());
  auto setup = makeSetup({2, 1, 1});
  std::string shm = setup->environment();
  char self[PATH_MAX] = {};
  ASSERT_GT(readlink("/proc/self/exe", self, sizeof self - 1), 0);
  pid_t pid = fork();
  if (pid == 0) {
    char filter[] = "--gtest_filter=Shm.SurvivesExec";
    char mark[] = "MTC_TEST_EXECUTED=1";
    char *arguments[] = {self, filter, nullptr};
    char *environment[] = {shm.data(), mark, nullptr};
    execve(self, arguments, environment);
    _exit(5);
  }
  std::thread reaper([&] {
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
    if (status != 0)
      setup->markDead(1);
  });
  float value = 1;
  Status status =
      join(*setup, 0)->allReduce(MTC_GROUP_TP, MTC_SUM, MTC_F32, &value, 1);
  reaper.join();
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(value, 3);
}

} // namespace
