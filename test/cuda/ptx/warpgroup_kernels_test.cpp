//===- warpgroup_kernels_test.cpp - wgmma as nvcc writes it ---------------===//
#include "test/cuda/ptx/harness.h"

#include "runtime/base/bf16.h"

#include <fstream>
#include <random>
#include <sstream>

namespace mtc::ptx {
namespace {

constexpr unsigned kSize = 64;

std::string compiled() {
  std::ifstream file(MTC_WARPGROUP_PTX);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

using Elements = std::vector<uint16_t>;

Elements randomElements(uint32_t seed) {
  std::mt19937 random(seed);
  Elements made(kSize * kSize);
  for (uint16_t &each : made)
    each = runtime::roundToBf16(float(int(random() % 33) - 16));
  return made;
}

std::optional<Fault> run(const std::string &text, const char *kernel,
                         const Elements &a, const Elements &b,
                         std::vector<float> &out) {
  auto module = moduleOf(text);
  Memory memory;
  Arguments arguments;
  for (const Elements *each : {&a, &b}) {
    Address at = memory.allocate(2 * each->size(), "factor");
    memory.initialise(at, std::as_bytes(std::span(*each)));
    arguments.add(at);
  }
  out.assign(kSize * kSize, 0);
  Address to = memory.allocate(4 * out.size(), "out");
  arguments.add(to);
  memory.begin({1, 0});
  auto fault = launch({*module,
                       *module->find(kernel),
                       {1, 1, 1},
                       {128, 1, 1},
                       2 * kSize * kSize * 2,
                       arguments.bytes()},
                      memory);
  std::memcpy(out.data(), memory.find(to, 1)->host, 4 * out.size());
  return fault;
}

/// B of the first is n after n, of the second k after k.
void check(const char *kernel, bool transposed) {
  Elements a = randomElements(1), b = randomElements(2);
  std::vector<float> out;
  auto fault = run(compiled(), kernel, a, b, out);
  ASSERT_FALSE(fault) << describe(*fault);
  for (unsigned m = 0; m < kSize; ++m)
    for (unsigned n = 0; n < kSize; ++n) {
      double sum = 0;
      for (unsigned k = 0; k < kSize; ++k)
        sum +=
            double(runtime::widenBf16(a[m * kSize + k])) *
            runtime::widenBf16(b[transposed ? k * kSize + n : n * kSize + k]);
      ASSERT_EQ(out[m * kSize + n], sum) << m << " " << n;
    }
}

TEST(WarpgroupKernels, ProductsByColumnsOfK) {
  check("product_k_major", false);
}
TEST(WarpgroupKernels, ProductsByColumnsOfN) { check("product_n_major", true); }

TEST(WarpgroupKernels, EachOrderThatIsLeftOutIsFound) {
  Elements a = randomElements(1), b = randomElements(2);
  for (const char *order :
       {"fence.proxy.async.shared::cta;", "cp.async.wait_group 0;",
        "bar.sync \t0;", "wgmma.fence.sync.aligned;",
        "wgmma.commit_group.sync.aligned;",
        "wgmma.wait_group.sync.aligned 0;"}) {
    std::string text = compiled();
    size_t at = text.find(order, text.find("product_n_major("));
    ASSERT_NE(at, std::string::npos) << order;
    text.erase(at, std::string(order).size());
    std::vector<float> out;
    EXPECT_TRUE(run(text, "product_n_major", a, b, out)) << order;
  }
}

} // namespace
} // namespace mtc::ptx
