//===- interpreter.cpp - a fragment on numbers ----------------------------===//
#include "passes/verify/interpreter.h"

using namespace mlir;

namespace mtc::passes::verify {
namespace {

/// The accumulator of the norm, which lies in no arena.
constexpr Placement kNorm{{SpaceKind::Norm, 0}, 0, 1};

/// A tensor and a view of one shape are of one type here.
void addType(Recipe &recipe, Type type) {
  auto shaped = cast<ShapedType>(type);
  recipe.push_back(wordOf(shaped.getElementType().getAsOpaquePointer()));
  recipe.push_back(shaped.getRank());
  recipe.append(shaped.getShape().begin(), shaped.getShape().end());
}

} // namespace

void Interpreter::run(func::FuncOp fn) {
  placements.clear();
  scalars.clear();
  auto of = pipe::FragmentAttr::of(fn);
  chunk = of ? of.getChunk() : 0;
  inUpdate = of && of.isUpdate();
  contents.beginFragment(lasting.before());
  for (Operation &op : fn.getBody().front())
    if (isa<rt::AffineOp, rt::FlatRangeOp>(op))
      compute(op);
    else if (auto field = dyn_cast<rt::StepFieldOp>(op))
      readField(field);
    else if (auto moved = dyn_cast<rt::OffsetViewOp>(op))
      move(moved);
    else if (isa<rt::AccessOpInterface>(&op))
      call(op);
    else
      visit(op);
}

void Interpreter::runWithoutSums(func::FuncOp fn) {
  withSums = false;
  run(fn);
  withSums = true;
}

/// A gather of parameters, or a sum of accumulators where these are left out.
bool Interpreter::isLeftOut(Operation &op) {
  auto collective = dyn_cast<rt::CollectiveOp>(op);
  if (!collective || !collective.getInit())
    return false;
  SpaceKind kind = placementOf(collective.getInit()).space.kind;
  return (kind == SpaceKind::Param && !inUpdate) ||
         (kind == SpaceKind::Grad && !withSums);
}

Placement Interpreter::placementOf(Value value) {
  return placements.lookup(value);
}

/// Integers are symbols: the same expression is the same number.
void Interpreter::compute(Operation &op) {
  for (OpResult result : op.getResults()) {
    Recipe recipe{wordOf(By::Scalar), wordOf(op.getName().getAsOpaquePointer()),
                  wordOf(op.getAttrDictionary().getAsOpaquePointer()),
                  int64_t(result.getResultNumber())};
    scalars[result] = numbers.make(recipe, {}, &op);
  }
}

void Interpreter::readField(rt::StepFieldOp op) {
  const StepFieldInfo &field = kStepFields[op.getField()];
  int64_t group = op.getGroup().value_or(0);
  Placement placement{{SpaceKind::Field, int64_t(field.id)},
                      group * field.bytes,
                      (group + 1) * field.bytes};
  std::string name(field.name);
  if (group > 0)
    name += " of group " + std::to_string(group);
  contents.write(placement, numbers.leaf("the step block's field " + name), op);
  placements[op] = placement;
}

void Interpreter::move(rt::OffsetViewOp op) {
  int64_t width = op.getType().getElementTypeBitWidth() / 8;
  placements[op] =
      lasting.move(placementOf(op.getView()), width, op.getElements(),
                   scalars.lookup(op.getElements()), numbers);
}

/// What of an op's attributes says what it computes. A stream says when, as
/// what continues a product, and kernels of launches are numbered by what they
/// do.
Attribute Interpreter::attributesOf(Operation &op) {
  Attribute all = op.getPropertiesAsAttribute();
  bool isLaunch = isa<rt::LaunchOp>(op);
  auto [it, isNew] = attributes.try_emplace(all);
  if (isNew) {
    NamedAttrList kept;
    if (auto dictionary = dyn_cast_or_null<DictionaryAttr>(all))
      for (NamedAttribute each : dictionary)
        if (!llvm::is_contained({"writes", "stream", "continues",
                                 "operandSegmentSizes", "resultSegmentSizes"},
                                each.getName().getValue()) &&
            !(isLaunch && each.getName() == "kernel"))
          kept.append(each);
    it->second = kept.getDictionary(op.getContext());
  }
  return it->second;
}

/// Buffers and numbers that the op reads, in order.
void Interpreter::readUses(Operation &op, ArrayRef<rt::Access> buffers,
                           Call &call) {
  for (const rt::Access &buffer : buffers) {
    const Placement &placement =
        call.placements.emplace_back(placementOf(buffer.value));
    call.before.push_back(0);
    // What was moved is written in part: what it held is in what it will hold.
    if (!buffer.kind.reads && !placement.moved)
      continue;
    call.before.back() = read(placement);
    call.uses.push_back(call.before.back());
    if (placement.moved)
      call.uses.push_back(*placement.moved);
    addType(call.recipe, buffer.value.getType());
    call.recipe.push_back(placement.moved.has_value());
  }
  for (Value operand : op.getOperands())
    if (!isa<ShapedType>(operand.getType()))
      call.uses.push_back(scalars.lookup(operand));
  if (rt::touchesNorm(&op))
    call.uses.push_back(read(kNorm));
}

/// That of a launch; null if there is none.
const KernelValues *Interpreter::kernelOf(Operation &op) const {
  auto launch = dyn_cast<rt::LaunchOp>(op);
  return launch ? kernels.find(launch.getKernel()) : nullptr;
}

FailureOr<SmallVector<rt::Access>> Interpreter::buffersOf(Operation &op) const {
  const KernelValues *kernel = kernelOf(op);
  return rt::accessesOf(&op, kernel ? ArrayRef(kernel->effects)
                                    : ArrayRef<rt::AccessKind>());
}

/// What is written is a function of all that is read.
void Interpreter::call(Operation &op) {
  if (isLeftOut(op))
    return;
  auto buffers = buffersOf(op);
  if (failed(buffers))
    return reject(op);
  const KernelValues *kernel = kernelOf(op);
  Call call{{wordOf(By::Call), wordOf(op.getName().getAsOpaquePointer()),
             wordOf(attributesOf(op).getAsOpaquePointer())}};
  readUses(op, *buffers, call);
  if (rt::touchesNorm(&op))
    contents.write(kNorm, numbers.make(call.recipe, call.uses, &op), &op);
  for (auto [i, buffer] : llvm::enumerate(*buffers)) {
    if (!buffer.kind.writes)
      continue;
    // A tensor stays what it is: the op's result is another.
    Placement written =
        buffer.made ? placementOf(buffer.made) : call.placements[i];
    contents.write(written,
                   buffer.kind.scratch ? numbers.leaf("scratch")
                                       : made(op, buffer, i, kernel, call),
                   &op);
  }
}

/// What the op writes to its buffer `i`.
Number Interpreter::made(Operation &op, const rt::Access &buffer, int64_t i,
                         const KernelValues *kernel, Call &call) {
  const Placement &placement = call.placements[i];
  if (isa<rt::PackOp>(op)) // the weight, in another order
    return call.before.front();
  int64_t source = kernel ? kernel->copyOf[i] : -1;
  if (source >= 0 && !placement.moved && !call.placements[source].moved)
    return call.before[source]; // all of it
  Recipe recipe = call.recipe;
  addType(recipe, buffer.value.getType());
  recipe.push_back(call.written++);
  SmallVector<Number> uses(call.uses);
  if (kernel)
    uses.push_back(kernel->made[i]);
  return numbers.make(recipe, uses, &op);
}

} // namespace mtc::passes::verify
