//===- api_information.cpp - questions, memory, and what is not there -----===//
#include "test/cuda/nccl/communicator.h"
#include "test/cuda/nccl/driver_calls.h"
#include "test/cuda/nccl/results.h"

#include <map>
#include <mutex>

using namespace mtc::standin::nccl;

namespace {

constexpr const char *kTexts[] = {
    "no error",
    "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
    "unhandled system error (run with NCCL_DEBUG=INFO for details)",
    "internal error - please report this issue to the NCCL developers",
    "invalid argument (run with NCCL_DEBUG=WARN for details)",
    "invalid usage (run with NCCL_DEBUG=WARN for details)",
    "remote process exited or there was a network error",
    "NCCL operation in progress"};

ncclResult_t ask(ncclComm_t comm, const char *who, const char *what, int *out,
                 int value) {
  if (ncclResult_t wrong = check(comm, who, false))
    return wrong;
  if (!out)
    return refuse(ncclInvalidArgument,
                  std::string(who) + " : " + what + " argument is NULL");
  if (comm->life == Life::joining)
    return refuse(ncclInvalidArgument, comm->name + " has not been joined");
  *out = value;
  return ncclSuccess;
}

/// What ncclMemAlloc gave.
std::mutex memoryMutex;
std::map<void *, size_t> memories; ///< with their bytes

ncclResult_t missing(const char *name) {
  return refuseStrictly(ncclInvalidUsage,
                        std::string(name) + " is not in the stand-in");
}

} // namespace

MTC_NCCL ncclGetVersion(int *version) {
  if (!version)
    return refuse(ncclInvalidArgument, "GetVersion : version argument is NULL");
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

extern "C" __attribute__((weak)) const char *
ncclGetErrorString(ncclResult_t result) {
  return size_t(result) < std::size(kTexts) ? kTexts[result]
                                            : "unknown result code";
}

extern "C" __attribute__((weak)) const char *ncclGetLastError(ncclComm_t) {
  return lastError();
}

MTC_NCCL ncclCommCount(const ncclComm_t comm, int *count) {
  return ask(comm, "CommCount", "count", count, comm ? comm->size : 0);
}

MTC_NCCL ncclCommCuDevice(const ncclComm_t comm, int *device) {
  return ask(comm, "CommCuDevice", "device", device, comm ? comm->gpu : 0);
}

MTC_NCCL ncclCommUserRank(const ncclComm_t comm, int *rank) {
  return ask(comm, "CommUserRank", "rank", rank, comm ? comm->rank : 0);
}

//===- Memory -------------------------------------------------------------===//

MTC_NCCL ncclMemAlloc(void **memory, size_t bytes) {
  if (!memory)
    return refuse(ncclInvalidArgument, "ncclMemAlloc : ptr argument is NULL");
  *memory = nullptr;
  if (bytes == 0)
    return ncclSuccess;
  DeviceScope scope(currentDevice());
  if (scope.result)
    return refuseCuda(scope.result);
  CUdeviceptr made = 0;
  ncclResult_t wrong = refuseCuda(driver().cuMemAlloc_(&made, bytes));
  *memory = reinterpret_cast<void *>(made);
  std::lock_guard lock(memoryMutex);
  if (!wrong)
    memories[*memory] = bytes;
  return wrong;
}

MTC_NCCL ncclMemFree(void *memory) {
  if (!memory)
    return ncclSuccess;
  DeviceScope scope(currentDevice());
  if (scope.result)
    return refuseCuda(scope.result);
  const auto from = reinterpret_cast<CUdeviceptr>(memory);
  {
    std::lock_guard lock(memoryMutex);
    auto found = memories.find(memory);
    if (found == memories.end())
      return refuseCuda(CUDA_ERROR_INVALID_VALUE);
    if (std::string who = whoRegistered(from, found->second); !who.empty())
      return refuseStrictly(ncclInvalidUsage,
                            "ncclMemFree of memory that is registered with " +
                                who);
    memories.erase(found);
  }
  return refuseCuda(driver().cuMemFree_(from));
}

/// Registered memory is used as any other; but where one member's buffer of a
/// collective lies there, that of all has to, at the same place (Call).
MTC_NCCL ncclCommRegister(const ncclComm_t comm, void *memory, size_t bytes,
                          void **handle) {
  if (ncclResult_t wrong = check(comm, "CommRegister"))
    return wrong;
  if (!handle)
    return refuse(ncclInvalidArgument,
                  "CommRegister : handle argument is NULL");
  *handle = comm->registered.add(reinterpret_cast<CUdeviceptr>(memory), bytes);
  return ncclSuccess;
}

MTC_NCCL ncclCommDeregister(const ncclComm_t comm, void *handle) {
  if (ncclResult_t wrong = check(comm, "CommDeregister"))
    return wrong;
  if (!handle)
    return ncclSuccess;
  if (!comm->registered.remove(handle))
    return refuseStrictly(ncclInvalidArgument,
                          "ncclCommDeregister of " + comm->name +
                              ": a handle that ncclCommRegister did not give, "
                              "or that was given back");
  return ncclSuccess;
}

//===- Refused by name ----------------------------------------------------===//

MTC_NCCL ncclCommRevoke(ncclComm_t, int) { return missing("ncclCommRevoke"); }

MTC_NCCL ncclCommShrink(ncclComm_t, int *, int, ncclComm_t *, ncclConfig_t *,
                        int) {
  return missing("ncclCommShrink");
}

MTC_NCCL ncclCommInitRankScalable(ncclComm_t *, int, int, int, ncclUniqueId *,
                                  ncclConfig_t *) {
  return missing("ncclCommInitRankScalable");
}

MTC_NCCL ncclCommWindowRegister(ncclComm_t, void *, size_t, ncclWindow_t *,
                                int) {
  return missing("ncclCommWindowRegister");
}

MTC_NCCL ncclCommWindowDeregister(ncclComm_t, ncclWindow_t) {
  return missing("ncclCommWindowDeregister");
}

MTC_NCCL ncclRedOpCreatePreMulSum(ncclRedOp_t *, void *, ncclDataType_t,
                                  ncclScalarResidence_t, ncclComm_t) {
  return missing("ncclRedOpCreatePreMulSum");
}

MTC_NCCL ncclRedOpDestroy(ncclRedOp_t, ncclComm_t) {
  return missing("ncclRedOpDestroy");
}

MTC_NCCL ncclGather(const void *, void *, size_t, ncclDataType_t, int,
                    ncclComm_t, cudaStream_t) {
  return missing("ncclGather");
}

MTC_NCCL ncclScatter(const void *, void *, size_t, ncclDataType_t, int,
                     ncclComm_t, cudaStream_t) {
  return missing("ncclScatter");
}
