//===- api_calls.cpp - collectives, sends, receives, groups ---------------===//
#include "test/cuda/nccl/communicator.h"
#include "test/cuda/nccl/creations.h"
#include "test/cuda/nccl/driver_calls.h"
#include "test/cuda/nccl/group.h"
#include "test/cuda/nccl/results.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace mtc::standin::nccl;

namespace {

/// More elements than any memory has: their bytes may not fit a word.
constexpr uint64_t kMostElements = uint64_t(1) << 48;

/// A thread within a call. Another one may not be in a call of the same
/// communicator, unless it asks or aborts.
class Inside {
public:
  explicit Inside(ncclComm &comm)
      : comm(comm), first(!comm.inCall.exchange(true)) {}
  ~Inside() {
    if (first)
      comm.inCall = false;
  }
  ncclResult_t result() const {
    return first
               ? ncclSuccess
               : refuseStrictly(ncclInvalidUsage,
                                "two threads at once in calls of " + comm.name);
  }

private:
  ncclComm &comm;
  const bool first;
};

bool checksPointers() {
  const char *text = std::getenv("NCCL_CHECK_POINTERS");
  return text && !std::strcmp(text, "1");
}

/// Only with NCCL_CHECK_POINTERS; otherwise the device finds out.
ncclResult_t checkPointer(const Call &call, const char *which, CUdeviceptr at) {
  if (!checksPointers() || driver().isMemory(at))
    return ncclSuccess;
  char text[32] = "(nil)";
  if (at)
    std::snprintf(text, sizeof text, "0x%llx", at);
  return refuse(ncclInvalidArgument, std::string(call.shortName()) + " : " +
                                         which + " " + text +
                                         " is not a valid pointer");
}

ncclResult_t checkRequest(const ncclComm &comm, const Request &request) {
  const Call &call = request.call;
  if (ncclResult_t wrong = checkCall(call, comm.size))
    return wrong;
  if (call.count > kMostElements)
    return refuseCuda(CUDA_ERROR_INVALID_VALUE);
  bool reads = call.bytesRead(comm.rank, comm.size) || call.count == 0;
  bool writes = call.bytesWritten(comm.rank, comm.size) || call.count == 0;
  if (reads && call.kind != Kind::receive)
    if (ncclResult_t wrong = checkPointer(call, "sendbuff", request.from))
      return wrong;
  return writes && call.kind != Kind::send
             ? checkPointer(call, "recvbuff", request.to)
             : ncclSuccess;
}

/// Notes whether the buffer with all elements of a collective lies in memory
/// that the communicator knows.
void findRegistered(ncclComm &comm, Request &request) {
  Call &call = request.call;
  if (call.isTransfer())
    return;
  CUdeviceptr at = call.readsAll() ? request.from : request.to;
  size_t bytes = std::max(call.bytesRead(comm.rank, comm.size),
                          call.bytesWritten(comm.rank, comm.size));
  if (bytes > 0)
    call.registered = comm.registered.find(at, bytes).value_or(-1);
  ++comm.calls;
  comm.registeredCalls += call.registered >= 0;
}

ncclResult_t take(ncclComm_t comm, const Call &call, const void *from, void *to,
                  cudaStream_t stream) {
  if (ncclResult_t wrong = check(comm, call.shortName()))
    return remember(wrong);
  Inside inside(*comm);
  if (ncclResult_t wrong = inside.result())
    return remember(wrong);
  Request request{call, reinterpret_cast<CUdeviceptr>(from),
                  reinterpret_cast<CUdeviceptr>(to)};
  if (ncclResult_t wrong = checkRequest(*comm, request)) {
    if (!comm->blocking)
      comm->async = wrong;
    return remember(wrong);
  }
  if (comm->life == Life::finalized)
    return remember(
        refuseStrictly(ncclInvalidUsage, call.text() + " in " + comm->name +
                                             ", which was finalized"));
  findRegistered(*comm, request);
  noteCall();
  return issue(comm, request, reinterpret_cast<CUstream>(stream));
}

} // namespace

MTC_NCCL ncclAllReduce(const void *from, void *to, size_t count,
                       ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                       cudaStream_t stream) {
  return take(comm, {Kind::allReduce, type, op, 0, count}, from, to, stream);
}

MTC_NCCL ncclReduceScatter(const void *from, void *to, size_t count,
                           ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
  return take(comm, {Kind::reduceScatter, type, op, 0, count}, from, to,
              stream);
}

MTC_NCCL ncclAllGather(const void *from, void *to, size_t count,
                       ncclDataType_t type, ncclComm_t comm,
                       cudaStream_t stream) {
  return take(comm, {Kind::allGather, type, ncclSum, 0, count}, from, to,
              stream);
}

MTC_NCCL ncclAlltoAll(const void *from, void *to, size_t count,
                      ncclDataType_t type, ncclComm_t comm,
                      cudaStream_t stream) {
  return take(comm, {Kind::allToAll, type, ncclSum, 0, count}, from, to,
              stream);
}

MTC_NCCL ncclBroadcast(const void *from, void *to, size_t count,
                       ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream) {
  return take(comm, {Kind::broadcast, type, ncclSum, root, count}, from, to,
              stream);
}

MTC_NCCL ncclBcast(void *buffer, size_t count, ncclDataType_t type, int root,
                   ncclComm_t comm, cudaStream_t stream) {
  return take(comm, {Kind::broadcast, type, ncclSum, root, count}, buffer,
              buffer, stream);
}

MTC_NCCL ncclReduce(const void *from, void *to, size_t count,
                    ncclDataType_t type, ncclRedOp_t op, int root,
                    ncclComm_t comm, cudaStream_t stream) {
  return take(comm, {Kind::reduce, type, op, root, count}, from, to, stream);
}

MTC_NCCL ncclSend(const void *from, size_t count, ncclDataType_t type, int peer,
                  ncclComm_t comm, cudaStream_t stream) {
  return take(comm, {Kind::send, type, ncclSum, peer, count}, from, nullptr,
              stream);
}

MTC_NCCL ncclRecv(void *to, size_t count, ncclDataType_t type, int peer,
                  ncclComm_t comm, cudaStream_t stream) {
  return take(comm, {Kind::receive, type, ncclSum, peer, count}, nullptr, to,
              stream);
}

MTC_NCCL ncclGroupStart() { return startGroup(); }

MTC_NCCL ncclGroupEnd() { return endGroup(); }

MTC_NCCL ncclGroupSimulateEnd(ncclSimInfo_t *) { return dropGroup(); }
