//===- RtWork.cpp - what ops of fragments compute and move ----------------===//
#include "dialects/mtc/Mtc.h"
#include "dialects/rt/Rt.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace mlir;
using namespace mtc;
using namespace mtc::rt;

namespace {

/// How often a value of a kernel's body is computed.
enum class Varies { Never, ByRow, ByElement };

double times(Varies varies, double rows, double cols) {
  return varies == Varies::ByElement ? rows * cols
         : varies == Varies::ByRow   ? rows
                                     : 1;
}

Varies variesOf(Mode mode) {
  switch (mode) {
  case Mode::Scalar:
    return Varies::Never;
  case Mode::Row:
    return Varies::ByRow;
  case Mode::Full:
  case Mode::Col:
  case Mode::Periodic:
  case Mode::Table:
    return Varies::ByElement;
  }
  llvm_unreachable("a mode that is none");
}

bool areFloats(TypeRange types) {
  return !types.empty() && llvm::all_of(types, llvm::IsaPred<FloatType>);
}

/// Of the element that an op of a body works on. A function such as e^x, for
/// which code takes several, counts as one.
double flopsOf(Operation &op) {
  if (isa<AccumulateOp, ScatterAddOp>(op))
    return 1;
  if (isa<CastOpInterface>(op) || !areFloats(op.getOperandTypes()) ||
      !areFloats(op.getResultTypes()))
    return 0;
  return std::max(1U, op.getNumOperands() - 1); // an fma has three
}

/// Goes through a body once, from values to what is made of them.
class BodyCounter {
public:
  BodyCounter(KernelOp kernel, double rows, double cols)
      : kernel(kernel), rows(rows), cols(cols) {}

  double count() {
    double flops = 0;
    for (Operation &op : kernel.getBody().front()) {
      Varies in = Varies::Never;
      for (Value operand : op.getOperands())
        in = std::max(in, varies.lookup(operand));
      Varies out = std::max(in, ownOf(op));
      flops += flopsOf(op) * times(out, rows, cols);
      if (isa<RowReduceOp>(op))
        out = Varies::ByRow;
      for (Value result : op.getResults())
        varies[result] = out;
    }
    return flops;
  }

private:
  Varies ownOf(Operation &op) {
    return llvm::TypeSwitch<Operation *, Varies>(&op)
        .Case([&](LoadOp load) {
          return variesOf(
              cast<OperandAttr>(kernel.getOperandsInfo()[load.getOperand()])
                  .getMode());
        })
        .Case([](GatherOp) { return Varies::ByElement; })
        .Case([](IndexOp index) {
          return index.getKind() == IndexKind::Row ? Varies::ByRow
                                                   : Varies::ByElement;
        })
        .Default([](Operation *) { return Varies::Never; });
  }

  KernelOp kernel;
  double rows, cols;
  llvm::DenseMap<Value, Varies> varies;
};

/// What a kernel touches of an operand. A table has no more rows than the
/// kernel has indices.
double elementsOf(OperandAttr operand, double rows, double cols) {
  double extent = static_cast<double>(operand.getExtent());
  switch (operand.getMode()) {
  case Mode::Full:
    return rows * cols;
  case Mode::Row:
    return rows;
  case Mode::Col:
    return cols;
  case Mode::Scalar:
    return 1;
  case Mode::Periodic:
  case Mode::Table:
    return std::min(extent, rows) * cols;
  }
  llvm_unreachable("a mode that is none");
}

double bytesOfElement(Type type) {
  return type.isIntOrFloat() ? (type.getIntOrFloatBitWidth() + 7) / 8 : 0;
}

/// How often memory is moved for it.
double passes(const AccessKind &kind) {
  return kind.scratch ? 0 : double(kind.reads) + double(kind.writes);
}

double kernelBytes(KernelOp kernel, double rows, double cols) {
  double bytes = 0;
  for (auto [info, kind] :
       llvm::zip(kernel.getOperandsInfo().getAsRange<OperandAttr>(),
                 kernel.getOperandAccesses()))
    bytes += passes(kind) * elementsOf(info, rows, cols) *
             bytesOfElement(info.getElement());
  return bytes;
}

double bytesOfBuffers(ArrayRef<rt::Access> accesses) {
  double bytes = 0;
  for (const rt::Access &access : accesses)
    bytes += passes(access.kind) *
             static_cast<double>(bytesOf(access.value.getType()));
  return bytes;
}

/// The mean over the ranks of a stage; `whole` of a length that nobody knows.
double meanLength(Value length, const Mesh &mesh, double whole) {
  APInt constant;
  if (matchPattern(length, m_ConstantInt(&constant)))
    return static_cast<double>(constant.getSExtValue());
  auto range = length.getDefiningOp<FlatRangeOp>();
  if (!range || length != range.getLength())
    return whole;
  auto mean = static_cast<double>(range.getCount());
  if (range.getShard())
    mean /= static_cast<double>(mesh.groupSize(MTC_GROUP_DP));
  if (std::optional<GroupsAttr> among = range.getAmong())
    for (MtcGroup group : among->getGroups())
      mean /= static_cast<double>(mesh.groupSize(group));
  return mean;
}

double elementsOf(Value buffer) {
  return static_cast<double>(
      cast<ShapedType>(buffer.getType()).getNumElements());
}

Type elementOf(Value buffer) {
  return cast<ShapedType>(buffer.getType()).getElementType();
}

std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// The columns of a kernel where they are not known before a call.
double largest(LaunchOp op) {
  double most = 0;
  for (Value buffer : op.getBuffers())
    most = std::max(most, elementsOf(buffer));
  return most;
}

/// [batch, queries, heads, dim]: what attention makes.
ShapedType outputOf(AttentionOp op) {
  Value out;
  if (op.getBackward() && !op.getInputs().empty())
    out = op.getInputs().front();
  else if (!op.getInits().empty())
    out = op.getInits().front();
  auto type = out ? dyn_cast<ShapedType>(out.getType()) : nullptr;
  return type && type.hasRank() && type.getRank() == 4 ? type : nullptr;
}

int64_t keysOf(AttentionOp op) {
  return cast<ShapedType>(op.getQkv().back().getType()).getDimSize(1);
}

/// How often a byte goes round a ring of the members: twice where all of them
/// get the sum.
int64_t ringPasses(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllReduce:
  case CollectiveKind::AllReduceMax:
  case CollectiveKind::NormReduce:
    return 2;
  case CollectiveKind::ReduceScatter:
  case CollectiveKind::AllGather:
    return 1;
  }
  llvm_unreachable("a kind that is none");
}

} // namespace

bool mtc::rt::takesTime(Operation *op) {
  auto launch = dyn_cast<LaunchOp>(op);
  auto norm = dyn_cast<NormOp>(op);
  bool continues =
      (launch && launch.getContinues()) || (norm && norm.getContinues());
  return isa<WorkOpInterface, WaitOp>(op) && !continues;
}

Work LaunchOp::getWork(const Mesh &mesh) {
  auto kernel =
      SymbolTable::lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (!kernel)
    return {};
  auto rows = static_cast<double>(kernel.getRows());
  auto planned = static_cast<int64_t>(kernel.getCols());
  auto cols = static_cast<double>(planned);
  if (planned < 0)
    cols = getScalars().empty()
               ? largest(*this)
               : meanLength(getScalars().back(), mesh, largest(*this));
  Work work;
  work.flops = BodyCounter(kernel, rows, cols).count();
  work.unmaskedFlops = work.flops;
  work.bytes = kernelBytes(kernel, rows, cols);
  return work;
}

std::string LaunchOp::describeCall() { return getKernel().str(); }

/// Of the calls of a step, the part that stores what others add.
static double firstOf(GemmOp op) {
  auto module = op->getParentOfType<ModuleOp>();
  auto config =
      module ? module->getAttrOfType<ConfigAttr>(configAttrName) : ConfigAttr();
  return config && op.getStoresFirst()
             ? 1 / static_cast<double>(config.getBatch().getMicrobatches())
             : 0;
}

Work GemmOp::getWork(const Mesh &) {
  Work work;
  work.flops = 2.0 * static_cast<double>(getM()) * static_cast<double>(getN()) *
               static_cast<double>(getK());
  work.unmaskedFlops = work.flops;
  work.bytes = bytesOfBuffers(getAccesses()) -
               firstOf(*this) * static_cast<double>(bytesOf(getC().getType()));
  work.factors = elementOf(getA());
  return work;
}

std::string GemmOp::describeCall() {
  std::string type = typeText(elementOf(getA())),
              sum = typeText(elementOf(getC()));
  return llvm::formatv(
      "{0}x{1}x{2} {3}{4} {5}{6}{7}{8}{9}{10}{11}{12}", getM(), getN(), getK(),
      getTa() ? "t" : "n", getTb() ? "t" : "n", type,
      getStoresFirst() ? " stored, then added"
      : getBeta()      ? " added"
                       : "",
      type == sum ? "" : " to " + sum, getBias() ? " bias" : "",
      getGelu() ? " gelu" : "", getAux() ? " aux" : "",
      readsPacked() ? " packed" : "", getCountsLast() ? " counted" : "");
}

Work PackOp::getWork(const Mesh &) {
  Work work;
  work.bytes = bytesOfBuffers(getAccesses());
  return work;
}

std::string PackOp::describeCall() {
  return llvm::formatv("{0}x{1} {2} {3}", getN(), getK(), getTb() ? "t" : "n",
                       typeText(elementOf(getB())));
}

Work AttentionOp::getWork(const Mesh &) {
  Work work;
  if (ShapedType out = outputOf(*this)) {
    work.unmaskedFlops =
        attentionFlops(out.getNumElements(), keysOf(*this), getBackward());
    // Under a causal mask half of the pairs, also where the queries are a piece
    // of the head and one of the tail.
    work.flops = work.unmaskedFlops * (getCausal() ? 0.5 : 1);
    work.factors = out.getElementType();
  }
  work.bytes = bytesOfBuffers(getAccesses());
  return work;
}

std::string AttentionOp::describeCall() {
  std::string text = getBackward() ? "backward" : "forward";
  if (ShapedType out = outputOf(*this))
    text += llvm::formatv(" {0}x{1} of {2}x{3}x{4} {5}", out.getDimSize(0),
                          out.getDimSize(1), keysOf(*this), out.getDimSize(2),
                          out.getDimSize(3), typeText(out.getElementType()));
  return text + (getCausal() ? " causal" : "");
}

Work CollectiveOp::getWork(const Mesh &mesh) {
  auto members = static_cast<double>(mesh.groupSize(getGroup()));
  // Of a norm what the step block has of it.
  double bytes = sizeof MtcStepState::norm;
  if (getKind() != CollectiveKind::NormReduce)
    bytes = static_cast<double>(getCount()) *
            (getInit() ? bytesOfElement(elementOf(getInit())) : 4) *
            (countsPart() ? members : 1);
  Work work;
  work.linkBytes = ringPasses(getKind()) * bytes * (members - 1) / members;
  return work;
}

std::string CollectiveOp::describeCall() {
  std::string type = getInit() ? " " + typeText(elementOf(getInit())) : "";
  return llvm::formatv("{0} {1} {2}{3}", stringifyCollectiveKind(getKind()),
                       groupName(getGroup()), getCount(), type);
}

Work ZeroOp::getWork(const Mesh &) {
  Work work;
  work.bytes = bytesOfBuffers(getAccesses());
  return work;
}

std::string ZeroOp::describeCall() {
  return llvm::formatv("{0} bytes", bytesOf(getInit().getType()));
}

Work NormOp::getWork(const Mesh &mesh) {
  Work work;
  if (!getRange())
    return work;
  double whole = elementsOf(getRange());
  double length = getLength() ? meanLength(getLength(), mesh, whole) : whole;
  auto sum = getContinues() ? dyn_cast_or_null<CollectiveOp>(sumBefore())
                            : CollectiveOp();
  if (sum && !sum.countsPart()) // of which each rank makes a part
    length /= static_cast<double>(mesh.groupSize(sum.getGroup()));
  // A square and its sum.
  work.flops = getAction() == NormAction::Accumulate ? 2 * length : 0;
  work.unmaskedFlops = work.flops;
  if (!getContinues()) // else a cache has them
    work.bytes = length * bytesOfElement(elementOf(getRange()));
  return work;
}

std::string NormOp::describeCall() {
  return stringifyNormAction(getAction()).str();
}
