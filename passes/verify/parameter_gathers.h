//===- parameter_gathers.h - parameters that entries gather -----*- C++ -*-===//
//
// Under ZeRO a rank updates its shard of each bucket. What `apply` does not
// gather is whole on no rank between steps, so each entry gathers a bucket
// before it reads parameters of it.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_VERIFY_PARAMETER_GATHERS_H
#define MTC_PASSES_VERIFY_PARAMETER_GATHERS_H

#include "passes/verify/model.h"

#include <set>

namespace mtc::passes::verify {

/// The buckets on whose parameters fragments of microbatches of train have
/// collectives: after the update a rank has its shard of them.
std::set<int64_t> bucketsGatheredInTrain(const Stage &stage);

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_PARAMETER_GATHERS_H
