//===- nccl_comm.cpp - what GPUs exchange ---------------------------------===//

#include "runtime/device/cuda/nccl_comm.h"

#include "runtime/comm/reduce.h"
#include "runtime/cuda/norm/norm_params.h"

#include <utility>

#include <fmt/format.h>

using mtc::runtime::CollectiveCall;
using mtc::runtime::CollectiveKind;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::cuda {

NcclCommunicator::~NcclCommunicator() {
  for (EventHandle event : {lastCall_, otherCall_})
    if (event)
      (void)driver_.destroyEvent(event);
}

Status NcclCommunicator::open(const Mesh &mesh, int rank,
                              std::span<std::byte> memory) {
  mesh_ = mesh;
  rank_ = rank;
  MTC_RETURN_IF_ERROR(Nccl::load(nccl_));
  limbs_ = std::make_unique<CudaMemory>(driver_);
  const int64_t bytes[] = {kNormLimbs * int64_t(sizeof(uint64_t))};
  MTC_RETURN_IF_ERROR(
      limbs_->allocate(bytes, "the norm between ranks", stream_.handle()));
  for (EventHandle *event : {&lastCall_, &otherCall_})
    MTC_RETURN_IF_ERROR(
        driver_.check(driver_.createEvent(event, kNoTiming), "cuEventCreate"));
  MTC_RETURN_IF_ERROR(groups_.open(*nccl_, host_, mesh, rank, memory));
  // What ranks told each other until now is in no plan.
  const auto before = host_.bytesMoved();
  for (size_t i = 0; i < moved_.size(); ++i)
    moved_[i] = -before[i];
  return Status::okay();
}

static int ncclTypeOf(MtcDtype dtype) {
  return dtype == MTC_F32    ? kNcclFloat32
         : dtype == MTC_BF16 ? kNcclBfloat16
                             : kNcclFloat16;
}

Status NcclCommunicator::turnTo(StreamHandle stream) {
  if (last_ && last_ != stream)
    (void)stream_.accept(driver_.waitInStream(stream, lastCall_, 0),
                         "cuStreamWaitEvent");
  return stream_.failure();
}

void NcclCommunicator::passed(StreamHandle stream) {
  (void)stream_.accept(driver_.recordEvent(lastCall_, stream), "cuEventRecord");
  last_ = stream;
}

Status NcclCommunicator::issue(StreamHandle stream, const CollectiveCall &call,
                               char *buffer) {
  const NcclGroup &group = groups_[call.group];
  const auto count = static_cast<size_t>(call.count);
  int64_t part = call.count * runtime::comm::elementBytes(call.dtype);
  char *own = buffer + part * group.own;
  int op = call.reduce == MTC_SUM ? kNcclSum : kNcclMax;
  switch (call.kind) {
  case CollectiveKind::allGather: // bytes: any type will do
    return nccl_->check(nccl_->allGather(own, buffer, static_cast<size_t>(part),
                                         kNcclUint8, group.comm, stream),
                        "ncclAllGather");
  case CollectiveKind::reduceScatter:
    return nccl_->check(nccl_->reduceScatter(buffer, own, count,
                                             ncclTypeOf(call.dtype), op,
                                             group.comm, stream),
                        "ncclReduceScatter");
  case CollectiveKind::allReduce:
  case CollectiveKind::barrier:
    break;
  }
  return nccl_->check(nccl_->allReduce(buffer, buffer, count,
                                       ncclTypeOf(call.dtype), op, group.comm,
                                       stream),
                      "ncclAllReduce");
}

/// As integers that a library can add (norm_params.h).
Status NcclCommunicator::sumNorm(StreamHandle stream,
                                 const CollectiveCall &call, void *buffer) {
  void *limbs = pointerTo(limbs_->part(0));
  calls_.normToLimbs(buffer, limbs, stream);
  MTC_RETURN_IF_ERROR(
      nccl_->check(nccl_->allReduce(limbs, limbs, kNormLimbs, kNcclUint64,
                                    kNcclSum, groups_[call.group].comm, stream),
                   "ncclAllReduce"));
  calls_.normFromLimbs(buffer, limbs, stream);
  return stream_.failure();
}

Status NcclCommunicator::collective(const CollectiveCall &call, void *buffer,
                                    runtime::SumReader *reader) {
  MTC_RETURN_IF_ERROR(runtime::comm::checkUnread(reader));
  return collectiveOn(stream_.handle(), call, buffer);
}

Status NcclCommunicator::collectiveOn(StreamHandle stream,
                                      const CollectiveCall &call,
                                      void *buffer) {
  const NcclGroup &group = groups_[call.group];
  int64_t bytes = call.count * runtime::comm::elementBytes(call.dtype) *
                  (call.kind == CollectiveKind::allReduce ? 1 : group.size);
  if (call.kind == CollectiveKind::barrier ||
      runtime::comm::placementIn(device_, buffer, bytes).arena < 0)
    return host_.collective(call, buffer, nullptr);
  MTC_RETURN_IF_ERROR(runtime::comm::checkSupported({call}));
  if (!group.comm || call.count == 0 || stream_.failed())
    return stream_.failure();
  const bool isSumOfNorm =
      call.kind != CollectiveKind::allGather && call.dtype == MTC_I128;
  if (isSumOfNorm &&
      (call.kind != CollectiveKind::allReduce || call.count != MTC_NORM_LIMBS))
    return {StatusCode::usage,
            fmt::format("NCCL: expected sums of {} integers of 128 bits, found "
                        "{}",
                        MTC_NORM_LIMBS, call.count)};
  moved_[call.group] += bytes;
  MTC_RETURN_IF_ERROR(turnTo(stream));
  Status status = isSumOfNorm
                      ? sumNorm(stream, call, buffer)
                      : issue(stream, call, static_cast<char *>(buffer));
  passed(stream);
  if (!status.ok())
    stream_.fail(status);
  return status;
}

NcclResult NcclCommunicator::issue(const MtcTransfer &t) {
  char *place = static_cast<char *>(device_[t.arena].base) + t.offset;
  int peer = mesh_.moved(rank_, MTC_AXIS_PP, t.peer_stage);
  const auto bytes = static_cast<size_t>(t.bytes);
  return t.is_send ? nccl_->send(place, bytes, kNcclUint8, peer, groups_.all(),
                                 stream_.handle())
                   : nccl_->receive(place, bytes, kNcclUint8, peer,
                                    groups_.all(), stream_.handle());
}

Status NcclCommunicator::post(std::span<const MtcTransfer> transfers) {
  MTC_RETURN_IF_ERROR(
      runtime::comm::checkTransfers(rank_, mesh_, device_, transfers));
  if (transfers.empty() || stream_.failed())
    return stream_.failure();
  MTC_RETURN_IF_ERROR(turnTo(stream_.handle()));
  NcclResult result = nccl_->groupStart();
  for (const MtcTransfer &t : transfers) {
    if (result == 0)
      result = issue(t);
    moved_[MTC_GROUP_COUNT] += t.is_send ? t.bytes : 0;
  }
  NcclResult ended = nccl_->groupEnd();
  passed(stream_.handle());
  Status status = nccl_->check(result ? result : ended, "NCCL, transfers");
  if (!status.ok())
    stream_.fail(status);
  return status;
}

Status NcclCommunicator::worldFailure() const {
  MTC_RETURN_IF_ERROR(host_.worldFailure());
  return groups_.asyncError();
}

void NcclCommunicator::abort() {
  groups_.abort();
  host_.abort();
}

void NcclCommunicator::beginKept() {
  std::swap(lastCall_, otherCall_);
  lastBefore_ = std::exchange(last_, nullptr);
  movedBefore_ = moved_;
}

NcclCommunicator::Moved NcclCommunicator::endKept() {
  std::swap(lastCall_, otherCall_);
  last_ = lastBefore_;
  Moved kept = moved_;
  for (size_t i = 0; i < kept.size(); ++i)
    kept[i] -= movedBefore_[i];
  moved_ = movedBefore_;
  return kept;
}

void NcclCommunicator::passedKept(StreamHandle stream, const Moved &moved) {
  passed(stream);
  for (size_t i = 0; i < moved.size(); ++i)
    moved_[i] += moved[i];
}

NcclCommunicator::Moved NcclCommunicator::bytesMoved() const {
  auto total = host_.bytesMoved();
  for (size_t i = 0; i < total.size(); ++i)
    total[i] += moved_[i];
  return total;
}

} // namespace mtc::cuda
