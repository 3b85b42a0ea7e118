//===- library.h - a library of NVIDIA's, opened at run time ----*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_LIBRARY_H
#define MTC_RUNTIME_DEVICE_CUDA_LIBRARY_H

#include <dlfcn.h>
#include <string>
#include <type_traits>

namespace mtc::cuda {

/// Open to the end of the process.
class Library {
public:
  explicit Library(const char *file)
      : handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)),
        problem_(handle_ ? "" : dlerror()) {}

  /// Why it was not opened, in the loader's words; empty: it was.
  const std::string &problem() const { return problem_; }
  /// Of an open one: the function of that name; null if it has none.
  template <typename F> void find(F *&function, const char *name) {
    function = reinterpret_cast<F *>(dlsym(handle_, name));
    if (!function)
      missing_ = name;
  }
  /// A function that was looked for in vain; empty: none.
  const std::string &missing() const { return missing_; }

private:
  void *handle_;
  std::string problem_, missing_;
};

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_LIBRARY_H
