//===- proof.h - what was proved of a plan, in numbers ----------*- C++ -*-===//
#ifndef MTC_PASSES_VERIFY_PROOF_H
#define MTC_PASSES_VERIFY_PROOF_H

#include "passes/verify/model.h"

namespace mtc::passes::verify {

/// How much the checks of verify-plan covered, of the entry train. Ranks of a
/// stage run one program, so what was looked at for one holds for all of them,
/// and is counted for all.
struct Proof {
  int64_t ranks = 0;
  int64_t communicators = 0; ///< with two members or more
  /// Fragments that run, transfers and collectives of a step.
  int64_t operations = 0;
  /// Of slots, each of which found the value of its microbatch.
  int64_t reads = 0;
};

/// Counts what a model without findings was checked for.
Proof proofOf(const Model &model);

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_PROOF_H
