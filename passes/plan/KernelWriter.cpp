//===- KernelWriter.cpp - a cluster as kernel and launch ------------------===//
#include "passes/plan/KernelWriter.h"

#include "dialects/tfm/Tfm.h"
#include "passes/families/kernel_body.h"
#include "passes/plan/Empty.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

namespace mtc::passes {
namespace {

/// State while one kernel is written.
class KernelWriter {
public:
  KernelWriter(rt::ClusterOp op, const Cluster &cluster,
               const FragmentContext &around)
      : op(op), cluster(cluster), domain(cluster.getDomain()), around(around),
        b(op.getContext()), body(std::make_unique<Block>()), loc(op.getLoc()),
        context(b, loc, domain.rows(), domain.cols()) {
    b.setInsertionPointToEnd(body.get());
    context.rowsPerSample =
        domain.dims.empty()
            ? 1
            : domain.rows() / std::max<int64_t>(domain.dims[0], 1);
    context.stepField = [this](StringRef field) { return loadStep(field); };
  }
  LogicalResult run();

private:
  struct Operand {
    Value buffer;
    rt::OperandAttr info;
    Value element; ///< loaded once
    Value yielded; ///< what it holds behind the kernel, if the cluster makes it
  };

  int64_t addOperand(Value buffer, rt::Mode mode, Type element, int64_t extent);
  int64_t accumulator(Value buffer, rt::Mode mode, Type element,
                      int64_t extent);
  Value widened(Value x);
  Value load(int64_t index);
  Value read(Value v, const DimMap &map);
  Value loadStep(StringRef field);
  bool isYielded(Value v);
  SmallVector<Value> operandsOf(const Member &member);
  LogicalResult writeSum(const Member &member, ValueRange in);
  void writeSink(const Member &member, Value value);
  LogicalResult writeStores(const Member &member, ValueRange in);
  std::string names() const;
  rt::LaunchOp makeLaunch();

  rt::ClusterOp op;
  const Cluster &cluster;
  const Domain &domain;
  const FragmentContext &around;
  OpBuilder b;
  std::unique_ptr<Block> body; ///< until the kernel takes it
  Location loc;
  BodyContext context;
  std::vector<Operand> operands;
  llvm::DenseMap<Value, Value> elements;
  llvm::StringMap<Value> stepFields;
};

int64_t KernelWriter::addOperand(Value buffer, rt::Mode mode, Type element,
                                 int64_t extent) {
  operands.push_back(
      {buffer,
       rt::OperandAttr::get(b.getContext(), mode, element, extent),
       {},
       {}});
  return operands.size() - 1;
}

/// The operand of an accumulator: one, however often it is added to, because
/// operands do not alias.
int64_t KernelWriter::accumulator(Value buffer, rt::Mode mode, Type element,
                                  int64_t extent) {
  for (auto [i, operand] : llvm::enumerate(operands))
    if (operand.buffer == buffer)
      return i;
  return addOperand(buffer, mode, element, extent);
}

/// Elements are f32 inside a kernel.
Value KernelWriter::widened(Value x) {
  return x && rt::isHalf(x.getType())
             ? arith::ExtFOp::create(b, loc, b.getF32Type(), x).getResult()
             : x;
}

Value KernelWriter::load(int64_t index) {
  Operand &operand = operands[index];
  if (!operand.element)
    operand.element =
        widened(rt::LoadOp::create(b, loc, operand.info.getElement(), index));
  return operand.element;
}

/// The element of a value at the current position.
Value KernelWriter::read(Value v, const DimMap &map) {
  if (auto fill = dyn_cast_or_null<tfm::FillOp>(v.getDefiningOp()))
    return context.constant(fill.getValue().convertToDouble());
  if (Value inside = elements.lookup(v))
    return widened(inside);
  int64_t extent;
  rt::Mode mode = domain.mode(map, extent);
  Type element = cast<ShapedType>(v.getType()).getElementType();
  for (auto [i, operand] : llvm::enumerate(operands))
    if (operand.buffer == v && operand.info.getMode() == mode)
      return load(i);
  return load(addOperand(v, mode, element, extent));
}

Value KernelWriter::loadStep(StringRef field) {
  if (Value old = stepFields.lookup(field))
    return old;
  OpBuilder outer(op);
  Type f32 = b.getF32Type();
  Value address = rt::StepFieldOp::create(outer, loc, MemRefType::get({1}, f32),
                                          *idNamed(kStepFields, field),
                                          /*group=*/IntegerAttr());
  return stepFields[field] =
             load(addOperand(address, rt::Mode::Scalar, f32, 0));
}

bool KernelWriter::isYielded(Value v) {
  return llvm::is_contained(v.getUsers(), op.getYield().getOperation());
}

/// The element values of the operands of an op; null where its body needs none.
SmallVector<Value> KernelWriter::operandsOf(const Member &member) {
  SmallVector<Value> in;
  for (auto [i, value] : llvm::enumerate(member.op->getOperands())) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getElementType().isInteger(64)) {
      in.push_back(Value()); // the sample base is a kernel argument
    } else if (static_cast<int64_t>(i) == member.placement.tableOperand) {
      context.tableOperand = addOperand(
          value, rt::Mode::Table, type.getElementType(), type.getDimSize(0));
      in.push_back(Value());
    } else {
      in.push_back(read(value, member.placement.operands[i]));
    }
  }
  return in;
}

/// A sum over rows: into its accumulator, or into a new buffer of zeros.
LogicalResult KernelWriter::writeSum(const Member &member, ValueRange in) {
  const Placement &placement = member.placement;
  Value result = member.op->getResult(0), target, yielded;
  auto type = cast<RankedTensorType>(result.getType());
  if (rt::isHalf(type.getElementType()))
    return member.op->emitOpError("expected a sum over rows in f32, found ")
           << type << "; it would be rounded once per row";
  if (Operation *sink = cluster.sinkOf(result)) {
    target = around.accumulators.of(sink);
  } else {
    OpBuilder outer(op);
    Value empty = emptyOf(outer, loc, type);
    target = rt::ZeroOp::create(outer, loc, type, empty).getResult();
    yielded = result;
  }
  int64_t extent = 0;
  rt::Mode mode = placement.tableResult
                      ? rt::Mode::Table
                      : domain.mode(placement.results[0], extent);
  if (placement.tableResult)
    extent = type.getDimSize(0);
  int64_t operand = accumulator(target, mode, type.getElementType(), extent);
  operands[operand].yielded = yielded;
  context.tableResult = operand;
  FailureOr<Values> out =
      cast<KernelBodyOpInterface>(member.op).emitBody(context, in);
  if (succeeded(out) && !placement.tableResult)
    rt::AccumulateOp::create(b, loc, operand, out->front());
  return success(succeeded(out));
}

/// Adds each element to the accumulator's, in f32.
void KernelWriter::writeSink(const Member &member, Value value) {
  int64_t extent;
  rt::Mode mode = domain.resultMode(member.placement.results[0], extent);
  Value sum = around.accumulators.of(member.op);
  Type element = cast<MemRefType>(sum.getType()).getElementType();
  int64_t operand = accumulator(sum, mode, element, extent);
  rt::AccumulateOp::create(b, loc, operand, value);
}

/// Rounds what an op made to the type of its result, so that the numbers do not
/// depend on what shares its kernel; stores what is yielded.
LogicalResult KernelWriter::writeStores(const Member &member, ValueRange in) {
  int64_t none;
  context.perRow =
      domain.mode(member.placement.results.front(), none) == rt::Mode::Row;
  FailureOr<Values> values =
      cast<KernelBodyOpInterface>(member.op).emitBody(context, in);
  if (failed(values))
    return failure();
  for (auto [i, result, element] :
       llvm::enumerate(member.op->getResults(), *values)) {
    Value value = element;
    auto type = cast<RankedTensorType>(result.getType());
    if (rt::isHalf(type.getElementType()))
      value = arith::TruncFOp::create(b, loc, type.getElementType(), value);
    elements[result] = value;
    if (!isYielded(result))
      continue;
    int64_t extent;
    rt::Mode mode = domain.resultMode(member.placement.results[i], extent);
    OpBuilder outer(op);
    int64_t operand = addOperand(emptyOf(outer, loc, type), mode,
                                 type.getElementType(), extent);
    rt::StoreOp::create(b, loc, operand, value);
    operands[operand].yielded = result;
  }
  return success();
}

LogicalResult KernelWriter::run() {
  for (const Member &member : cluster.getMembers()) {
    if (member.isInPlace)
      continue;
    int64_t k = domain.rowDims();
    context.contractsCols = llvm::any_of(member.placement.contracted,
                                         [&](int64_t d) { return d >= k; });
    if (member.op->getNumResults())
      context.sampleBase = around.firstSampleOf(member.op->getResult(0));
    SmallVector<Value> in = operandsOf(member);
    LogicalResult ok = success();
    if (isSink(member.op))
      writeSink(member, in[0]);
    else if (member.placement.accumulates)
      ok = writeSum(member, in);
    else
      ok = writeStores(member, in);
    if (failed(ok))
      return failure();
  }
  rt::LaunchOp launch = makeLaunch();
  llvm::DenseMap<Value, Value> made; ///< looked up only
  for (auto [output, at] : llvm::zip(launch.getOutputs(), launch.getWrites()))
    made[operands[at].yielded] = output;
  for (auto [result, value] :
       llvm::zip(op.getResults(), op.getYield().getValues()))
    result.replaceAllUsesWith(made.lookup(value));
  op.erase();
  return success();
}

/// The ops of the cluster, for people who read the launch.
std::string KernelWriter::names() const {
  std::string text;
  for (const Member &member : cluster.getMembers())
    if (!member.isInPlace)
      text +=
          (text.empty() ? "" : "+") + member.op->getName().stripDialect().str();
  return text;
}

/// The kernel around the body, and its launch.
rt::LaunchOp KernelWriter::makeLaunch() {
  OpBuilder outer(op);
  SmallVector<Attribute> infos;
  SmallVector<Value> buffers, scalars;
  for (const Operand &operand : operands) {
    infos.push_back(operand.info);
    buffers.push_back(operand.buffer);
  }
  for (const rt::Affine &a : context.args)
    scalars.push_back(rt::AffineOp::create(outer, loc, outer.getI64Type(), a));
  OpBuilder detached(op.getContext());
  auto kernel = rt::KernelOp::create(
      detached, loc, "k", domain.rows(), domain.cols(),
      static_cast<int64_t>(context.args.size()), b.getArrayAttr(infos));
  kernel.getBody().push_back(body.release());
  SmallVector<int64_t> written = kernel.getWrittenOperands();
  std::string name = around.pool.add(kernel);
  auto launch =
      rt::LaunchOp::create(outer, loc, name, buffers, scalars, written);
  Operation *first = cluster.getMembers().front().op;
  if (Attribute layer = first->getAttr(tfm::layerAttr))
    launch->setAttr(tfm::layerAttr, layer);
  launch->setAttr("from", b.getStringAttr(names()));
  return launch;
}

} // namespace

LogicalResult writeKernel(rt::ClusterOp op, const Cluster &cluster,
                          const FragmentContext &around) {
  return KernelWriter(op, cluster, around).run();
}

} // namespace mtc::passes
