//===- attributes_test.cpp - descriptors, against the real library --------===//
//
// What needs no GPU is compared with the real libcublasLt.so.13 where there is
// one: MTC_REAL_CUBLASLT, or the toolkit's.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/blas/harness.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <sstream>

using namespace mtc::standin::test;

namespace {

/// For each number: the sizes that can be set and got, what a get of size 0
/// tells, and the first value.
template <class Get, class Set>
void describe(std::ostream &out, const char *name, Get get, Set set) {
  for (int id = -1; id < 48; ++id) {
    out << name << " " << id << ":";
    for (size_t size : {0, 1, 2, 4, 8, 16}) {
      std::array<unsigned char, 64> bytes;
      bytes.fill(0xee);
      size_t written = 99;
      int status = get(id, bytes.data(), size, &written);
      out << " " << size << " " << status;
      if (status)
        continue;
      out << " " << written << " ";
      for (size_t k = 0; k < size; ++k)
        out << int(bytes[k]) << ",";
      std::array<unsigned char, 64> value{7, 7, 7};
      out << set(id, value.data(), size) << get(id, bytes.data(), size, nullptr)
          << int(bytes[0]);
    }
    out << get(id, nullptr, 4, nullptr) << set(id, nullptr, 4) << "\n";
  }
}

std::string answers(const char *path) {
  Lt lt;
  std::string missing = lt.load(path);
  if (!missing.empty())
    return missing;
  std::ostringstream out;
  out << lt.cublasLtGetVersion() << " " << lt.cublasLtGetCudartVersion();
  for (int status = -1; status < 100; ++status)
    out << lt.cublasLtGetStatusName(cublasStatus_t(status)) << ": "
        << lt.cublasLtGetStatusString(cublasStatus_t(status)) << "\n";
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t layout;
  cublasLtMatmulPreference_t preference;
  out << lt.cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F)
      << lt.cublasLtMatrixLayoutCreate(&layout, CUDA_R_16BF, 64, 32, 63)
      << lt.cublasLtMatmulPreferenceCreate(&preference)
      << lt.cublasLtMatmulDescCreate(nullptr, CUBLAS_COMPUTE_32F, CUDA_R_32F)
      << lt.cublasLtMatrixLayoutCreate(nullptr, CUDA_R_16BF, 64, 32, 64)
      << lt.cublasLtMatmulPreferenceCreate(nullptr);
#define ACCESS(KIND, ID, OBJECT)                                               \
  describe(                                                                    \
      out, #KIND,                                                              \
      [&](int id, void *to, size_t size, size_t *written) {                    \
        return lt.cublasLt##KIND##GetAttribute(OBJECT, ID(id), to, size,       \
                                               written);                       \
      },                                                                       \
      [&](int id, const void *value, size_t size) {                            \
        return lt.cublasLt##KIND##SetAttribute(OBJECT, ID(id), value, size);   \
      })
  ACCESS(MatmulDesc, cublasLtMatmulDescAttributes_t, desc);
  ACCESS(MatrixLayout, cublasLtMatrixLayoutAttribute_t, layout);
  ACCESS(MatmulPreference, cublasLtMatmulPreferenceAttributes_t, preference);
#undef ACCESS
  out << lt.cublasLtMatmulDescDestroy(desc)
      << lt.cublasLtMatrixLayoutDestroy(layout)
      << lt.cublasLtMatmulPreferenceDestroy(preference)
      << lt.cublasLtMatmulDescDestroy(nullptr)
      << lt.cublasLtMatrixLayoutDestroy(nullptr)
      << lt.cublasLtMatmulPreferenceDestroy(nullptr)
      << lt.cublasLtDestroy(nullptr) << lt.cublasLtCreate(nullptr);
  return out.str();
}

TEST(Attributes, AreThoseOfTheRealLibrary) {
  setenv("MTC_STANDIN_REPORT", "/dev/null", 1); // what is refused is told
  const char *named = std::getenv("MTC_REAL_CUBLASLT");
  std::string real = named ? named : MTC_REAL_LT_LIBRARY;
  std::string expected, missing;
  {
    Lt lt;
    missing = lt.load(real.c_str());
    if (!missing.empty() || lt.cublasLtGetVersion() != 130100)
      GTEST_SKIP() << "expected cublasLt 13.1.0 at " << real << ": " << missing;
  }
  EXPECT_EQ(answers(real.c_str()), answers(MTC_LT_LIBRARY));
}

TEST(Attributes, HaveOneSizeEach) {
  Outcome outcome = run([] {
    Blas blas;
    Operation operation(blas, Shape());
    int64_t wide = 0;
    int32_t narrow = 0;
    MTC_LT_IS(INVALID_VALUE,
              operation.set(CUBLASLT_MATMUL_DESC_EPILOGUE, wide));
    MTC_LT_IS(INVALID_VALUE,
              operation.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, narrow));
    MTC_LT_OK(operation.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, wide));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note;
  EXPECT_TRUE(outcome.has("attribute 7 does not exist, or is not 8 bytes"));
}

} // namespace
