//===- split_saved.h - saved values in parts --------------------*- C++ -*-===//
#ifndef MTC_PASSES_SHARDING_SPLIT_SAVED_H
#define MTC_PASSES_SHARDING_SPLIT_SAVED_H

#include "passes/sharding/ir_graph.h"

namespace mtc::sharding {

/// Changes a plan so that what all ranks along an axis of the mesh have is
/// saved in parts along it, and is whole again for those who read it in the
/// backward: the axis that the module names (dist.split_saved), if it does. A
/// value is split along the first of its dimensions that no other axis splits
/// and that has equal parts; one that has none is saved whole, and so is an
/// argument, which nobody needs to save. Fails, after a diagnostic, on an
/// attribute that names no axis of the mesh.
mlir::LogicalResult splitSaved(IrGraph &ir, Plan &plan);

} // namespace mtc::sharding
#endif // MTC_PASSES_SHARDING_SPLIT_SAVED_H
