//===- tune.h - what computes products fastest --------*- C++ -*-===//
#ifndef MTC_RUNTIME_TUNE_H
#define MTC_RUNTIME_TUNE_H

#include "mtc/runtime/status.h"

#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime {

struct TuneOptions {
  /// All for GPUs, or all for CPUs with one instruction set; of any number of
  /// ranks.
  std::vector<std::string> bundles;
  std::string file;              ///< that is written
  std::optional<int> device;     ///< the host's GPU, from 0; none: 0
  std::optional<int> algorithms; ///< of each product, at the most; none: 8
  int rounds = 5;                ///< of each algorithm or kernel
  bool quiet = false;            ///< no line for each product
};

/// Times the products of the bundles' ranks on one GPU, and writes the fastest
/// algorithms of cuBLASLt to a file that `mtc run --gemm-table` reads; or on
/// this processor, and writes the fastest kernels to a file that `mtc compile
/// --gemm-table` reads. Errors: usage, inputRejected, infeasible, writeFailed.
Status tuneBundles(const TuneOptions &options);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TUNE_H
