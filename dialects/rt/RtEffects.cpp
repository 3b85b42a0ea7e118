//===- RtEffects.cpp - what ops and kernels do with their buffers ---------===//
#include "dialects/rt/Rt.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::rt;

#include "dialects/rt/RtInterfaces.cpp.inc"

namespace {

using Accesses = SmallVector<rt::Access>;
using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;

/// The result that is what the operand holds afterwards, if it is a tensor.
Value resultOf(OpOperand &operand) {
  auto op = dyn_cast<DestinationStyleOpInterface>(operand.getOwner());
  bool isTied =
      op && isa<TensorType>(operand.get().getType()) && op.isDpsInit(&operand);
  return isTied ? op.getTiedOpResult(&operand) : OpResult();
}

void add(Accesses &accesses, OpOperand &operand, AccessKind kind) {
  accesses.push_back({operand.get(), kind, &operand, resultOf(operand)});
}
void add(Accesses &accesses, MutableOperandRange operands, AccessKind kind) {
  for (OpOperand &operand : operands)
    add(accesses, operand, kind);
}

/// What a view is of, where it is more than bytes.
SideEffects::Resource *resourceOf(Value view) {
  if (auto field = view.getDefiningOp<StepFieldOp>();
      field && kStepFields[field.getField()].writer == StepWriter::Norm)
    return NormResult::get();
  return SideEffects::DefaultResource::get();
}

/// On views; what happens to tensors are results.
void addEffects(ArrayRef<rt::Access> accesses, Effects &effects) {
  for (const rt::Access &access : accesses) {
    if (!isa<MemRefType>(access.value.getType()))
      continue;
    SideEffects::Resource *resource = resourceOf(access.value);
    if (access.kind.reads)
      effects.emplace_back(MemoryEffects::Read::get(), access.operand,
                           resource);
    if (access.kind.writes)
      effects.emplace_back(MemoryEffects::Write::get(), access.operand,
                           resource);
  }
}

template <typename Resource> void addState(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), Resource::get());
  effects.emplace_back(MemoryEffects::Write::get(), Resource::get());
}

} // namespace

SmallVector<AccessKind> KernelOp::getOperandAccesses() {
  SmallVector<AccessKind> kinds(getOperandsInfo().size());
  auto merge = [&](int64_t operand, AccessKind kind) {
    kinds[operand].merge(kind);
  };
  for (Operation &op : getBody().front()) {
    if (auto load = dyn_cast<LoadOp>(op))
      merge(load.getOperand(), kReads);
    else if (auto gather = dyn_cast<GatherOp>(op))
      merge(gather.getOperand(), kReads);
    else if (auto store = dyn_cast<StoreOp>(op))
      merge(store.getOperand(), kStores);
    else if (auto add = dyn_cast<AccumulateOp>(op))
      merge(add.getOperand(), kAdds);
    else if (auto scatter = dyn_cast<ScatterAddOp>(op))
      merge(scatter.getOperand(), kAdds);
  }
  return kinds;
}

SmallVector<int64_t> KernelOp::getWrittenOperands() {
  SmallVector<int64_t> written;
  for (auto [i, kind] : llvm::enumerate(getOperandAccesses()))
    if (kind.writes)
      written.push_back(i);
  return written;
}

bool KernelOp::isElementwise() {
  // With one column what is stored is of a row.
  if (static_cast<int64_t>(getCols()) <= 1)
    return false;
  return llvm::all_of(getBody().front(), [&](Operation &op) {
    auto store = dyn_cast<StoreOp>(op);
    if (!store)
      return !isa<AccumulateOp, GatherOp, ScatterAddOp, RowReduceOp>(op);
    auto info = cast<OperandAttr>(getOperandsInfo()[store.getOperand()]);
    return info.getMode() == Mode::Full;
  });
}

static FailureOr<Accesses> launchAccesses(LaunchOp op,
                                          ArrayRef<AccessKind> kernel) {
  SmallVector<OpOperand *> operands = op.getKernelOperands();
  if (operands.size() != kernel.size())
    return failure();
  Accesses accesses;
  for (auto [operand, kind] : llvm::zip(operands, kernel)) {
    if (op.isDpsInit(operand) != kind.writes)
      return failure();
    add(accesses, *operand, kind);
  }
  return accesses;
}

Accesses LaunchOp::getAccesses() {
  auto kernel =
      SymbolTable::lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (kernel)
    if (auto known = launchAccesses(*this, kernel.getOperandAccesses());
        succeeded(known))
      return *known;
  // Of a kernel that is not there, anything may be.
  Accesses accesses;
  for (OpOperand *operand : getKernelOperands())
    add(accesses, *operand, kInPlace);
  return accesses;
}

FailureOr<Accesses> mtc::rt::accessesOf(Operation *op,
                                        ArrayRef<AccessKind> kernel) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return launchAccesses(launch, kernel);
  if (auto access = dyn_cast<AccessOpInterface>(op))
    return access.getAccesses();
  return Accesses();
}

bool mtc::rt::touchesNorm(Operation *op) {
  if (auto collective = dyn_cast<CollectiveOp>(op))
    return collective.getKind() == CollectiveKind::NormReduce;
  auto product = dyn_cast<GemmOp>(op);
  return isa<NormOp>(op) || (product && product.getCountsLast());
}

bool mtc::rt::leavesNormReset(Operation *fragment) {
  bool isReset = false;
  fragment->walk(
      [&](NormOp step) { isReset = step.getAction() == NormAction::Reset; });
  return isReset;
}

Accesses GemmOp::getAccesses() {
  Accesses accesses;
  add(accesses, getAMutable(), kReads);
  add(accesses, getBMutable(), kReads);
  add(accesses, getBiasMutable(), kReads);
  add(accesses, getCMutable(),
      getStoresFirst() ? kStoresFirst
      : getBeta()      ? kAdds
                       : kStores);
  add(accesses, getAuxMutable(), kStores);
  add(accesses, getScratchMutable(), kScratch);
  return accesses;
}

Accesses PackOp::getAccesses() {
  Accesses accesses;
  add(accesses, getBMutable(), kReads);
  add(accesses, getPackedMutable(), kStores);
  return accesses;
}

Accesses AttentionOp::getAccesses() {
  Accesses accesses;
  add(accesses, getInputsMutable(), kReads);
  add(accesses, getDocumentsMutable(), kReads);
  add(accesses, getInitsMutable(), kStores);
  add(accesses, getScratchMutable(), kScratch);
  return accesses;
}

Accesses CollectiveOp::getAccesses() {
  Accesses accesses;
  add(accesses, getInitMutable(), kInPlace);
  return accesses;
}

Accesses ZeroOp::getAccesses() {
  Accesses accesses;
  add(accesses, getInitMutable(), kStores);
  return accesses;
}

Accesses NormOp::getAccesses() {
  Accesses accesses;
  add(accesses, getRangeMutable(), kReads);
  return accesses;
}

LogicalResult mtc::rt::verifyDestinations(Operation *op) {
  auto destinations = dyn_cast<DestinationStyleOpInterface>(op);
  if (!destinations)
    return success();
  bool isBehindMemref = false;
  for (Value init : destinations.getDpsInits()) {
    bool isMemref = isa<MemRefType>(init.getType());
    if (isBehindMemref && !isMemref)
      return op->emitOpError("expected tensors that it writes into before "
                             "memrefs, found ")
             << destinations.getDpsInits().getTypes();
    isBehindMemref |= isMemref;
  }
  return success();
}

// Of these the result is what the destination holds.
MutableOperandRange LaunchOp::getDpsInitsMutable() { return getInitsMutable(); }
MutableOperandRange GemmOp::getDpsInitsMutable() {
  // c, and aux behind it.
  return {*this, getCMutable().getOperandNumber(), getAux() ? 2U : 1U};
}
MutableOperandRange PackOp::getDpsInitsMutable() { return getPackedMutable(); }
MutableOperandRange AttentionOp::getDpsInitsMutable() {
  return getInitsMutable();
}
MutableOperandRange CollectiveOp::getDpsInitsMutable() {
  return getInitMutable();
}
MutableOperandRange ZeroOp::getDpsInitsMutable() { return getInitMutable(); }

void LaunchOp::getEffects(Effects &effects) {
  addEffects(getAccesses(), effects);
}
void GemmOp::getEffects(Effects &effects) {
  addEffects(getAccesses(), effects);
  if (getCountsLast())
    addState<NormSum>(effects);
}
void PackOp::getEffects(Effects &effects) {
  addEffects(getAccesses(), effects);
}
void AttentionOp::getEffects(Effects &effects) {
  addEffects(getAccesses(), effects);
}
void ZeroOp::getEffects(Effects &effects) {
  addEffects(getAccesses(), effects);
}

void CollectiveOp::getEffects(Effects &effects) {
  addEffects(getAccesses(), effects);
  addState<Communication>(effects);
  if (getKind() == CollectiveKind::NormReduce)
    addState<NormSum>(effects);
}
void NormOp::getEffects(Effects &effects) {
  addEffects(getAccesses(), effects);
  if (getAction() != NormAction::Reset)
    effects.emplace_back(MemoryEffects::Read::get(), NormSum::get());
  if (getAction() != NormAction::Finish)
    effects.emplace_back(MemoryEffects::Write::get(), NormSum::get());
  else
    effects.emplace_back(MemoryEffects::Write::get(), NormResult::get());
}
void RecordOp::getEffects(Effects &effects) { addState<Streams>(effects); }
void WaitOp::getEffects(Effects &effects) { addState<Streams>(effects); }
