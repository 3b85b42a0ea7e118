//===- rounding_test.cpp - what is rounded where --------------------------===//
//
// Rows of "rounding" of test/golden/cuda/lt.json: with sums that are exact the
// hypothesis with 0 differing elements there has none here, and the one that
// differed there differs here.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/blas/reference.h"

#include <gtest/gtest.h>

using namespace mtc::standin::test;

namespace {

using Hypothesis = double (*)(const Shape &, const Element &);

float f32(double value) { return float(value); }

double once(const Shape &s, const Element &e) {
  return f32(s.alpha * e.sum + s.beta * e.old) + e.bias;
}
double productRounded(const Shape &s, const Element &e) {
  return roundTo(s.out, s.alpha * e.sum) + s.beta * e.old + e.bias;
}
double mulThenAdd(const Shape &s, const Element &e) {
  return f32(f32(s.alpha * e.sum) + f32(s.beta * e.old)) + e.bias;
}
double biasThenC(const Shape &s, const Element &e) {
  return roundTo(s.out, s.alpha * e.sum + e.bias) + s.beta * e.old;
}
double perOperation(const Shape &s, const Element &e) {
  return roundTo(s.out, s.alpha * e.sum) + e.bias;
}
double onceTanh(const Shape &s, const Element &e) {
  return geluTanh(once(s, e));
}
double onceErf(const Shape &s, const Element &e) { return geluErf(once(s, e)); }
double midTanh(const Shape &s, const Element &e) {
  return geluTanh(roundTo(s.out, once(s, e)));
}
double slope(const Shape &s, const Element &e) {
  return once(s, e) * geluTanhSlope(e.aux);
}
double slopeOfRounded(const Shape &s, const Element &e) {
  return roundTo(s.out, once(s, e)) * geluTanhSlope(e.aux);
}

struct Row {
  const char *name;
  cudaDataType_t type, out;
  uint32_t epilogue;
  int64_t k;
  float alpha, beta;
  bool apart; ///< C is not D
  Hypothesis holds, fails;
};

constexpr auto BF = CUDA_R_16BF, HF = CUDA_R_16F, F32 = CUDA_R_32F;
constexpr uint32_t kDefault = CUBLASLT_EPILOGUE_DEFAULT,
                   kBias = CUBLASLT_EPILOGUE_BIAS,
                   kGeluBias = CUBLASLT_EPILOGUE_GELU_BIAS,
                   kAuxBias = CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
                   kDgelu = CUBLASLT_EPILOGUE_DGELU;

const Row kRows[] = {
    {"bias", BF, BF, kBias, 2048, 0.0625f, 0, false, once, perOperation},
    {"in place", BF, BF, kDefault, 2048, 1, 1, false, productRounded, once},
    {"in place f16", HF, HF, kDefault, 2048, 1 / 3.f, 1, false, productRounded,
     once},
    {"in place f32", BF, F32, kDefault, 64, 1 / 3.f, 1, false, mulThenAdd,
     once},
    {"apart", BF, BF, kDefault, 64, 1 / 3.f, 1, true, once, productRounded},
    {"apart f32", HF, F32, kDefault, 64, 1 / 3.f, 1, true, once, mulThenAdd},
    {"beta 0.7", BF, F32, kDefault, 64, 1, 0.7f, false, mulThenAdd, once},
    {"beta 0.7 bf16", BF, BF, kDefault, 2048, 1, 0.7f, false, mulThenAdd,
     productRounded},
    {"bias in place", HF, F32, kBias, 64, 1, 1, false, biasThenC, once},
    {"bias in place bf16", BF, BF, kBias, 64, 1, 1, false, biasThenC, once},
    {"operands f32", F32, F32, kDefault, 64, 1 / 3.f, 1, false, once,
     mulThenAdd},
    {"parts of k", F32, F32, kDefault, 2048, 1 / 3.f, 1, false, productRounded,
     once},
    {"parts of k, beta 0.7", F32, F32, kDefault, 2048, 1, 0.7f, false, once,
     mulThenAdd},
    {"bias, operands f32", F32, F32, kBias, 64, 1, 1, false, once, biasThenC},
    {"gelu", BF, BF, kGeluBias, 2048, 0.0625f, 0, false, onceTanh, onceErf},
    {"gelu with aux", BF, BF, kAuxBias, 2048, 0.0625f, 0, false, onceTanh,
     midTanh},
    {"gelu with aux, beta", BF, BF, kAuxBias, 64, 0.5f, 1, false, onceTanh,
     midTanh},
    {"dgelu", BF, BF, kDgelu, 2048, 0.0625f, 0, false, slopeOfRounded, slope},
    {"dgelu f16", HF, HF, kDgelu, 2048, 0.3f, 0, false, slopeOfRounded, slope}};

size_t differing(const Operation &operation, const std::vector<double> &d,
                 Hypothesis hypothesis) {
  const Shape &shape = operation.shape;
  size_t count = 0;
  for (int64_t j = 0; j < shape.n; ++j)
    for (int64_t i = 0; i < shape.m; ++i) {
      double value = hypothesis(shape, elementOf(operation, i, j));
      count += roundTo(shape.out, value) != d[size_t(j * shape.m + i)];
    }
  return count;
}

void runRow(const Row &row) {
  Blas blas;
  Shape shape;
  shape.type = row.type;
  shape.out = row.out;
  shape.transA = true;
  shape.epilogue = row.epilogue;
  shape.k = row.k;
  shape.alpha = row.alpha;
  shape.beta = row.beta;
  Operation operation(blas, shape);
  operation.makeBuffers(7);
  if (row.apart)
    operation.d = blas.empty(operation.valuesC.size() * bytesOf(row.out));
  MTC_LT_OK(operation.go(blas.s));
  std::vector<double> d = operation.result(blas.s);
  size_t holds = differing(operation, d, row.holds),
         fails = differing(operation, d, row.fails);
  // gelu and its slope are computed in double here and rounded to f32 there,
  // which rounds a few results twice.
  bool isCurved = shape.epilogue & (CUBLASLT_EPILOGUE_GELU | 128);
  if (holds > (isCurved ? d.size() / 500 : 0) || fails < d.size() / 500)
    fail(std::string(row.name) + ": " + std::to_string(holds) + " and " +
         std::to_string(fails) + " of " + std::to_string(d.size()) + " differ");
  if (shape.epilogue != kAuxBias)
    return;
  std::vector<double> aux = blas.download(operation.aux, d.size(), shape.out);
  MTC_TRUE(differing(operation, aux, once) == 0);
}

TEST(Rounding, AsRecorded) {
  for (const Row &row : kRows) {
    Outcome outcome = run([&] { runRow(row); });
    EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
  }
}

/// BGRADA and BGRADB ignore alpha and beta and overwrite.
TEST(Rounding, SumsOfInputsIgnoreTheScalars) {
  Outcome outcome = run([] {
    Blas blas;
    for (uint32_t epilogue :
         {CUBLASLT_EPILOGUE_BGRADA, CUBLASLT_EPILOGUE_BGRADB}) {
      Shape shape;
      shape.transB = true;
      shape.epilogue = epilogue;
      shape.k = 300;
      shape.alpha = 0.5f;
      shape.beta = 1;
      Operation operation(blas, shape);
      operation.makeBuffers();
      MTC_LT_OK(operation.go(blas.s));
      MTC_OK(cuStreamSynchronize(blas.s));
      std::vector<double> found =
          blas.download(operation.bias, size_t(shape.biasLength()), shape.out);
      for (int64_t k = 0; k < shape.biasLength(); ++k)
        MTC_TRUE(found[size_t(k)] ==
                 roundTo(shape.out, inputSum(operation, k).sum));
    }
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

} // namespace
