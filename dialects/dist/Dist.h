//===- Dist.h - the dist dialect --------------------------------*- C++ -*-===//
#ifndef MTC_DIALECTS_DIST_H
#define MTC_DIALECTS_DIST_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/dist/DistDialect.h.inc"
#include "dialects/dist/DistEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/dist/DistAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/dist/DistOps.h.inc"

namespace mtc::dist {

/// Module attribute with the mesh.
inline constexpr llvm::StringLiteral meshAttrName = "dist.mesh";
/// Module attribute: a DictionaryAttr of logical axes to names of mesh axes, ""
/// for none; on an argument of @microbatch: its own, which go before.
inline constexpr llvm::StringLiteral rulesAttrName = "dist.rules";
/// On the module: #dist.weak_split, which is sequence parallelism; may be
/// absent.
inline constexpr llvm::StringLiteral weakSplitAttrName = "dist.weak_split";
/// On the module: the name of the mesh axis whose ranks save a part each of
/// what all of them have; may be absent.
inline constexpr llvm::StringLiteral splitSavedAttrName = "dist.split_saved";
/// Function argument attribute: a ShardingAttr.
inline constexpr llvm::StringLiteral shardingAttrName = "dist.sharding";
/// Op attribute: an ArrayAttr with one ShardingAttr per result.
inline constexpr llvm::StringLiteral shardingsAttrName = "dist.shardings";

/// Global shapes, from partition on: of a function argument, and an ArrayAttr
/// with one per result of an op.
inline constexpr llvm::StringLiteral globalShapeAttrName = "dist.global_shape";
inline constexpr llvm::StringLiteral globalShapesAttrName =
    "dist.global_shapes";

/// The module's mesh; null if it has none.
MeshAttr meshOf(mlir::Operation *op);
/// The recorded sharding of a value, or of what a region gives; else null.
ShardingAttr shardingOf(mlir::Value value);
/// Records the sharding of a value on its op or function argument.
void setSharding(mlir::Value value, ShardingAttr sharding);
/// The recorded global shape of a value of local type, likewise; else null.
mlir::DenseI64ArrayAttr globalShapeOf(mlir::Value value);
/// Records the sharding and global shape of `from`, where it has them, for
/// `to`, the one result of an op.
void copySharding(mlir::Value from, mlir::Value to);

/// The dimension of a tensor that a mesh axis splits, for those who can only
/// tell one; and the shape with that dimension whole.
struct Split {
  mlir::StringAttr axis; ///< null: no axis does
  int64_t dim = -1;
  llvm::SmallVector<int64_t> shape;
};
/// The split of a tensor of shape `local` among its dimensions from `first` on
/// (those before stay local): of the first axis that does, where a verifier saw
/// that no other does. `sharding` and `mesh` may be null: no split.
Split splitOf(ShardingAttr sharding, MeshAttr mesh,
              llvm::ArrayRef<int64_t> local, int64_t first);

} // namespace mtc::dist
#endif // MTC_DIALECTS_DIST_H
