//===- api_test.cpp - declarations of ours against the toolkit's ----------===//
//
// runtime/device/cuda declares what it uses of the driver, of cuBLASLt and of
// NCCL. Where the toolkit's headers are, each signature has as many parameters
// of the same sizes and kinds, and each number is theirs.
//
//===----------------------------------------------------------------------===//
#include "runtime/device/cuda/blas_api.h"
#include "runtime/device/cuda/nccl_api.h"

#include <cublasLt.h>
#include <cuda.h>
#include <nccl.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

namespace mtc::cuda {
namespace {

template <typename A, typename B> constexpr bool isAlike() {
  return sizeof(A) == sizeof(B) &&
         std::is_pointer_v<A> == std::is_pointer_v<B> &&
         std::is_class_v<A> == std::is_class_v<B> &&
         std::is_floating_point_v<A> == std::is_floating_point_v<B>;
}

template <typename... As> struct Ours {
  template <typename R, typename... Bs>
  static constexpr bool matches(R (*)(Bs...)) {
    if constexpr (sizeof...(As) != sizeof...(Bs))
      return false;
    else
      return isAlike<R, int>() && (isAlike<As, Bs>() && ...);
  }
};

#define X(name, symbol, ...)                                                   \
  static_assert(Ours<__VA_ARGS__>::matches(&::symbol), #symbol);
MTC_CUDA_DRIVER(X)
MTC_CUDA_BLAS(X)
MTC_CUDA_NCCL(X)
#undef X

TEST(CudaApi, NumbersAreTheToolkits) {
  EXPECT_EQ(kNonBlockingStream, unsigned(CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(kNoTiming, unsigned(CU_EVENT_DISABLE_TIMING));
  EXPECT_EQ(kMaxDynamicShared,
            int(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
  EXPECT_EQ(kComputeMajor, int(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  EXPECT_EQ(kComputeMinor, int(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  EXPECT_EQ(kCaptureThread, int(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  EXPECT_EQ(kCaptures, int(CU_STREAM_CAPTURE_STATUS_ACTIVE));
  EXPECT_EQ(kNodePriorities,
            static_cast<unsigned long long>(
                CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
  EXPECT_EQ(int(kJitErrorLog), int(CU_JIT_ERROR_LOG_BUFFER));
  EXPECT_EQ(int(kJitErrorLogBytes), int(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES));
  EXPECT_EQ(kNcclUint8, int(ncclUint8));
  EXPECT_EQ(kNcclUint64, int(ncclUint64));
  EXPECT_EQ(kNcclFloat16, int(ncclFloat16));
  EXPECT_EQ(kNcclFloat32, int(ncclFloat32));
  EXPECT_EQ(kNcclBfloat16, int(ncclBfloat16));
  EXPECT_EQ(kNcclInvalidUsage, int(ncclInvalidUsage));
  EXPECT_EQ(kNcclRemoteError, int(ncclRemoteError));
  EXPECT_EQ(kNotReady, int(CUDA_ERROR_NOT_READY));
  EXPECT_EQ(kNcclSum, int(ncclSum));
  EXPECT_EQ(kNcclMax, int(ncclMax));
  EXPECT_EQ(kNcclNoColor, NCCL_SPLIT_NOCOLOR);
  EXPECT_EQ(kR32F, int(CUDA_R_32F));
  EXPECT_EQ(kR16F, int(CUDA_R_16F));
  EXPECT_EQ(kR16BF, int(CUDA_R_16BF));
  EXPECT_EQ(kCompute32F, int(CUBLAS_COMPUTE_32F));
  EXPECT_EQ(kTransA, int(CUBLASLT_MATMUL_DESC_TRANSA));
  EXPECT_EQ(kTransB, int(CUBLASLT_MATMUL_DESC_TRANSB));
  EXPECT_EQ(kEpilogue, int(CUBLASLT_MATMUL_DESC_EPILOGUE));
  EXPECT_EQ(kBiasPointer, int(CUBLASLT_MATMUL_DESC_BIAS_POINTER));
  EXPECT_EQ(kAuxPointer, int(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER));
  EXPECT_EQ(kAuxStride, int(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD));
  EXPECT_EQ(kEpilogueBias, uint32_t(CUBLASLT_EPILOGUE_BIAS));
  EXPECT_EQ(kEpilogueGelu, uint32_t(CUBLASLT_EPILOGUE_GELU));
  EXPECT_EQ(kEpilogueGelu | kEpilogueAux, uint32_t(CUBLASLT_EPILOGUE_GELU_AUX));
  EXPECT_EQ(kEpilogueBias | kEpilogueGelu | kEpilogueAux,
            uint32_t(CUBLASLT_EPILOGUE_GELU_AUX_BIAS));
  EXPECT_EQ(kOpN, int(CUBLAS_OP_N));
  EXPECT_EQ(kOpT, int(CUBLAS_OP_T));
  EXPECT_EQ(kMaxWorkspace, int(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES));
  EXPECT_EQ(kReductionMask, int(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK));
  EXPECT_EQ(kReduceInComputeType,
            uint32_t(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  EXPECT_EQ(kAlignmentOfA, int(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES));
  EXPECT_EQ(kAlignmentOfA + 3, int(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES));
}

TEST(CudaApi, StructsAreTheToolkits) {
  EXPECT_EQ(sizeof(MatmulAlgo), sizeof(cublasLtMatmulAlgo_t));
  EXPECT_EQ(sizeof(MatmulHeuristic), sizeof(cublasLtMatmulHeuristicResult_t));
  EXPECT_EQ(offsetof(MatmulHeuristic, state),
            offsetof(cublasLtMatmulHeuristicResult_t, state));
}

} // namespace
} // namespace mtc::cuda
