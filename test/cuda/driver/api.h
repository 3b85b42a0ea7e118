//===- api.h - what every function of the API begins with -------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_DRIVER_API_H
#define MTC_TEST_CUDA_DRIVER_API_H

#include "test/cuda/driver/driver.h"

#define MTC_API extern "C" CUresult CUDAAPI

namespace mtc::standin {

/// What has to be there before a call does anything.
enum class Need {
  nothing,
  driver,  ///< cuInit
  alive,   ///< and no error that ended the context
  context, ///< and a context of this thread
};

inline CUresult check(const Driver &driver, Need need) {
  if (need != Need::nothing && !driver.initialised)
    return CUDA_ERROR_NOT_INITIALIZED;
  if (need == Need::context && !Driver::current)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (need == Need::context && !Driver::current->retained)
    return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return need >= Need::alive ? driver.sticky : CUDA_SUCCESS;
}

/// `body(driver, lock)` with the lock held, if all is there.
template <class Body> CUresult api(Need need, Body body) {
  if (Driver::inCallback)
    return CUDA_ERROR_NOT_PERMITTED;
  Driver &driver = Driver::get();
  Lock lock(driver.mutex);
  ++driver.calls;
  if (CUresult wrong = check(driver, need))
    return wrong;
  return body(driver, lock);
}

/// The same with the stream of a handle, of the current context.
template <class Body> CUresult apiOf(CUstream handle, Body body) {
  return api(Need::alive, [&](Driver &driver, Lock &lock) -> CUresult {
    CUstream stream = nullptr;
    if (CUresult wrong = driver.resolve(handle, stream))
      return wrong;
    if (CUresult wrong = driver.checkCurrent(
            stream->context, "stream " + std::to_string(stream->number)))
      return wrong;
    return body(driver, stream, lock);
  });
}

} // namespace mtc::standin
#endif // MTC_TEST_CUDA_DRIVER_API_H
