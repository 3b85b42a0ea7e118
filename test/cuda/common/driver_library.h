//===- driver_library.h - the CUDA driver, loaded by name -------*- C++ -*-===//
//
// For programs that are built on one machine and run on another: nothing is
// linked, so any libcuda.so.1 will do, a GPU's or that of test/cuda/driver.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_COMMON_DRIVER_LIBRARY_H
#define MTC_TEST_CUDA_COMMON_DRIVER_LIBRARY_H

#include <cuda.h>

#include <dlfcn.h>
#include <string>
#include <vector>

#define MTC_STRING2(x) #x
#define MTC_STRING(x) MTC_STRING2(x)
// The macros of cuda.h give the names of the newest versions.
#define MTC_DRIVER(X)                                                          \
  X(cuInit)                                                                    \
  X(cuDeviceGet)                                                               \
  X(cuDeviceGetName)                                                           \
  X(cuDevicePrimaryCtxRetain)                                                  \
  X(cuCtxSetCurrent)                                                           \
  X(cuCtxSynchronize)                                                          \
  X(cuMemAlloc)                                                                \
  X(cuMemFree)                                                                 \
  X(cuMemcpyHtoD)                                                              \
  X(cuMemcpyDtoH)                                                              \
  X(cuMemsetD8)                                                                \
  X(cuModuleLoadDataEx)                                                        \
  X(cuModuleGetFunction)                                                       \
  X(cuFuncGetAttribute)                                                        \
  X(cuFuncSetAttribute)                                                        \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor)                               \
  X(cuLaunchKernel)                                                            \
  X(cuEventCreate)                                                             \
  X(cuEventRecord)                                                             \
  X(cuEventSynchronize)                                                        \
  X(cuEventElapsedTime)                                                        \
  X(cuGetErrorName)

namespace mtc::test {

/// Each function as `cuInit_` and so on.
struct DriverLibrary {
#define X(f) decltype(&::f) f##_ = nullptr;
  MTC_DRIVER(X)
#undef X

  /// What is missing; empty: nothing.
  std::string load() {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return dlerror();
#define X(f)                                                                   \
  f##_ = reinterpret_cast<decltype(f##_)>(dlsym(library, MTC_STRING(f)));      \
  if (!f##_)                                                                   \
    return "libcuda.so.1 has no " MTC_STRING(f);
    MTC_DRIVER(X)
#undef X
    return "";
  }

  /// "cuInit: CUDA_ERROR_NO_DEVICE", or nothing of a success.
  std::string said(CUresult result, const char *what) const {
    if (result == CUDA_SUCCESS)
      return "";
    const char *name = "?";
    cuGetErrorName_(result, &name);
    return std::string(what) + ": " + name;
  }

  /// Loads PTX or a cubin; else why not, with what the driver's compiler says.
  std::string loadModule(const std::string &image, CUmodule &module) const {
    std::vector<char> log(1 << 14);
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
    std::string wrong =
        said(cuModuleLoadDataEx_(&module, image.c_str(), 2, options, values),
             "cuModuleLoadDataEx");
    return wrong.empty() ? "" : wrong + " " + log.data();
  }
};

} // namespace mtc::test
#endif // MTC_TEST_CUDA_COMMON_DRIVER_LIBRARY_H
