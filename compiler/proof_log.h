//===- proof_log.h - hears what verify-plan proved --------------*- C++ -*-===//
#ifndef MTC_COMPILER_PROOF_LOG_H
#define MTC_COMPILER_PROOF_LOG_H

#include "mlir/IR/MLIRContext.h"

#include <string>
#include <utility>
#include <vector>

namespace mtc::compiler {

/// Names and numbers of a proof, such as ("ranks", 8), in order; operations and
/// reads of steps of all shapes.
struct ProofCounts {
  std::vector<std::pair<std::string, int64_t>> counts;
  int64_t plans = 0; ///< that were verified, one for each shape of a step
};

/// From now on the remarks of verify-plan in `context` are written to `proof`,
/// which must outlive it.
void listenForProof(mlir::MLIRContext &context, ProofCounts &proof);

} // namespace mtc::compiler
#endif // MTC_COMPILER_PROOF_LOG_H
