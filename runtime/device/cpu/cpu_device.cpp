//===- cpu_device.cpp - a rank on the host's processor --------------------===//

#include "runtime/device/cpu/cpu_device.h"

#include "runtime/device/cpu/populate.h"
#include "runtime/kernels/cpu/isa.h"
#include "runtime/program/descriptor.h"

#include <fmt/format.h>

#include <cstring>

namespace mtc::runtime {

Status CpuStream::find(ArenaOffset at, int64_t bytes, void *&out) const {
  const ArenaView &arena = arenas_[at.arena];
  if (bytes < 0 || at.offset < 0 || bytes > arena.bytes ||
      at.offset > arena.bytes - bytes)
    return {StatusCode::internal,
            fmt::format("expected a range inside the {} bytes of the arena {}, "
                        "found {} bytes at offset {}",
                        arena.bytes, kArenas[at.arena].name, bytes, at.offset)};
  out = static_cast<char *>(arena.base) + at.offset;
  return Status::okay();
}

Status CpuStream::copyIn(ArenaOffset to, const void *from, int64_t bytes) {
  void *address = nullptr;
  MTC_RETURN_IF_ERROR(find(to, bytes, address));
  if (bytes > 0)
    std::memcpy(address, from, static_cast<size_t>(bytes));
  return Status::okay();
}

Status CpuStream::copyOut(ArenaOffset from, void *to, int64_t bytes) {
  void *address = nullptr;
  MTC_RETURN_IF_ERROR(find(from, bytes, address));
  if (bytes > 0)
    std::memcpy(to, address, static_cast<size_t>(bytes));
  return Status::okay();
}

Status CpuStream::fill(ArenaOffset to, uint8_t byte, int64_t bytes) {
  void *address = nullptr;
  MTC_RETURN_IF_ERROR(find(to, bytes, address));
  if (bytes > 0)
    std::memset(address, byte, static_cast<size_t>(bytes));
  return Status::okay();
}

Status CpuDevice::create(const DeviceRequest &request,
                         std::unique_ptr<CpuDevice> &out) {
  std::unique_ptr<CpuDevice> device(new CpuDevice);
  bool shared = false;
  for (const ArenaView &view : request.shared)
    shared |= view.base != nullptr;
  if (!shared)
    MTC_RETURN_IF_ERROR(device->own_.map(request.sizes, request.rank));
  device->rank_ = request.rank;
  device->arenas_ = shared ? request.shared : device->own_.views();
  device->stream_ = std::make_unique<CpuStream>(device->arenas_);
  if (request.streams > MTC_STREAM_COMM) {
    device->comms_ = std::make_unique<CommThread>();
    MTC_RETURN_IF_ERROR(device->comms_->start());
  }
  out = std::move(device);
  return Status::okay();
}

/// The library of the plan, as its instruction set has it.
static Status selectLibrary(const Descriptor &d) {
  MTC_RETURN_IF_ERROR(mtc_kernels_select_isa(d.isa));
  if (d.gemms.empty())
    return Status::okay();
  MTC_RETURN_IF_ERROR(gemmSelectIsa(d.isa));
  std::string found = gemmLibraryVersion();
  if (!d.onednn.empty() && found.compare(0, d.onednn.size(), d.onednn) != 0)
    return {StatusCode::infeasible,
            fmt::format("the program was planned for oneDNN {}, found {}; "
                        "compile it again on this host",
                        d.onednn, found)};
  return Status::okay();
}

Status CpuDevice::prepare(const Descriptor &d) {
  threads_ = d.threads;
  MTC_RETURN_IF_ERROR(selectLibrary(d));
  MTC_RETURN_IF_ERROR(workspace_.map(d.kernelWorkspace, rank_, "kernels",
                                     "the workspace of kernels"));
  if (d.gemms.empty())
    return Status::okay();
  std::vector<GemmDesc> rows;
  for (const GemmInfo &g : d.gemms) {
    if (g.epilogue)
      return {StatusCode::infeasible,
              fmt::format("gemm {}: expected a product without epilogue, as a "
                          "CPU has none; compile with gemm_epilogues = none",
                          rows.size())};
    rows.push_back(
        {g.m, g.n, g.k, g.ta, g.tb, g.beta, g.ab, g.c, g.kernel, g.counts});
  }
  MTC_RETURN_IF_ERROR(gemms_.create(rows, static_cast<int>(d.threads)));
  // Less scratch than the library needs would let it write over its neighbours.
  for (size_t i = 0; i < rows.size(); ++i)
    if (gemms_.scratchBytes(i) > d.gemms[i].scratch)
      return {StatusCode::infeasible,
              fmt::format("gemm {}: the plan has {} bytes of scratch, the "
                          "{} on this host needs {}; compile here",
                          i, d.gemms[i].scratch,
                          isOwn(d.gemms[i].kernel) ? "kernel" : "library",
                          gemms_.scratchBytes(i))};
  return Status::okay();
}

void CpuDevice::populate(const PopulateProgress &done) {
  runtime::populate(arenas_, threads_, done);
}

Status makeCpuDevice(const DeviceRequest &request,
                     std::unique_ptr<Device> &out) {
  std::unique_ptr<CpuDevice> device;
  MTC_RETURN_IF_ERROR(CpuDevice::create(request, device));
  out = std::move(device);
  return Status::okay();
}

} // namespace mtc::runtime
