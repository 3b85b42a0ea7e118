//===- state_memory.h - what a rank keeps per parameter ---------*- C++ -*-===//
#ifndef MTC_COMPILER_STATE_MEMORY_H
#define MTC_COMPILER_STATE_MEMORY_H

#include "compiler/plan.h"

#include <nlohmann/json.hpp>

namespace mtc::compiler {

/// Bytes that a rank keeps for each of its parameters, in closed form.
struct StateBytes {
  double parameters = 0; ///< as they are computed with
  double gradients = 0;  ///< accumulators
  double optimizer = 0;  ///< states, and main parameters if there are any
  double total() const { return parameters + gradients + optimizer; }
};

/// With ZeRO stage `zero` (0: nothing is split, 1: the optimizer, 2: gradients,
/// too) over `dp` replicas, parameters of `paramBytes`, accumulators of
/// `gradBytes` and `states` fp32 values of the optimizer: 16, 8 + 8/dp and 4 +
/// 12/dp in f32 with AdamW, 18, 6 + 12/dp and 2 + 16/dp in bf16, and 16, 4 +
/// 12/dp and 2 + 14/dp with gradients in bf16, too.
StateBytes stateBytes(int64_t zero, int64_t dp, int64_t paramBytes,
                      int64_t gradBytes, int64_t states);

/// Bytes per parameter of this plan's replicas, a row for each type in which it
/// stores some ("dtype"; first the one that it computes in) and each ZeRO
/// stage. "staging_bytes", of all types in the rows of the first, is what no
/// closed form has: the workspace of the rank that needs most, in which
/// gradients wait for their sum over dp; null in the row of ZeRO-2 if that is
/// not this plan's, since buckets decide it.
nlohmann::ordered_json bytesPerParameter(const BundlePlan &plan);

/// The bytes that a rank of one stage keeps from step to step, padding
/// included, with what no closed form has: the second accumulators of tied
/// parameters, the workspace in which gradients wait for their sum over dp
/// (ZeRO-2), and that in which parameters are gathered (none, where they are
/// gathered in place).
nlohmann::ordered_json stateMemory(const ProgramPlan &program);

/// What of that no parameter needs: "elements" of its buckets that are no
/// parameter's, and "bytes" of parameters, gradients and states of these, the
/// mean of the replicas of a stage (the last ones have the most).
nlohmann::ordered_json paddingMemory(const ProgramPlan &program);

} // namespace mtc::compiler
#endif // MTC_COMPILER_STATE_MEMORY_H
