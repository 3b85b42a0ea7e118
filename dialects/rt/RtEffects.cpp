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
         AccessKind kind, bool scratch = false) {
  for (OpOperand &operand : operands)
    accesses.push_back({&operand, kind, scratch});
}

/// On views; what happens to tensors are results.
void addEffects(AccessOpInterface op, Effects &effects) {
  for (const rt::Access &access : op.getAccesses()) {
    if (!isa<MemRefType>(access.operand->get().getType()))
      continue;
    if (access.kind.reads)
      effects.emplace_back(MemoryEffects::Read::get(), access.operand);
    if (access.kind.writes)
      effects.emplace_back(MemoryEffects::Write::get(), access.operand);
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
      merge(load.getOperand(), AccessKind::read());
    else if (auto gather = dyn_cast<GatherOp>(op))
      merge(gather.getOperand(), AccessKind::read());
    else if (auto store = dyn_cast<StoreOp>(op))
      merge(store.getOperand(), AccessKind::write());
    else if (auto add = dyn_cast<AccumulateOp>(op))
      merge(add.getOperand(), addOnce());
    else if (auto scatter = dyn_cast<ScatterAddOp>(op))
      merge(scatter.getOperand(), addOnce());
  }
  return kinds;
}

/// The operand of the kernel that each buffer is: on tensors `writes` names
/// those that are results.
static SmallVector<int64_t> kernelOperands(LaunchOp op) {
  SmallVector<int64_t> operands;
  int64_t next = 0;
  for (size_t i = 0; i < op.getBuffers().size(); ++i, ++next) {
    while (llvm::is_contained(op.getWrites(), next))
      ++next;
    operands.push_back(next);
  }
  return operands;
}

Accesses LaunchOp::getAccesses() {
  auto kernel =
      SymbolTable::lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  SmallVector<AccessKind> kinds;
  if (kernel)
    kinds = kernel.getOperandAccesses();
  Accesses accesses;
  for (auto [operand, index] :
       llvm::zip(getBuffersMutable(), kernelOperands(*this))) {
    // Of a kernel that is not there, anything may be.
    bool known = index < static_cast<int64_t>(kinds.size());
    accesses.push_back(
        {&operand, known ? kinds[index] : AccessKind::readWrite()});
  }
  return accesses;
}

Accesses GemmOp::getAccesses() {
  Accesses accesses;
  add(accesses, getAMutable(), AccessKind::read());
  add(accesses, getBMutable(), AccessKind::read());
  add(accesses, getCMutable(), getBeta() ? addOnce() : AccessKind::write());
  add(accesses, getScratchMutable(), AccessKind::write(), /*scratch=*/true);
  return accesses;
}

Accesses AttentionOp::getAccesses() {
  Accesses accesses;
  add(accesses, getInputsMutable(), AccessKind::read());
  add(accesses, getOutputsInMutable(), AccessKind::write());
  add(accesses, getScratchMutable(), AccessKind::write(), /*scratch=*/true);
  return accesses;
}

Accesses CollectiveOp::getAccesses() {
  Accesses accesses;
  add(accesses, getBufferMutable(), AccessKind::readWrite()); // in place
  return accesses;
}

Accesses ZeroOp::getAccesses() {
  Accesses accesses;
  add(accesses, getBufferMutable(), AccessKind::write());
  return accesses;
}

Accesses NormOp::getAccesses() {
  Accesses accesses;
  add(accesses, getRangeMutable(), AccessKind::read());
  return accesses;
}

void LaunchOp::getEffects(Effects &effects) { addEffects(*this, effects); }
void GemmOp::getEffects(Effects &effects) { addEffects(*this, effects); }
void AttentionOp::getEffects(Effects &effects) { addEffects(*this, effects); }
void ZeroOp::getEffects(Effects &effects) { addEffects(*this, effects); }

void CollectiveOp::getEffects(Effects &effects) {
  addEffects(*this, effects);
  addState<Communication>(effects);
  if (getKind() == CollectiveKind::NormReduce)
    addState<NormSum>(effects);
}
void NormOp::getEffects(Effects &effects) {
  addEffects(*this, effects);
  addState<NormSum>(effects);
}
void RecordOp::getEffects(Effects &effects) { addState<Streams>(effects); }
void WaitOp::getEffects(Effects &effects) { addState<Streams>(effects); }
