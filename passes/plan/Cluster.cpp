//===- Cluster.cpp - a run of ops that becomes one kernel -----------------===//
#include "passes/plan/Cluster.h"

#include "dialects/pipe/Pipe.h"
#include "dialects/tfm/Tfm.h"
#include "passes/Config.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

namespace mtc::passes {

rt::Affine sampleBaseOf(ModuleOp module) {
  Config config(module);
  rt::Affine base;
  base[rt::kSample] = 1;
  int64_t samples = config.number("micro_batch", 1);
  base[MTC_AXIS_DP] = samples;
  base[rt::kMicrobatch] = samples * config.mesh()[MTC_AXIS_DP];
  return base;
}

//===--- kernels ----------------------------------------------------------===//

KernelPool::KernelPool(Block *program) : program(program) {
  auto there = program->getOps<rt::KernelOp>();
  kernels.insert(there.begin(), there.end());
}

std::string KernelPool::add(rt::KernelOp kernel) {
  std::string fresh = "kernel" + std::to_string(kernels.size());
  auto [it, isNew] = kernels.insert(kernel);
  if (!isNew) {
    kernel->destroy();
    return rt::KernelOp(*it).getSymName().str();
  }
  kernel.setSymName(fresh);
  // After the kernels that are there already.
  auto at = program->begin();
  while (at != program->end() && isa<rt::KernelOp>(*at))
    ++at;
  program->getOperations().insert(at, kernel);
  return fresh;
}

//===--- sinks ------------------------------------------------------------===//

bool isSink(Operation *op) { return isa<pipe::AccumulateOp, pipe::LossOp>(op); }

Operation *soleSink(Value value) {
  if (!value.hasOneUse())
    return nullptr;
  Operation *user = *value.user_begin();
  return isSink(user) ? user : nullptr;
}

ShardingRule ruleOf(Operation *op) {
  if (!isSink(op))
    return cast<FamilyOpInterface>(op).getShardingRule();
  std::string all =
      letters(cast<ShapedType>(op->getOperand(0).getType()).getRank());
  return {.operands = {all}, .results = {all}};
}

//===--- growing ----------------------------------------------------------===//

/// While the domain has no dimensions its values are scalars, made once. When
/// it grows, they are made again in each row, so nobody else may see them.
bool Cluster::mayGrow(Operation *op) const {
  return llvm::none_of(ops, [&](Operation *inside) {
    return isSink(inside) ||
           llvm::any_of(inside->getUsers(), [&](Operation *user) {
             return user != op && !llvm::is_contained(ops, user);
           });
  });
}

bool Cluster::tryAdd(Operation *op) {
  if (!isSink(op) && !isa<KernelBodyOpInterface>(op))
    return false;
  if (!ops.empty() && tfm::layerOf(op) != tfm::layerOf(ops.front()))
    return false; // a cluster never crosses a layer: the same at every pp
  for (Value operand : op->getOperands())
    if (summed.lookup(operand))
      return false; // complete only after the last row
  Placement placement;
  Domain grown = domain;
  if (!grown.place(op, ruleOf(op), known, placement))
    return false;
  if (domain.dims.empty() && !grown.dims.empty() && !mayGrow(op))
    return false;
  // Rows are added one after another, and rounding grows with their number. A
  // sum of all of them to one value is a sum along a row when it stands alone,
  // with ops that leave it one.
  auto sumsAll = [](const Placement &p) {
    return !p.contracted.empty() && p.results.front().empty();
  };
  if (grown.rows() > 1 && !ops.empty() &&
      (sumsAll(placement) || llvm::any_of(placements, sumsAll)))
    return false;
  domain = grown;
  for (auto [value, map] : llvm::zip(op->getOperands(), placement.operands))
    if (!isa_and_nonnull<tfm::FillOp>(value.getDefiningOp()))
      known.try_emplace(value, map);
  for (auto [value, map] : llvm::zip(op->getResults(), placement.results)) {
    known[value] = map;
    summed[value] = placement.accumulates;
  }
  ops.push_back(op);
  placements.push_back(std::move(placement));
  return true;
}

//===--- emission ---------------------------------------------------------===//

/// Where the ops of a kernel come from, all of them.
static Location locationOf(ArrayRef<Operation *> ops) {
  SmallVector<Location> all;
  for (Operation *op : ops)
    all.push_back(op->getLoc());
  return FusedLoc::get(ops.front()->getContext(), all);
}

/// State while one kernel is written.
struct Cluster::Emission {
  Emission(Cluster &c, Operation *before)
      : c(c), b(before->getContext()), body(std::make_unique<Block>()),
        loc(locationOf(c.ops)),
        context(b, loc, c.domain.rows(), c.domain.cols()), launchPoint(before) {
    b.setInsertionPointToEnd(body.get());
    context.sampleBase = c.sampleBase;
    context.rowsPerSample =
        c.domain.dims.empty()
            ? 1
            : c.domain.rows() / std::max<int64_t>(c.domain.dims[0], 1);
    context.stepField = [this](StringRef field) { return loadStep(field); };
  }

  int64_t addOperand(Value buffer, rt::Mode mode, Type element,
                     int64_t extent) {
    operands.push_back(
        {buffer,
         rt::OperandAttr::get(b.getContext(), mode, element, extent),
         {}});
    return operands.size() - 1;
  }
  /// The operand of an accumulator: one, however often it is added to, because
  /// operands do not alias.
  int64_t accumulator(Value buffer, rt::Mode mode, Type element,
                      int64_t extent) {
    for (auto [i, operand] : llvm::enumerate(operands))
      if (operand.buffer == buffer)
        return i;
    return addOperand(buffer, mode, element, extent);
  }
  /// Elements are f32 inside a kernel.
  Value widened(Value x) {
    return x && x.getType().isBF16()
               ? arith::ExtFOp::create(b, loc, b.getF32Type(), x).getResult()
               : x;
  }
  Value load(int64_t index) {
    Operand &operand = operands[index];
    if (!operand.element)
      operand.element =
          widened(rt::LoadOp::create(b, loc, operand.info.getElement(), index));
    return operand.element;
  }
  /// The element of a value at the current position.
  Value read(Value v, const DimMap &map) {
    if (auto fill = dyn_cast_or_null<tfm::FillOp>(v.getDefiningOp()))
      return context.constant(fill.getValue().convertToDouble());
    if (Value inside = elements.lookup(v))
      return widened(inside);
    int64_t extent;
    rt::Mode mode = c.domain.mode(map, extent);
    Type element = cast<ShapedType>(v.getType()).getElementType();
    for (auto [i, operand] : llvm::enumerate(operands))
      if (operand.buffer == v && operand.info.getMode() == mode)
        return load(i);
    return load(addOperand(v, mode, element, extent));
  }
  Value loadStep(StringRef field) {
    if (Value old = stepFields.lookup(field))
      return old;
    OpBuilder outer(launchPoint);
    Type f32 = b.getF32Type();
    Value address = rt::StepFieldOp::create(
        outer, loc, MemRefType::get({1}, f32), *idNamed(kStepFields, field));
    return stepFields[field] =
               load(addOperand(address, rt::Mode::Scalar, f32, 0));
  }

  Cluster &c;
  OpBuilder b;
  std::unique_ptr<Block> body; ///< until the kernel takes it
  Location loc;
  BodyContext context;
  Operation *launchPoint;
  std::vector<Operand> operands;
  llvm::DenseMap<Value, Value> elements;
  llvm::StringMap<Value> stepFields;
  SmallVector<int64_t> writes; ///< operand index per launch result
  SmallVector<Value> replaced; ///< the value that each result replaces
};

/// A value that somebody outside the cluster reads.
static bool escapes(Value v, ArrayRef<Operation *> ops) {
  return llvm::any_of(v.getUsers(), [&](Operation *user) {
    return !llvm::is_contained(ops, user);
  });
}

/// The element values of the operands of `op`; null where the body function
/// needs none.
SmallVector<Value> Cluster::operandsOf(Emission &e, Operation *op,
                                       const Placement &placement) {
  SmallVector<Value> in;
  for (auto [i, value] : llvm::enumerate(op->getOperands())) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getElementType().isInteger(64)) {
      in.push_back(Value()); // the sample base is a kernel argument
    } else if (static_cast<int64_t>(i) == placement.tableOperand) {
      e.context.tableOperand = e.addOperand(
          value, rt::Mode::Table, type.getElementType(), type.getDimSize(0));
      in.push_back(Value());
    } else {
      in.push_back(e.read(value, placement.operands[i]));
    }
  }
  return in;
}

/// A sum over rows: into its accumulator, or into a new buffer of zeros.
LogicalResult Cluster::emitSum(Emission &e, Operation *op,
                               const Placement &placement, ValueRange in,
                               AccumulatorOf accumulatorOf) {
  Value result = op->getResult(0), target;
  auto type = cast<RankedTensorType>(result.getType());
  if (Operation *sink = soleSink(result)) {
    target = accumulatorOf(sink);
    if (!target)
      return failure();
    sink->erase();
  } else {
    OpBuilder outer(e.launchPoint);
    target = rt::ZeroOp::create(outer, e.loc, type, Value()).getResult();
    result.replaceUsesWithIf(target, [&](OpOperand &use) {
      return !llvm::is_contained(ops, use.getOwner());
    });
  }
  int64_t extent = 0;
  rt::Mode mode = placement.tableResult
                      ? rt::Mode::Table
                      : domain.mode(placement.results[0], extent);
  if (placement.tableResult)
    extent = type.getDimSize(0);
  if (type.getElementType().isBF16())
    return op->emitOpError("expected a sum over rows in f32, found ")
           << type << "; it would be rounded once per row";
  int64_t operand = e.accumulator(target, mode, type.getElementType(), extent);
  e.context.tableResult = operand;
  FailureOr<Values> made =
      cast<KernelBodyOpInterface>(op).emitBody(e.context, in);
  if (succeeded(made) && !placement.tableResult)
    rt::AccumulateOp::create(e.b, e.loc, operand, made->front());
  return success(succeeded(made));
}

/// Adds each element to the accumulator's, in f32.
LogicalResult Cluster::emitSink(Emission &e, Operation *op,
                                const Placement &placement, Value value,
                                AccumulatorOf accumulatorOf) {
  Value target = accumulatorOf(op);
  if (!target)
    return failure();
  Type f32 = e.b.getF32Type();
  int64_t extent;
  rt::Mode mode = domain.resultMode(placement.results[0], extent);
  rt::AccumulateOp::create(e.b, e.loc, e.accumulator(target, mode, f32, extent),
                           value);
  return success();
}

/// Rounds what an op made to the type of its result, so that the numbers do not
/// depend on what shares its kernel; stores what somebody outside reads.
LogicalResult Cluster::emitStores(Emission &e, Operation *op,
                                  const Placement &placement, ValueRange in) {
  FailureOr<Values> values =
      cast<KernelBodyOpInterface>(op).emitBody(e.context, in);
  if (failed(values))
    return failure();
  for (auto [i, result, made] : llvm::enumerate(op->getResults(), *values)) {
    Value value = made;
    auto type = cast<RankedTensorType>(result.getType());
    if (type.getElementType().isBF16())
      value = arith::TruncFOp::create(e.b, e.loc, type.getElementType(), value);
    e.elements[result] = value;
    if (!escapes(result, ops))
      continue;
    int64_t extent;
    rt::Mode mode = domain.resultMode(placement.results[i], extent);
    int64_t operand =
        e.addOperand(Value(), mode, type.getElementType(), extent);
    rt::StoreOp::create(e.b, e.loc, operand, value);
    e.writes.push_back(operand);
    e.replaced.push_back(result);
  }
  return success();
}

LogicalResult Cluster::emit(Operation *before, KernelPool &pool,
                            AccumulatorOf accumulatorOf) {
  if (ops.empty())
    return success();
  Emission e(*this, before);
  for (auto [op, placement] : llvm::zip(ops, placements)) {
    int64_t k = domain.rowDims();
    e.context.contractsCols =
        llvm::any_of(placement.contracted, [&](int64_t d) { return d >= k; });
    SmallVector<Value> in = operandsOf(e, op, placement);
    LogicalResult ok = success();
    if (isSink(op))
      ok = emitSink(e, op, placement, in[0], accumulatorOf);
    else if (placement.accumulates)
      ok = emitSum(e, op, placement, in, accumulatorOf);
    else
      ok = emitStores(e, op, placement, in);
    if (failed(ok))
      return failure();
  }
  makeLaunch(e, pool);
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  return success();
}

/// The kernel around the body, its launch, and the launch's results in place of
/// the ops'.
void Cluster::makeLaunch(Emission &e, KernelPool &pool) {
  OpBuilder b(e.launchPoint);
  SmallVector<Attribute> infos;
  SmallVector<Value> buffers, scalars;
  SmallVector<Type> types;
  for (const Operand &operand : e.operands) {
    infos.push_back(operand.info);
    if (operand.buffer)
      buffers.push_back(operand.buffer);
  }
  for (const rt::Affine &a : e.context.args)
    scalars.push_back(rt::AffineOp::create(b, e.loc, b.getI64Type(), a));
  for (Value v : e.replaced)
    types.push_back(v.getType());
  auto kernel = rt::KernelOp::create(
      b, e.loc, "k", domain.rows(), domain.cols(),
      static_cast<int64_t>(e.context.args.size()), b.getArrayAttr(infos));
  kernel->remove();
  kernel.getBody().push_back(e.body.release());
  std::string name = pool.add(kernel);
  auto launch =
      rt::LaunchOp::create(b, e.loc, types, name, buffers, scalars, e.writes);
  if (Attribute layer = ops.front()->getAttr(tfm::layerAttr))
    launch->setAttr(tfm::layerAttr, layer);
  std::string from;
  for (Operation *op : ops)
    from += (from.empty() ? "" : "+") + op->getName().stripDialect().str();
  launch->setAttr("from", b.getStringAttr(from));
  for (auto [value, result] : llvm::zip(e.replaced, launch.getOutputs())) {
    Value r = result;
    value.replaceUsesWithIf(r, [&](OpOperand &use) {
      return !llvm::is_contained(ops, use.getOwner());
    });
  }
}

} // namespace mtc::passes
