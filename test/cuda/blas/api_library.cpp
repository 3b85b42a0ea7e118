//===- api_library.cpp - handles, versions, names of statuses -------------===//
#include "test/cuda/blas/driver_link.h"
#include "test/cuda/blas/library.h"

using namespace mtc::standin;
using namespace mtc::standin::blas;

namespace {

constexpr size_t kVersion = 130100; ///< of the library that was recorded
constexpr size_t kCudart = 13000;

struct StatusText {
  cublasStatus_t status;
  const char *name, *text;
};

constexpr StatusText kStatuses[] = {
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED",
     "the library was not initialized"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED",
     "the resource allocation failed"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
     "an unsupported value or parameter was passed to the function"},
    {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH",
     "the function requires an architectural feature absent from the device"},
    {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR",
     "an access to GPU memory space failed"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED",
     "the function failed to launch on the GPU"},
    {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR",
     "an internal operation failed"},
    {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED",
     "the requested functionality is not supported"},
    {CUBLAS_STATUS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR",
     "the license check failed"},
};

constexpr StatusText kUnknown = {CUBLAS_STATUS_SUCCESS, "unrecognized status",
                                 "unrecognized status"};

const StatusText &textOf(cublasStatus_t status) {
  for (const StatusText &each : kStatuses)
    if (each.status == status)
      return each;
  return kUnknown;
}

} // namespace

MTC_LT cublasLtCreate(cublasLtHandle_t *handle) {
  if (!handle)
    return CUBLAS_STATUS_INVALID_VALUE;
  CUcontext context = DriverLink::context();
  // The real library would make the primary context current; ours has to be
  // there before, so that it is known which one a handle belongs to.
  if (!context)
    return refuse("cublasLtCreate",
                  {CUBLAS_STATUS_NOT_INITIALIZED,
                   "expected a context that is current, found none"});
  Library &library = Library::get();
  std::lock_guard lock(library.mutex);
  auto made = std::make_unique<Handle>();
  made->context = context;
  *handle =
      reinterpret_cast<cublasLtHandle_t>(library.handles.add(std::move(made)));
  return CUBLAS_STATUS_SUCCESS;
}

MTC_LT cublasLtDestroy(cublasLtHandle_t handle) {
  if (!handle)
    return CUBLAS_STATUS_INVALID_VALUE;
  Library &library = Library::get();
  std::lock_guard lock(library.mutex);
  Handle *object = live<Handle>(handle, "cublasLtDestroy");
  if (!object)
    return CUBLAS_STATUS_INVALID_VALUE;
  library.handles.remove(object);
  return CUBLAS_STATUS_SUCCESS;
}

extern "C" size_t CUBLASWINAPI cublasLtGetVersion() {
  return difference() == Difference::older ? kVersion - 1 : kVersion;
}

extern "C" size_t CUBLASWINAPI cublasLtGetCudartVersion() { return kCudart; }

extern "C" const char *CUBLASWINAPI
cublasLtGetStatusName(cublasStatus_t status) {
  return textOf(status).name;
}

extern "C" const char *CUBLASWINAPI
cublasLtGetStatusString(cublasStatus_t status) {
  return textOf(status).text;
}
