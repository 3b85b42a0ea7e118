//===- layers.h - which virtual stage has which layers ----------*- C++ -*-===//
#ifndef MTC_PASSES_PIPELINE_LAYERS_H
#define MTC_PASSES_PIPELINE_LAYERS_H

#include "passes/pipeline/schedules/schedule.h"

#include "mlir/IR/BuiltinOps.h"

namespace mtc::pipeline {

/// The virtual stage of each layer of a model: 0 (embedding) to L + 1 (head).
class LayerMap {
public:
  /// Of a module with mtc.config: its layers over `pp` times `chunks` virtual
  /// stages, by `layers_per_stage`, which is in the order of the model. Fails,
  /// after a diagnostic, where they do not add up.
  static mlir::FailureOr<LayerMap> make(mlir::ModuleOp module);

  /// The virtual stage of an op; -1 if its layer is on none.
  int64_t of(mlir::Operation *op) const;

  /// Stages and chunks; what virtualStage() says of them is in schedule.h.
  const schedules::Shape &shape() const { return shape_; }

private:
  schedules::Shape shape_;
  std::vector<int64_t> virtualStages_; ///< by layer
};

} // namespace mtc::pipeline
#endif // MTC_PASSES_PIPELINE_LAYERS_H
