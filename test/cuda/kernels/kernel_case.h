//===- kernel_case.h - a kernel and what comes out --------------*- C++ -*-===//
//
// One run of one kernel, written by a program that has MLIR and read by one
// that has a GPU (or its stand-in) and no MLIR. Buffers are bytes as the device
// sees them; what has to come out is there twice: as the CPU's code computed it
// (to the bit), and in double precision with a bound of the error.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_KERNELS_KERNEL_CASE_H
#define MTC_TEST_CUDA_KERNELS_KERNEL_CASE_H

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::test {

struct CaseOperand {
  std::string element;     ///< f32, bf16, f16 or i32
  uint64_t count = 0;      ///< elements
  int64_t sharesWith = -1; ///< the operand whose memory this one is, or -1
  /// Bytes before the launch; empty, as `cpu`, in cases that are only timed.
  std::vector<uint8_t> before;
  std::vector<uint8_t> cpu; ///< bytes after it, on the CPU
  /// What comes out in double precision, and by how much fp32 code may miss
  /// it. Both are empty where no evaluator knows the kernel.
  std::vector<double> expected;
  std::vector<float> tolerance;
};

/// One entry of the kernel's; they run one after the other.
struct CaseLaunch {
  std::string entry;
  uint64_t blocks = 1, threads = 32, sharedBytes = 0;
};

struct KernelCase {
  std::string ptx;           ///< file of the module, beside the cases
  std::string kernel;        ///< its name
  std::vector<int64_t> args; ///< after the operands' addresses, 8 bytes each
  /// How many of them, the first ones, are the sum of a parameter and of a
  /// number in memory, whose addresses follow; the last one has no memory.
  uint64_t fields = 0;
  /// No field has memory: the arguments are all there is. Not in files.
  bool bare = false;
  /// Of a guarded kernel, whether it does anything; the address of that number
  /// follows. -1: it has no guard.
  int64_t guard = -1;
  uint64_t workspaceBytes = 0; ///< its address follows; 0: there is none
  std::vector<CaseLaunch> launches;
  std::vector<CaseOperand> operands;
};

/// What of argument `i` lies in memory.
inline int64_t fieldOf(const KernelCase &c, uint64_t i) {
  return i + 1 < c.fields && !c.bare ? static_cast<int64_t>(1000 + i) : 0;
}

/// Bytes of an element; 0 for a name that is not known.
uint64_t widthOf(const std::string &element);

/// Element `index` of `bytes` as a double; integers are signed.
double valueAt(const std::string &element, const std::vector<uint8_t> &bytes,
               uint64_t index);

/// FNV-1a of 64 bits, as 16 hexadecimal digits.
std::string digestOf(const std::vector<uint8_t> &bytes);

/// Writes `cases` to `path`; false if that fails.
bool saveCases(const std::string &path, const std::vector<KernelCase> &cases);

/// Reads what saveCases wrote. Returns an error text, empty if all is well.
std::string loadCases(const std::string &path, std::vector<KernelCase> &cases);

} // namespace mtc::test
#endif // MTC_TEST_CUDA_KERNELS_KERNEL_CASE_H
