//===- harness.h - programs that run under the stand-in ---------*- C++ -*-===//
//
// A fault ends a context for good, so each program has a process of its own.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_DRIVER_HARNESS_H
#define MTC_TEST_CUDA_DRIVER_HARNESS_H

#include <cuda.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mtc::standin::test {

struct Outcome {
  int code = 0;     ///< 0: the program came to its end; see fail
  int signal = 0;   ///< that ended it, or 0
  std::string said; ///< reports of the stand-in
  std::string note; ///< what the program said by note, or why it failed

  bool good() const { return code == 0 && signal == 0; }
  bool has(const std::string &text) const {
    return said.find(text) != std::string::npos;
  }
};

/// Runs `program` in a process of its own.
Outcome run(const std::function<void()> &program, uint64_t seed = 1);

// Within a program.

/// Tells the outcome something.
void note(const std::string &text);
/// Ends the program with code 1.
[[noreturn]] void fail(const std::string &why);
void expect(CUresult found, CUresult expected, const char *call, int line);

#define MTC_IS(expected, call)                                                 \
  ::mtc::standin::test::expect((call), (expected), #call, __LINE__)
#define MTC_OK(call) MTC_IS(CUDA_SUCCESS, call)
#define MTC_TRUE(what)                                                         \
  ((what) ? void()                                                             \
          : ::mtc::standin::test::fail(#what " does not hold, line " +         \
                                       std::to_string(__LINE__)))

/// A device with three non-blocking streams and kernels: `axpy` (x += a * y
/// over n floats), `fixed` (of .reqntid 64), `store` (a word to an address) and
/// `endless`.
class Gpu {
public:
  Gpu();

  CUstream s, t, u;
  CUmodule module = nullptr;
  CUfunction kernel(const char *name) const;

  static constexpr int kCount = 64;
  /// kCount floats of this value, known to the host.
  CUdeviceptr floats(float value) const;
  CUdeviceptr empty(size_t bytes = kCount * sizeof(float)) const;
  float first(CUdeviceptr address) const;

  CUresult axpy(CUstream stream, CUdeviceptr x, CUdeviceptr y, float a = 0.5f,
                int n = kCount) const;
  CUresult store(CUstream stream, CUdeviceptr address, unsigned value) const;
  static CUevent event(unsigned flags = CU_EVENT_DISABLE_TIMING);
  /// `later` is behind all that is in `earlier` now.
  static void order(CUstream earlier, CUstream later);
};

CUgraphExec instantiate(CUgraph graph);

/// The PTX behind Gpu.
extern const char kKernels[];

} // namespace mtc::standin::test
#endif // MTC_TEST_CUDA_DRIVER_HARNESS_H
