//===- node_parameters.cpp - works from the API's structs, and back -------===//
#include "test/cuda/driver/node_parameters.h"

#include "test/cuda/driver/kernel_launch.h"
#include "test/cuda/driver/transfers.h"

namespace mtc::standin {
namespace {

/// Where one side of a copy is, as the struct has it.
Side sideOf(CUmemorytype type) {
  return type == CU_MEMORYTYPE_HOST     ? Side::host
         : type == CU_MEMORYTYPE_DEVICE ? Side::device
                                        : Side::any;
}

CUmemorytype typeOf(Side side) {
  return side == Side::host     ? CU_MEMORYTYPE_HOST
         : side == Side::device ? CU_MEMORYTYPE_DEVICE
                                : CU_MEMORYTYPE_UNIFIED;
}

} // namespace

std::unique_ptr<KernelWork> kernelOf(Driver &driver,
                                     const CUDA_KERNEL_NODE_PARAMS *parameters,
                                     CUresult &result) {
  result = CUDA_ERROR_INVALID_VALUE;
  if (!parameters || !driver.functions.has(parameters->func))
    return nullptr;
  const CUDA_KERNEL_NODE_PARAMS &p = *parameters;
  std::unique_ptr<KernelWork> work =
      makeKernelWork({p.func,
                      {p.gridDimX, p.gridDimY, p.gridDimZ},
                      {p.blockDimX, p.blockDimY, p.blockDimZ},
                      p.sharedMemBytes,
                      p.kernelParams,
                      p.extra},
                     &result);
  if (work)
    work->context = p.func->context;
  return work;
}

std::unique_ptr<FillWork> fillOf(Driver &driver,
                                 const CUDA_MEMSET_NODE_PARAMS *parameters) {
  if (!parameters || !parameters->width || !parameters->height)
    return nullptr;
  return makeFill(driver, parameters->dst, parameters->value,
                  parameters->elementSize, parameters->width,
                  parameters->height, parameters->pitch);
}

std::unique_ptr<CopyWork> copyOf(Driver &driver,
                                 const CUDA_MEMCPY3D *parameters) {
  if (!parameters || parameters->Height != 1 || parameters->Depth != 1 ||
      !parameters->WidthInBytes)
    return nullptr;
  const CUDA_MEMCPY3D &p = *parameters;
  auto place = [](CUmemorytype type, const void *host, CUdeviceptr device) {
    return type == CU_MEMORYTYPE_HOST ? reinterpret_cast<uint64_t>(host)
                                      : device;
  };
  return makeCopy(
      driver, sideOf(p.dstMemoryType),
      place(p.dstMemoryType, p.dstHost, p.dstDevice) + p.dstXInBytes,
      sideOf(p.srcMemoryType),
      place(p.srcMemoryType, p.srcHost, p.srcDevice) + p.srcXInBytes,
      p.WidthInBytes);
}

CUDA_KERNEL_NODE_PARAMS parametersOf(const KernelWork &work) {
  CUDA_KERNEL_NODE_PARAMS p{};
  p.func = work.function;
  p.gridDimX = work.grid.x;
  p.gridDimY = work.grid.y;
  p.gridDimZ = work.grid.z;
  p.blockDimX = work.block.x;
  p.blockDimY = work.block.y;
  p.blockDimZ = work.block.z;
  p.sharedMemBytes = work.dynamicShared;
  p.kernelParams = work.parameterPointers();
  return p;
}

CUDA_MEMSET_NODE_PARAMS parametersOf(const FillWork &work) {
  CUDA_MEMSET_NODE_PARAMS p{};
  p.dst = work.to;
  p.value = work.value;
  p.elementSize = work.elementBytes;
  p.width = work.width;
  p.height = work.height;
  p.pitch = work.pitch;
  return p;
}

CUDA_MEMCPY3D parametersOf(const CopyWork &work) {
  CUDA_MEMCPY3D p{};
  p.srcMemoryType = typeOf(work.fromSide);
  p.dstMemoryType = typeOf(work.toSide);
  p.srcHost = reinterpret_cast<const void *>(work.from);
  p.dstHost = reinterpret_cast<void *>(work.to);
  p.srcDevice = work.from;
  p.dstDevice = work.to;
  p.WidthInBytes = work.bytes;
  p.Height = p.Depth = 1;
  return p;
}

} // namespace mtc::standin
