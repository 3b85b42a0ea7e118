//===- blas_api.h - the part of cuBLASLt that is used -----------*- C++ -*-===//
//
// Types, numbers and signatures as NVIDIA's cuBLAS documentation has them
// ("Using the cuBLASLt API", 12 and 13): written here so that mtc builds where
// no toolkit is. Matrices are column-major.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_BLAS_API_H
#define MTC_RUNTIME_DEVICE_CUDA_BLAS_API_H

#include "runtime/device/cuda/driver_api.h"

namespace mtc::cuda {

using BlasStatus = int; ///< cublasStatus_t; 0 is success
using BlasHandle = struct cublasLtContext *;
using MatmulDesc = void *;
using MatrixLayout = void *;
using MatmulPreference = void *;

struct MatmulAlgo { ///< cublasLtMatmulAlgo_t, opaque
  uint64_t data[8];
};
struct MatmulHeuristic { ///< cublasLtMatmulHeuristicResult_t
  MatmulAlgo algo;
  size_t workspace;
  BlasStatus state;
  float waves;
  int reserved[4];
};

inline constexpr int kR32F = 0, kR16F = 2, kR16BF = 14; ///< cudaDataType
inline constexpr int kCompute32F = 68;         ///< cublasComputeType_t, no tf32
inline constexpr int kTransA = 3, kTransB = 4; ///< of a descriptor
inline constexpr int kOpN = 0, kOpT = 1;       ///< cublasOperation_t
/// Of a descriptor: what happens to sums before they are rounded, and the
/// addresses of what that reads and writes.
inline constexpr int kEpilogue = 7, kBiasPointer = 8, kAuxPointer = 11,
                     kAuxStride = 12;
/// cublasLtEpilogue_t: the sum of what it is made of.
inline constexpr uint32_t kEpilogueBias = 4, kEpilogueGelu = 32,
                          kEpilogueAux = 128;
/// Of a preference: bytes of workspace, and of what A, B, C and D are multiples
/// of (each the one before and 1).
inline constexpr int kMaxWorkspace = 1, kAlignmentOfA = 5;
/// Of a preference: how parts of a split along k may be added, a mask; none, or
/// in the compute type.
inline constexpr int kReductionMask = 3;
inline constexpr uint32_t kReduceInComputeType = 2;

#define MTC_CUDA_BLAS(X)                                                       \
  X(create, cublasLtCreate, BlasHandle *)                                      \
  X(destroy, cublasLtDestroy, BlasHandle)                                      \
  X(createDesc, cublasLtMatmulDescCreate, MatmulDesc *, int, int)              \
  X(destroyDesc, cublasLtMatmulDescDestroy, MatmulDesc)                        \
  X(setDesc, cublasLtMatmulDescSetAttribute, MatmulDesc, int, const void *,    \
    size_t)                                                                    \
  X(createLayout, cublasLtMatrixLayoutCreate, MatrixLayout *, int, uint64_t,   \
    uint64_t, int64_t)                                                         \
  X(destroyLayout, cublasLtMatrixLayoutDestroy, MatrixLayout)                  \
  X(createPreference, cublasLtMatmulPreferenceCreate, MatmulPreference *)      \
  X(destroyPreference, cublasLtMatmulPreferenceDestroy, MatmulPreference)      \
  X(setPreference, cublasLtMatmulPreferenceSetAttribute, MatmulPreference,     \
    int, const void *, size_t)                                                 \
  X(heuristic, cublasLtMatmulAlgoGetHeuristic, BlasHandle, MatmulDesc,         \
    MatrixLayout, MatrixLayout, MatrixLayout, MatrixLayout, MatmulPreference,  \
    int, MatmulHeuristic *, int *)                                             \
  X(checkAlgorithm, cublasLtMatmulAlgoCheck, BlasHandle, MatmulDesc,           \
    MatrixLayout, MatrixLayout, MatrixLayout, MatrixLayout,                    \
    const MatmulAlgo *, MatmulHeuristic *)                                     \
  X(matmul, cublasLtMatmul, BlasHandle, MatmulDesc, const void *,              \
    const void *, MatrixLayout, const void *, MatrixLayout, const void *,      \
    const void *, MatrixLayout, void *, MatrixLayout, const MatmulAlgo *,      \
    void *, size_t, StreamHandle)

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_BLAS_API_H
