//===- libraries.h - driver and NCCL, loaded by name ------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_NCCL_LIBRARIES_H
#define MTC_TEST_CUDA_NCCL_LIBRARIES_H

#include <cuda.h>
#include <dlfcn.h>
#include <nccl.h>
#include <string>

#define MTC_TEXT2(x) #x
#define MTC_TEXT(x) MTC_TEXT2(x)

#define MTC_DRIVER(X)                                                          \
  X(cuInit)                                                                    \
  X(cuDevicePrimaryCtxRetain)                                                  \
  X(cuCtxSetCurrent)                                                           \
  X(cuCtxSynchronize)                                                          \
  X(cuMemAlloc)                                                                \
  X(cuMemFree)                                                                 \
  X(cuMemcpyHtoDAsync)                                                         \
  X(cuMemcpyDtoH)                                                              \
  X(cuMemsetD8Async)                                                           \
  X(cuMemsetD32Async)                                                          \
  X(cuStreamCreate)                                                            \
  X(cuStreamDestroy)                                                           \
  X(cuStreamQuery)                                                             \
  X(cuStreamSynchronize)                                                       \
  X(cuStreamWaitEvent)                                                         \
  X(cuStreamBeginCapture)                                                      \
  X(cuStreamEndCapture)                                                        \
  X(cuEventCreate)                                                             \
  X(cuEventRecord)                                                             \
  X(cuGraphGetNodes)                                                           \
  X(cuGraphInstantiate)                                                        \
  X(cuGraphLaunch)

#define MTC_NCCL_FUNCTIONS(X)                                                  \
  X(ncclGetVersion)                                                            \
  X(ncclGetUniqueId)                                                           \
  X(ncclCommInitRank)                                                          \
  X(ncclCommInitRankConfig)                                                    \
  X(ncclCommInitAll)                                                           \
  X(ncclCommSplit)                                                             \
  X(ncclCommFinalize)                                                          \
  X(ncclCommDestroy)                                                           \
  X(ncclCommAbort)                                                             \
  X(ncclCommGetAsyncError)                                                     \
  X(ncclCommCount)                                                             \
  X(ncclCommUserRank)                                                          \
  X(ncclCommCuDevice)                                                          \
  X(ncclCommRegister)                                                          \
  X(ncclCommDeregister)                                                        \
  X(ncclCommRevoke)                                                            \
  X(ncclMemAlloc)                                                              \
  X(ncclMemFree)                                                               \
  X(ncclGetErrorString)                                                        \
  X(ncclGetLastError)                                                          \
  X(ncclAllReduce)                                                             \
  X(ncclReduceScatter)                                                         \
  X(ncclAllGather)                                                             \
  X(ncclAlltoAll)                                                              \
  X(ncclBroadcast)                                                             \
  X(ncclReduce)                                                                \
  X(ncclSend)                                                                  \
  X(ncclRecv)                                                                  \
  X(ncclGroupStart)                                                            \
  X(ncclGroupEnd)

namespace mtc::standin::nccl::test {

#define MTC_MEMBER(f) decltype(&::f) f = nullptr;
#define MTC_LOAD(f)                                                            \
  f = reinterpret_cast<decltype(f)>(dlsym(library, MTC_TEXT(f)));              \
  if (!f)                                                                      \
    return "no " MTC_TEXT(f);

/// Each function by the name that the header's macros give it.
struct Driver {
  MTC_DRIVER(MTC_MEMBER)
  /// What is missing; empty: nothing.
  std::string load() {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return dlerror();
    MTC_DRIVER(MTC_LOAD)
    return "";
  }
};

struct Nccl {
  MTC_NCCL_FUNCTIONS(MTC_MEMBER)
  std::string load() {
    void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return dlerror();
    MTC_NCCL_FUNCTIONS(MTC_LOAD)
    return "";
  }
};

#undef MTC_MEMBER
#undef MTC_LOAD

} // namespace mtc::standin::nccl::test
#endif // MTC_TEST_CUDA_NCCL_LIBRARIES_H
