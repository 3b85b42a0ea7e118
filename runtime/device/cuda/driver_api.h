//===- driver_api.h - the part of CUDA's driver that is used ----*- C++ -*-===//
//
// Types, numbers and signatures as NVIDIA's "CUDA Driver API" documents them
// (cuda.h of toolkits 12 and 13 has the same): written here so that mtc builds
// where no toolkit is. test/cuda/device holds them to cuda.h where there is
// one.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_DRIVER_API_H
#define MTC_RUNTIME_DEVICE_CUDA_DRIVER_API_H

#include <cstddef>
#include <cstdint>

namespace mtc::cuda {

using Result = int;                      ///< CUresult; 0 is success
inline constexpr Result kNotReady = 600; ///< CUDA_ERROR_NOT_READY
using DeviceNumber = int;
using Address = unsigned long long; ///< CUdeviceptr
using Context = struct CUctx_st *;
using Module = struct CUmod_st *;
using Function = struct CUfunc_st *;
using StreamHandle = struct CUstream_st *;
using EventHandle = struct CUevent_st *;
using Graph = struct CUgraph_st *;
using GraphNode = struct CUgraphNode_st *;
using GraphEdge = struct CUgraphEdgeData_st;
using GraphExec = struct CUgraphExec_st *;

inline constexpr unsigned kNonBlockingStream = 1, kNoTiming = 2;
inline constexpr int kMaxDynamicShared = 8; ///< CUfunction_attribute
inline constexpr int kComputeMajor = 75, kComputeMinor = 76; ///< of a device
inline constexpr int kCaptureThread = 1; ///< CUstreamCaptureMode, THREAD_LOCAL
inline constexpr int kCaptures = 1;      ///< CUstreamCaptureStatus, ACTIVE
/// CUgraphInstantiate_flags, of CU_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY.
inline constexpr unsigned long long kNodePriorities = 8;
/// CUDA_ERROR_NO_BINARY_FOR_GPU.
inline constexpr Result kNoBinaryForGpu = 209;
/// CUDA_ERROR_ECC_UNCORRECTABLE, ..._NVLINK_UNCORRECTABLE, ..._ILLEGAL_ADDRESS,
/// ..._LAUNCH_TIMEOUT, ..._ASSERT, _HARDWARE_STACK_ERROR,
/// ..._ILLEGAL_INSTRUCTION,
/// ..._MISALIGNED_ADDRESS, ..._INVALID_ADDRESS_SPACE, ..._INVALID_PC,
/// ..._LAUNCH_FAILED, ..._UNKNOWN: what ends a context that was in order.
inline constexpr Result kFaults[] = {214, 220, 700, 702, 710, 714,
                                     715, 716, 717, 718, 719, 999};
enum JitOption { kJitErrorLog = 5, kJitErrorLogBytes = 6 };

// The name of each, as libcuda.so.1 has it, and what it takes.
#define MTC_CUDA_DRIVER(X)                                                     \
  X(init, cuInit, unsigned)                                                    \
  X(driverVersion, cuDriverGetVersion, int *)                                  \
  X(errorName, cuGetErrorName, Result, const char **)                          \
  X(deviceCount, cuDeviceGetCount, int *)                                      \
  X(device, cuDeviceGet, DeviceNumber *, int)                                  \
  X(deviceName, cuDeviceGetName, char *, int, DeviceNumber)                    \
  X(deviceMemory, cuDeviceTotalMem_v2, size_t *, DeviceNumber)                 \
  X(reachesPeer, cuDeviceCanAccessPeer, int *, DeviceNumber, DeviceNumber)     \
  X(deviceAttribute, cuDeviceGetAttribute, int *, int, DeviceNumber)           \
  X(retainContext, cuDevicePrimaryCtxRetain, Context *, DeviceNumber)          \
  X(releaseContext, cuDevicePrimaryCtxRelease_v2, DeviceNumber)                \
  X(setContext, cuCtxSetCurrent, Context)                                      \
  X(allocate, cuMemAlloc_v2, Address *, size_t)                                \
  X(free, cuMemFree_v2, Address)                                               \
  X(copyIn, cuMemcpyHtoDAsync_v2, Address, const void *, size_t, StreamHandle) \
  X(copyOut, cuMemcpyDtoHAsync_v2, void *, Address, size_t, StreamHandle)      \
  X(copyWithin, cuMemcpyDtoDAsync_v2, Address, Address, size_t, StreamHandle)  \
  X(fill, cuMemsetD8Async, Address, unsigned char, size_t, StreamHandle)       \
  X(loadModule, cuModuleLoadDataEx, Module *, const void *, unsigned, int *,   \
    void **)                                                                   \
  X(unloadModule, cuModuleUnload, Module)                                      \
  X(function, cuModuleGetFunction, Function *, Module, const char *)           \
  X(setFunction, cuFuncSetAttribute, Function, int, int)                       \
  X(launch, cuLaunchKernel, Function, unsigned, unsigned, unsigned, unsigned,  \
    unsigned, unsigned, unsigned, StreamHandle, void *const *, void **)        \
  X(createStream, cuStreamCreate, StreamHandle *, unsigned)                    \
  X(createPriorityStream, cuStreamCreateWithPriority, StreamHandle *,          \
    unsigned, int)                                                             \
  X(streamPriorities, cuCtxGetStreamPriorityRange, int *, int *)               \
  X(destroyStream, cuStreamDestroy_v2, StreamHandle)                           \
  X(waitStream, cuStreamSynchronize, StreamHandle)                             \
  X(createEvent, cuEventCreate, EventHandle *, unsigned)                       \
  X(destroyEvent, cuEventDestroy_v2, EventHandle)                              \
  X(recordEvent, cuEventRecord, EventHandle, StreamHandle)                     \
  X(waitEvent, cuEventSynchronize, EventHandle)                                \
  X(queryEvent, cuEventQuery, EventHandle)                                     \
  X(elapsed, cuEventElapsedTime_v2, float *, EventHandle, EventHandle)         \
  X(waitInStream, cuStreamWaitEvent, StreamHandle, EventHandle, unsigned)      \
  X(beginCapture, cuStreamBeginCapture_v2, StreamHandle, int)                  \
  X(endCapture, cuStreamEndCapture, StreamHandle, Graph *)                     \
  X(captureInfo, cuStreamGetCaptureInfo_v3, StreamHandle, int *,               \
    unsigned long long *, Graph *, const GraphNode **, const GraphEdge **,     \
    size_t *)                                                                  \
  X(graphNodes, cuGraphGetNodes, Graph, GraphNode *, size_t *)                 \
  X(instantiate, cuGraphInstantiateWithFlags, GraphExec *, Graph,              \
    unsigned long long)                                                        \
  X(launchGraph, cuGraphLaunch, GraphExec, StreamHandle)                       \
  X(destroyGraph, cuGraphDestroy, Graph)                                       \
  X(destroyGraphExec, cuGraphExecDestroy, GraphExec)                           \
  X(allocateHost, cuMemHostAlloc, void **, size_t, unsigned)                   \
  X(freeHost, cuMemFreeHost, void *)

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_DRIVER_API_H
