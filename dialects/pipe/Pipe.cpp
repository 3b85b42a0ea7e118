//===- Pipe.cpp - registration of the pipe dialect ------------------------===//
#include "dialects/pipe/Pipe.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mtc::pipe;

#include "dialects/pipe/PipeDialect.cpp.inc"
#include "dialects/pipe/PipeEnums.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/pipe/PipeOps.cpp.inc"

void PipeDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialects/pipe/PipeOps.cpp.inc"
      >();
}

LogicalResult PipeDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  if (attribute.getName() != FragmentAttr::attrName)
    return op->emitOpError("expected ")
           << FragmentAttr::attrName
           << " as the dialect's only attribute, found " << attribute.getName();
  auto fragment = dyn_cast<FragmentAttr>(attribute.getValue());
  if (!fragment || fragment.getStage() < 0 || fragment.getChunk() < 0)
    return op->emitOpError("expected #pipe.fragment with a stage and a chunk, "
                           "counted from 0, found ")
           << attribute.getValue();
  if (fragment.isOf(Form::Last) && !fragment.isBackward())
    return op->emitOpError("expected only a backward to have a form of the "
                           "last microbatch (form = last), found phase ")
           << stringifyPhase(fragment.getPhase());
  if (fragment.isOf(Form::Recompute) && !fragment.isBackward() &&
      fragment.getPhase() != Phase::Forward)
    return op->emitOpError("expected only a forward and a backward to have a "
                           "form that computes again (form = recompute), "
                           "found phase ")
           << stringifyPhase(fragment.getPhase());
  if (fragment.isOf(Form::First) && !fragment.isForward())
    return op->emitOpError("expected only forward and eval to have a form of "
                           "the first microbatch (form = first), found phase ")
           << stringifyPhase(fragment.getPhase());
  auto fn = dyn_cast<FunctionOpInterface>(op);
  if (!fn || fn.getNumArguments() || fn.getNumResults() ||
      !fn.getFunctionBody().hasOneBlock())
    return emitError(op->getLoc())
           << "expected a fragment to be a function of one block without "
              "arguments and results, found another";
  return success();
}

/// Problems in `sharding` for a tensor of `rank` dimensions, as a sentence that
/// follows "expected"; empty if there are none.
static std::string problemsOf(mtc::dist::ShardingAttr sharding, int64_t rank) {
  if (sharding.getRank() != rank)
    return "a sharding of " + std::to_string(rank) + " dimensions, found " +
           std::to_string(sharding.getRank());
  if (llvm::any_of(sharding.getStates(), [](int64_t s) { return s < 0; }))
    return "a parameter that is partial over no axis, found one";
  if (sharding.getStates().size() > 1)
    return "one mesh axis that splits it, found several";
  return "";
}

LogicalResult InputOp::verify() {
  const mtc::InputRow *row = mtc::inputNamed(getName().str());
  if (!row)
    return emitOpError("expected ")
           << mtc::inputNames() << ", found \"" << getName() << "\"";
  Type element = cast<RankedTensorType>(getType()).getElementType();
  if (row->isWeight ? element.isF32() : element.isInteger(32))
    return success();
  return emitOpError("expected elements of ")
         << (row->isWeight ? "f32" : "i32") << " of " << row->name << ", found "
         << getType();
}

LogicalResult CrossingOp::verify() {
  mtc::CrossingName name = getName();
  int64_t from = getFrom(), to = getTo();
  if (from < 0 || to < 0 || (name.gradient ? from <= to : from >= to))
    return emitOpError("expected ")
           << name.text()
           << (name.gradient ? " to go to an earlier" : " to go to a later")
           << " virtual stage, found it to go from " << from << " to " << to;
  if (name.number == 0 && std::abs(from - to) != 1)
    return emitOpError(
               "expected a name with a number, as the value does not go "
               "to a neighbour, found ")
           << name.text() << " from " << from << " to " << to;
  return success();
}

LogicalResult ScheduleOp::verify() {
  using mtc::Tag;
  auto isIn = [](int64_t found, int64_t most) {
    return found >= 1 && found <= most;
  };
  int64_t stages = getStages(), chunks = getChunks();
  if (!isIn(stages, Tag::kStages) || !isIn(chunks, Tag::kStages) ||
      !isIn(stages * chunks, Tag::kStages))
    return emitOpError("expected stages times chunks to be 1 to ")
           << Tag::kStages << ", found " << stages << " times " << chunks;
  if (int64_t found = getMicrobatches(); !isIn(found, Tag::kMicrobatches))
    return emitOpError("expected 1 to ")
           << Tag::kMicrobatches << " microbatches, found " << found;
  if (int64_t found = getSmall(); found < 0 || found > Tag::kMicrobatches)
    return emitOpError("expected 0 to ")
           << Tag::kMicrobatches << " small slots, found " << found;
  if (int64_t lines = getSlots().size(); lines != stages)
    return emitOpError("expected a line of slots for each of ")
           << stages << " stages, found " << lines;
  return success();
}

/// Saturates.
static int64_t elementsOf(ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t d : shape)
    if (__builtin_mul_overflow(n, d, &n))
      return std::numeric_limits<int64_t>::max();
  return n;
}

LogicalResult ParameterOp::verify() {
  int64_t rank = getLocal().size();
  if (int64_t(getParam().getAxes().size()) != rank)
    return emitOpError("expected a logical axis per dimension, ")
           << rank << ", found " << getParam().getAxes().size();
  if (auto sharding = getSharding())
    if (std::string text = problemsOf(*sharding, rank); !text.empty())
      return emitOpError("expected ") << text;
  if (getUses() < 1)
    return emitOpError("expected one use or more, found ") << getUses();
  tfm::RepeatsAttr repeats = getParam().getRepeats();
  if (repeats &&
      (split().dim != repeats.getDim() || getLocal()[repeats.getDim()] != 1))
    return emitOpError("expected repeats along a dimension that is split so "
                       "that each rank has one index, found dimension ")
           << repeats.getDim() << " of " << getType() << " in "
           << getShardingAttr();
  tfm::SliceAttr slice = getParam().getSlice();
  if (slice && slice.getElements() != elementsOf(modelShape()))
    return emitOpError("expected the ")
           << slice.getElements() << " elements of its slice of "
           << slice.getOf() << ", found [" << ArrayRef(modelShape()) << "]";
  return success();
}

SmallVector<int64_t> ParameterOp::modelShape() {
  SmallVector<int64_t> shape = split().shape;
  if (tfm::RepeatsAttr repeats = getParam().getRepeats())
    shape[repeats.getDim()] /= repeats.getTimes();
  return shape;
}

std::vector<MtcGroup> ParameterOp::groupsWithSame() {
  std::vector<MtcGroup> groups;
  for (const AxisInfo &axis : kAxes)
    if (axis.splits && !isSplitOver(axis.name))
      groups.push_back(groupAlong(axis.id));
  if (getParam().getRepeats())
    groups.push_back(MTC_GROUP_KV);
  llvm::sort(groups);
  return groups;
}

int64_t ParameterOp::getElements() { return elementsOf(getLocal()); }

mtc::dist::Split ParameterOp::split() {
  // The verifier has seen that there is one axis at most.
  return dist::splitOf(getSharding().value_or(dist::ShardingAttr()),
                       dist::meshOf(*this), getLocal(), /*first=*/0);
}
