//===- numerics_test.cpp - what products give -----------------------------===//
#include "test/cuda/blas/reference.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mtc::standin::test;

namespace {

constexpr double kF32 = 0x1p-24; // half a unit in the last place of 1

double halfUnit(cudaDataType_t type) {
  return type == CUDA_R_32F ? kF32 : type == CUDA_R_16F ? 0x1p-11 : 0x1p-8;
}

struct Expected {
  double value, bound;
};

/// Of D. The bound: every product and sum in f32 adds half a unit of what it
/// may hold at most; then what is rounded to D's type, twice at most, adds half
/// a unit there. GELU and its slope stretch errors by less than 1.13.
Expected expectedOf(const Shape &shape, const Element &of) {
  double v = shape.alpha * of.sum + shape.beta * of.old + of.bias;
  double size = std::fabs(shape.alpha) * of.magnitude +
                std::fabs(shape.beta * of.old) + std::fabs(of.bias);
  double inputs =
      shape.compute == CUBLAS_COMPUTE_32F_FAST_TF32 && shape.type == CUDA_R_32F
          ? 0x1p-10 * size
          : 0;
  double error = double(shape.k + 8) * kF32 * size + inputs;
  double last = halfUnit(shape.out);
  constexpr double kTiny = 0x1p-24; // below the normal numbers of f16
  if (shape.hasAux() && !(shape.epilogue & CUBLASLT_EPILOGUE_GELU)) {
    double slope = geluTanhSlope(of.aux);
    return {v * slope, 1.13 * (error + last * std::fabs(v)) +
                           2 * last * std::fabs(v * slope) + kTiny};
  }
  error += last * std::fabs(v); // of a product that is rounded before C
  if (!(shape.epilogue & CUBLASLT_EPILOGUE_GELU))
    return {v, error + last * std::fabs(size) + kTiny};
  double g = geluTanh(v);
  return {g, 1.13 * error + 2 * last * std::fabs(g) + kTiny};
}

void check(double found, const Expected &expected, const std::string &what) {
  if (!(std::fabs(found - expected.value) <= expected.bound))
    fail(what + ": expected " + std::to_string(expected.value) + " within " +
         std::to_string(expected.bound) + ", found " + std::to_string(found));
}

void checkD(const Operation &operation, const std::vector<double> &d) {
  const Shape &shape = operation.shape;
  int64_t ld = shape.m + shape.padD;
  for (int product = 0; product < shape.batch; ++product)
    for (int64_t j = 0; j < shape.n; ++j)
      for (int64_t i = 0; i < ld; ++i) {
        size_t place = size_t((product * shape.n + j) * ld + i);
        if (i >= shape.m) // padding stays
          MTC_TRUE(d[place] == operation.valuesC[place]);
        else
          check(d[place],
                expectedOf(shape, elementOf(operation, i, j, product)),
                shape.name());
      }
}

void checkGradient(const Operation &operation, const std::vector<double> &d) {
  const Shape &shape = operation.shape;
  std::vector<double> found = operation.blas.download(
      operation.bias, size_t(shape.biasLength()), shape.out);
  for (int64_t k = 0; k < shape.biasLength(); ++k) {
    Element of;
    double slack = 0;
    if (shape.epilogue == CUBLASLT_EPILOGUE_DGELU_BGRAD) {
      for (int64_t j = 0; j < shape.n; ++j) {
        double value = d[size_t(k + j * (shape.m + shape.padD))];
        of.sum += value;
        of.magnitude += std::fabs(value);
      }
      slack = halfUnit(shape.out) * of.magnitude; // D is rounded, it is not
    } else {
      of = inputSum(operation, k);
    }
    double terms = double(std::max(shape.n, shape.k));
    check(found[size_t(k)],
          {of.sum, slack + terms * kF32 * of.magnitude +
                       halfUnit(shape.out) * std::fabs(of.sum) + 0x1p-24},
          "gradient of " + shape.name());
  }
}

void runShape(const Blas &blas, const Shape &shape, uint64_t seed) {
  Operation operation(blas, shape);
  operation.workspaceBytes = 4096;
  operation.makeBuffers(seed, false);
  MTC_LT_OK(operation.go(blas.s));
  std::vector<double> d = operation.result(blas.s);
  checkD(operation, d);
  if (shape.hasGradient())
    checkGradient(operation, d);
  operation.destroy();
}

constexpr uint32_t kEpilogues[] = {
    CUBLASLT_EPILOGUE_DEFAULT,  CUBLASLT_EPILOGUE_BIAS,
    CUBLASLT_EPILOGUE_GELU,     CUBLASLT_EPILOGUE_GELU_BIAS,
    CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
    CUBLASLT_EPILOGUE_DGELU,    CUBLASLT_EPILOGUE_DGELU_BGRAD,
    CUBLASLT_EPILOGUE_BGRADA,   CUBLASLT_EPILOGUE_BGRADB};

constexpr cudaDataType_t kTypes[][2] = {{CUDA_R_16BF, CUDA_R_16BF},
                                        {CUDA_R_16BF, CUDA_R_32F},
                                        {CUDA_R_16F, CUDA_R_16F},
                                        {CUDA_R_16F, CUDA_R_32F},
                                        {CUDA_R_32F, CUDA_R_32F}};

class Forms : public testing::TestWithParam<size_t> {};

TEST_P(Forms, AreWithinTheirBounds) {
  Outcome outcome = run([] {
    Blas blas;
    for (uint32_t epilogue : kEpilogues)
      for (int trans = 0; trans < 4; ++trans)
        for (float beta : {0.0f, 1.0f, 0.5f}) {
          Shape shape;
          shape.type = kTypes[GetParam()][0];
          shape.out = kTypes[GetParam()][1];
          shape.transA = trans & 1;
          shape.transB = trans & 2;
          if ((epilogue == CUBLASLT_EPILOGUE_BGRADA && shape.transA) ||
              (epilogue == CUBLASLT_EPILOGUE_BGRADB && !shape.transB))
            continue;
          shape.epilogue = epilogue;
          shape.m = 40;
          shape.n = 24;
          shape.k = 37;
          shape.padA = trans;
          shape.padB = 3;
          shape.padD = 8;
          shape.alpha = 0.375f;
          shape.beta = beta;
          runShape(blas, shape, epilogue + uint32_t(trans));
        }
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

INSTANTIATE_TEST_SUITE_P(Types, Forms, testing::Range<size_t>(0, 5));

TEST(Numerics, SizesOfOneBatchesAndScalarsOfTheDevice) {
  Outcome outcome = run([] {
    Blas blas;
    for (int64_t m : {1, 5, 33})
      for (int64_t n : {1, 6})
        for (int64_t k : {0, 1, 19}) {
          Shape shape;
          shape.m = m;
          shape.n = n;
          shape.k = k;
          shape.beta = 0.5f;
          runShape(blas, shape, uint64_t(m + n + k));
        }
    Shape shape;
    shape.batch = 3;
    shape.padD = 2;
    runShape(blas, shape, 1);
    shape.deviceScalars = true;
    shape.alpha = 0.75f;
    shape.beta = 2;
    runShape(blas, shape, 2);
    shape = Shape();
    shape.type = shape.out = CUDA_R_32F;
    shape.compute = CUBLAS_COMPUTE_32F_FAST_TF32;
    runShape(blas, shape, 3);
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

TEST(Numerics, Tf32DropsBits) {
  Outcome outcome = run([] {
    Blas blas;
    Shape shape;
    shape.type = shape.out = CUDA_R_32F;
    shape.m = shape.n = shape.k = 1;
    shape.compute = CUBLAS_COMPUTE_32F_FAST_TF32;
    Operation operation(blas, shape);
    operation.makeBuffers();
    // Half a unit in the last place of TF32 is rounded away from zero.
    operation.a = blas.upload({-(1 + 0x1p-11)}, CUDA_R_32F);
    operation.b = blas.upload({1 + 0x1p-12}, CUDA_R_32F);
    MTC_LT_OK(operation.go(blas.s));
    MTC_TRUE(operation.result(blas.s)[0] == -(1 + 0x1p-10));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

TEST(Numerics, NaN) {
  Outcome outcome = run([] {
    Blas blas;
    for (cudaDataType_t type : {CUDA_R_16BF, CUDA_R_32F}) {
      Shape shape;
      shape.type = type;
      shape.out = CUDA_R_32F;
      shape.m = shape.n = shape.k = 1;
      shape.alpha = 0;
      shape.beta = 1;
      Operation operation(blas, shape);
      operation.makeBuffers();
      operation.a = blas.upload({std::nan("")}, type);
      MTC_LT_OK(operation.go(blas.s));
      double found = operation.result(blas.s)[0];
      MTC_TRUE(type == CUDA_R_16BF ? std::isnan(found)
                                   : found == operation.valuesC[0]);
      // beta 0 does not read C, NaN or not written.
      operation.shape.alpha = 1;
      operation.shape.beta = 0;
      operation.a = blas.upload({2}, type);
      operation.c = operation.d = blas.empty(4);
      MTC_LT_OK(operation.go(blas.s));
      MTC_TRUE(operation.result(blas.s)[0] == 2 * operation.valuesB[0]);
    }
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

} // namespace
