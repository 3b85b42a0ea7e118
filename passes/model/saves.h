//===- saves.h - what passes from forward to backward -----------*- C++ -*-===//
//
// The pair tfm.save (forward) and tfm.restore (backward), and which values need
// none because they are cheap to compute again. A value is saved by the layer
// that reads it: the stage that needs it then keeps it.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_MODEL_SAVES_H
#define MTC_PASSES_MODEL_SAVES_H

#include "dialects/mtc/Mtc.h"
#include "dialects/tfm/Tfm.h"

#include "mlir/IR/Builders.h"

namespace mtc::model {

/// Whether an op of the forward makes `value`.
bool isForward(mlir::Value value);

/// Whether `value`, which an op makes, is cheap to compute again: it needs at
/// most one other value of its own size. It is not where it costs nothing to
/// save it in place of that one: the forward has it in memory, as an op without
/// a kernel body reads it, such as attention, or as products of `target` write
/// it (epilogues), and nothing else needs the other.
bool isCheap(mlir::Value value, TargetAttr target);

/// A save of `value`, which the forward makes, in `layer`: behind its maker, or
/// before the first forward op of `layer` that reads it.
tfm::SaveOp saveIn(mlir::OpBuilder &b, mlir::Value value, int64_t layer);

/// A restore of what `save` keeps, before `reader`, in the layer of `save`.
tfm::RestoreOp restoreBefore(mlir::OpBuilder &b, tfm::SaveOp save,
                             mlir::Operation *reader);

/// A copy of the forward op `op` on `operands`, before `reader`, as a backward
/// op of its layer. It has no tfm.id.
mlir::Operation *copyBefore(mlir::OpBuilder &b, mlir::Operation *op,
                            mlir::ValueRange operands, mlir::Operation *reader);

} // namespace mtc::model
#endif // MTC_PASSES_MODEL_SAVES_H
