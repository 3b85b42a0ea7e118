//===- nccl_api.h - the part of NCCL that is used ---------------*- C++ -*-===//
//
// Types, numbers and signatures as NVIDIA's NCCL documentation has them (2.28):
// written here so that mtc builds where NCCL is not. test/cuda/device holds
// them to nccl.h where there is one.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_NCCL_API_H
#define MTC_RUNTIME_DEVICE_CUDA_NCCL_API_H

#include "runtime/device/cuda/driver_api.h"

namespace mtc::cuda {

using NcclResult = int; ///< ncclResult_t; 0 is success
using NcclHandle = struct ncclComm *;
struct NcclId { ///< ncclUniqueId
  char internal[128];
};

inline constexpr int kNcclUint8 = 1, kNcclUint64 = 5, kNcclFloat16 = 6,
                     kNcclFloat32 = 7, kNcclBfloat16 = 9; ///< ncclDataType_t
inline constexpr NcclResult kNcclInvalidUsage = 5, kNcclRemoteError = 6;
inline constexpr int kNcclSum = 0, kNcclMax = 2; ///< ncclRedOp_t
inline constexpr int kNcclNoColor = -1;          ///< NCCL_SPLIT_NOCOLOR

// The name of each, as libnccl.so.2 has it, and what it takes. Counts are
// elements of one rank: of an all-gather what it sends, of a reduce-scatter
// what it receives. Calls between groupStart and groupEnd are one.
#define MTC_CUDA_NCCL(X)                                                       \
  X(version, ncclGetVersion, int *)                                            \
  X(makeId, ncclGetUniqueId, NcclId *)                                         \
  X(init, ncclCommInitRank, NcclHandle *, int, NcclId, int)                    \
  X(split, ncclCommSplit, NcclHandle, int, int, NcclHandle *, void *)          \
  X(destroy, ncclCommDestroy, NcclHandle)                                      \
  X(abort, ncclCommAbort, NcclHandle)                                          \
  X(allocate, ncclMemAlloc, void **, size_t)                                   \
  X(free, ncclMemFree, void *)                                                 \
  X(registerMemory, ncclCommRegister, NcclHandle, void *, size_t, void **)     \
  X(deregister, ncclCommDeregister, NcclHandle, void *)                        \
  X(asyncError, ncclCommGetAsyncError, NcclHandle, NcclResult *)               \
  X(allReduce, ncclAllReduce, const void *, void *, size_t, int, int,          \
    NcclHandle, StreamHandle)                                                  \
  X(reduceScatter, ncclReduceScatter, const void *, void *, size_t, int, int,  \
    NcclHandle, StreamHandle)                                                  \
  X(allGather, ncclAllGather, const void *, void *, size_t, int, NcclHandle,   \
    StreamHandle)                                                              \
  X(send, ncclSend, const void *, size_t, int, int, NcclHandle, StreamHandle)  \
  X(receive, ncclRecv, void *, size_t, int, int, NcclHandle, StreamHandle)     \
  X(groupStart, ncclGroupStart)                                                \
  X(groupEnd, ncclGroupEnd)

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_NCCL_API_H
