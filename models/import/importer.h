//===- importer.h - makes the ops of a model --------------------*- C++ -*-===//
//
// For the files of this folder only; importModel (import.h) is what others
// call.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_MODELS_IMPORT_IMPORTER_H
#define MTC_MODELS_IMPORT_IMPORTER_H

#include "dialects/Tables.h"
#include "dialects/mtc/Mtc.h"
#include "dialects/tfm/Tfm.h"
#include "models/import/import.h"
#include "models/spec.h"
#include "models/strategy.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <cmath>
#include <string>
#include <vector>

namespace mtc::models::importing {

using namespace mlir;

/// Dropout sites (docs/numerics.md).
enum Site {
  siteEmbedding = 0,
  siteProbabilities = 1,
  siteAttention = 2,
  siteMlp = 3
};

using Axes = std::vector<const char *>;
using Shape = SmallVector<int64_t>;

/// Of what attention reads.
enum class Part { query, key, value };

/// Of a parameter.
struct Dims {
  Shape shape;
  Axes axes;
};

/// Writes @microbatch: arguments, ops layer by layer, the loss.
class Importer {
public:
  Importer(ModuleOp module, const ModelSpec &spec, const Strategy &strategy)
      : module(module), b(module.getContext()), spec(spec), strategy(strategy),
        batch(strategy.microBatchSize * strategy.mesh[MTC_AXIS_DP]),
        seq(strategy.seqLength ? strategy.seqLength : spec.maxSeq) {}
  void run();

private:
  // Arguments of @microbatch.
  /// Its location has the name, and the line of the part that it belongs to.
  Value argument(const std::string &name, Type type, NamedAttribute attribute);
  Value param(const std::string &name, Shape shape, const Axes &axes,
              tfm::Init init, double std, tfm::SliceAttr slice = {});
  DictionaryAttr rulesOfParameter(tfm::ParamAttr param);
  tfm::RepeatsAttr repeats(const std::string &name, ArrayAttr axes,
                           Shape &shape);
  Type storedType(const std::string &name);
  Value input(InputKind kind);
  // One op each, of the current layer.
  Value einsum(const char *equation, Value x, Value w, const Shape &shape);
  Value withBias(Value x, const std::string &name, const Shape &shape,
                 const Axes &axes);
  Value addBias(Value x, Value bias);
  Value repeated(Value x, const Axes &axes);
  Value gathered(Value x, const std::string &weight, int64_t dims);
  Value broadcast(Value x, const Shape &shape,
                  const SmallVector<int64_t> &dims);
  Value dropout(Value x, double rate, int64_t site);
  Value add(Value x, Value y);
  Value norm(Value x, const std::string &name);
  // Parts of the model.
  Value positions();
  Value embedding();
  Value attention(Value x, const std::string &name);
  Value core(ArrayRef<Value> qkv);
  bool needsParts() const;
  SmallVector<Value> unfused(Value qkv);
  Dims fusedDims(const std::string &which) const;
  Value fusedProjection(Value x, const std::string &name);
  tfm::SliceAttr sliceOfFused(const std::string &which, Part part,
                              StringRef attention);
  Value separate(Value x, const std::string &attention, Part part);
  Value mlp(Value x, const std::string &name);
  Value head(Value x);
  Value loss(Value logits);
  Value inLoss(Value perToken);
  void finish(Value loss);

  Type tensor(const Shape &shape) {
    return RankedTensorType::get(shape, types.compute);
  }
  Type statistics(const Shape &shape) {
    return RankedTensorType::get(shape, types.statistics);
  }
  Value cast(Value x, Type element);
  Value computed(Value param) { return cast(param, types.compute); }
  Value lookUp(Value rows, Value table);
  /// Whether ranks have parts of samples.
  bool splitsSequence() const {
    MeshAxis axis = strategy.shard.meshAxis(LogicalAxis::seq);
    return axis != MeshAxis::none &&
           strategy.mesh[static_cast<MtcAxis>(axis)] > 1;
  }
  Shape stream() const { return {batch, seq, spec.hidden}; }
  double outputStd() const {
    return spec.init.scaledOutput ? spec.init.std / std::sqrt(2.0 * spec.layers)
                                  : spec.init.std;
  }
  void setLayer(int64_t value) { layer = value; }
  /// Not in embedding or head.
  bool isInLayer() const { return layer >= 1 && layer <= spec.layers; }
  /// What is made from here on belongs to that part of the model, which the
  /// spec describes under `key`.
  void enter(const std::string &part, StringRef key) {
    loc = NameLoc::get(b.getStringAttr(part), written(key));
  }
  Location written(StringRef key);

  ModuleOp module;
  OpBuilder b;
  const ModelSpec &spec;
  const Strategy &strategy;
  int64_t batch, seq, layer = 0;
  DtypePolicy types;
  Location loc = UnknownLoc::get(module.getContext());
  func::FuncOp fn;
  SmallVector<Attribute> argAttrs;
  Value sample, ids, labels, table;
  Value lossWeights, gradientWeights; ///< null: each token has the same
  Value documents; ///< where they begin; null where nothing asks
};

} // namespace mtc::models::importing
#endif // MTC_MODELS_IMPORT_IMPORTER_H
