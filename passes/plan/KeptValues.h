//===- KeptValues.h - what fragments save for each other --------*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_KEPTVALUES_H
#define MTC_PASSES_PLAN_KEPTVALUES_H

#include "passes/plan/MemoryLayout.h"

namespace mtc::passes {

/// Places what fragments of `program` save, and its inputs: sets kept,
/// inputOffset, inputPools and chunksWithInputs of `layout`, and the strides of
/// the pools that hold them. A value is in the pool whose slots live from its
/// writer to its last reader: `saved` from forward to backward or input
/// gradient, `operand` from forward to weight gradient, `split` between the two
/// gradients; values of microbatches that are computed again in `saved_again`
/// and so on.
void layOutKept(rt::ProgramOp program, ProgramLayout &layout);

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_KEPTVALUES_H
