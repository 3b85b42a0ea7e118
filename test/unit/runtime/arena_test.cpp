// Arenas of the CPU that no communicator maps.
#include "runtime/device/cpu/arena.h"

#include "runtime/comm/shm/shm_communicator.h"
#include "runtime/device/cpu/populate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace mtc::runtime;

namespace {

/// The line of smaps that begins so, for the mapping of an address.
std::string lineOf(const void *address, const char *key) {
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  bool isIts = false;
  while (std::getline(maps, line)) {
    uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR, &begin, &end) == 2)
      isIts = begin <= reinterpret_cast<uintptr_t>(address) &&
              reinterpret_cast<uintptr_t>(address) < end;
    else if (isIts && line.starts_with(key))
      return line + " ";
  }
  return "";
}

constexpr int64_t kHuge = 2 << 20;

/// Whether the kernel makes a huge page of shared memory when it is asked.
bool kernelCollapses() {
  int fd = memfd_create("probe", 0);
  auto *room = static_cast<char *>(
      mmap(nullptr, 2 * kHuge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  char *at = room + (-reinterpret_cast<intptr_t>(room) & (kHuge - 1));
  bool can =
      ftruncate(fd, kHuge) == 0 && mmap(at, kHuge, PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_FIXED, fd, 0) == at;
  if (can)
    *at = 0;
  can = can && madvise(at, kHuge, 25 /* MADV_COLLAPSE */) == 0;
  munmap(room, 2 * kHuge);
  close(fd);
  return can;
}

} // namespace

TEST(Arenas, HaveHugePagesWhereTheKernelHasThem) {
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage"))
    GTEST_SKIP() << "the kernel has no huge pages for private memory";
  AnonymousMemory memory;
  ASSERT_TRUE(memory.map(16 << 20, 0, "grads", "arena grads").ok());
  std::string flags = lineOf(memory.base(), "VmFlags:");
  ASSERT_NE(flags, "");
  EXPECT_NE(flags.find(" hg "), std::string::npos) << flags;
}

TEST(SharedArenas, HaveHugePagesOnceTheyArePopulated) {
  if (!kernelCollapses())
    GTEST_SKIP() << "the kernel makes no huge pages of shared memory";
  std::vector<ArenaSizes> sizes(2);
  sizes[1][MTC_ARENA_GRADS] = 5 * kHuge + 4096; // the rest has small pages
  std::unique_ptr<ShmSetup> setup;
  std::unique_ptr<ShmCommunicator> comm;
  ASSERT_TRUE(ShmSetup::create({2, 1, 1}, sizes, 1, setup).ok());
  ASSERT_TRUE(ShmCommunicator::attach(setup->controlFd(), 1, {}, comm).ok());
  ArenaViews views{};
  std::ranges::copy(comm->arenas(), views.begin());
  auto *grads = static_cast<char *>(views[MTC_ARENA_GRADS].base);
  grads[0] = 1, grads[3 * kHuge] = 2, grads[4 * kHuge - 1] = 3;
  populate(views, 2, {});
  EXPECT_EQ(grads[0], 1);
  EXPECT_EQ(grads[3 * kHuge], 2);
  EXPECT_EQ(grads[4 * kHuge - 1], 3);
  EXPECT_EQ(grads[2 * kHuge], 0);
  long kib = 0;
  std::string line = lineOf(grads, "ShmemPmdMapped:");
  ASSERT_EQ(std::sscanf(line.c_str(), "ShmemPmdMapped: %ld kB", &kib), 1);
  EXPECT_EQ(kib * 1024, 5 * kHuge) << line;
}
