//===- import.h - spec and strategy to tfm ----------------------*- C++ -*-===//
#ifndef MTC_MODELS_IMPORT_H
#define MTC_MODELS_IMPORT_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <string_view>
#include <vector>

namespace mtc::models {
struct ModelSpec;
struct Strategy;
enum class LogicalAxis;

/// Builds `@microbatch` of `spec`: the forward of micro_batch·dp samples,
/// global shapes, with the loss already divided by the tokens of the global
/// batch, so that microbatches and replicas simply add. The module carries
/// everything that later phases need (`mtc.config`, `dist.mesh`, `dist.rules`,
/// also of parameters that an override matches): they run from the IR alone.
/// Both arguments must have been validated, the strategy resolved (resolve.h),
/// its schedule named, and `unsupported` must be empty.
/// Loads the dialects it needs.
mlir::OwningOpRef<mlir::ModuleOp> importModel(mlir::MLIRContext &context,
                                              const ModelSpec &spec,
                                              const Strategy &strategy);

/// Sets the module attributes that hold the strategy (config.cpp).
void setConfig(mlir::ModuleOp module, const ModelSpec &spec,
               const Strategy &strategy);

/// Those of an array of names, in the order of LogicalAxis.
std::vector<LogicalAxis> logicalAxes(mlir::ArrayAttr names);

/// {ffn = ""}: what overrides say of a parameter's logical axes (strings) where
/// it is not the general rule; "" for no mesh axis.
mlir::DictionaryAttr ownRules(mlir::Builder &builder, const Strategy &strategy,
                              std::string_view parameter, mlir::ArrayAttr axes);

} // namespace mtc::models
#endif // MTC_MODELS_IMPORT_H
