//===- tune.h - which algorithms of products are fastest --------*- C++ -*-===//
#ifndef MTC_RUNTIME_TUNE_H
#define MTC_RUNTIME_TUNE_H

#include "mtc/runtime/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::runtime {

struct TuneOptions {
  std::vector<std::string> bundles; ///< for GPUs, of any number of ranks
  std::string file;                 ///< that is written
  int device = 0;                   ///< the host's GPU, from 0
  int algorithms = 8;               ///< of each product, at the most
  int rounds = 5;                   ///< of each algorithm
  bool quiet = false;               ///< no line for each product
};

/// Times the products of the bundles' ranks on one GPU, and writes the fastest
/// algorithms of cuBLASLt to a file that `mtc run --gemm-table` reads. Errors:
/// usage, inputRejected, infeasible, writeFailed.
Status tuneBundles(const TuneOptions &options);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TUNE_H
