// Arenas of the CPU that no communicator maps.
#include "runtime/device/cpu/arena.h"

#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

using namespace mtc::runtime;

namespace {

/// The flags that the kernel has for the mapping of an address.
std::string flagsOf(const void *address) {
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  bool isIts = false;
  while (std::getline(maps, line)) {
    uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR, &begin, &end) == 2)
      isIts = begin <= reinterpret_cast<uintptr_t>(address) &&
              reinterpret_cast<uintptr_t>(address) < end;
    else if (isIts && line.starts_with("VmFlags:"))
      return line + " ";
  }
  return "";
}

} // namespace

TEST(Arenas, HaveHugePagesWhereTheKernelHasThem) {
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage"))
    GTEST_SKIP() << "the kernel has no huge pages for private memory";
  AnonymousMemory memory;
  ASSERT_TRUE(memory.map(16 << 20, 0, "grads", "arena grads").ok());
  std::string flags = flagsOf(memory.base());
  ASSERT_NE(flags, "");
  EXPECT_NE(flags.find(" hg "), std::string::npos) << flags;
}
