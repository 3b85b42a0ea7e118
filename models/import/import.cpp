//===- import.cpp - spec to tfm -------------------------------------------===//
//
// Families differ by choices of the spec; each choice is one small function.
// Nothing here knows a device, and of the mesh only how many samples a
// microbatch has and whether samples are split.
//
//===----------------------------------------------------------------------===//
#include "models/import/importer.h"

#include "dialects/dist/Dist.h"

#include <limits>
#include <string>

namespace mtc::models::importing {

Value Importer::einsum(const char *equation, Value x, Value w,
                       const Shape &shape) {
  w = computed(w);
  return tfm::EinsumOp::create(b, loc, tensor(shape), equation, x, w);
}

/// `x`, whose last `dims` dimensions are those of `weight`: whole there if the
/// strategy wants that.
Value Importer::gathered(Value x, const std::string &weight, int64_t dims) {
  if (!strategy.gathersOutput(weight))
    return x;
  int64_t rank = mlir::cast<RankedTensorType>(x.getType()).getRank();
  auto own = llvm::to_vector(llvm::seq<int64_t>(rank - dims, rank));
  return tfm::WholeOp::create(b, loc, x.getType(), x,
                              b.getDenseI64ArrayAttr(own));
}

Value Importer::broadcast(Value x, const Shape &shape,
                          const SmallVector<int64_t> &dims) {
  Type element = mlir::cast<RankedTensorType>(x.getType()).getElementType();
  return tfm::BroadcastOp::create(b, loc, RankedTensorType::get(shape, element),
                                  x, b.getDenseI64ArrayAttr(dims));
}

/// `x` itself if it has that element type.
Value Importer::cast(Value x, Type element) {
  auto type = mlir::cast<RankedTensorType>(x.getType());
  if (type.getElementType() == element)
    return x;
  return tfm::CastOp::create(b, loc, type.clone(element), x);
}

Value Importer::add(Value x, Value y) {
  return tfm::AddOp::create(b, loc, x.getType(), ValueRange{x, y});
}

Value Importer::withBias(Value x, const std::string &name, const Shape &shape,
                         const Axes &axes) {
  return addBias(x, computed(param(name, shape, axes, tfm::Init::Zeros, 0.0)));
}

/// `x` and a bias of its last dimensions.
Value Importer::addBias(Value x, Value bias) {
  auto biasShape = mlir::cast<RankedTensorType>(bias.getType()).getShape();
  auto type = mlir::cast<RankedTensorType>(x.getType());
  SmallVector<int64_t> dims;
  for (int64_t d = type.getRank() - biasShape.size(); d < type.getRank(); ++d)
    dims.push_back(d);
  return add(x, broadcast(bias, Shape(type.getShape()), dims));
}

Value Importer::dropout(Value x, double rate, int64_t site) {
  if (rate == 0)
    return x;
  return tfm::DropoutOp::create(
      b, loc, x.getType(), x, sample, b.getF64FloatAttr(rate),
      b.getI64IntegerAttr(layer), b.getI64IntegerAttr(site));
}

Value Importer::norm(Value x, const std::string &name) {
  enter(name, "norm");
  Shape size = {spec.hidden};
  bool layerNorm = spec.norm.kind == NormKind::layerNorm;
  auto kind = layerNorm ? tfm::NormKind::LayerNorm : tfm::NormKind::RmsNorm;
  Value scale = param(name + ".scale", size, {"embed"}, tfm::Init::Ones, 0.0);
  Value bias =
      layerNorm ? param(name + ".bias", size, {"embed"}, tfm::Init::Zeros, 0.0)
                : Value();
  Type rows = statistics({batch, seq});
  return tfm::NormOp::create(b, loc, x.getType(),
                             tfm::subtractsMean(kind) ? rows : Type(), rows,
                             kind, x, scale, bias, llvm::APFloat(spec.norm.eps))
      .getY();
}

/// The learned positions of each sample. The table has a row per position of
/// the longest sequence; of a shorter one nothing reads the rows behind, and
/// their gradients are zero. Where ranks have parts of samples, or positions
/// begin again, each token looks up the row of its own.
Value Importer::positions() {
  enter("embed.positions", "positions");
  Value rows = param("embed.positions", {spec.maxSeq, spec.hidden},
                     {"seq", "embed"}, tfm::Init::Normal, spec.init.std);
  if (strategy.resetPositions)
    return lookUp(tfm::IndexFromOp::create(b, loc, documents, /*dim=*/1), rows);
  if (seq == spec.maxSeq && !splitsSequence())
    return broadcast(computed(rows), stream(), {1, 2});
  Value first = tfm::IotaOp::create(
      b, loc, RankedTensorType::get({batch, seq}, b.getI32Type()), /*dim=*/1);
  return lookUp(first, rows);
}

/// Only the rows that are read are cast, not the table.
Value Importer::lookUp(Value rows, Value table) {
  Type element = mlir::cast<RankedTensorType>(table.getType()).getElementType();
  Type found = RankedTensorType::get(stream(), element);
  return computed(tfm::EmbedOp::create(b, loc, found, rows, table));
}

Value Importer::embedding() {
  enter("embed.tokens", "vocab");
  table = param("embed.tokens", {spec.paddedVocab, spec.hidden},
                {"vocab", "embed"}, tfm::Init::Normal, spec.init.std);
  Value x = lookUp(ids, table);
  x = add(x, positions());
  enter("embed.dropout", "dropout");
  return dropout(x, spec.dropout.embedding, siteEmbedding);
}

Value Importer::mlp(Value x, const std::string &name) {
  Shape inner = {batch, seq, spec.ffn};
  enter(name + ".up", "mlp");
  Value up = param(name + ".up.weight", {spec.hidden, spec.ffn},
                   {"embed", "ffn"}, tfm::Init::Normal, spec.init.std);
  Value u = einsum("bse,ef->bsf", x, up, inner);
  if (spec.mlp.bias)
    u = withBias(u, name + ".up.bias", {spec.ffn}, {"ffn"});
  u = gathered(u, name + ".up.weight", 1);
  auto kind = spec.mlp.kind == MlpKind::relu ? tfm::ActivationKind::Relu
                                             : tfm::ActivationKind::Gelu;
  enter(name + ".activation", "mlp");
  Value v = tfm::ActivationOp::create(b, loc, u.getType(), kind, u);
  enter(name + ".down", "mlp");
  Value down = param(name + ".down.weight", {spec.ffn, spec.hidden},
                     {"ffn", "embed"}, tfm::Init::Normal, outputStd());
  Value y = einsum("bsf,fe->bse", v, down, stream());
  if (spec.mlp.bias)
    y = withBias(y, name + ".down.bias", {spec.hidden}, {"embed"});
  return gathered(y, name + ".down.weight", 1);
}

Value Importer::head(Value x) {
  x = norm(x, "final_norm");
  enter("head", "tied");
  Shape shape = {batch, seq, spec.paddedVocab};
  Value logits;
  if (spec.tied) {
    logits = einsum("bse,ve->bsv", x, table, shape);
  } else {
    Value w = param("head.weight", {spec.hidden, spec.paddedVocab},
                    {"embed", "vocab"}, tfm::Init::Normal, spec.init.std);
    logits = einsum("bse,ev->bsv", x, w, shape);
  }
  logits = gathered(logits, spec.tied ? "embed.tokens" : "head.weight", 1);
  if (spec.vocab != spec.paddedVocab)
    logits = tfm::MaskTailOp::create(
        b, loc, logits.getType(), logits, b.getI64IntegerAttr(spec.vocab),
        b.getF32FloatAttr(-std::numeric_limits<float>::infinity()));
  tfm::ExportOp::create(b, loc, b.getStringAttr("logits"), logits);
  return cast(logits, types.statistics);
}

/// log(sum exp(z - max)) + max - z[label], averaged over the global batch.
Value Importer::loss(Value z) {
  enter("loss", "vocab");
  auto full = Shape(mlir::cast<RankedTensorType>(z.getType()).getShape());
  Type rows = statistics({batch, seq});
  auto last = b.getDenseI64ArrayAttr({2});
  Value max =
      tfm::ReduceOp::create(b, loc, rows, tfm::ReduceKind::Max, z, last);
  max = tfm::StopGradientOp::create(b, loc, max.getType(), max);
  Value shifted =
      tfm::SubOp::create(b, loc, z.getType(), z, broadcast(max, full, {0, 1}));
  Value e = tfm::ExpOp::create(b, loc, z.getType(), shifted);
  Value sum =
      tfm::ReduceOp::create(b, loc, rows, tfm::ReduceKind::Sum, e, last);
  Value picked = tfm::PickOp::create(b, loc, rows, z, labels);
  Value logSum = tfm::LogOp::create(b, loc, rows, sum);
  Value perToken = tfm::SubOp::create(b, loc, rows, add(logSum, max), picked);
  return tfm::ReduceOp::create(b, loc, statistics({}), tfm::ReduceKind::Sum,
                               inLoss(perToken),
                               b.getDenseI64ArrayAttr({0, 1}));
}

/// What each token adds to the loss. Scaled before it is summed: microbatches,
/// replicas and rows simply add. How many tokens are in the loss only who reads
/// them knows, unless all are.
Value Importer::inLoss(Value perToken) {
  if (gradientWeights)
    perToken = tfm::ScaleGradientOp::create(b, loc, perToken.getType(),
                                            perToken, gradientWeights);
  if (lossWeights)
    return tfm::MulOp::create(b, loc, perToken, lossWeights);
  double tokens =
      static_cast<double>(strategy.globalBatchSize) * static_cast<double>(seq);
  return tfm::ScaleOp::create(b, loc, perToken.getType(), perToken,
                              b.getF64FloatAttr(1.0 / tokens));
}

void Importer::finish(Value loss) {
  func::ReturnOp::create(b, loc, loss);
  Block &body = fn.getBody().front();
  fn.setFunctionType(
      b.getFunctionType(body.getArgumentTypes(), loss.getType()));
  fn.setAllArgAttrs(argAttrs);
  fn.setResultAttr(0, "tfm.result", b.getStringAttr("loss"));
  int64_t id = 0;
  for (Operation &op : body.without_terminator()) {
    op.setAttr(tfm::idAttr, b.getI64IntegerAttr(id++));
    op.setAttr(tfm::phaseAttr, b.getStringAttr("forward"));
  }
}

void Importer::run() {
  types = dtypePolicy(b.getContext(), *symbolizePrecision(strategy.dtype),
                      *symbolizePrecision(strategy.gradDtype));
  b.setInsertionPointToEnd(module.getBody());
  fn = func::FuncOp::create(b, module.getLoc(), "microbatch",
                            b.getFunctionType({}, {}));
  b.setInsertionPointToStart(fn.addEntryBlock());
  sample = argument("sample", RankedTensorType::get({}, b.getI64Type()),
                    b.getNamedAttr("tfm.sample_base", b.getUnitAttr()));
  ids = input(InputKind::Ids);
  labels = input(InputKind::Labels);
  if (strategy.resetPositions || strategy.resetAttention)
    documents = input(InputKind::DocumentStarts);
  if (strategy.maskDocumentEnds)
    lossWeights = input(InputKind::LossWeights);
  if (strategy.maskDocumentEnds && !strategy.lossPerToken)
    gradientWeights = input(InputKind::GradientWeights);

  Block &body = fn.getBody().front();
  auto mark = [&] { // ops made since the last call belong to the current layer
    for (Operation &op : body)
      if (!op.hasAttr(tfm::layerAttr))
        op.setAttr(tfm::layerAttr, b.getI64IntegerAttr(layer));
  };
  Value x = embedding();
  mark();
  for (int64_t i = 0; i < spec.layers; ++i) {
    setLayer(i + 1);
    std::string name = "layers." + std::to_string(i);
    Value a = attention(norm(x, name + ".norm1"), name + ".attn");
    enter(name + ".attn.residual", "dropout");
    x = add(x, dropout(a, spec.dropout.hidden, siteAttention));
    Value m = mlp(norm(x, name + ".norm2"), name + ".mlp");
    enter(name + ".mlp.residual", "dropout");
    x = add(x, dropout(m, spec.dropout.hidden, siteMlp));
    mark();
  }
  setLayer(spec.layers + 1);
  Value total = loss(head(x));
  mark();
  finish(total);
}

} // namespace mtc::models::importing

namespace mtc::models {

mlir::OwningOpRef<mlir::ModuleOp> importModel(mlir::MLIRContext &context,
                                              const ModelSpec &spec,
                                              const Strategy &strategy) {
  context.loadDialect<MtcDialect, tfm::TfmDialect, dist::DistDialect,
                      mlir::func::FuncDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(
      mlir::NameLoc::get(mlir::StringAttr::get(&context, spec.name)));
  setConfig(*module, spec, strategy);
  importing::Importer(*module, spec, strategy).run();
  return module;
}

} // namespace mtc::models
