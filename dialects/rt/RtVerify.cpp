//===- RtVerify.cpp - verifiers of the rt dialect -------------------------===//
#include "dialects/rt/Rt.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::rt;

/// Checks that `operand` names an operand of the kernel whose mode is allowed,
/// and that `value` is of its type, or `isAdded` to it in f32.
static LogicalResult checkOperand(KernelOp kernel, Operation *op,
                                  int64_t operand, ArrayRef<Mode> allowed,
                                  Type value, bool isAdded = false) {
  auto infos = kernel.getOperandsInfo();
  if (operand < 0 || operand >= static_cast<int64_t>(infos.size()))
    return op->emitOpError("expected an operand index below ")
           << infos.size() << ", found " << operand;
  auto info = cast<OperandAttr>(infos[operand]);
  if (!llvm::is_contained(allowed, info.getMode())) {
    auto diag = op->emitOpError("expected an operand of mode ");
    llvm::interleaveComma(allowed, diag,
                          [&](Mode m) { diag << stringifyMode(m); });
    return diag << ", found " << stringifyMode(info.getMode());
  }
  // In other modes several elements add to one, which would round each time.
  bool isRounded = isAdded && value.isF32() && isHalf(info.getElement()) &&
                   info.getMode() == Mode::Full;
  if (value && info.getElement() != value && !isRounded)
    return op->emitOpError("expected a value of the operand's type ")
           << info.getElement() << ", found " << value;
  return success();
}

/// No input may end a run: what divides integers is known not to be 0 (and not
/// -1, by which the smallest number cannot be divided).
static LogicalResult checkDivisor(Operation &op) {
  APInt divisor;
  if (isa<arith::DivUIOp, arith::DivSIOp, arith::RemUIOp, arith::RemSIOp,
          arith::CeilDivUIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op) &&
      !(matchPattern(op.getOperand(1), m_ConstantInt(&divisor)) &&
        divisor.isStrictlyPositive()))
    return op.emitOpError("expected a constant above 0 to divide by");
  return success();
}

LogicalResult KernelOp::verify() {
  int64_t rows = getRows(), cols = getCols();
  if (rows < 1 || (cols < 1 && cols != -1))
    return emitOpError("expected rows >= 1 and cols >= 1 or -1, found ")
           << rows << " x " << cols;
  if (cols == -1 && rows != 1)
    return emitOpError("expected 1 row where cols is dynamic, found ") << rows;
  for (Operation &op : getBody().front()) {
    StringRef dialect = op.getDialect() ? op.getDialect()->getNamespace() : "";
    if (dialect != "arith" && dialect != "math" && dialect != "rt")
      return op.emitOpError("expected only arith, math and rt ops in a kernel");
    if (dialect == "rt" && !op.hasTrait<KernelBodyOp>())
      return op.emitOpError("expected ops of kernels' bodies in a kernel");
    if (failed(checkDivisor(op)))
      return failure();
    LogicalResult ok = success();
    if (auto o = dyn_cast<LoadOp>(op))
      ok = checkOperand(
          *this, o, o.getOperand(),
          {Mode::Full, Mode::Row, Mode::Col, Mode::Scalar, Mode::Periodic},
          o.getResult().getType());
    else if (auto o = dyn_cast<StoreOp>(op))
      ok = checkOperand(*this, o, o.getOperand(), {Mode::Full, Mode::Row},
                        o.getValue().getType());
    else if (auto o = dyn_cast<AccumulateOp>(op))
      ok = checkOperand(
          *this, o, o.getOperand(),
          {Mode::Full, Mode::Row, Mode::Col, Mode::Scalar, Mode::Periodic},
          o.getValue().getType(), /*isAdded=*/true);
    else if (auto o = dyn_cast<GatherOp>(op))
      ok = checkOperand(*this, o, o.getOperand(), {Mode::Table},
                        o.getResult().getType());
    else if (auto o = dyn_cast<ScatterAddOp>(op))
      ok = checkOperand(*this, o, o.getOperand(), {Mode::Table},
                        o.getValue().getType());
    else if (auto o = dyn_cast<ArgOp>(op)) {
      if (o.getIndex() >= getArgs())
        ok = o.emitOpError("expected an argument index below ")
             << getArgs() << ", found " << o.getIndex();
    }
    if (failed(ok))
      return failure();
  }
  if (getTiled() && (getGuarded() || !isElementwise()))
    return emitOpError("expected in a tiled kernel, which is called for blocks "
                       "of its elements, no guard, and only loads, stores to "
                       "full operands and arithmetic; found another");
  return success();
}

LogicalResult ViewOp::verify() {
  const ArenaInfo &arena = kArenas[getArena()];
  if (arena.id == MTC_ARENA_STEP)
    return emitOpError("expected an arena of values, found ")
           << arena.name << ", whose fields rt.step_field gives";
  if (arena.slotted != getPool().has_value() ||
      arena.slotted != getStride().has_value())
    return emitOpError("expected ")
           << (arena.slotted ? "a slot" : "no slot") << " in the arena "
           << arena.name << ", found " << (arena.slotted ? "none" : "one");
  return success();
}

LogicalResult ZeroOp::verify() {
  if (getGuarded() && !isa<MemRefType>(getInit().getType()))
    return emitOpError("expected a memref of a guarded op, whose bytes stay "
                       "where it does nothing, found ")
           << getInit().getType();
  return success();
}

LogicalResult GemmOp::verify() {
  auto element = [](Value v) {
    return cast<ShapedType>(v.getType()).getElementType();
  };
  if (readsPacked() && !element(getB()).isInteger(8))
    return emitOpError("expected the bytes of a packed b, found ")
           << getB().getType();
  if (!readsPacked() && element(getA()) != element(getB()))
    return emitOpError("expected a and b of one element type, found ")
           << getA().getType() << " and " << getB().getType();
  if (getM() < 1 || getN() < 1 || getK() < 1)
    return emitOpError("expected m, n and k of at least 1, found ")
           << getM() << ", " << getN() << " and " << getK();
  if (!element(getC()).isF32() && element(getC()) != element(getA()))
    return emitOpError("expected the product in f32 or in the operands' type, "
                       "found ")
           << getC().getType();
  auto count = [](Value v) {
    return cast<ShapedType>(v.getType()).getNumElements();
  };
  auto expect = [&](StringRef what, Value v,
                    int64_t elements) -> LogicalResult {
    if (count(v) == elements)
      return success();
    return emitOpError("expected ")
           << what << " of " << elements << " elements, found " << v.getType();
  };
  if (failed(expect("a", getA(), getM() * getK())) ||
      (!readsPacked() && failed(expect("b", getB(), getK() * getN()))) ||
      failed(expect("c", getC(), getM() * getN())) ||
      (getBias() && failed(expect("bias", getBias(), getN()))) ||
      (getAux() && failed(expect("aux", getAux(), getM() * getN()))))
    return failure();
  for (Value of : {getBias(), getAux()})
    if (of && element(of) != element(getC()))
      return emitOpError("expected bias and aux of the type of c, ")
             << element(getC()) << ", found " << of.getType();
  if (getBeta() && hasEpilogue())
    return emitOpError("expected no bias and no gelu of a product that is "
                       "added to c (beta)");
  if (getStoresFirst() && !getBeta())
    return emitOpError("expected a product that is added to c (beta) where "
                       "the first microbatch stores it");
  if (getCountsLast() && (!getBeta() || getKernel() != GemmKernel::Own ||
                          !element(getC()).isF32()))
    return emitOpError("expected a product by own that is added to c (beta), "
                       "in f32, where a microbatch counts its squares "
                       "(counts_last)");
  if (getAux() && !getGelu())
    return emitOpError("expected gelu where there is aux, which has what "
                       "gelu reads");
  return success();
}

/// Sizes of what is packed: beyond these none is, and below them products and
/// sums of a plan's fit in 64 bits.
constexpr int64_t kMostPacked = int64_t(1) << 31, kMostPackedBytes = int64_t(1)
                                                                     << 48;

static bool isPackable(int64_t n, int64_t k) {
  return n >= 1 && k >= 1 && n < kMostPacked && k < kMostPacked;
}

LogicalResult PackOp::verify() {
  auto type = cast<ShapedType>(getB().getType());
  int64_t n = getN(), k = getK();
  if (!isPackable(n, k) || type.getNumElements() != n * k)
    return emitOpError("expected b of k·n elements, ")
           << k << " times " << n << ", found " << type;
  if (!cast<MemRefType>(getPacked().getType()).getElementType().isInteger(8))
    return emitOpError("expected to pack into bytes, found ")
           << getPacked().getType();
  return success();
}

LogicalResult PackedOp::verify() {
  int64_t n = getN(), k = getK(), bytes = getBytes();
  if (!isPackable(n, k) || bytes < 1 || bytes >= kMostPackedBytes)
    return emitOpError("expected n and k of 1 to 2^31 - 1, and 1 to 2^48 - 1 "
                       "bytes, found ")
           << n << ", " << k << " and " << bytes;
  if (!isa<Float32Type, BFloat16Type, Float16Type>(getType()))
    return emitOpError("expected a weight of type f32, bf16 or f16, found ")
           << getType();
  return success();
}

LogicalResult RefOp::verify() {
  bool named = getParam().has_value();
  if (named && getKind() != RefKind::Grad && getKind() != RefKind::Staging)
    return emitOpError("expected a parameter only of a gradient, found one of ")
           << stringifyRefKind(getKind());
  if (named != getUse().has_value())
    return emitOpError("expected a parameter together with its use");
  bool ofBucket = getKind() != RefKind::Loss && !named;
  if (ofBucket != getBucket().has_value())
    return emitOpError("expected ")
           << (getKind() == RefKind::Packed
                   ? "the number of an rt.packed, found none"
               : ofBucket
                   ? "a bucket of which this is a part, found none"
                   : "no bucket of the loss or of a parameter, found one");
  if (getStart() && (getKind() != RefKind::Grad || *getStart() < 0))
    return emitOpError("expected a first element of 0 or more, of gradients "
                       "only, found ")
           << *getStart() << " of " << stringifyRefKind(getKind());
  if ((getKind() == RefKind::State) != getState().has_value())
    return emitOpError("expected the name of a state")
           << (getState() ? " only where the part is one, found "
                          : ", found none")
           << getState().value_or("");
  return success();
}

LogicalResult BucketOp::verify() {
  if (getIndex() < 0)
    return emitOpError("expected an index of 0 or more, found ") << getIndex();
  size_t states = stateNames().size();
  if (getStateOffsets() && getStateOffsets()->size() != states)
    return emitOpError("expected an offset for each of ")
           << states << " states, found " << getStateOffsets()->size();
  if (isSecondUse() && (states || getParamOffset()))
    return emitOpError("expected accumulators only in a bucket that is a "
                       "second use, found parameters or states");
  return success();
}

LogicalResult StepFieldOp::verify() {
  const StepFieldInfo &field = kStepFields[getField()];
  std::optional<int64_t> group = getGroup();
  if (group && !field.isOfGroups())
    return emitOpError("expected a group only of a field that has values for "
                       "groups, found it of ")
           << field.name;
  if (group && (*group < 1 || *group >= field.count))
    return emitOpError("expected a group of 1 to ")
           << field.count - 1 << ", found " << *group;
  return success();
}

LogicalResult FlatRangeOp::verify() {
  if (getAmong())
    for (MtcGroup group : getAmong()->getGroups())
      if (!kGroups[group].sumAxis())
        return emitOpError("expected groups along one axis, of which each rank "
                           "has a place, found ")
               << groupName(group);
  return success();
}

LogicalResult ParamOp::verify() {
  for (MtcGroup group : partialGroups())
    if (!kGroups[group].sumAxis())
      return emitOpError("expected groups along one axis, found ")
             << groupName(group);
  return success();
}

SmallVector<StringRef> BucketOp::stateNames() {
  if (auto names = getStates())
    return llvm::to_vector(names->getAsValueRange<StringAttr>());
  return {};
}

std::optional<int64_t> BucketOp::stateOffset(StringRef state) {
  SmallVector<StringRef> names = stateNames();
  auto it = llvm::find(names, state);
  if (it == names.end() || !getStateOffsets())
    return std::nullopt;
  return (*getStateOffsets())[it - names.begin()];
}

LogicalResult StepOp::verify() {
  RowWriter row;
  addRow(row, getProperties());
  if (std::string text = problemOf(Rows(row.finish())[0]); !text.empty())
    return emitOpError(text);
  return success();
}

LogicalResult ExportSlotOp::verify() {
  auto sharding = getSharding();
  if (!sharding)
    return success();
  if (sharding->getRank() != getType().getRank())
    return emitOpError("expected a sharding of ")
           << getType().getRank() << " dimensions, found "
           << sharding->getRank();
  int64_t splits[2] = {0, 0}; // in equal parts, in a head and a tail
  SmallVector<int64_t> dims;
  for (auto [axis, state] :
       llvm::zip(sharding->getAxes(), sharding->getStates()))
    if (state > 0) {
      ++splits[cutsHeadAndTail(axis.getValue())];
      dims.push_back(state);
    }
  if (splits[0] > 1 || splits[1] > 1 ||
      (dims.size() == 2 && dims[0] == dims[1]))
    return emitOpError("expected one mesh axis at most that splits dimensions "
                       "behind the first in equal parts, and one that splits "
                       "another in a head and a tail, found several");
  return success();
}

/// The split of an export by an axis of one kind. The verifier has seen that
/// there is one at most.
static dist::Split splitBy(ExportSlotOp op, bool headAndTail) {
  dist::ShardingAttr all = op.getSharding().value_or(dist::ShardingAttr());
  dist::MeshAttr mesh = dist::meshOf(op);
  ArrayRef<int64_t> local = op.getType().getShape();
  if (!all || !mesh)
    return dist::splitOf(all, mesh, local, /*first=*/1);
  auto own = dist::ShardingAttr::replicated(op.getContext(), all.getRank());
  for (auto [axis, state] : llvm::zip(all.getAxes(), all.getStates()))
    if (state > 0 && cutsHeadAndTail(axis.getValue()) == headAndTail)
      own =
          dist::ShardingAttr::get(op.getContext(), all.getRank(), axis, state);
  return dist::splitOf(own, mesh, local, /*first=*/1);
}

mtc::dist::Split ExportSlotOp::split() {
  return splitBy(*this, /*headAndTail=*/false);
}
mtc::dist::Split ExportSlotOp::pieces() {
  return splitBy(*this, /*headAndTail=*/true);
}

LogicalResult NormOp::verify() {
  bool adds = getAction() == NormAction::Accumulate;
  if (getContinues() && !adds)
    return emitOpError("expected what continues a sum to accumulate, found ")
           << stringifyNormAction(getAction());
  if (getAction() == NormAction::Check)
    return getRange() && !getLength()
               ? success()
               : emitOpError("expected a range and no length to check, found "
                             "another");
  if (adds != static_cast<bool>(getRange()) ||
      adds != static_cast<bool>(getLength()))
    return emitOpError("expected a range and a length ")
           << (adds ? "to accumulate, found one missing"
                    : "only to accumulate, found one");
  return success();
}

LogicalResult OffsetViewOp::verify() {
  Type from = getElementTypeOrSelf(getView().getType());
  if (from != getElementTypeOrSelf(getResult().getType()))
    return emitOpError("expected elements of type ")
           << from << ", as the view has, found " << getResult().getType();
  return success();
}

LogicalResult CollectiveOp::verify() {
  bool ofNorm = getKind() == CollectiveKind::NormReduce;
  if (ofNorm == static_cast<bool>(getInit()))
    return emitOpError("expected ")
           << (ofNorm ? "no buffer of a norm_reduce, found one"
                      : "a buffer, found none");
  if (ofNorm && getCount() != 1)
    return emitOpError("expected count 1 of a norm_reduce, found ")
           << getCount();
  return success();
}

/// [batch, seq, heads, head_dim] that q, k and v stand for, fused or not.
static FailureOr<SmallVector<int64_t>> attentionShape(AttentionOp op) {
  auto shapeOf = [](Value v) {
    return cast<ShapedType>(v.getType()).getShape();
  };
  OperandRange qkv = op.getQkv();
  ArrayRef<int64_t> q = shapeOf(qkv.front());
  if (op.isFused()) {
    if (q.size() == 5 && q[2] > 1 && q[3] > 3)
      return op.emitOpError("expected fused q, k and v with one query for each "
                            "key head, or with one key head: the call has one "
                            "stride of queries; found ")
             << qkv.front().getType() << "; take them apart (tfm.unfuse)";
    if (q.size() == 5 && q[3] >= 3)
      return SmallVector<int64_t>{q[0], q[1], q[2] * (q[3] - 2), q[4]};
    return op.emitOpError("expected [batch, seq, kv_heads, q_per_kv + 2, "
                          "head_dim] of fused q, k and v, found ")
           << qkv.front().getType();
  }
  ArrayRef<int64_t> k = shapeOf(qkv[1]);
  if (q.size() != 4 || k.size() != 4 || shapeOf(qkv[2]) != k || q[0] != k[0] ||
      q[3] != k[3] || k[2] < 1 || q[2] % k[2] != 0)
    return op.emitOpError("expected q [batch, seq, heads, head_dim], and k and "
                          "v of one shape whose heads divide these, found ")
           << qkv.getTypes();
  return SmallVector<int64_t>(q);
}

/// q is the whole sequence, or two pieces of it of one size, of which the call
/// says where they lie.
static LogicalResult verifyPositions(AttentionOp op) {
  size_t given = op.getPositions().size();
  int64_t queries = cast<ShapedType>(op.getQkv()[0].getType()).getDimSize(1);
  int64_t keys = cast<ShapedType>(op.getQkv().back().getType()).getDimSize(1);
  if (given == 0 && queries == keys)
    return success();
  if (given == 2 && queries % 2 == 0 && queries <= keys)
    return success();
  return op.emitOpError("expected as many queries as keys, or an even number "
                        "of queries that is no larger and the positions of "
                        "their two halves, found ")
         << queries << " queries, " << keys << " keys and " << given
         << " positions";
}

LogicalResult AttentionOp::verify() {
  size_t given = getInputs().size(), before = getBackward() ? 3 : 0;
  if (given != before + 1 && given != before + 3)
    return emitOpError("expected q, k and v, fused or not")
           << (before ? ", behind dout, out and lse" : "") << ", found "
           << given << " inputs";
  FailureOr<SmallVector<int64_t>> shape = attentionShape(*this);
  if (failed(shape))
    return failure();
  if (failed(verifyPositions(*this)))
    return failure();
  const SmallVector<int64_t> &s = *shape;
  ValueRange made = getInits();
  size_t expected = getBackward() ? getQkv().size() : 2;
  if (made.size() != expected)
    return emitOpError("expected ")
           << expected << " buffers to write into, found " << made.size();
  auto demand = [&](StringRef what, Value v,
                    ArrayRef<int64_t> wanted) -> LogicalResult {
    auto type = cast<ShapedType>(v.getType());
    if (type.getShape() == wanted)
      return success();
    auto diag = emitOpError("expected ") << what << " of shape [";
    llvm::interleaveComma(wanted, diag);
    return diag << "], found " << type;
  };
  Value out = getBackward() ? getInputs()[1] : made[0];
  Value lse = getBackward() ? getInputs()[2] : made[1];
  if (failed(demand("the output", out, s)) ||
      failed(demand("the log-sum-exp", lse, {s[0], s[2], s[1]})))
    return failure();
  if (getBackward() && failed(demand("dout", getInputs()[0], s)))
    return failure();
  if (Value documents = getDocuments()) {
    if (failed(demand("documents", documents, {s[0], s[1]})))
      return failure();
    if (!cast<ShapedType>(documents.getType()).getElementType().isInteger(32))
      return emitOpError("expected documents of i32, found ")
             << documents.getType();
  }
  for (auto [i, operand] : llvm::enumerate(getQkv()))
    if (getBackward() &&
        failed(demand("a gradient", made[i],
                      cast<ShapedType>(operand.getType()).getShape())))
      return failure();
  return success();
}
