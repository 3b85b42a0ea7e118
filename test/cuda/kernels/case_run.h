//===- case_run.h - a kernel case on the PTX executor -----------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_KERNELS_CASE_RUN_H
#define MTC_TEST_CUDA_KERNELS_CASE_RUN_H

#include "kernel_case.h"

#include "test/cuda/ptx/launch.h"

#include <optional>
#include <string>
#include <vector>

namespace mtc::test {

/// What docs/numerics.md allows in kernels: nothing flushed, approximate or
/// left to be contracted.
ptx::Rules kernelRules();

/// One run of a case in memory of its own.
class CaseRun {
public:
  /// `seed` chooses the order of blocks and warps, and what registers hold that
  /// nothing has written.
  CaseRun(const KernelCase &c, const ptx::Module &module, uint64_t seed);

  /// Somebody is told of what `run` executes.
  void observe(ptx::Observer &observer) { options.observer = &observer; }
  /// Launches all entries; the first fault ends it.
  std::optional<ptx::Fault> run(uint64_t instructionLimit = 400'000'000);
  /// Bytes of operand `i`.
  std::vector<uint8_t> read(size_t i);

  ptx::LaunchCounts counts;

private:
  std::optional<ptx::Fault> runOne(const ptx::KernelFacts &kernel,
                                   const CaseLaunch &launch);

  const KernelCase &c;
  const ptx::Module &module;
  ptx::Memory memory;
  ptx::Globals globals;
  ptx::LaunchOptions options;
  std::vector<ptx::Address> addresses;
  std::vector<ptx::Address> fields; ///< 0: none
  ptx::Address guard = 0, workspace = 0;
};

/// The first element of `found` that is further from the evaluator than it may
/// be, as a sentence; empty: none is.
std::string wrongElement(const CaseOperand &o,
                         const std::vector<uint8_t> &found);

/// True if `found` has the values that the CPU's code made.
bool hasCpuBits(const CaseOperand &o, const std::vector<uint8_t> &found);

} // namespace mtc::test
#endif // MTC_TEST_CUDA_KERNELS_CASE_RUN_H
