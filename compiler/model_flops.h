//===- model_flops.h - what a plan's model computes -------------*- C++ -*-===//
#ifndef MTC_COMPILER_MODEL_FLOPS_H
#define MTC_COMPILER_MODEL_FLOPS_H

#include "compiler/plan.h"
#include "mtc/runtime/model_flops.h"

#include <vector>

namespace mtc::compiler {

/// Of a token, for each length of samples that the plan has, the longest first:
/// three times what all ranks compute in `eval`, which is the forward and
/// nothing else. Ranks that compute the same, as the keys of a head that
/// several along tp have, count each. Empty if the plan has no `eval`.
std::vector<runtime::ModelFlops> modelFlops(const BundlePlan &plan);

} // namespace mtc::compiler
#endif // MTC_COMPILER_MODEL_FLOPS_H
