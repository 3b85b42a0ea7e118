//===- nccl_world.cpp - ranks that exchange by NCCL -----------------------===//

#include "nccl_world.h"

#include "values.h"

#include "runtime/device/device_factory.h"
#include "runtime/program/program.h"

#include <csignal>

extern "C" const MtcDeviceFactory mtc_cuda_device;

namespace mtc::test {
namespace {

using runtime::ArenaOffset;
using runtime::ArenaView;
using runtime::CollectiveCall;
using runtime::Communicator;
using runtime::Device;
using runtime::Mesh;
using runtime::Status;

/// The arenas of a test on the host, and the same ones on a device.
class Copies {
public:
  Copies(Device &device, int64_t bytes)
      : device_(device),
        memory_(MTC_ARENA_COUNT, std::vector<uint64_t>(bytes / 8 + 1)) {
    for (auto &arena : memory_)
      views.push_back({arena.data(), bytes});
  }

  /// Where a buffer of the host lies; false: in no arena.
  bool find(const void *buffer, ArenaOffset &at) const {
    for (int kind = 0; kind < MTC_ARENA_COUNT; ++kind) {
      auto offset = static_cast<const char *>(buffer) -
                    static_cast<const char *>(views[kind].base);
      if (offset >= 0 && offset < views[kind].bytes) {
        at = {MtcArena(kind), offset};
        return true;
      }
    }
    return false;
  }
  void *onDevice(const ArenaOffset &at) const {
    return static_cast<char *>(device_.arenas()[at.arena].base) + at.offset;
  }
  Status toDevice(const ArenaOffset &at, int64_t bytes) const {
    return device_.stream().copyIn(at, onHost(at), bytes);
  }
  /// Waits for what was issued.
  Status toHost(const ArenaOffset &at, int64_t bytes) const {
    runtime::Stream &stream = device_.stream();
    MTC_RETURN_IF_ERROR(stream.copyOut(at, onHost(at), bytes));
    return stream.wait(stream.record());
  }

  std::vector<ArenaView> views;

private:
  char *onHost(const ArenaOffset &at) const {
    return static_cast<char *>(views[at.arena].base) + at.offset;
  }

  Device &device_;
  std::vector<std::vector<uint64_t>> memory_;
};

/// Calls of a device on copies of the host's arenas, done when they return.
class Copying final : public Communicator {
public:
  Copying(Communicator &comm, const Copies &copies, const Mesh &mesh, int rank)
      : comm_(comm), copies_(copies), mesh_(mesh), rank_(rank) {}

  Status collective(const CollectiveCall &call, void *buffer,
                    runtime::SumReader *reader) override {
    int64_t bytes = call.count * widthOf(call.dtype);
    if (call.kind != runtime::CollectiveKind::allReduce)
      bytes *= int64_t(mesh_.members(rank_, call.group).size());
    ArenaOffset at;
    if (!buffer || !copies_.find(buffer, at))
      return comm_.collective(call, buffer, reader);
    MTC_RETURN_IF_ERROR(copies_.toDevice(at, bytes));
    MTC_RETURN_IF_ERROR(comm_.collective(call, copies_.onDevice(at), reader));
    return copies_.toHost(at, bytes);
  }
  Status post(std::span<const MtcTransfer> transfers) override {
    for (const MtcTransfer &t : transfers)
      if (t.is_send && isWithin(t))
        MTC_RETURN_IF_ERROR(
            copies_.toDevice({MtcArena(t.arena), t.offset}, t.bytes));
    return comm_.post(transfers);
  }
  Status wait(std::span<const MtcTransfer> transfers) override {
    MTC_RETURN_IF_ERROR(comm_.wait(transfers));
    for (const MtcTransfer &t : transfers)
      MTC_RETURN_IF_ERROR(copies_.toHost({MtcArena(t.arena), t.offset},
                                         t.is_send ? 0 : t.bytes));
    return Status::okay();
  }
  Status worldFailure() const override { return comm_.worldFailure(); }
  void abort() override { comm_.abort(); }
  void finish() override { comm_.finish(); }
  std::array<int64_t, MTC_GROUP_COUNT + 1> bytesMoved() const override {
    return comm_.bytesMoved();
  }

private:
  /// What is not is the communicator's to reject.
  bool isWithin(const MtcTransfer &t) const {
    return t.arena >= 0 && t.arena < MTC_ARENA_COUNT && t.offset >= 0 &&
           t.bytes >= 0 && t.offset + t.bytes <= copies_.views[t.arena].bytes;
  }

  Communicator &comm_;
  const Copies &copies_;
  Mesh mesh_;
  int rank_;
};

/// What a rank of a program with no kernels does.
Status begin(Device &device, Communicator &control, const Mesh &mesh,
             Communicator *&comm) {
  runtime::Descriptor descriptor;
  descriptor.device = "cuda:sm_80";
  descriptor.mesh = mesh;
  MTC_RETURN_IF_ERROR(device.prepare(descriptor));
  comm = &device.issuing(control);
  return device.load({});
}

} // namespace

std::string runNcclRank(runtime::ShmCommunicator &control, int rank,
                        int64_t arenaBytes, const Body &body) {
  const Mesh &mesh = control.mesh();
  runtime::DeviceRequest request;
  request.rank = rank;
  request.gpu.local = rank;
  request.sizes.fill(arenaBytes);
  std::copy_n(control.arenas().begin(), MTC_ARENA_COUNT,
              request.shared.begin());
  request.nccl = true;
  std::unique_ptr<Device> device;
  MTC_EXPECT_OK(mtc_cuda_device.make(request, device));
  Communicator *comm = nullptr;
  MTC_EXPECT_OK(begin(*device, control, mesh, comm));
  Copies copies(*device, arenaBytes);
  Copying copying(*comm, copies, mesh, rank);
  Rank self{rank,
            mesh,
            copying,
            copies.views,
            [] {
              raise(SIGKILL);
              return std::string();
            },
            /*addsInRankOrder=*/false};
  std::string found = body(self);
  // What is on its way arrives, unless somebody failed and waits for nothing.
  if (found.empty())
    MTC_EXPECT_OK(control.barrier());
  return found;
}

} // namespace mtc::test
