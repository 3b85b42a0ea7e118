//===- gpu_parts.cpp - GPUs and their libraries ---------------------------===//

#include "runtime/device/cuda/blas.h"
#include "runtime/device/cuda/driver.h"
#include "runtime/device/cuda/nccl.h"
#include "runtime/device/cuda/version.h"
#include "runtime/inspect/machine_parts.h"

#include <fmt/format.h>

using mtc::cuda::Driver;

namespace mtc::runtime {
namespace {

constexpr const char *kGpus = "bundles for GPUs (--target cuda:sm_90)";
constexpr const char *kSeveral = "bundles for GPUs of several ranks";

/// The numbers of the other GPUs whose memory this one reaches.
std::string reached(const Driver &driver, int count, cuda::DeviceNumber self) {
  std::vector<int> peers;
  for (int other = 0; other < count; ++other) {
    cuda::DeviceNumber peer = 0;
    int can = 0;
    if (driver.device(&peer, other) == 0 && peer != self &&
        driver.reachesPeer(&can, self, peer) == 0 && can)
      peers.push_back(other);
  }
  return peers.empty()
             ? ""
             : fmt::format(", reaches GPU {}", fmt::join(peers, ", "));
}

MachinePart gpu(const Driver &driver, int count, int number) {
  cuda::DeviceNumber device = 0;
  char name[128] = "";
  int major = 0, minor = 0;
  size_t bytes = 0;
  MachinePart part{fmt::format("GPU {}", number), kGpus, false, ""};
  Status status = driver.check(driver.device(&device, number), "cuDeviceGet");
  for (auto [result, call] :
       {std::pair(driver.deviceName(name, sizeof name, device),
                  "cuDeviceGetName"),
        std::pair(driver.deviceMemory(&bytes, device), "cuDeviceTotalMem"),
        std::pair(driver.deviceAttribute(&major, cuda::kComputeMajor, device),
                  "cuDeviceGetAttribute"),
        std::pair(driver.deviceAttribute(&minor, cuda::kComputeMinor, device),
                  "cuDeviceGetAttribute")})
    if (status.ok())
      status = driver.check(result, call);
  part.there = status.ok();
  part.found = status.ok()
                   ? fmt::format("{} (sm_{}{}), {:.1f} GiB{}", name, major,
                                 minor, static_cast<double>(bytes) / (1 << 30),
                                 reached(driver, count, device))
                   : status.message();
  return part;
}

void addGpus(const Driver &driver, std::vector<MachinePart> &parts) {
  int version = 0, count = 0;
  (void)driver.driverVersion(&version);
  (void)driver.deviceCount(&count);
  parts.push_back(
      {"CUDA driver", kGpus, true,
       fmt::format("of CUDA {}.{}", version / 1000, version % 1000 / 10)});
  for (int number = 0; number < count; ++number)
    parts.push_back(gpu(driver, count, number));
  if (count == 0)
    parts.push_back({"GPU", kGpus, false,
                     "the driver shows none (is CUDA_VISIBLE_DEVICES empty?)"});
}

MachinePart library(const char *name, const char *serves, const Status &status,
                    const std::string &version) {
  return {name, serves, status.ok(), status.ok() ? version : status.message()};
}

} // namespace

std::vector<MachinePart> gpuParts() {
  std::vector<MachinePart> parts;
  const Driver *driver = nullptr;
  if (Status status = Driver::load(driver); status.ok())
    addGpus(*driver, parts);
  else
    parts.push_back(library("CUDA driver", kGpus, status, ""));
  const cuda::Blas *blas = nullptr;
  Status hasBlas = cuda::Blas::load(blas);
  parts.push_back(library(
      "cuBLASLt", kGpus, hasBlas,
      hasBlas.ok() ? cuda::versionName(static_cast<int64_t>(blas->version()))
                   : ""));
  const cuda::Nccl *nccl = nullptr;
  Status hasNccl = cuda::Nccl::load(nccl);
  int version = 0;
  if (hasNccl.ok())
    hasNccl = nccl->check(nccl->version(&version), "ncclGetVersion");
  parts.push_back(
      library("NCCL", kSeveral, hasNccl, cuda::versionName(version)));
  return parts;
}

} // namespace mtc::runtime
