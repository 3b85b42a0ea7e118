//===- Config.h - reading mtc.config from the module ------------*- C++ -*-===//
#ifndef MTC_PASSES_CONFIG_H
#define MTC_PASSES_CONFIG_H

#include "mtc/runtime/mesh.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace mtc::passes {

/// The strategy as the importer left it on the module.
class Config {
public:
  explicit Config(mlir::ModuleOp module)
      : config(module->getAttrOfType<mlir::DictionaryAttr>("mtc.config")) {}
  explicit operator bool() const { return static_cast<bool>(config); }
  /// A number; `fallback` if the module does not have it.
  int64_t number(llvm::StringRef name, int64_t fallback = 0) const {
    auto attr =
        config ? config.getAs<mlir::IntegerAttr>(name) : mlir::IntegerAttr();
    return attr ? attr.getInt() : fallback;
  }
  /// The ranks along each axis; 1 where the module says nothing.
  Mesh mesh() const {
    Mesh mesh;
    for (const AxisInfo &axis : kAxes)
      mesh[axis.id] = number(axis.name, 1);
    return mesh;
  }
  /// ZeRO-1 with more than one replica to share the optimizer's state.
  bool shardsOptimizer() const {
    return number("zero") == 1 && mesh()[MTC_AXIS_DP] > 1;
  }
  /// Stages of the pipeline.
  int64_t stages() const { return number("pp", 1); }
  /// Parts of the model that each of them has.
  int64_t chunks() const { return number("chunks", 1); }
  std::string text(llvm::StringRef name) const {
    auto attr =
        config ? config.getAs<mlir::StringAttr>(name) : mlir::StringAttr();
    return attr ? attr.str() : std::string();
  }
  std::vector<int64_t> numbers(llvm::StringRef name) const {
    auto attr = config ? config.getAs<mlir::DenseI64ArrayAttr>(name)
                       : mlir::DenseI64ArrayAttr();
    return attr ? std::vector<int64_t>(attr.asArrayRef())
                : std::vector<int64_t>();
  }

private:
  mlir::DictionaryAttr config;
};

} // namespace mtc::passes
#endif // MTC_PASSES_CONFIG_H
