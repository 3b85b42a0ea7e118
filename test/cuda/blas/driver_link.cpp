//===- driver_link.cpp - what this library asks of the driver -------------===//
#include "test/cuda/blas/driver_link.h"

#include "test/cuda/driver/report.h"

#include <dlfcn.h>

namespace mtc::standin::blas {
namespace {

template <class F> bool find(void *library, const char *name, F &function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function;
}

const DriverLink *load() {
  static DriverLink link;
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library && find(library, "cuCtxGetCurrent", link.getCurrent) &&
      find(library, "mtcStandinEnqueue", link.enqueue) &&
      find(library, "mtcStandinBytes", link.bytes) &&
      find(library, "mtcStandinFail", link.fail))
    return &link;
  report("cublasLt: expected the stand-in of the driver as libcuda.so.1, found "
         "none; set LD_LIBRARY_PATH to its folder");
  return nullptr;
}

} // namespace

const DriverLink *DriverLink::get() {
  static const DriverLink *link = load();
  return link;
}

CUcontext DriverLink::context() {
  CUcontext current = nullptr;
  const DriverLink *link = get();
  return link && link->getCurrent(&current) == CUDA_SUCCESS ? current : nullptr;
}

} // namespace mtc::standin::blas
