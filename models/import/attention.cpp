//===- attention.cpp - projections and the core of attention --------------===//

#include "models/import/importer.h"

#include "models/kv_heads.h"

#include <cmath>

namespace mtc::models::importing {

Value Importer::core(ArrayRef<Value> qkv) {
  Type out = tensor({batch, seq, spec.heads, spec.headDim});
  Type lse = statistics({batch, spec.heads, seq});
  double scale = 1.0 / std::sqrt(static_cast<double>(spec.headDim));
  return tfm::AttentionOp::create(
             b, loc, out, lse, qkv,
             strategy.resetAttention ? documents : Value(), sample,
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

/// Of the weight or the bias of a fused projection: of each key head its
/// queries, then its key and its value.
Dims Importer::fusedDims(const std::string &which) const {
  int64_t stack = spec.queriesPerKvHead() + 2;
  if (which == ".bias")
    return {{spec.kvHeads, stack, spec.headDim},
            {"kv_heads", "qkv", "head_dim"}};
  return {{spec.hidden, spec.kvHeads, stack, spec.headDim},
          {"embed", "kv_heads", "qkv", "head_dim"}};
}

/// What of the weight or the bias of a fused projection a part of it is.
tfm::SliceAttr Importer::sliceOfFused(const std::string &which, Part part,
                                      StringRef attention) {
  Dims dims = fusedDims(which);
  SmallVector<StringRef> axes(dims.axes.begin(), dims.axes.end());
  bool isQuery = part == Part::query;
  int64_t queries = spec.queriesPerKvHead();
  int64_t first = isQuery ? 0 : queries + (part == Part::value);
  return tfm::SliceAttr::get(
      b.getContext(), b.getStringAttr(attention + ".qkv" + which),
      b.getDenseI64ArrayAttr(dims.shape), b.getStrArrayAttr(axes),
      /*dim=*/dims.shape.size() - 2, first, isQuery ? queries : 1);
}

/// The queries, keys or values of a projection of their own, or of a fused one
/// that is stored in slices.
Value Importer::separate(Value x, const std::string &attention, Part part) {
  bool isQuery = part == Part::query;
  int64_t heads = isQuery ? spec.heads : spec.kvHeads, dim = spec.headDim;
  const char *axis = isQuery ? "heads" : "kv_heads";
  const char *own = isQuery ? ".q" : part == Part::key ? ".k" : ".v";
  bool isSlice = spec.attention.qkv == QkvKind::fused;
  std::string name = attention + own;
  std::string known = isSlice ? attention + ".qkv" : name;
  auto made = [&](const std::string &of, const Shape &shape, const Axes &axes,
                  tfm::Init init, double std) {
    tfm::SliceAttr slice;
    if (isSlice)
      slice = sliceOfFused(of, part, attention);
    Value read = computed(param(name + of, shape, axes, init, std, slice));
    return isQuery ? read : repeated(read, axes);
  };
  enter(known, "attention");
  Value w = made(".weight", {spec.hidden, heads, dim},
                 {"embed", axis, "head_dim"}, tfm::Init::Normal, spec.init.std);
  int64_t all = mlir::cast<RankedTensorType>(w.getType()).getDimSize(1);
  Value y = einsum("bse,ekd->bskd", x, w, {batch, seq, all, dim});
  if (spec.attention.bias)
    y = addBias(y, made(".bias", {heads, dim}, {axis, "head_dim"},
                        tfm::Init::Zeros, 0.0));
  return gathered(y, known + ".weight", 2);
}

Value Importer::fusedProjection(Value x, const std::string &name) {
  enter(name, "attention");
  Dims weight = fusedDims(".weight"), bias = fusedDims(".bias");
  Value w = param(name + ".weight", weight.shape, weight.axes,
                  tfm::Init::Normal, spec.init.std);
  Shape shape = {batch, seq};
  shape.append(bias.shape);
  Value qkv = einsum("bse,ekgd->bskgd", x, w, shape);
  if (spec.attention.bias)
    qkv = withBias(qkv, name + ".bias", bias.shape, bias.axes);
  return gathered(qkv, name + ".weight", 3);
}

Value Importer::attention(Value x, const std::string &name) {
  int64_t hidden = spec.hidden, dim = spec.headDim;
  SmallVector<Value> qkv;
  if (spec.attention.qkv == QkvKind::separate ||
      slicesFused(name + ".qkv", spec, strategy))
    for (Part part : {Part::query, Part::key, Part::value})
      qkv.push_back(separate(x, name, part));
  else
    qkv = {fusedProjection(x, name + ".qkv")};
  enter(name + ".core", "attention");
  if (qkv.size() == 1 && needsParts())
    qkv = unfused(qkv[0]);
  Value out = core(qkv);
  enter(name + ".out", "attention");
  Value w =
      param(name + ".out.weight", {spec.heads, dim, hidden},
            {"heads", "head_dim", "embed"}, tfm::Init::Normal, outputStd());
  Value y = einsum("bskd,kde->bse", out, w, stream());
  if (spec.attention.bias)
    y = withBias(y, name + ".out.bias", {hidden}, {"embed"});
  return gathered(y, name + ".out.weight", 1);
}

} // namespace mtc::models::importing
