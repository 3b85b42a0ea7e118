//===- Rt.h - the rt dialect ------------------------------------*- C++ -*-===//
#ifndef MTC_DIALECTS_RT_H
#define MTC_DIALECTS_RT_H

#include "dialects/Tables.h"
#include "dialects/pipe/Pipe.h"
#include "dialects/rt/Access.h"
#include "dialects/rt/Affine.h"
#include "dialects/rt/Rows.h"
#include "dialects/rt/Work.h"
#include "mtc/runtime/mesh.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mtc::rt {
/// Of the ops of this dialect that stand in bodies of kernels, and only there.
template <typename Op>
class KernelBodyOp : public mlir::OpTrait::TraitBase<Op, KernelBodyOp> {};
} // namespace mtc::rt

#include "dialects/rt/RtDialect.h.inc"
#include "dialects/rt/RtEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/rt/RtAttrs.h.inc"
#include "dialects/rt/RtInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialects/rt/RtOps.h.inc"

namespace mtc::rt {

/// Bytes of a dense tensor or memref of static shape.
int64_t bytesOf(mlir::Type type);

/// A float type of 16 bits: kernels compute in f32, widen such elements when
/// they read them and round what they store once.
inline bool isHalf(mlir::Type type) { return type.isBF16() || type.isF16(); }

/// Whether an op of a fragment takes time: it works, or waits. Profiles number
/// these from 0, in the order in which they stand in their fragment.
bool takesTime(mlir::Operation *op);

/// Adds a row as its op has it.
void addRow(RowWriter &rows, const StepOp::Properties &step);
void addRow(RowWriter &rows, const ExchangeOp::Properties &exchange);

} // namespace mtc::rt

#endif // MTC_DIALECTS_RT_H
