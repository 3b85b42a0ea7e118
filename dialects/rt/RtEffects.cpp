//===- RtEffects.cpp - what ops and kernels do with their buffers ---------===//
#include "dialects/rt/Rt.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::rt;

#include "dialects/rt/RtInterfaces.cpp.inc"

namespace {

using Accesses = SmallVector<rt::Access>;
using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;

void add(Accesses &accesses, MutableArrayRef<OpOperand> operands,
         AccessKind kind) {
  for (OpOperand &operand : operands)
    accesses.push_back({operand.get(), kind, &operand});
}

void add(Accesses &accesses, ValueRange results, AccessKind kind) {
  for (Value result : results)
    accesses.push_back({result, kind});
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
    if (!access.operand || !isa<MemRefType>(access.value.getType()))
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

/// Operands in order, and results where `writes` says that they stand.
static FailureOr<Accesses> launchAccesses(LaunchOp op,
                                          ArrayRef<AccessKind> kernel) {
  size_t total = op.getBuffers().size() + op.getOutputs().size();
  if (total != kernel.size())
    return failure();
  Accesses accesses(total);
  for (auto [output, at] : llvm::zip(op.getOutputs(), op.getWrites())) {
    if (at < 0 || at >= static_cast<int64_t>(total) || accesses[at].value)
      return failure();
    accesses[at].value = output;
  }
  auto next = op.getBuffersMutable().begin();
  for (auto [access, kind] : llvm::zip(accesses, kernel)) {
    access.kind = kind;
    if (access.value)
      continue;
    access.operand = &*next++;
    access.value = access.operand->get();
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
  add(accesses, getBuffersMutable(), kInPlace);
  add(accesses, getOutputs(), kStores);
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

Accesses GemmOp::getAccesses() {
  Accesses accesses;
  add(accesses, getAMutable(), kReads);
  add(accesses, getBMutable(), kReads);
  AccessKind made = getBeta() ? kAdds : kStores;
  add(accesses, getCMutable(), made);
  if (getResult() && !getC())
    add(accesses, getResult(), made);
  add(accesses, getScratchMutable(), kScratch);
  return accesses;
}

Accesses AttentionOp::getAccesses() {
  Accesses accesses;
  add(accesses, getInputsMutable(), kReads);
  add(accesses, getOutputsInMutable(), kStores);
  add(accesses, getOutputs(), kStores);
  add(accesses, getScratchMutable(), kScratch);
  return accesses;
}

Accesses CollectiveOp::getAccesses() {
  Accesses accesses;
  if (!getResult()) {
    add(accesses, getBufferMutable(), kInPlace);
    return accesses;
  }
  add(accesses, getBufferMutable(), kReads);
  add(accesses, getResult(), kStores);
  return accesses;
}

Accesses ZeroOp::getAccesses() {
  Accesses accesses;
  add(accesses, getBufferMutable(), kStores);
  if (getResult())
    add(accesses, getResult(), kStores);
  return accesses;
}

Accesses NormOp::getAccesses() {
  Accesses accesses;
  add(accesses, getRangeMutable(), kReads);
  return accesses;
}

void LaunchOp::getEffects(Effects &effects) {
  addEffects(getAccesses(), effects);
}
void GemmOp::getEffects(Effects &effects) {
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
