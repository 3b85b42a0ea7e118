// The machine code of the kernels per instruction set.
#include <algorithm>
#include <array>
#include <cstdio>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::vector<std::string> linesOf(const std::string &command) {
  FILE *pipe = popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr) << command;
  std::string text;
  std::array<char, 4096> part;
  while (size_t n = fread(part.data(), 1, part.size(), pipe))
    text.append(part.data(), n);
  EXPECT_EQ(pclose(pipe), 0) << command;
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

/// The lines that a tool prints about one member of a library.
std::vector<std::string>
member(const std::string &tool, const std::string &object,
       const std::string &library = MTC_KERNELS_LIBRARY) {
  std::vector<std::string> result;
  bool inside = false;
  for (const std::string &line : linesOf(tool + " " + library)) {
    if (line.find(".cpp.o:") != std::string::npos)
      inside = line.find(object) == 0;
    else if (inside && !line.empty())
      result.push_back(line);
  }
  EXPECT_GT(result.size(), 0u) << object;
  return result;
}

int64_t count(const std::vector<std::string> &lines, const std::string &what) {
  int64_t n = 0;
  for (const std::string &line : lines)
    n += line.find(what) != std::string::npos;
  return n;
}

constexpr const char *kObjects[] = {
    "kernels_v3.cpp.o",       "kernels_v4.cpp.o",     "kernels_v4_bf16.cpp.o",
    "attention_v4_amx.cpp.o", "gemm_own_v3.cpp.o",    "gemm_own_v4.cpp.o",
    "gemm_own_v4_bf16.cpp.o", "gemm_own_v4_amx.cpp.o"};

const std::string kDisassemble = MTC_OBJDUMP " -d --no-show-raw-insn";

} // namespace

// No libm, no allocation: memset and memcpy are all that the bodies may call.
TEST(KernelObjects, CallNothingButMemoryFunctions) {
  for (const char *object : kObjects)
    for (const std::string &line : member(MTC_NM " -u", object))
      EXPECT_TRUE(line.find(" memset") != std::string::npos ||
                  line.find(" memcpy") != std::string::npos)
          << object << line;
}

// A weak (inline) copy built for AVX-512 could become the one of the program.
TEST(KernelObjects, ExportOnlyTheirTables) {
  const std::regex table("[0-9a-f]+ [RD] _ZN3mtc7runtime\\d+k\\w+E");
  for (const char *object : kObjects)
    for (const std::string &line :
         member(MTC_NM " --defined-only --extern-only", object))
      EXPECT_TRUE(std::regex_match(line, table)) << object << ": " << line;
}

// The same of sums and copies of ranks.
TEST(KernelObjects, MovesHaveNoWeakSymbols) {
  for (const char *object : {"moves_v3.cpp.o", "moves_v4.cpp.o"})
    for (const std::string &line : member(
             MTC_NM " --defined-only --extern-only", object, MTC_COMM_LIBRARY))
      for (const char *weak : {" W ", " V ", " u "})
        EXPECT_EQ(line.find(weak), std::string::npos) << object << line;
}

TEST(KernelObjects, UseTheirInstructionSet) {
  auto v3 = member(kDisassemble, "kernels_v3.cpp.o");
  auto v4 = member(kDisassemble, "kernels_v4.cpp.o");
  EXPECT_EQ(count(v3, "%zmm"), 0);
  EXPECT_GT(count(v3, "%ymm"), 500);
  EXPECT_GT(count(v4, "%zmm"), 500);
  // The register tiles: 8x2 and 4x2 FMAs at the least.
  auto fma = [](const std::vector<std::string> &lines, const char *reg) {
    int64_t n = 0;
    for (const std::string &line : lines)
      n += line.find("vfmadd") != std::string::npos &&
           line.find(reg) != std::string::npos;
    return n;
  };
  EXPECT_GE(fma(v3, "%ymm"), 8);
  EXPECT_GE(fma(v4, "%zmm"), 16);
}

/// The most registers of sums that an inner loop has: lines with `what` one
/// after the other, but for loads in between.
int64_t longestRun(const std::vector<std::string> &lines,
                   const std::string &what) {
  int64_t longest = 0, run = 0;
  for (const std::string &line : lines) {
    if (line.find(what) != std::string::npos)
      longest = std::max(longest, ++run);
    else if (line.find("vbroadcast") == std::string::npos &&
             line.find("vmovups") == std::string::npos &&
             line.find("prefetch") == std::string::npos &&
             line.find("add ") == std::string::npos)
      run = 0;
  }
  return longest;
}

// The register blocks of products: 8 x 3 vectors, 4 x 3 with AVX2, and sums
// that are in registers all the time.
TEST(KernelObjects, ProductsHaveTheirRegisterBlocks) {
  auto v3 = member(kDisassemble, "gemm_own_v3.cpp.o");
  EXPECT_EQ(count(v3, "%zmm"), 0);
  EXPECT_GE(longestRun(v3, "vfmadd"), 12);
  auto v4 = member(kDisassemble, "gemm_own_v4.cpp.o");
  EXPECT_EQ(count(v4, "vdpbf16ps"), 0);
  EXPECT_GE(longestRun(v4, "vfmadd"), 24);
  EXPECT_GE(
      longestRun(member(kDisassemble, "gemm_own_v4_bf16.cpp.o"), "vdpbf16ps"),
      24);
}

// Attention has 8 x 2 vectors of sums in registers, in bf16 with its own dots.
TEST(KernelObjects, AttentionHasItsRegisterTiles) {
  EXPECT_GE(longestRun(member(kDisassemble, "kernels_v3.cpp.o"), "vfmadd"), 8);
  auto v4 = member(kDisassemble, "kernels_v4.cpp.o");
  EXPECT_GE(longestRun(v4, "vfmadd"), 16);
  EXPECT_EQ(count(v4, "vdpbf16ps"), 0);
  auto bf16 = member(kDisassemble, "kernels_v4_bf16.cpp.o");
  EXPECT_GE(longestRun(bf16, "vfmadd"), 16);
  EXPECT_GE(longestRun(bf16, "vdpbf16ps"), 16);
}

// Blocks of two by two tiles, in products and attention, and nowhere else.
TEST(KernelObjects, TilesAreWhereTheyAreAskedFor) {
  for (const char *object :
       {"gemm_own_v4_amx.cpp.o", "attention_v4_amx.cpp.o"}) {
    auto lines = member(kDisassemble, object);
    for (const char *sums : {"%tmm0", "%tmm1", "%tmm2", "%tmm3"})
      EXPECT_GT(std::ranges::count_if(lines,
                                      [&](const std::string &line) {
                                        return line.find("tdpbf16ps") !=
                                                   std::string::npos &&
                                               line.ends_with(sums);
                                      }),
                0)
          << object << " " << sums;
  }
  for (const char *object : {"gemm_own_v4_bf16.cpp.o", "kernels_v4_bf16.cpp.o"})
    EXPECT_EQ(count(member(kDisassemble, object), "tmm"), 0) << object;
}

// Everything that all CPUs run must do without either.
TEST(KernelObjects, TheRestIsBaseline) {
  for (const char *object :
       {"attention.cpp.o", "isa.cpp.o", "init.cpp.o", "norm.cpp.o",
        "norm_counter.cpp.o", "gemm.cpp.o", "gemm_own.cpp.o",
        "gemm_own_plan.cpp.o", "gemm_onednn.cpp.o", "gemm_scratch.cpp.o"}) {
    auto lines = member(kDisassemble, object);
    EXPECT_EQ(count(lines, "%ymm") + count(lines, "%zmm"), 0) << object;
  }
  for (const std::string &line : member(MTC_NM " -u", "init.cpp.o"))
    for (const char *name : {" log", " exp", " sqrt", " cos", " sin", " erf"})
      EXPECT_EQ(line.find(name), std::string::npos) << line;
}
