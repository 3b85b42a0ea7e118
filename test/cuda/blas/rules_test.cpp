//===- rules_test.cpp - what is refused, and with which words -------------===//
#include "test/cuda/blas/harness.h"

#include <gtest/gtest.h>

using namespace mtc::standin::test;

namespace {

struct Rule {
  const char *name;
  Shape shape;
  std::function<void(Operation &)> bend; ///< what is wrong
  cublasStatus_t status;
  const char *sentence; ///< of the report
};

Shape with(uint32_t epilogue, bool transA = false, bool transB = true) {
  Shape shape;
  shape.epilogue = epilogue;
  shape.transA = transA;
  shape.transB = transB;
  return shape;
}

Shape onDevice(uint32_t epilogue) {
  Shape shape = with(epilogue);
  shape.deviceScalars = true;
  shape.beta = 1; // unknown before it runs: C is read
  return shape;
}

Shape withBeta(float beta) {
  Shape shape;
  shape.beta = beta;
  return shape;
}

template <class T>
std::function<void(Operation &)> setting(cublasLtMatmulDescAttributes_t id,
                                         T value) {
  return [=](Operation &of) { MTC_LT_OK(of.set(id, value)); };
}

std::function<void(Operation &)>
layoutSetting(cublasLtMatrixLayout_t Operation::*layout,
              cublasLtMatrixLayoutAttribute_t id, int64_t value,
              size_t bytes = 8) {
  return [=](Operation &of) {
    MTC_LT_OK(of.blas.lt.cublasLtMatrixLayoutSetAttribute(of.*layout, id,
                                                          &value, bytes));
  };
}

constexpr auto kInvalid = CUBLAS_STATUS_INVALID_VALUE;
constexpr auto kUnsupported = CUBLAS_STATUS_NOT_SUPPORTED;

const std::vector<Rule> &rules() {
  static const std::vector<Rule> list = {
      {"leading dimension",
       {},
       layoutSetting(&Operation::layoutA, CUBLASLT_MATRIX_LAYOUT_LD, 63),
       kInvalid,
       "leading dimension 63 is below its 64 rows"},
      {"rows",
       {},
       layoutSetting(&Operation::layoutB, CUBLASLT_MATRIX_LAYOUT_ROWS, 40),
       kInvalid,
       "sizes do not fit"},
      {"row-major",
       {},
       layoutSetting(&Operation::layoutD, CUBLASLT_MATRIX_LAYOUT_ORDER,
                     CUBLASLT_ORDER_ROW, 4),
       kUnsupported,
       "only column-major"},
      {"type of C",
       {},
       layoutSetting(&Operation::layoutC, CUBLASLT_MATRIX_LAYOUT_TYPE,
                     CUDA_R_32F, 4),
       kInvalid,
       "C and D have different types"},
      {"type of B",
       {},
       layoutSetting(&Operation::layoutB, CUBLASLT_MATRIX_LAYOUT_TYPE,
                     CUDA_R_16F, 4),
       kInvalid,
       "A and B have different types"},
      {"type of D",
       {},
       layoutSetting(&Operation::layoutD, CUBLASLT_MATRIX_LAYOUT_TYPE,
                     CUDA_R_16F, 4),
       kUnsupported,
       "D has neither A's type nor f32"},
      {"double",
       {},
       layoutSetting(&Operation::layoutA, CUBLASLT_MATRIX_LAYOUT_TYPE,
                     CUDA_R_64F, 4),
       kUnsupported,
       "expected bf16, f16 or f32"},
      {"compute 16F",
       {},
       setting(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, int32_t(CUBLAS_COMPUTE_16F)),
       kUnsupported,
       "compute type"},
      {"scale type",
       {},
       setting(CUBLASLT_MATMUL_DESC_SCALE_TYPE, int32_t(CUDA_R_16F)),
       kInvalid,
       "scale type"},
      {"C transposed",
       {},
       setting(CUBLASLT_MATMUL_DESC_TRANSC, int32_t(CUBLAS_OP_T)),
       kUnsupported,
       "C cannot be transposed"},
      {"scale pointer",
       {},
       setting(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUdeviceptr(4096)),
       kUnsupported,
       "attribute 17"},
      {"relu",
       {},
       setting(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t(CUBLASLT_EPILOGUE_RELU)),
       kUnsupported,
       "epilogue 2 is not modelled"},
      {"BGRADA of A transposed", with(CUBLASLT_EPILOGUE_BGRADA),
       [](Operation &of) {
         Shape shape = with(CUBLASLT_EPILOGUE_BGRADA, true);
         Operation other(of.blas, shape);
         of.desc = other.desc;
         of.layoutA = other.layoutA;
       },
       kUnsupported, "BGRADA"},
      {"scalars of the device", onDevice(CUBLASLT_EPILOGUE_DEFAULT),
       setting(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t(CUBLASLT_EPILOGUE_BIAS)),
       kUnsupported, "without epilogue only"},
      {"no bias", with(CUBLASLT_EPILOGUE_BIAS),
       setting(CUBLASLT_MATMUL_DESC_BIAS_POINTER, CUdeviceptr(0)), kInvalid,
       "found null"},
      {"type of bias", with(CUBLASLT_EPILOGUE_BIAS),
       setting(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, int32_t(CUDA_R_32F)),
       kInvalid, "not of D's type"},
      {"odd bias", with(CUBLASLT_EPILOGUE_BIAS),
       [](Operation &of) {
         MTC_LT_OK(of.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, of.bias + 1));
       },
       kInvalid, "at no multiple of 16 bytes"},
      {"type of aux", with(CUBLASLT_EPILOGUE_GELU_AUX),
       setting(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE,
               int32_t(CUDA_R_32F)),
       kInvalid, "aux is not of D's type"},
      {"columns of aux", with(CUBLASLT_EPILOGUE_GELU_AUX),
       setting(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, int64_t(68)), kInvalid,
       "no multiple of 8"},
      {"short aux", with(CUBLASLT_EPILOGUE_DGELU),
       setting(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, int64_t(56)), kInvalid,
       "below the 64 rows"},
      {"alignment of aux", with(CUBLASLT_EPILOGUE_GELU_AUX),
       [](Operation &of) {
         MTC_LT_OK(
             of.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, of.aux + 8));
       },
       kInvalid, "aux is not aligned to 16 bytes"},
      {"workspace",
       {},
       [](Operation &of) { of.workspace += 128; },
       kInvalid,
       "workspace is not aligned to 256"},
      {"null A", {}, [](Operation &of) { of.a = 0; }, kInvalid, "is null"},
      {"null C", withBeta(1), [](Operation &of) { of.c = 0; }, kInvalid,
       "C is null"},
      {"odd address",
       {},
       [](Operation &of) { of.b += 1; },
       kUnsupported,
       "not aligned to its elements"},
      {"D is A",
       {},
       [](Operation &of) { of.c = of.d = of.a; },
       kInvalid,
       "D and A share bytes"},
      {"half of C", withBeta(1), [](Operation &of) { of.c = of.d + 256; },
       kInvalid, "D and C share bytes"},
      {"C at D with other columns", withBeta(1),
       layoutSetting(&Operation::layoutC, CUBLASLT_MATRIX_LAYOUT_LD, 72),
       kInvalid, "D and C share bytes"},
      {"aux is D", with(CUBLASLT_EPILOGUE_GELU_AUX),
       [](Operation &of) {
         MTC_LT_OK(of.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, of.d));
       },
       kInvalid, "D and aux share bytes"},
      {"no columns",
       {},
       [](Operation &of) {
         Shape shape;
         shape.n = 0;
         Operation other(of.blas, shape);
         of.layoutB = other.layoutB;
         of.layoutC = other.layoutC;
         of.layoutD = other.layoutD;
       },
       CUBLAS_STATUS_EXECUTION_FAILED,
       "D has no elements"},
      {"destroyed descriptor",
       {},
       [](Operation &of) {
         MTC_LT_OK(of.blas.lt.cublasLtMatmulDescDestroy(of.desc));
       },
       kInvalid,
       "expected a matmul descriptor, found one that was destroyed"},
      {"destroyed layout",
       {},
       [](Operation &of) {
         MTC_LT_OK(of.blas.lt.cublasLtMatrixLayoutDestroy(of.layoutB));
       },
       kInvalid,
       "expected a matrix layout"},
      {"no context",
       {},
       [](Operation &) { MTC_OK(cuCtxSetCurrent(nullptr)); },
       kInvalid,
       "no context is current"},
      {"destroyed handle",
       {},
       [](Operation &of) {
         MTC_LT_OK(of.blas.lt.cublasLtDestroy(of.blas.handle));
       },
       kInvalid,
       "expected a handle"},
  };
  return list;
}

class Rules : public testing::TestWithParam<size_t> {};

TEST_P(Rules, BiteAndTheTwinDoesNot) {
  const Rule &rule = rules()[GetParam()];
  for (bool bent : {false, true}) {
    Outcome outcome = run([&] {
      Blas blas;
      Operation operation(blas, rule.shape);
      operation.makeBuffers();
      if (bent)
        rule.bend(operation);
      expect(operation.go(blas.s), bent ? rule.status : CUBLAS_STATUS_SUCCESS,
             rule.name, __LINE__);
      if (!bent)
        MTC_OK(cuStreamSynchronize(blas.s));
    });
    EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
    EXPECT_EQ(outcome.has(rule.sentence), bent) << outcome.said;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Rules, testing::Range<size_t>(0, rules().size()));

/// The recorded answers where the real library does not crash, and a word
/// where it does.
TEST(Misuse, OfArguments) {
  Outcome outcome = run([] {
    Blas blas;
    Operation of(blas, Shape());
    of.makeBuffers();
    cublasLtMatmulHeuristicResult_t result;
    int count = -1;
    auto ask = [&](cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                   cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t c,
                   cublasLtMatmulPreference_t preference, int most,
                   cublasLtMatmulHeuristicResult_t *results, int *found) {
      return blas.lt.cublasLtMatmulAlgoGetHeuristic(handle, desc, a, of.layoutB,
                                                    c, of.layoutD, preference,
                                                    most, results, found);
    };
    auto h = blas.handle;
    auto d = of.desc;
    auto a = of.layoutA, c = of.layoutC;
    auto p = of.preference;
    MTC_LT_OK(ask(h, d, a, nullptr, p, 1, &result, &count));
    MTC_LT_IS(NOT_INITIALIZED, ask(nullptr, d, a, c, p, 1, &result, &count));
    MTC_LT_IS(INVALID_VALUE, ask(h, d, nullptr, c, p, 1, &result, &count));
    MTC_LT_IS(INVALID_VALUE, ask(h, d, a, c, nullptr, 1, &result, &count));
    MTC_LT_IS(INVALID_VALUE, ask(h, d, a, c, p, 0, &result, &count));
    MTC_LT_IS(INVALID_VALUE, ask(h, nullptr, a, c, p, 1, &result, &count));
    MTC_LT_IS(INVALID_VALUE, ask(h, d, a, c, p, 1, nullptr, &count));
    MTC_LT_IS(INVALID_VALUE, ask(h, d, a, c, p, 1, &result, nullptr));
    float one = 1;
    auto product = [&](cublasLtHandle_t handle, const void *alpha,
                       const void *beta) {
      return blas.lt.cublasLtMatmul(
          handle, d, alpha, reinterpret_cast<void *>(of.a), a,
          reinterpret_cast<void *>(of.b), of.layoutB, beta,
          reinterpret_cast<void *>(of.c), c, reinterpret_cast<void *>(of.d),
          of.layoutD, nullptr, nullptr, 0, nullptr);
    };
    MTC_LT_IS(NOT_INITIALIZED, product(nullptr, &one, &one));
    MTC_LT_IS(INVALID_VALUE, product(h, nullptr, &one));
    MTC_LT_IS(INVALID_VALUE, product(h, &one, nullptr));
    MTC_LT_IS(INVALID_VALUE, blas.lt.cublasLtCreate(nullptr));
    MTC_LT_IS(INVALID_VALUE, blas.lt.cublasLtDestroy(nullptr));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
  EXPECT_TRUE(outcome.has("alpha or beta is null")) << outcome.said;
  EXPECT_TRUE(outcome.has("found null")) << outcome.said;
}

TEST(Misuse, AHandleWantsAContext) {
  Outcome outcome = run([] {
    Lt lt;
    MTC_TRUE(lt.load(MTC_LT_LIBRARY).empty());
    cublasLtHandle_t handle = nullptr;
    MTC_OK(cuInit(0));
    MTC_LT_IS(NOT_INITIALIZED, lt.cublasLtCreate(&handle));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note;
  EXPECT_TRUE(outcome.has("expected a context")) << outcome.said;
}

/// No at a question is an answer, and nothing to report.
TEST(Misuse, AQuestionIsNone) {
  Outcome outcome = run([] {
    Blas blas;
    Operation operation(blas, with(CUBLASLT_EPILOGUE_BGRADB, false, false));
    operation.makeBuffers();
    MTC_LT_IS(NOT_SUPPORTED, operation.find());
    MTC_TRUE(operation.results.empty());
  });
  EXPECT_TRUE(outcome.good()) << outcome.note;
  EXPECT_EQ(outcome.said, "");
}

} // namespace
