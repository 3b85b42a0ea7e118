// Sums that go to c in bf16.
#include "test/unit/kernels/own_products.h"

#include "runtime/base/bf16.h"

#include <bit>
#include <cstring>
#include <gtest/gtest.h>

namespace mtc::test {
namespace {

/// Bits of bf16 that are anything: ends of the range, infinities, NaN of both
/// kinds, subnormals and zeros among them.
std::vector<float> anyBf16(int64_t count, std::mt19937 &rng) {
  constexpr uint32_t kEnds[] = {0x0000, 0x8000, 0x0001, 0x007f, 0x0080, 0x3f80,
                                0x7f7f, 0x7f80, 0xff80, 0x7f81, 0xffc1};
  std::vector<float> x(static_cast<size_t>(count));
  for (float &v : x) {
    const uint32_t bits =
        rng() % 4 == 0 ? kEnds[rng() % std::size(kEnds)] : rng() & 0xffff;
    v = std::bit_cast<float>(bits << 16);
  }
  return x;
}

/// One NaN for all: which of two an instruction keeps, and its sign, is its own
/// affair.
uint16_t withoutPayload(uint16_t bits) {
  return (bits & 0x7fff) > 0x7f80 ? uint16_t(0x7fc0) : bits;
}

std::vector<uint16_t> halvesOf(const std::vector<std::byte> &bytes) {
  std::vector<uint16_t> halves(bytes.size() / 2);
  std::memcpy(halves.data(), bytes.data(), bytes.size());
  for (uint16_t &each : halves)
    each = withoutPayload(each);
  return halves;
}

/// Of the same product in fp32, added to c where it is, then rounded.
std::vector<uint16_t> roundedSums(GemmDesc d, const Operands &x,
                                  std::string_view isa) {
  const bool adds = d.beta == 1;
  d.beta = 0;
  d.c = MTC_F32;
  std::vector<float> sums = valuesOf(d.c, product(d, x, isa, 2));
  std::vector<uint16_t> rounded;
  for (size_t i = 0; i < sums.size(); ++i)
    rounded.push_back(withoutPayload(
        runtime::roundToBf16(adds ? x.c[i] + sums[i] : sums[i])));
  return rounded;
}

// Of k = 1 a sum is a product, which has twice the bits of bf16, so ties are
// among them; whole blocks and their edges.
TEST(OwnGemm, SumsOfEveryKindAreRoundedOnce) {
  std::mt19937 rng(17);
  for (int64_t k : {1, 2, 70})
    for (int beta : {0, 1}) {
      GemmDesc d{71, 133, k, false, false, beta, MTC_BF16, MTC_BF16};
      const Operands x{anyBf16(d.m * k, rng), anyBf16(k * d.n, rng),
                       anyBf16(d.m * d.n, rng)};
      for (std::string_view isa : isasHere())
        EXPECT_EQ(halvesOf(product(d, x, isa, 2)), roundedSums(d, x, isa))
            << isa << ": " << name(d);
    }
}

} // namespace
} // namespace mtc::test
