//===- kernel_launch.cpp - what a launch is checked for -------------------===//
#include "test/cuda/driver/kernel_launch.h"

#include <cstring>

namespace mtc::standin {
namespace {

constexpr uint64_t kMostThreads = 1024;

bool isGrid(const ptx::Extent &grid) {
  return grid.x && grid.y && grid.z && grid.x <= 0x7fffffff &&
         grid.y <= 65535 && grid.z <= 65535;
}

bool isBlock(const ptx::Extent &block, const ptx::KernelFacts &kernel) {
  if (!block.x || !block.y || !block.z || block.x > 1024 || block.y > 1024 ||
      block.z > 64)
    return false;
  uint64_t threads = uint64_t(block.x) * block.y * block.z;
  const ptx::Extent &most = kernel.largestBlock;
  if (threads > kMostThreads ||
      (most.x && threads > uint64_t(most.x) * most.y * most.z))
    return false;
  return !kernel.requiredBlock.x || kernel.requiredBlock == block;
}

/// By the list of CU_LAUNCH_PARAM_*. Stricter than the real driver, which takes
/// fewer bytes than the kernel has.
bool takeBuffer(void **extra, std::vector<std::byte> &bytes) {
  const void *buffer = nullptr;
  const size_t *size = nullptr;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = extra[1];
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
      size = static_cast<const size_t *>(extra[1]);
    else
      return false;
  }
  if (!buffer || !size || *size != bytes.size())
    return false;
  std::memcpy(bytes.data(), buffer, bytes.size());
  return true;
}

bool takeParameters(const LaunchShape &shape, const ptx::KernelFacts &kernel,
                    std::vector<std::byte> &bytes) {
  bytes.resize(kernel.parameterBytes);
  if (shape.parameters && shape.extra)
    return false;
  if (shape.extra)
    return takeBuffer(shape.extra, bytes);
  if (!shape.parameters)
    return kernel.parameters.empty();
  for (size_t k = 0; k < kernel.parameters.size(); ++k) {
    const ptx::Parameter &each = kernel.parameters[k];
    if (!shape.parameters[k])
      return false;
    std::memcpy(bytes.data() + each.offset, shape.parameters[k], each.bytes);
  }
  return true;
}

} // namespace

std::unique_ptr<KernelWork> makeKernelWork(const LaunchShape &shape,
                                           CUresult *result) {
  const ptx::KernelFacts &kernel = *shape.function->kernel;
  auto work = std::make_unique<KernelWork>();
  *result = CUDA_ERROR_INVALID_VALUE;
  if (!isGrid(shape.grid) || !isBlock(shape.block, kernel) ||
      shape.dynamicShared > unsigned(shape.function->mostDynamicShared) ||
      !takeParameters(shape, kernel, work->parameters))
    return nullptr;
  work->function = shape.function;
  work->module = shape.function->module;
  work->kernel = &kernel;
  work->grid = shape.grid;
  work->block = shape.block;
  work->dynamicShared = shape.dynamicShared;
  *result = CUDA_SUCCESS;
  return work;
}

} // namespace mtc::standin
