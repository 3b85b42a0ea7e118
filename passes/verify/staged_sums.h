//===- staged_sums.h - sums over dp behind each microbatch ------*- C++ -*-===//
//
// Under ZeRO-2 a rank accumulates its shard only, so backward fragments sum
// gradients over dp themselves: they stage those of a bucket in the workspace,
// scatter their sum and add the rank's part to the shard. This follows every
// element of the workspace through that, op by op: how often something was
// added to it since it was zero, and whether it is summed over dp. Which
// gradient it is that was added is the concern of checkSameValues.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_VERIFY_STAGED_SUMS_H
#define MTC_PASSES_VERIFY_STAGED_SUMS_H

#include "passes/verify/model.h"

namespace mtc::passes::verify {

/// Reports, of what a microbatch runs on one stage: an element of a gradient
/// that backwards do not sum once over dp and add once to the shard that it
/// lies in; padding that is added and may not be zero; a reader of what is
/// summed but the addition; a collective over dp that sums no gradients.
void checkStagedSums(const Model &model, const Stage &stage,
                     llvm::ArrayRef<const Fragment *> fragments,
                     Report &report);

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_STAGED_SUMS_H
