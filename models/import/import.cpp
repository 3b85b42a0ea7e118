//===- import.cpp - spec to tfm -------------------------------------------===//
//
// Families differ by choices of the spec; each choice is one small function.
// Nothing here knows a device, and of the mesh only how many samples a
// microbatch has and whether samples are split.
//
//===----------------------------------------------------------------------===//
#include "models/import/import.h"

#include "dialects/dist/Dist.h"
#include "dialects/mtc/Mtc.h"
#include "dialects/tfm/Tfm.h"
#include "models/kv_heads.h"
#include "models/spec.h"
#include "models/strategy.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <cmath>
#include <limits>
#include <string>

using namespace mlir;

namespace mtc::models {
namespace {

/// Dropout sites (docs/numerics.md).
enum Site {
  siteEmbedding = 0,
  siteProbabilities = 1,
  siteAttention = 2,
  siteMlp = 3
};

using Axes = std::vector<const char *>;
using Shape = SmallVector<int64_t>;

class Importer {
public:
  Importer(ModuleOp module, const ModelSpec &spec, const Strategy &strategy)
      : module(module), b(module.getContext()), spec(spec), strategy(strategy),
        batch(strategy.microBatchSize * strategy.mesh[MTC_AXIS_DP]),
        seq(strategy.seqLength ? strategy.seqLength : spec.maxSeq) {}
  void run();

private:
  // Arguments of @microbatch.
  Value argument(const std::string &name, Type type, NamedAttribute attribute);
  Value param(const std::string &name, Shape shape, const Axes &axes,
              tfm::Init init, double std);
  tfm::RepeatsAttr repeats(const std::string &name, ArrayAttr axes,
                           Shape &shape);
  Type storedType(const std::string &name);
  Value input(const char *name);
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
  Value separate(Value x, const std::string &name, bool isQuery);
  Value mlp(Value x, const std::string &name);
  Value head(Value x);
  Value loss(Value logits);
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
};

/// The line of the spec that has a key; unknown if it is left to its default.
Location Importer::written(StringRef key) {
  auto line = spec.lines.find(std::string_view(key));
  if (line == spec.lines.end())
    return UnknownLoc::get(b.getContext());
  return FileLineColLoc::get(b.getStringAttr(spec.file), line->second, 1);
}

Value Importer::argument(const std::string &name, Type type,
                         NamedAttribute attribute) {
  argAttrs.push_back(b.getDictionaryAttr({attribute}));
  return fn.getBody().front().addArgument(
      type,
      NameLoc::get(b.getStringAttr(name), UnknownLoc::get(b.getContext())));
}

/// That of the weights that are computed with, or wider.
Type Importer::storedType(const std::string &name) {
  Precision stored = *symbolizePrecision(strategy.dtypeOf(name));
  return dtypePolicy(b.getContext(), stored, Precision::F32).compute;
}

/// Where ranks share heads of keys and values, each stores the one that it
/// reads: `shape` becomes that with a head for each rank.
tfm::RepeatsAttr Importer::repeats(const std::string &name, ArrayAttr axes,
                                   Shape &shape) {
  int64_t ranks = kvRanksOf(name, logicalAxes(axes), spec, strategy);
  if (ranks == 1)
    return {};
  auto isHeads = [](StringAttr axis) {
    return axis.getValue() == StringRef(toString(LogicalAxis::kvHeads));
  };
  auto all = axes.getAsRange<StringAttr>();
  int64_t dim = std::distance(all.begin(), llvm::find_if(all, isHeads));
  shape[dim] *= ranks;
  return tfm::RepeatsAttr::get(b.getContext(), dim, ranks);
}

/// What computes with it reads it by `computed`, but for norms, which take
/// their scale and bias as they are stored.
Value Importer::param(const std::string &name, Shape shape, const Axes &axes,
                      tfm::Init init, double std) {
  SmallVector<Attribute> names;
  for (const char *axis : axes)
    names.push_back(b.getStringAttr(axis));
  // Megatron's rule: biases and parameters of one logical dimension (norms) do
  // not decay.
  bool isBias = StringRef(name).ends_with(".bias");
  bool decay = !isBias && shape.size() > 1;
  ArrayAttr logical = b.getArrayAttr(names);
  tfm::RepeatsAttr repeated = repeats(name, logical, shape);
  auto attr =
      tfm::ParamAttr::get(b.getContext(), b.getStringAttr(name), logical, init,
                          b.getF64FloatAttr(std), decay, repeated);
  Type stored = storedType(name);
  Value made = argument(name, RankedTensorType::get(shape, stored),
                        b.getNamedAttr("tfm.param", attr));
  if (auto rules = ownRules(b, strategy, name, attr.getAxes()); !rules.empty())
    argAttrs.back() =
        b.getDictionaryAttr({b.getNamedAttr(dist::rulesAttrName, rules),
                             b.getNamedAttr("tfm.param", attr)});
  return made;
}

Value Importer::input(const char *name) {
  auto axes =
      b.getArrayAttr({b.getStringAttr("batch"), b.getStringAttr("seq")});
  auto attr = tfm::InputAttr::get(b.getContext(), b.getStringAttr(name), axes);
  return argument(name, RankedTensorType::get({batch, seq}, b.getI32Type()),
                  b.getNamedAttr("tfm.input", attr));
}

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
/// their gradients are zero. Where ranks have parts of samples, each looks up
/// the rows of its own positions.
Value Importer::positions() {
  enter("embed.positions", "positions");
  Value rows = param("embed.positions", {spec.maxSeq, spec.hidden},
                     {"seq", "embed"}, tfm::Init::Normal, spec.init.std);
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

Value Importer::core(ArrayRef<Value> qkv) {
  Type out = tensor({batch, seq, spec.heads, spec.headDim});
  Type lse = statistics({batch, spec.heads, seq});
  double scale = 1.0 / std::sqrt(static_cast<double>(spec.headDim));
  return tfm::AttentionOp::create(
             b, loc, out, lse, qkv, sample,
             b.getBoolAttr(spec.attention.causal), b.getF64FloatAttr(scale),
             b.getF64FloatAttr(spec.dropout.attention),
             b.getI64IntegerAttr(layer), b.getI64IntegerAttr(siteProbabilities),
             b.getI64IntegerAttr(spec.heads))
      .getOut();
}

/// Where ranks have parts of samples, queries stay with them, and keys and
/// values do not: no rank has to gather the queries of others. Where several
/// queries read each of several key heads, a fused tensor has no stride at
/// which one query follows another.
bool Importer::needsParts() const {
  return splitsSequence() || (spec.kvHeads > 1 && spec.kvHeads < spec.heads);
}

SmallVector<Value> Importer::unfused(Value qkv) {
  Type q = tensor({batch, seq, spec.heads, spec.headDim});
  Type kv = tensor({batch, seq, spec.kvHeads, spec.headDim});
  auto op = tfm::UnfuseOp::create(b, loc, q, kv, kv, qkv);
  return {op.getQ(), op.getK(), op.getV()};
}

/// A parameter with heads of keys or values, as many times as ranks need them,
/// if it is not stored so: heads that repeat these lie as those of the queries
/// do.
Value Importer::repeated(Value x, const Axes &axes) {
  int64_t heads = spec.kvHeads * kvCopies(spec, strategy);
  auto type = mlir::cast<RankedTensorType>(x.getType());
  SmallVector<Attribute> names;
  SmallVector<int64_t> shape(type.getShape());
  int64_t dim = 0;
  for (auto [d, axis] : llvm::enumerate(axes)) {
    bool isRepeated = axis == toString(LogicalAxis::kvHeads);
    names.push_back(b.getStringAttr(
        isRepeated ? StringRef(toString(LogicalAxis::heads)) : axis));
    if (!isRepeated)
      continue;
    dim = static_cast<int64_t>(d);
    shape[d] = heads;
  }
  int64_t times = heads / type.getDimSize(dim);
  if (times == 1)
    return x;
  auto op = tfm::RepeatOp::create(b, loc, type.clone(shape), x, dim, times);
  op->setAttr(tfm::axesAttr, b.getArrayAttr(names));
  return op;
}

/// The queries, keys or values of a projection of their own.
Value Importer::separate(Value x, const std::string &name, bool isQuery) {
  int64_t heads = isQuery ? spec.heads : spec.kvHeads, dim = spec.headDim;
  const char *axis = isQuery ? "heads" : "kv_heads";
  Axes axes = {"embed", axis, "head_dim"}, biasAxes = {axis, "head_dim"};
  auto made = [&](Value parameter, const Axes &of) {
    Value read = computed(parameter);
    return isQuery ? read : repeated(read, of);
  };
  enter(name, "attention");
  Value w = made(param(name + ".weight", {spec.hidden, heads, dim}, axes,
                       tfm::Init::Normal, spec.init.std),
                 axes);
  int64_t all = mlir::cast<RankedTensorType>(w.getType()).getDimSize(1);
  Value y = einsum("bse,ekd->bskd", x, w, {batch, seq, all, dim});
  if (spec.attention.bias)
    y = addBias(y, made(param(name + ".bias", {heads, dim}, biasAxes,
                              tfm::Init::Zeros, 0.0),
                        biasAxes));
  return gathered(y, name + ".weight", 2);
}

Value Importer::attention(Value x, const std::string &name) {
  int64_t hidden = spec.hidden, kv = spec.kvHeads, dim = spec.headDim;
  bool bias = spec.attention.bias;
  Value out;
  if (spec.attention.qkv == QkvKind::fused) {
    int64_t stack = spec.queriesPerKvHead() + 2;
    enter(name + ".qkv", "attention");
    Value w = param(name + ".qkv.weight", {hidden, kv, stack, dim},
                    {"embed", "kv_heads", "qkv", "head_dim"}, tfm::Init::Normal,
                    spec.init.std);
    Value qkv = einsum("bse,ekgd->bskgd", x, w, {batch, seq, kv, stack, dim});
    if (bias)
      qkv = withBias(qkv, name + ".qkv.bias", {kv, stack, dim},
                     {"kv_heads", "qkv", "head_dim"});
    qkv = gathered(qkv, name + ".qkv.weight", 3);
    enter(name + ".core", "attention");
    out = needsParts() ? core(unfused(qkv)) : core(qkv);
  } else {
    Value q = separate(x, name + ".q", /*isQuery=*/true);
    Value k = separate(x, name + ".k", /*isQuery=*/false);
    Value v = separate(x, name + ".v", /*isQuery=*/false);
    enter(name + ".core", "attention");
    out = core({q, k, v});
  }
  enter(name + ".out", "attention");
  Value w =
      param(name + ".out.weight", {spec.heads, dim, hidden},
            {"heads", "head_dim", "embed"}, tfm::Init::Normal, outputStd());
  Value y = einsum("bskd,kde->bse", out, w, stream());
  if (bias)
    y = withBias(y, name + ".out.bias", {hidden}, {"embed"});
  return gathered(y, name + ".out.weight", 1);
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
  // Scaled before it is summed: microbatches, replicas and rows simply add.
  double tokens =
      static_cast<double>(strategy.globalBatchSize) * static_cast<double>(seq);
  perToken = tfm::ScaleOp::create(b, loc, rows, perToken,
                                  b.getF64FloatAttr(1.0 / tokens));
  return tfm::ReduceOp::create(b, loc, statistics({}), tfm::ReduceKind::Sum,
                               perToken, b.getDenseI64ArrayAttr({0, 1}));
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
  ids = input("ids");
  labels = input("labels");

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

} // namespace

OwningOpRef<ModuleOp> importModel(MLIRContext &context, const ModelSpec &spec,
                                  const Strategy &strategy) {
  context.loadDialect<MtcDialect, tfm::TfmDialect, dist::DistDialect,
                      func::FuncDialect>();
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(NameLoc::get(StringAttr::get(&context, spec.name)));
  setConfig(*module, spec, strategy);
  Importer(*module, spec, strategy).run();
  return module;
}

} // namespace mtc::models
