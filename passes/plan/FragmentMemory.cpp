//===- FragmentMemory.cpp - views for the values of one fragment ----------===//
#include "passes/plan/FragmentMemory.h"

#include "dialects/dist/Dist.h"
#include "dialects/pipe/Pipe.h"
#include "mtc/runtime/abi.h"
#include "passes/plan/Empty.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace mtc::passes {

//===--- addresses --------------------------------------------------------===//

/// Where a part of a bucket starts; nothing if the bucket has no such part.
static std::optional<Address> partOf(rt::BucketOp bucket, rt::RefKind kind,
                                     StringRef state, int64_t start) {
  auto in = [&](MtcArena arena, std::optional<int64_t> offset,
                int64_t bytes) -> std::optional<Address> {
    if (!offset)
      return std::nullopt;
    return Address{arena, *offset + bytes * start};
  };
  switch (kind) {
  case rt::RefKind::Param:
    return in(MTC_ARENA_PARAMS, bucket.getParamOffset(), bucket.paramBytes());
  case rt::RefKind::Grad:
    return in(MTC_ARENA_GRADS, bucket.getGradOffset(), bucket.gradBytes());
  case rt::RefKind::State:
    return in(MTC_ARENA_OPTIMIZER, bucket.stateOffset(state), 4);
  case rt::RefKind::Staging: // of a fragment, not of the bucket's arenas
  case rt::RefKind::Loss:
  case rt::RefKind::Packed:
    break;
  }
  return std::nullopt;
}

FailureOr<Address> FragmentMemory::addressOf(Operation *op, int64_t index,
                                             rt::RefKind kind, StringRef state,
                                             int64_t start) {
  for (auto bucket : program.getOps<rt::BucketOp>())
    if (bucket.getIndex() == index) {
      if (auto address = partOf(bucket, kind, state, start))
        return *address;
      return op->emitOpError("expected a part that bucket ")
             << index << " has, found " << stringifyRefKind(kind)
             << (state.empty() ? "" : " ") << state;
    }
  return op->emitOpError("expected a bucket of this program, found ") << index;
}

/// The place of a ref in its bucket.
FailureOr<ParamSlot> FragmentMemory::slotOf(rt::RefOp ref) {
  if (ref.getBucket())
    return ParamSlot{static_cast<int64_t>(*ref.getBucket()), 0,
                     cast<MemRefType>(ref.getType()).getElementType()};
  if (const ParamSlot *slot = params.find(*ref.getParam(), *ref.getUse()))
    return *slot;
  return ref.emitOpError("expected an rt.param of use ")
         << *ref.getUse() << " of \"" << *ref.getParam() << "\", found none";
}

FailureOr<Address> FragmentMemory::stagingAddress(rt::RefOp ref) {
  FailureOr<ParamSlot> slot = slotOf(ref);
  if (failed(slot))
    return failure();
  auto it = staging.find(slot->bucket);
  int64_t wide = slot->gradType.getIntOrFloatBitWidth() / 8;
  return Address{MTC_ARENA_WORKSPACE,
                 it == staging.end() ? 0 // nothing touches it
                                     : storages[it->second].address.offset +
                                           wide * slot->start};
}

/// All of a bucket's staging lives from the first op to the last one that
/// touches some of it.
LogicalResult FragmentMemory::touchStaging(Value buffer, int64_t index) {
  if (auto moved = buffer.getDefiningOp<rt::OffsetViewOp>())
    buffer = moved.getView();
  auto ref = buffer.getDefiningOp<rt::RefOp>();
  if (!ref || ref.getKind() != rt::RefKind::Staging)
    return success();
  FailureOr<ParamSlot> slot = slotOf(ref);
  if (failed(slot))
    return failure();
  auto [it, isNew] = staging.try_emplace(slot->bucket, storages.size());
  if (isNew) {
    int64_t bytes = 0;
    for (auto bucket : program.getOps<rt::BucketOp>())
      if (bucket.getIndex() == slot->bucket)
        bytes = bucket.gradBytes() * bucket.getElements();
    if (bytes == 0)
      return ref.emitOpError("expected a bucket of this program, found ")
             << slot->bucket;
    storages.push_back({});
    storages.back().life = {bytes, index, index, -1};
  }
  storages[it->second].life.end = index;
  return success();
}

FailureOr<Address> FragmentMemory::packedAddress(rt::RefOp ref) {
  for (auto packed : program.getOps<rt::PackedOp>())
    if (packed.getIndex() == *ref.getBucket())
      return Address{MTC_ARENA_PACKED,
                     static_cast<int64_t>(*packed.getOffset())};
  return ref.emitOpError("expected an rt.packed of this program, found ")
         << *ref.getBucket();
}

FailureOr<Address> FragmentMemory::refAddress(rt::RefOp ref) {
  if (ref.getKind() == rt::RefKind::Loss)
    return Address{MTC_ARENA_GRADS, layout.lossOffset};
  if (ref.getKind() == rt::RefKind::Staging)
    return stagingAddress(ref);
  if (ref.getKind() == rt::RefKind::Packed)
    return packedAddress(ref);
  if (ref.getBucket())
    return addressOf(ref, *ref.getBucket(), ref.getKind(),
                     ref.getState().value_or(""), ref.getStart().value_or(0));
  FailureOr<ParamSlot> slot = slotOf(ref);
  if (failed(slot))
    return failure();
  return addressOf(ref, slot->bucket, ref.getKind(), "", slot->start);
}

/// Values that live at an address of their own: those of boundary ops.
LogicalResult FragmentMemory::fixSource(Operation *op, Storage &storage) {
  if (auto p = dyn_cast<pipe::ParamOp>(op)) {
    const ParamSlot *slot = params.parameter(p.getName());
    if (!slot)
      return op->emitOpError("expected a parameter of this program");
    FailureOr<Address> address =
        addressOf(op, slot->bucket, rt::RefKind::Param, "", slot->start);
    if (failed(address))
      return failure();
    storage.address = *address;
  } else if (auto i = dyn_cast<pipe::InputOp>(op)) {
    storage.address = layout.slot(layout.inputPool(pipe::FragmentAttr::of(fn)),
                                  layout.inputOffset.at(i.getName().str()));
  } else if (auto r = dyn_cast<pipe::ReceivedOp>(op)) {
    storage.address = layout.slot(receivePool(r.getName()));
  } else if (auto k = dyn_cast<pipe::SavedOp>(op)) {
    auto it = layout.kept.find(k.getKey());
    if (it == layout.kept.end())
      return op->emitOpError(
                 "expected a key that a forward fragment keeps, found ")
             << k.getKey();
    storage.address = layout.slot(it->second.pool, it->second.offset);
  } else {
    return success();
  }
  storage.fixed = true;
  return success();
}

LogicalResult FragmentMemory::scratchOf(Operation *op, int64_t index) {
  FailureOr<int64_t> bytes = target.scratchBytes(op);
  if (failed(bytes))
    return failure();
  if (*bytes > 0) {
    Storage storage;
    storage.life = {*bytes, index, index, -1};
    scratch[op] = storages.size();
    storages.push_back(storage);
  }
  return success();
}

/// A collective on a stream of its own uses its buffer until stream 0 waits for
/// an event behind it, though no op in between names the buffer.
void FragmentMemory::holdUntilWaited(Operation *op, int64_t index) {
  if (auto collective = dyn_cast<rt::CollectiveOp>(op)) {
    if (collective.getStream() == 0 || !collective.getInit())
      return;
    if (auto it = storageOf.find(collective.getInit()); it != storageOf.end())
      inFlight[index] = it->second;
  } else if (auto record = dyn_cast<rt::RecordOp>(op)) {
    if (record.getStream() != 0)
      recorded[record.getEvent()] = index;
  } else if (auto wait = dyn_cast<rt::WaitOp>(op)) {
    if (wait.getStream() != 0)
      return;
    // Later collectives of the stream are still in flight, earlier ones are
    // done.
    auto last = inFlight.upper_bound(recorded[wait.getEvent()]);
    for (auto it = inFlight.begin(); it != last; ++it)
      storages[it->second].life.end =
          std::max(storages[it->second].life.end, index);
    inFlight.erase(inFlight.begin(), last);
  }
}

/// What lower-calls leaves in a fragment. Of anything else it is not known
/// where its values live.
static LogicalResult checkOps(func::FuncOp fn) {
  for (Operation &op : fn.getBody().front())
    if (!isa<rt::AccessOpInterface>(op) &&
        !isa<func::ReturnOp, rt::RecordOp, rt::WaitOp, rt::RefOp,
             rt::StepFieldOp, rt::FlatRangeOp, rt::OffsetViewOp, rt::AffineOp,
             tensor::EmptyOp, pipe::ParamOp, pipe::InputOp, pipe::ReceivedOp,
             pipe::SavedOp, pipe::SendOp, pipe::SaveOp, pipe::ExportOp>(op))
      return op.emitOpError("expected the ops that lower-calls leaves in a "
                            "fragment, found another");
  return success();
}

/// Refs are placed where they are used, so one that has no address is found
/// here.
LogicalResult FragmentMemory::checkRefs() {
  for (auto ref : fn.getOps<rt::RefOp>())
    if (failed(refAddress(ref)))
      return failure();
  return success();
}

void FragmentMemory::addStorage(Value value, int64_t index) {
  Storage storage;
  storage.life = {bytesOf(value.getType()), index, index, -1};
  storageOf[value] = storages.size();
  storages.push_back(storage);
}

/// The value is there at least until the op of this index.
LogicalResult FragmentMemory::read(OpOperand &operand, int64_t index) {
  if (!isa<RankedTensorType>(operand.get().getType()))
    return success();
  if (isEmpty(operand.get()))
    return operand.getOwner()->emitOpError("expected a value in operand ")
           << operand.getOperandNumber()
           << ", which is read, found an empty tensor, which holds none";
  storages[storageOf.lookup(operand.get())].life.end = index;
  return success();
}

/// What the op makes of an init that it reads takes the bytes of that one.
LogicalResult FragmentMemory::makeInPlace(const rt::Access &access) {
  Operation *op = access.operand->getOwner();
  for (Operation *reader : access.value.getUsers())
    if (op->isBeforeInBlock(reader))
      return op->emitOpError("expected no reader of operand ")
             << access.operand->getOperandNumber()
             << " behind it, because it works on it in place, found one";
  storageOf[access.made] = storageOf.lookup(access.value);
  return success();
}

/// Reads come first: what is written may take no byte of what is read.
LogicalResult FragmentMemory::call(rt::AccessOpInterface op, int64_t index) {
  SmallVector<rt::Access> accesses = op.getAccesses();
  for (const rt::Access &access : accesses)
    if (failed(touchStaging(access.value, index)))
      return failure();
  for (const rt::Access &access : accesses)
    if (access.kind.reads && failed(read(*access.operand, index)))
      return failure();
  if (failed(scratchOf(op, index)))
    return failure();
  for (const rt::Access &access : accesses) {
    if (!access.made)
      continue;
    if (!access.kind.reads)
      addStorage(access.made, index);
    else if (failed(makeInPlace(access)))
      return failure();
  }
  return success();
}

/// A source of values, or what says where they go.
LogicalResult FragmentMemory::boundary(Operation *op, int64_t index) {
  for (OpOperand &operand : op->getOpOperands())
    if (failed(read(operand, index)))
      return failure();
  for (Value result : op->getResults())
    if (isa<RankedTensorType>(result.getType()) && !isEmpty(result)) {
      addStorage(result, index);
      if (failed(fixSource(op, storages.back())))
        return failure();
    }
  return success();
}

/// One storage per value, but for those that are made in place. What continues
/// a product works while that does.
LogicalResult FragmentMemory::collect() {
  if (failed(checkOps(fn)) || failed(checkRefs()))
    return failure();
  int64_t index = 0, product = 0;
  for (Operation &op : fn.getBody().front()) {
    holdUntilWaited(&op, index);
    if (isa<rt::GemmOp>(op))
      product = index;
    auto launch = dyn_cast<rt::LaunchOp>(op);
    bool isAtOnce = launch && launch.getContinues();
    auto access = dyn_cast<rt::AccessOpInterface>(op);
    if (failed(access ? call(access, isAtOnce ? product : index)
                      : boundary(&op, index)))
      return failure();
    ++index;
  }
  return success();
}

/// Copies a value whose address is taken to a second one.
void FragmentMemory::copy(Operation *marker, Value from, const Address &to) {
  OpBuilder b(marker);
  Location loc = marker->getLoc();
  auto type = cast<RankedTensorType>(from.getType());
  auto full = rt::OperandAttr::get(b.getContext(), rt::Mode::Full,
                                   type.getElementType(), 0);
  auto kernel = rt::KernelOp::create(b, loc, "k", 1, type.getNumElements(), 0,
                                     b.getArrayAttr({full, full}));
  OpBuilder body = OpBuilder::atBlockEnd(&kernel.getBody().emplaceBlock());
  Value x = rt::LoadOp::create(body, loc, type.getElementType(), 0);
  rt::StoreOp::create(body, loc, 1, x);
  kernel->remove();
  std::string name = pool.add(kernel);
  Value source = view(b, from), target = view(b, to, type);
  rt::LaunchOp::create(b, loc, name, {source, target}, ValueRange(), {1})
      ->setAttr("from", b.getStringAttr("copy"));
}

Address FragmentMemory::addressFor(Operation *marker) const {
  if (auto send = dyn_cast<pipe::SendOp>(marker))
    return layout.slot(sendPool(send.getName()));
  const KeptPlace &place = layout.kept.at(cast<pipe::SaveOp>(marker).getKey());
  return layout.slot(place.pool, place.offset);
}

/// Values that are sent or saved are made where they lie; exports stay to the
/// end.
LogicalResult FragmentMemory::fixMarkers() {
  int64_t last =
      std::distance(fn.getBody().front().begin(), fn.getBody().front().end());
  for (Operation &op : fn.getBody().front()) {
    if (auto e = dyn_cast<pipe::ExportOp>(op)) {
      Storage &exported = storages[storageOf.lookup(e.getValue())];
      if (exported.fixed)
        return op.emitOpError(
            "expected a value without an offset of its own, found one that is "
            "received, sent or saved: its slot changes with the microbatch");
      exported.life.end = last;
    }
    if (!isa<pipe::SendOp, pipe::SaveOp>(op))
      continue;
    Value value = op.getOperand(0);
    Storage &storage = storages[storageOf.lookup(value)];
    if (storage.fixed) {
      op.setAttr("rt.copy", UnitAttr::get(op.getContext()));
      continue;
    }
    storage.fixed = true;
    storage.address = addressFor(&op);
  }
  return success();
}

//===--- rewriting --------------------------------------------------------===//

Value FragmentMemory::view(OpBuilder &b, const Address &a, Type type) {
  auto shaped = cast<ShapedType>(type);
  auto memref = MemRefType::get(shaped.getShape(), shaped.getElementType());
  return rt::ViewOp::create(
      b, b.getInsertionPoint()->getLoc(), memref, a.arena, a.offset,
      a.pool ? rt::PoolAttr::get(b.getContext(), *a.pool) : rt::PoolAttr(),
      a.pool ? b.getI64IntegerAttr(a.stride) : IntegerAttr());
}
Value FragmentMemory::view(OpBuilder &b, Value tensor) {
  if (isa<MemRefType>(tensor.getType())) {
    if (auto ref = tensor.getDefiningOp<rt::RefOp>())
      if (FailureOr<Address> address = refAddress(ref); succeeded(address))
        return view(b, *address, tensor.getType());
    return tensor;
  }
  return view(b, storages[storageOf.lookup(tensor)].address, tensor.getType());
}

static void giveScratch(Operation *op, Value scratch) {
  if (auto gemm = dyn_cast<rt::GemmOp>(op))
    gemm.getScratchMutable().assign(scratch);
  else if (auto attention = dyn_cast<rt::AttentionOp>(op))
    attention.getScratchMutable().assign(scratch);
}

/// The same op on views: what it made lies where it writes.
void FragmentMemory::rewriteCall(rt::AccessOpInterface op) {
  OpBuilder b(op);
  SmallVector<Value> operands(op->getOperands());
  for (const rt::Access &access : op.getAccesses())
    operands[access.operand->getOperandNumber()] =
        view(b, access.made ? access.made : access.value);
  Operation *made =
      Operation::create(op.getLoc(), op->getName(), TypeRange(), operands,
                        op->getDiscardableAttrDictionary(),
                        op->getPropertiesStorage(), BlockRange(), 0);
  b.insert(made);
  if (auto it = scratch.find(op); it != scratch.end()) {
    const Storage &storage = storages[it->second];
    b.setInsertionPoint(made);
    giveScratch(made,
                view(b, storage.address,
                     MemRefType::get({storage.life.bytes}, b.getI8Type())));
  }
}

LogicalResult FragmentMemory::exportSlot(Operation *op) {
  auto e = cast<pipe::ExportOp>(op);
  OpBuilder b = OpBuilder::atBlockEnd(&program.getBody().front());
  const Address &a = storages[storageOf.lookup(e.getValue())].address;
  auto slot = rt::ExportSlotOp::create(
      b, op->getLoc(), e.getName(), fn.getSymName(), a.arena, a.offset,
      op->getAttrOfType<dist::ShardingAttr>(dist::shardingAttrName),
      cast<RankedTensorType>(e.getValue().getType()));
  return slot.verify();
}

LogicalResult FragmentMemory::rewrite() {
  SmallVector<Operation *> ops, old;
  for (Operation &op : fn.getBody().front())
    ops.push_back(&op);
  for (Operation *op : ops) {
    bool marker = isa<pipe::SendOp, pipe::SaveOp>(op);
    if (marker && op->hasAttr("rt.copy"))
      copy(op, op->getOperand(0), addressFor(op));
    if (isa<pipe::ExportOp>(op) && failed(exportSlot(op)))
      return failure();
    if (auto call = dyn_cast<rt::AccessOpInterface>(op)) {
      rewriteCall(call);
    } else if (auto moved = dyn_cast<rt::OffsetViewOp>(op)) {
      OpBuilder b(op);
      moved.getViewMutable().assign(view(b, moved.getView()));
      continue;
    } else if (!isa<rt::RefOp, tensor::EmptyOp>(op) &&
               op->getName().getDialectNamespace() != "pipe") {
      continue;
    }
    old.push_back(op);
  }
  for (Operation *op : llvm::reverse(old))
    op->erase();
  return success();
}

LogicalResult FragmentMemory::run() {
  if (failed(collect()) || failed(fixMarkers()))
    return failure();
  std::vector<Lifetime> lives;
  std::vector<size_t> owners;
  for (auto [i, storage] : llvm::enumerate(storages))
    if (!storage.fixed) {
      lives.push_back(storage.life);
      owners.push_back(i);
    }
  workspace = placeTemporaries(lives);
  for (auto [i, life] : llvm::zip(owners, lives))
    storages[i].address = {MTC_ARENA_WORKSPACE, life.offset};
  return rewrite();
}

} // namespace mtc::passes
