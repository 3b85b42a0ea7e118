//===- TfmVerify.cpp - verifiers of the tfm dialect -----------------------===//
#include "dialects/tfm/Tfm.h"

#include "mtc/runtime/step_field.h"

#include "llvm/ADT/StringExtras.h"

#include <map>
#include <optional>

using namespace mlir;
using namespace mtc::tfm;

static RankedTensorType typeOf(Value v) {
  return cast<RankedTensorType>(v.getType());
}

/// Emits an error unless `found` equals `expected`.
static LogicalResult expectShape(Operation *op, StringRef what,
                                 ArrayRef<int64_t> found,
                                 ArrayRef<int64_t> expected) {
  if (found == expected)
    return success();
  auto diag = op->emitOpError("expected ") << what << " of shape [";
  llvm::interleaveComma(expected, diag);
  diag << "], found [";
  llvm::interleaveComma(found, diag);
  return diag << "]";
}

static LogicalResult verifyAxes(function_ref<InFlightDiagnostic()> emitError,
                                ArrayAttr axes) {
  for (Attribute axis : axes)
    if (!isa<StringAttr>(axis))
      return emitError() << "expected names of axes, found " << axis;
  return success();
}

LogicalResult ParamAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                StringAttr, ArrayAttr axes, Init, FloatAttr,
                                bool, RepeatsAttr repeats, SliceAttr,
                                StringAttr) {
  int64_t rank = axes.size();
  if (repeats && repeats.getDim() >= rank)
    return emitError() << "expected repeats along one of " << rank
                       << " dimensions, found dimension " << repeats.getDim();
  return verifyAxes(emitError, axes);
}

LogicalResult RepeatsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t dim, int64_t times) {
  if (dim >= 0 && times >= 2)
    return success();
  return emitError() << "expected a dimension of 0 or more, repeated 2 times "
                        "or more, found dimension "
                     << dim << " and " << times << " times";
}

LogicalResult SliceAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                StringAttr of, DenseI64ArrayAttr shape,
                                ArrayAttr axes, int64_t dim, int64_t first,
                                int64_t size) {
  ArrayRef<int64_t> sizes = shape.asArrayRef();
  if (axes.size() != sizes.size())
    return emitError() << "expected an axis for each of the " << sizes.size()
                       << " dimensions of " << of << ", found " << axes.size();
  if (llvm::any_of(sizes, [](int64_t n) { return n < 1; }))
    return emitError() << "expected sizes of 1 or more of " << of << ", found ["
                       << sizes << "]";
  if (dim < 0 || dim >= int64_t(sizes.size()))
    return emitError() << "expected one of the " << sizes.size()
                       << " dimensions of " << of << ", found " << dim;
  if (first < 0 || size < 1 || size > sizes[dim] || first > sizes[dim] - size)
    return emitError() << "expected some of the " << sizes[dim]
                       << " indices of dimension " << dim << " of " << of
                       << ", found " << size << " from " << first;
  return verifyAxes(emitError, axes);
}

int64_t SliceAttr::getElements() const {
  int64_t n = getSize();
  for (auto [dim, size] : llvm::enumerate(getShape().asArrayRef()))
    if (int64_t(dim) != getDim() && __builtin_mul_overflow(n, size, &n))
      return std::numeric_limits<int64_t>::max();
  return n;
}

LogicalResult InputAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                StringAttr, ArrayAttr axes) {
  return verifyAxes(emitError, axes);
}

LogicalResult AddOp::verify() {
  if (getInputs().size() < 2)
    return emitOpError("expected at least 2 operands, found ")
           << getInputs().size();
  return success();
}

/// Dimensions must ascend strictly and lie below `rank`.
static LogicalResult verifyDims(Operation *op, ArrayRef<int64_t> dims,
                                int64_t rank) {
  int64_t last = -1;
  for (int64_t dim : dims) {
    if (dim <= last || dim >= rank)
      return op->emitOpError("expected dims to ascend below ")
             << rank << ", found " << dim << " after " << last;
    last = dim;
  }
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto in = typeOf(getX()), out = typeOf(getResult());
  if (static_cast<int64_t>(getDims().size()) != in.getRank())
    return emitOpError("expected one entry of dims per operand dimension (")
           << in.getRank() << "), found " << getDims().size();
  if (failed(verifyDims(*this, getDims(), out.getRank())))
    return failure();
  SmallVector<int64_t> sizes;
  for (int64_t dim : getDims())
    sizes.push_back(out.getDimSize(dim));
  return expectShape(*this, "operand", in.getShape(), sizes);
}

LogicalResult ReduceOp::verify() {
  auto in = typeOf(getX()), out = typeOf(getResult());
  if (failed(verifyDims(*this, getDims(), in.getRank())))
    return failure();
  SmallVector<int64_t> sizes;
  for (int64_t dim = 0; dim < in.getRank(); ++dim)
    if (!llvm::is_contained(getDims(), dim))
      sizes.push_back(in.getDimSize(dim));
  return expectShape(*this, "result", out.getShape(), sizes);
}

/// `many` repeats each index of dimension `dim` of `once`, or is a part of
/// that.
static LogicalResult verifyRepeat(Operation *op, int64_t dim, int64_t times,
                                  RankedTensorType once,
                                  RankedTensorType many) {
  if (dim < 0 || dim >= once.getRank())
    return op->emitOpError("expected dim from 0 to ")
           << once.getRank() - 1 << ", a dimension of " << once << ", found "
           << dim;
  if (times < 1)
    return op->emitOpError("expected times to be 1 or more, found ") << times;
  SmallVector<int64_t> shape(once.getShape());
  shape[dim] *= times;
  int64_t part = many.getRank() == once.getRank() ? many.getDimSize(dim) : 0;
  if (part > 0 && shape[dim] % part == 0)
    shape[dim] = part; // that of a rank
  return expectShape(op, "what repeats the indices", many.getShape(), shape);
}

LogicalResult RepeatOp::verify() {
  return verifyRepeat(*this, getDim(), getTimes(), typeOf(getX()),
                      typeOf(getResult()));
}

LogicalResult RepeatGradOp::verify() {
  return verifyRepeat(*this, getDim(), getTimes(), typeOf(getResult()),
                      typeOf(getX()));
}

LogicalResult WholeOp::verify() {
  return verifyDims(*this, getDims(), typeOf(getX()).getRank());
}

LogicalResult CastOp::verify() {
  auto in = typeOf(getX()), out = typeOf(getResult());
  if (!isa<FloatType>(in.getElementType()) ||
      !isa<FloatType>(out.getElementType()))
    return emitOpError("expected floating types, found ")
           << in << " and " << out;
  return expectShape(*this, "result", out.getShape(), in.getShape());
}

LogicalResult DropoutOp::verify() {
  double rate = getRate().convertToDouble();
  if (!(rate >= 0.0 && rate < 1.0))
    return emitOpError("expected 0 <= rate < 1, found ") << rate;
  if (getX().getType() != getResult().getType())
    return emitOpError("expected operand and result of one type, found ")
           << getX().getType() << " and " << getResult().getType();
  if (typeOf(getX()).getRank() < 2)
    return emitOpError("expected rank >= 2 (dimension 0 is the sample), found ")
           << typeOf(getX()).getRank();
  if (typeOf(getSample()).getRank() != 0)
    return emitOpError("expected a scalar sample base, found ")
           << getSample().getType();
  return success();
}

bool mtc::tfm::parseEquation(StringRef text, Equation &equation) {
  auto [operands, result] = text.split("->");
  auto [lhs, rhs] = operands.split(",");
  if (!text.contains("->") || !operands.contains(","))
    return false;
  for (StringRef part : {lhs, rhs, result})
    for (char c : part)
      if (!llvm::isAlpha(c) || part.count(c) != 1)
        return false;
  equation = {lhs.str(), rhs.str(), result.str()};
  return true;
}

LogicalResult EinsumOp::verify() {
  Equation eq;
  if (!parseEquation(getEquation(), eq))
    return emitOpError("expected an equation like \"ab,bc->ac\", found \"")
           << getEquation() << "\"";
  if (typeOf(getLhs()).getElementType() != typeOf(getRhs()).getElementType())
    return emitOpError("expected operands of one element type, found ")
           << getLhs().getType() << " and " << getRhs().getType();
  std::map<char, int64_t> size;
  std::map<char, int> uses;
  for (auto [letters, value] : {std::pair<StringRef, Value>{eq.lhs, getLhs()},
                                {eq.rhs, getRhs()},
                                {eq.result, getResult()}}) {
    auto type = typeOf(value);
    if (static_cast<int64_t>(letters.size()) != type.getRank())
      return emitOpError("expected ")
             << letters.size() << " dimensions for letters \"" << letters
             << "\", found " << type;
    for (auto [letter, dim] : llvm::zip(letters, type.getShape())) {
      auto [it, isNew] = size.try_emplace(letter, dim);
      if (!isNew && it->second != dim)
        return emitOpError("expected letter '")
               << letter << "' to have one size, found " << it->second
               << " and " << dim;
      ++uses[letter];
    }
  }
  for (auto [letter, count] : uses)
    if (count != 2)
      return emitOpError("expected letter '")
             << letter << "' in exactly two of the three tensors, found it in "
             << count;
  return success();
}

/// Indices of dimension `dim`.
static LogicalResult verifyIndices(Operation *op, int64_t dim) {
  auto result = typeOf(op->getResult(0));
  if (!result.getElementType().isInteger(32))
    return op->emitOpError("expected a result of i32, found ") << result;
  if (dim < 0 || dim >= result.getRank())
    return op->emitOpError("expected dim to be one of the ")
           << result.getRank() << " dimensions of the result, from 0, found "
           << dim;
  return success();
}

LogicalResult IotaOp::verify() {
  return verifyIndices(*this, static_cast<int64_t>(getDim()));
}

LogicalResult IndexFromOp::verify() {
  return verifyIndices(*this, static_cast<int64_t>(getDim()));
}

LogicalResult EmbedOp::verify() {
  auto ids = typeOf(getIds()), table = typeOf(getTable());
  if (table.getRank() != 2)
    return emitOpError("expected a table of rank 2, found ") << table;
  SmallVector<int64_t> shape(ids.getShape());
  shape.push_back(table.getDimSize(1));
  return expectShape(*this, "result", typeOf(getResult()).getShape(), shape);
}

LogicalResult EmbedGradOp::verify() {
  auto ids = typeOf(getIds()), result = typeOf(getResult());
  if (result.getRank() != 2)
    return emitOpError("expected a result of rank 2, found ") << result;
  SmallVector<int64_t> shape(ids.getShape());
  shape.push_back(result.getDimSize(1));
  return expectShape(*this, "dy", typeOf(getDy()).getShape(), shape);
}

LogicalResult PickOp::verify() {
  auto z = typeOf(getZ());
  if (z.getRank() < 1)
    return emitOpError("expected rank >= 1, found ") << z;
  if (failed(expectShape(*this, "labels", typeOf(getLabels()).getShape(),
                         z.getShape().drop_back())))
    return failure();
  return expectShape(*this, "result", typeOf(getResult()).getShape(),
                     z.getShape().drop_back());
}

LogicalResult PickGradOp::verify() {
  auto result = typeOf(getResult());
  if (result.getRank() < 1)
    return emitOpError("expected rank >= 1, found ") << result;
  if (failed(expectShape(*this, "labels", typeOf(getLabels()).getShape(),
                         result.getShape().drop_back())))
    return failure();
  return expectShape(*this, "dl", typeOf(getDl()).getShape(),
                     result.getShape().drop_back());
}

bool mtc::tfm::subtractsMean(NormKind kind) {
  return kind == NormKind::LayerNorm;
}

/// What norm and its gradients share: x [.., n], scale [n], rstd [..], and a
/// mean [..] where the kind subtracts one (else null).
template <typename Op> static LogicalResult verifyNorm(Op op, Value scale) {
  auto type = typeOf(op.getX());
  bool expected = subtractsMean(op.getKind());
  if (expected != (op.getMean() != nullptr))
    return op->emitOpError("expected ")
           << (expected ? "a mean, which " : "no mean, for ")
           << stringifyNormKind(op.getKind())
           << (expected ? " subtracts, found none"
                        : " subtracts none; found one");
  if (type.getRank() < 1)
    return op->emitOpError("expected rank >= 1, found ") << type;
  if (failed(expectShape(op, "scale", typeOf(scale).getShape(),
                         type.getShape().take_back())))
    return failure();
  for (Value row : {op.getMean(), op.getRstd()})
    if (row && failed(expectShape(op, "row statistics", typeOf(row).getShape(),
                                  type.getShape().drop_back())))
      return failure();
  return success();
}

LogicalResult NormOp::verify() {
  if (failed(verifyNorm(*this, getScale())))
    return failure();
  if (getBias() &&
      failed(expectShape(*this, "bias", typeOf(getBias()).getShape(),
                         typeOf(getScale()).getShape())))
    return failure();
  return expectShape(*this, "result", typeOf(getY()).getShape(),
                     typeOf(getX()).getShape());
}

LogicalResult NormDxOp::verify() {
  if (failed(verifyNorm(*this, getScale())))
    return failure();
  if (failed(expectShape(*this, "dy", typeOf(getDy()).getShape(),
                         typeOf(getX()).getShape())))
    return failure();
  return expectShape(*this, "result", typeOf(getResult()).getShape(),
                     typeOf(getX()).getShape());
}

LogicalResult NormDscaleOp::verify() {
  if (failed(verifyNorm(*this, getResult())))
    return failure();
  return expectShape(*this, "dy", typeOf(getDy()).getShape(),
                     typeOf(getX()).getShape());
}

/// [batch, seq, heads, head_dim] that one fused or three operands stand for.
static LogicalResult attentionShape(Operation *op, ValueRange qkv,
                                    SmallVectorImpl<int64_t> &out) {
  if (qkv.size() == 1) {
    auto type = typeOf(qkv[0]);
    if (type.getRank() != 5 || type.getDimSize(3) < 3)
      return op->emitOpError("expected a fused operand [batch, seq, kv_heads, "
                             "q_per_kv + 2, head_dim], found ")
             << type;
    auto s = type.getShape();
    out.assign({s[0], s[1], s[2] * (s[3] - 2), s[4]});
    return success();
  }
  if (qkv.size() != 3)
    return op->emitOpError("expected 1 fused or 3 operands, found ")
           << qkv.size();
  for (Value v : qkv)
    if (typeOf(v).getRank() != 4)
      return op->emitOpError(
                 "expected operands [batch, seq, heads, head_dim], found ")
             << v.getType();
  auto q = typeOf(qkv[0]), k = typeOf(qkv[1]);
  if (k != typeOf(qkv[2]))
    return op->emitOpError("expected k and v of one type, found ")
           << k << " and " << qkv[2].getType();
  if (q.getDimSize(2) % k.getDimSize(2) != 0)
    return op->emitOpError("expected heads (")
           << q.getDimSize(2) << ") to be a multiple of kv_heads ("
           << k.getDimSize(2) << ")";
  // A rank may have a part of the queries.
  SmallVector<int64_t> expected(q.getShape());
  expected[2] = k.getDimSize(2);
  if (q.getDimSize(1) > 0 && k.getDimSize(1) % q.getDimSize(1) == 0)
    expected[1] = k.getDimSize(1);
  if (failed(expectShape(op, "k", k.getShape(), expected)))
    return failure();
  out.assign(q.getShape().begin(), q.getShape().end());
  return success();
}

/// q, k and v are those that the fused tensor holds.
static LogicalResult verifyParts(Operation *op, Value fused, ValueRange parts) {
  SmallVector<int64_t> q;
  if (failed(attentionShape(op, fused, q)))
    return failure();
  SmallVector<int64_t> kv(q);
  kv[2] = typeOf(fused).getDimSize(2);
  return success(
      succeeded(expectShape(op, "q", typeOf(parts[0]).getShape(), q)) &&
      succeeded(expectShape(op, "k", typeOf(parts[1]).getShape(), kv)) &&
      succeeded(expectShape(op, "v", typeOf(parts[2]).getShape(), kv)));
}

LogicalResult UnfuseOp::verify() {
  return verifyParts(*this, getQkv(), {getQ(), getK(), getV()});
}

LogicalResult FuseOp::verify() {
  return verifyParts(*this, getQkv(), {getQ(), getK(), getV()});
}

/// `shape` is that of the output: [batch, seq, heads, head_dim].
template <typename Op>
static LogicalResult verifyDocuments(Op op, ArrayRef<int64_t> shape) {
  Value documents = op.getDocuments();
  if (!documents)
    return success();
  if (!op.getCausal())
    return op.emitOpError("expected causal attention within documents, which "
                          "are known by where they begin, found causal = "
                          "false");
  if (!typeOf(documents).getElementType().isInteger(32))
    return op.emitOpError("expected documents of i32, found ")
           << documents.getType();
  return expectShape(op, "documents", typeOf(documents).getShape(),
                     shape.take_front(2));
}

LogicalResult AttentionOp::verify() {
  SmallVector<int64_t> shape;
  if (failed(attentionShape(*this, getQkv(), shape)) ||
      failed(verifyDocuments(*this, shape)))
    return failure();
  if (failed(expectShape(*this, "result", typeOf(getOut()).getShape(), shape)))
    return failure();
  return expectShape(*this, "log-sum-exp", typeOf(getLse()).getShape(),
                     {shape[0], shape[2], shape[1]});
}

LogicalResult AttentionGradOp::verify() {
  SmallVector<int64_t> shape;
  if (failed(attentionShape(*this, getQkv(), shape)) ||
      failed(verifyDocuments(*this, shape)))
    return failure();
  if (getDqkv().getTypes() != getQkv().getTypes())
    return emitOpError("expected gradients of the operands' types");
  if (failed(expectShape(*this, "dout", typeOf(getDout()).getShape(), shape)) ||
      failed(expectShape(*this, "out", typeOf(getOut()).getShape(), shape)))
    return failure();
  return expectShape(*this, "log-sum-exp", typeOf(getLse()).getShape(),
                     {shape[0], shape[2], shape[1]});
}

LogicalResult ScalarOp::verify() {
  std::optional<StepField> field = idNamed(kStepFields, getField());
  if (field && kStepFields[*field].reader == StepReader::Kernels)
    return success();
  return emitOpError("expected a field of the step block that kernels read (")
         << namesOf(kStepFields,
                    [](const StepFieldInfo &each) {
                      return each.reader == StepReader::Kernels;
                    })
         << "), found \"" << getField() << '"';
}
