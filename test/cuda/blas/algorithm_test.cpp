//===- algorithm_test.cpp - heuristics and what they return ---------------===//
#include "test/cuda/blas/harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>
#include <sstream>

using namespace mtc::standin::test;

namespace {

template <class T>
T configOf(const Blas &blas, const cublasLtMatmulAlgo_t &algo,
           cublasLtMatmulAlgoConfigAttributes_t id) {
  T value{};
  MTC_LT_OK(blas.lt.cublasLtMatmulAlgoConfigGetAttribute(
      &algo, id, &value, sizeof value, nullptr));
  return value;
}

Shape longSum() {
  Shape shape;
  shape.m = 32;
  shape.n = 16;
  shape.k = 8192;
  return shape;
}

std::string bytesOf(const cublasLtMatmulAlgo_t &algo) {
  return {reinterpret_cast<const char *>(&algo), sizeof algo};
}

TEST(Heuristic, FitsTheWorkspace) {
  Outcome outcome = run([] {
    Blas blas;
    Operation operation(blas, longSum());
    operation.makeBuffers();
    std::set<size_t> counts;
    for (size_t limit : {0, 4096, 8208, 65536}) {
      operation.prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                       uint64_t(limit));
      MTC_LT_OK(operation.find(1000));
      counts.insert(operation.results.size());
      MTC_TRUE(operation.results.size() <= 8);
      std::set<std::string> different;
      for (const auto &each : operation.results) {
        MTC_TRUE(each.state == CUBLAS_STATUS_SUCCESS);
        MTC_TRUE(each.workspaceSize <= limit);
        different.insert(bytesOf(each.algo));
      }
      MTC_TRUE(different.size() == operation.results.size());
      MTC_LT_OK(operation.find(2));
      MTC_TRUE(operation.results.size() == 2);
    }
    MTC_TRUE(counts.size() == 3); // 4, then with 2, then with 2, 3, 4 and 6
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

TEST(Heuristic, SaysNoWhereNothingFits) {
  Outcome outcome = run([] {
    Blas blas;
    Shape shape;
    shape.epilogue = CUBLASLT_EPILOGUE_DGELU_BGRAD;
    Operation operation(blas, shape);
    operation.makeBuffers();
    operation.prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t(0));
    MTC_LT_IS(NOT_SUPPORTED, operation.find());
    operation.workspaceBytes = 0;
    MTC_LT_IS(NOT_SUPPORTED, operation.go(blas.s));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

TEST(Heuristic, RunsAndDiffersByShape) {
  Outcome outcome = run([] {
    Blas blas;
    std::set<std::string> first;
    for (int64_t m : {64, 128, 192}) {
      Shape shape = longSum();
      shape.m = m;
      Operation operation(blas, shape);
      operation.makeBuffers();
      MTC_LT_OK(operation.find());
      first.insert(bytesOf(operation.results[0].algo));
      for (const auto &each : operation.results)
        MTC_LT_OK(operation.go(blas.s, each.algo, each.workspaceSize));
      MTC_OK(cuStreamSynchronize(blas.s));
    }
    MTC_TRUE(first.size() == 3);
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

/// What the heuristic lists for a long sum on rank 1, and the version, where
/// the environment says which rank differs and how.
std::vector<std::string> listedWith(const char *differs) {
  Outcome outcome = run([=] {
    setenv("MTC_RANK", "1", 1);
    setenv("MTC_STANDIN_BLAS_DIFFERS", differs, 1);
    Blas blas;
    Operation operation(blas, longSum());
    operation.makeBuffers();
    MTC_LT_OK(operation.find());
    std::string text = std::to_string(blas.lt.cublasLtGetVersion());
    for (const auto &each : operation.results)
      text +=
          "\n" + std::to_string(std::hash<std::string>{}(bytesOf(each.algo)));
    note(text);
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
  std::istringstream lines(outcome.note);
  std::vector<std::string> list;
  for (std::string line; std::getline(lines, line);)
    list.push_back(line);
  return list;
}

TEST(Heuristic, DiffersOnTheRankThatIsNamed) {
  const std::vector<std::string> plain = listedWith("");
  ASSERT_GT(plain.size(), 3u);
  EXPECT_EQ(listedWith("0:reversed"), plain);
  std::vector<std::string> other = listedWith("1:reversed");
  std::reverse(other.begin() + 1, other.end());
  EXPECT_EQ(other, plain);
  other = listedWith("1:fewer");
  EXPECT_NE(other.at(1), plain[1]);
  EXPECT_LT(other.size(), plain.size());
  for (const std::string &each : other)
    EXPECT_NE(std::ranges::find(plain, each), plain.end());
  other = listedWith("1:older");
  EXPECT_NE(other[0], plain[0]);
}

/// A program that does not ask again for another shape may be right or not on
/// a GPU; here it is wrong.
TEST(Check, OfAnotherShape) {
  Outcome outcome = run([] {
    Blas blas;
    Shape shape;
    Operation from(blas, shape);
    from.makeBuffers();
    MTC_LT_OK(from.find());
    auto first = from.results[0];
    shape.n = 48;
    Operation to(blas, shape);
    to.makeBuffers();
    cublasLtMatmulHeuristicResult_t result{};
    MTC_LT_OK(to.check(first.algo, result));
    MTC_TRUE(result.workspaceSize > first.workspaceSize);
    MTC_LT_OK(to.go(blas.s, result.algo, result.workspaceSize));
    MTC_LT_IS(INVALID_VALUE, to.go(blas.s, first.algo, first.workspaceSize));
    // Columns that are aligned less than those it was found for.
    shape.padA = 1;
    Operation odd(blas, shape);
    odd.makeBuffers();
    MTC_LT_IS(NOT_SUPPORTED, odd.check(first.algo, result));
    MTC_TRUE(result.state == CUBLAS_STATUS_NOT_SUPPORTED);
    MTC_LT_IS(NOT_SUPPORTED, odd.go(blas.s, first.algo, 4096));
    MTC_LT_OK(odd.go(blas.s));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
  EXPECT_TRUE(outcome.has("bytes of workspace for this")) << outcome.said;
  EXPECT_TRUE(outcome.has("columns of A aligned to 16")) << outcome.said;
}

TEST(Check, OfOtherTypesAndEpilogues) {
  Outcome outcome = run([] {
    Blas blas;
    Operation from(blas, Shape());
    from.makeBuffers();
    MTC_LT_OK(from.find());
    const cublasLtMatmulAlgo_t &algo = from.results[0].algo;
    auto tried = [&](auto change, cublasStatus_t status) {
      Shape shape;
      change(shape);
      Operation to(blas, shape);
      to.makeBuffers();
      cublasLtMatmulHeuristicResult_t result{};
      expect(to.check(algo, result), status, "check", __LINE__);
      expect(to.go(blas.s, algo, 4096),
             status ? CUBLAS_STATUS_NOT_SUPPORTED : status, "go", __LINE__);
    };
    tried([](Shape &s) { s.epilogue = CUBLASLT_EPILOGUE_BIAS; },
          CUBLAS_STATUS_SUCCESS);
    tried([](Shape &s) { s.beta = 1; }, CUBLAS_STATUS_SUCCESS);
    tried([](Shape &s) { s.out = CUDA_R_32F; }, CUBLAS_STATUS_INVALID_VALUE);
    tried([](Shape &s) { s.compute = CUBLAS_COMPUTE_32F_PEDANTIC; },
          CUBLAS_STATUS_INVALID_VALUE);
    tried([](Shape &s) { s.epilogue = CUBLASLT_EPILOGUE_GELU_AUX_BIAS; },
          CUBLAS_STATUS_NOT_SUPPORTED);
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

TEST(Check, OfBytesFromElsewhere) {
  Outcome outcome = run([] {
    Blas blas;
    Operation operation(blas, Shape());
    operation.makeBuffers();
    for (int byte : {0, 0xff}) {
      cublasLtMatmulAlgo_t algo;
      std::memset(&algo, byte, sizeof algo);
      cublasLtMatmulHeuristicResult_t result{};
      MTC_LT_IS(INVALID_VALUE, operation.check(algo, result));
      MTC_LT_IS(NOT_SUPPORTED, operation.go(blas.s, algo, 4096));
    }
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

/// An address that is aligned less than the preference said.
TEST(Pointers, AsTheHeuristicWasTold) {
  for (bool told : {false, true}) {
    Outcome outcome = run([told] {
      Blas blas;
      Operation operation(blas, Shape());
      operation.makeBuffers();
      if (told)
        operation.prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                         uint32_t(2));
      MTC_LT_OK(operation.find());
      operation.valuesA.push_back(0);
      operation.a = blas.upload(operation.valuesA, CUDA_R_16BF) + 2;
      cublasStatus_t status =
          operation.go(blas.s, operation.results[0].algo, 4096);
      expect(status, told ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED,
             "go", __LINE__);
      MTC_LT_OK(operation.go(blas.s));
    });
    EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
    EXPECT_EQ(outcome.has("wants A aligned to 16 bytes"), !told);
  }
}

TEST(Workspace, IsLargeEnough) {
  Outcome outcome = run([] {
    Blas blas;
    Operation operation(blas, longSum());
    operation.makeBuffers();
    MTC_LT_OK(operation.find());
    const auto &first = operation.results[0];
    MTC_TRUE(first.workspaceSize == 4 * 32 * 16 * 4 + 16);
    MTC_LT_OK(operation.go(blas.s, first.algo, first.workspaceSize));
    MTC_LT_IS(INVALID_VALUE,
              operation.go(blas.s, first.algo, first.workspaceSize - 1));
    MTC_LT_IS(INVALID_VALUE, operation.go(blas.s, first.algo, 0));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

/// Bits of a product with inexact sums, for a split and a scheme.
std::vector<double> bitsOf(Operation &operation, cublasLtMatmulAlgo_t algo,
                           int32_t split, uint32_t scheme) {
  const Blas &blas = operation.blas;
  MTC_LT_OK(blas.lt.cublasLtMatmulAlgoConfigSetAttribute(
      &algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &split, sizeof split));
  MTC_LT_OK(blas.lt.cublasLtMatmulAlgoConfigSetAttribute(
      &algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &scheme, sizeof scheme));
  MTC_LT_OK(operation.go(blas.s, algo, operation.workspaceBytes));
  return operation.result(blas.s);
}

/// Recorded: every algorithm repeats its bits, those without a split have the
/// same ones, those with one have others. In place, the order is open.
TEST(Order, OfSums) {
  Outcome outcome = run([] {
    Blas blas;
    Shape shape = longSum();
    shape.out = CUDA_R_32F;
    Operation operation(blas, shape);
    operation.makeBuffers(1, false);
    MTC_LT_OK(operation.find());
    std::set<std::vector<double>> whole, parts, open;
    const cublasLtMatmulAlgo_t &algo = operation.results[0].algo;
    for (int k = 0; k < 6; ++k) {
      whole.insert(bitsOf(operation, algo, 1, CUBLASLT_REDUCTION_SCHEME_NONE));
      parts.insert(
          bitsOf(operation, algo, 6, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
      open.insert(
          bitsOf(operation, algo, 6, CUBLASLT_REDUCTION_SCHEME_INPLACE));
    }
    MTC_TRUE(whole.size() == 1 && parts.size() == 1 && open.size() > 1);
    MTC_TRUE(*whole.begin() != *parts.begin());
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

TEST(Ids, AreThoseThatInitTakes) {
  Outcome outcome = run([] {
    Blas blas;
    int ids[64], count = 0;
    auto list = [&](cudaDataType_t d, int most) {
      return blas.lt.cublasLtMatmulAlgoGetIds(
          blas.handle, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF,
          d, d, most, ids, &count);
    };
    MTC_LT_OK(list(CUDA_R_16BF, 64));
    MTC_TRUE(count == 2);
    Operation operation(blas, Shape());
    operation.makeBuffers();
    for (int k = 0; k < count; ++k) {
      cublasLtMatmulAlgo_t algo;
      MTC_LT_OK(blas.lt.cublasLtMatmulAlgoInit(
          blas.handle, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF,
          CUDA_R_16BF, CUDA_R_16BF, ids[k], &algo));
      MTC_TRUE(configOf<int32_t>(blas, algo, CUBLASLT_ALGO_CONFIG_ID) ==
               ids[k]);
      uint32_t align = 0;
      MTC_LT_OK(blas.lt.cublasLtMatmulAlgoCapGetAttribute(
          &algo, CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES, &align, sizeof align,
          nullptr));
      MTC_TRUE(align == 2 || align == 16);
      MTC_LT_OK(operation.go(blas.s, algo, 4096));
    }
    MTC_LT_OK(list(CUDA_R_16BF, 1));
    MTC_TRUE(count == 1);
    MTC_LT_IS(NOT_SUPPORTED, list(CUDA_R_16F, 64));
    cublasLtMatmulAlgo_t algo;
    MTC_LT_IS(INVALID_VALUE,
              blas.lt.cublasLtMatmulAlgoInit(
                  blas.handle, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF,
                  CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, 1000, &algo));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

} // namespace
