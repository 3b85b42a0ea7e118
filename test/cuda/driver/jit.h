//===- jit.h - from an image to kernels, with the JIT's logs ----*- C++ -*-===//
#ifndef MTC_TEST_CUDA_DRIVER_JIT_H
#define MTC_TEST_CUDA_DRIVER_JIT_H

#include "test/cuda/driver/cuda_api.h"
#include "test/cuda/ptx/module.h"

#include <memory>
#include <string>

namespace mtc::standin {

/// The options of cuModuleLoadDataEx that take texts out.
class JitLog {
public:
  JitLog(unsigned count, CUjit_option *options, void **values)
      : count(count), options(options), values(values) {}
  /// Puts `info` and `error` where the options say.
  void write();
  std::string info, error;

private:
  void **find(CUjit_option option);
  void put(CUjit_option buffer, CUjit_option bytes, const std::string &text);

  unsigned count;
  CUjit_option *options;
  void **values;
};

/// Reads the text of an image as the driver's JIT would, but for what only
/// ptxas finds. Images that are no text are refused.
CUresult compile(const char *image, const ptx::Rules &rules,
                 std::unique_ptr<const ptx::Module> &module, JitLog &log);

} // namespace mtc::standin
#endif // MTC_TEST_CUDA_DRIVER_JIT_H
