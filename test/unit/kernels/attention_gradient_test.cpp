// Gradients against finite differences of the definition, independent of any
// derivative formula.
#include "attention_reference.h"

#include "runtime/kernels/cpu/isa.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace mtc;
using namespace mtc::test;

/// sum(out·dout) of the definition.
static double loss(const Problem &p) {
  Reference r = reference(p);
  std::vector<double> w = dense(p, p.dout.data(), p.shape.heads,
                                p.shape.o_token_stride, p.shape.o_head_stride);
  double sum = 0;
  for (size_t i = 0; i < w.size(); ++i)
    sum += w[i] * r.out[i];
  return sum;
}

TEST(AttentionGradient, FiniteDifferences) {
  const char *isa =
      runtime::processorHas("x86-64-v4") ? "x86-64-v4" : "x86-64-v3";
  ASSERT_TRUE(runtime::mtc_kernels_select_isa(isa).ok());
  Problem p({1, 19, 4, 2, 4, true, 0.2}, Layout::dense);
  p.forward();
  p.backward();
  // Every 7th element of q, k and v. The step is a power of two; inputs are
  // rounded to multiples of 2^-12, so that x +- h is exact in float.
  for (float &x : p.qkv)
    x = std::round(x * 0x1p12f) * 0x1p-12f;
  p.forward();
  p.backward();
  for (size_t i = 0; i < p.qkv.size(); i += 7) {
    float h = 0x1p-10f;
    Problem up = p, down = p;
    up.qkv[i] += h;
    down.qkv[i] -= h;
    double slope = (loss(up) - loss(down)) / (2 * double(h));
    // The central difference errs by h^2/6 times a third derivative of a few
    // units: 1e-6·; fp32 adds less.
    EXPECT_NEAR(p.dqkv[i], slope, 1e-5) << i;
  }
}
