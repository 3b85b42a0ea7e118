//===- config.cpp - what the real library refuses of a ncclConfig_t -------===//
#include "test/cuda/nccl/join.h"
#include "test/cuda/nccl/results.h"

#include <cstddef>
#include <cstring>
#include <string>

namespace mtc::standin::nccl {

ncclResult_t checkConfig(const ncclConfig_t *config) {
  constexpr int kNone = NCCL_CONFIG_UNDEF_INT;
  constexpr unsigned kMagic = 0xcafebeef;
  if (!config)
    return ncclSuccess;
  auto bad = [](const std::string &what) {
    return refuse(ncclInvalidArgument, "Invalid config " + what);
  };
  auto number = [](int value) { return std::to_string(value); };
  if (config->magic != kMagic || config->size < offsetof(ncclConfig_t, netName))
    return refuse(
        ncclInvalidArgument,
        "ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER");
  if (config->blocking != kNone && config->blocking != 0 &&
      config->blocking != 1)
    return bad("blocking attribute value " + number(config->blocking));
  if (config->cgaClusterSize != kNone && config->cgaClusterSize < 0)
    return bad("cgaClusterSize attribute value " +
               number(config->cgaClusterSize));
  bool least = config->minCTAs != kNone, most = config->maxCTAs != kNone;
  if ((least && config->minCTAs <= 0) || (most && config->maxCTAs <= 0) ||
      (least && most && config->minCTAs > config->maxCTAs))
    return bad("min/max channels attribute value " + number(config->minCTAs) +
               "/" + number(config->maxCTAs));
  if (config->splitShare != kNone && config->splitShare != 0 &&
      config->splitShare != 1)
    return bad("splitShare attribute value " + number(config->splitShare));
  if (config->netName && std::strcmp(config->netName, "Socket") &&
      std::strcmp(config->netName, "IB"))
    return refuse(ncclInvalidUsage, "Failed to initialize any NET plugin");
  return ncclSuccess;
}

} // namespace mtc::standin::nccl
