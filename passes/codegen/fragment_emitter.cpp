//===- fragment_emitter.cpp - one fragment as an LLVM function ------------===//
#include "passes/codegen/fragment_emitter.h"

#include "dialects/mtc/Mtc.h"
#include "mtc/runtime/mesh.h"
#include "passes/codegen/gpu_launch.h"
#include "passes/target/target.h"

#include <algorithm>
#include <cstddef>

using namespace mlir;

namespace mtc::codegen {

using target::dtypeOf;

FragmentEmitter::FragmentEmitter(ModuleOp module, func::FuncOp fragment,
                                 const target::GemmRows &gemms)
    : module(module), fragment(fragment), gemms(gemms), b(module.getContext()),
      loc(fragment.getLoc()),
      ptr(LLVM::LLVMPointerType::get(module.getContext())),
      int32(b.getI32Type()), int64(b.getI64Type()) {}

//===--- small pieces -----------------------------------------------------===//

Value FragmentEmitter::i64(int64_t value) {
  return LLVM::ConstantOp::create(b, loc, int64, b.getI64IntegerAttr(value));
}
Value FragmentEmitter::i32(int64_t value) {
  return LLVM::ConstantOp::create(b, loc, int32, b.getI32IntegerAttr(value));
}
Value FragmentEmitter::add(Value a, Value c) {
  return LLVM::AddOp::create(b, loc, a, c);
}
Value FragmentEmitter::sub(Value a, Value c) {
  return LLVM::SubOp::create(b, loc, a, c);
}
Value FragmentEmitter::mul(Value a, int64_t factor) {
  return LLVM::MulOp::create(b, loc, a, i64(factor));
}
Value FragmentEmitter::min(Value a, Value c) {
  return LLVM::SMinOp::create(b, loc, a, c);
}
Value FragmentEmitter::max(Value a, Value c) {
  return LLVM::SMaxOp::create(b, loc, a, c);
}
Value FragmentEmitter::at(Value pointer, int64_t bytes) {
  if (bytes == 0)
    return pointer;
  return moved(pointer, i64(bytes));
}
Value FragmentEmitter::moved(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), pointer,
                             ValueRange{bytes});
}
Value FragmentEmitter::load(Type type, Value pointer, int64_t bytes) {
  return LLVM::LoadOp::create(b, loc, type, at(pointer, bytes));
}
Value FragmentEmitter::ofContext(Type type, size_t field) {
  return load(type, context, static_cast<int64_t>(field));
}
Value FragmentEmitter::null() { return LLVM::ZeroOp::create(b, loc, ptr); }

/// A direct call; declares the function at its first use.
void FragmentEmitter::call(StringRef name, ValueRange arguments) {
  if (!module.lookupSymbol(name)) {
    auto type =
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                    llvm::to_vector(arguments.getTypes()));
    OpBuilder outer = OpBuilder::atBlockEnd(module.getBody());
    LLVM::LLVMFuncOp::create(outer, module.getLoc(), name, type);
  }
  LLVM::CallOp::create(b, loc, TypeRange(), name, arguments);
}

//===--- state of the step ------------------------------------------------===//

Value FragmentEmitter::arena(int64_t kind) {
  Value &base = arenas[kind];
  if (!base)
    base =
        load(ptr, context, offsetof(MtcContext, arena) + kind * sizeof(void *));
  return base;
}
Value FragmentEmitter::coordinate(int64_t axis) {
  Value &value = coordinates[axis];
  if (!value)
    value = load(int64, context,
                 offsetof(MtcContext, coord) + axis * sizeof(int64_t));
  return value;
}
/// Where this rank stands among those of a group along an axis.
Value FragmentEmitter::placeIn(const GroupInfo &group) {
  Value along = coordinate(*group.sumAxis());
  // verify-plan has seen the configuration.
  return group.runs ? LLVM::URemOp::create(
                          b, loc, along,
                          i64(configOf(module)->getMesh().groupSize(group.id)))
                    : along;
}
Value FragmentEmitter::slot(int64_t pool) {
  Value &value = slots[pool];
  if (!value) {
    if (!rowSlots) {
      Value begin = load(ptr, context, offsetof(MtcContext, slots));
      Value first = load(int32, step, offsetof(MtcStep, slots));
      rowSlots = moved(begin, mul(LLVM::SExtOp::create(b, loc, int64, first),
                                  sizeof(int32_t)));
    }
    value = LLVM::SExtOp::create(b, loc, int64,
                                 load(int32, rowSlots, pool * sizeof(int32_t)));
  }
  return value;
}

//===--- ops --------------------------------------------------------------===//

void FragmentEmitter::emitView(rt::ViewOp op) {
  Value address = at(arena(op.getArena()), op.getOffset());
  if (op.getPool())
    address = moved(address, mul(slot(*op.getPool()), *op.getStride()));
  values[op.getResult()] = address;
}

/// Of a field of the step block in the arena STEP.
static int64_t offsetOf(StepField field) {
  return offsetof(MtcStepState, block) + kStepFields[field].offset;
}

Value FragmentEmitter::hostBlock() {
  if (!block)
    block = load(ptr, context, offsetof(MtcContext, block));
  return block;
}

Value FragmentEmitter::variable(unsigned variable) {
  auto field = [&](StepField id) {
    return load(int64, hostBlock(), kStepFields[id].offset);
  };
  switch (variable) {
  case rt::kMicrobatch:
    return LLVM::SExtOp::create(
        b, loc, int64, load(int32, step, offsetof(MtcStep, microbatch)));
  case rt::kSample:
    return field(STEP_SAMPLE_BASE);
  case rt::kSeed:
    return field(STEP_SEED);
  }
  return coordinate(variable);
}

/// Whether kernels of a GPU alone use it: they read fields of the step block
/// themselves.
static bool isForGpuKernels(rt::AffineOp op) {
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    return isa<rt::LaunchOp>(user) && user->hasAttr(kEntriesAttr);
  });
}

void FragmentEmitter::emitAffine(rt::AffineOp op) {
  if (!isForGpuKernels(op))
    values[op.getResult()] = emitSum(op.getValue());
}

Value FragmentEmitter::emitSum(const rt::Affine &form) {
  Value sum = i64(form.constant);
  for (unsigned v = 0; v < rt::kVariables; ++v)
    if (form[v] != 0)
      sum = add(sum, mul(variable(v), form[v]));
  return sum;
}

/// The field of the step block that a variable is.
static std::optional<StepField> fieldOf(unsigned variable) {
  if (variable == rt::kSample)
    return STEP_SAMPLE_BASE;
  if (variable == rt::kSeed)
    return STEP_SEED;
  return std::nullopt;
}

FailureOr<std::pair<Value, Value>> FragmentEmitter::splitScalar(Value scalar) {
  auto affine = scalar.getDefiningOp<rt::AffineOp>();
  if (!affine)
    return std::pair(values.lookup(scalar), i64(0));
  rt::Affine form = affine.getValue();
  Value address;
  for (unsigned v = 0; v < rt::kVariables; ++v)
    if (std::optional<StepField> field = fieldOf(v); field && form[v] != 0) {
      if (form[v] != 1 || address)
        return affine.emitOpError("expected at most one of sample and seed, "
                                  "once, which a kernel on a GPU adds; found ")
               << affine.getValueAttr();
      address = LLVM::PtrToIntOp::create(
          b, loc, int64, at(arena(MTC_ARENA_STEP), offsetOf(*field)));
      form[v] = 0;
    }
  return std::pair(emitSum(form), address ? address : i64(0));
}

void FragmentEmitter::emitStepField(rt::StepFieldOp op) {
  int64_t inField =
      op.getGroup().value_or(0) * kStepFields[op.getField()].bytes;
  values[op.getResult()] =
      at(arena(MTC_ARENA_STEP), offsetOf(op.getField()) + inField);
}

/// The elements that this rank has of `length`, of which its groups have a part
/// each: those from length·place/ranks on, however large the product is.
std::pair<Value, Value> FragmentEmitter::partAmong(rt::FlatRangeOp op,
                                                   Value length) {
  Value place = i64(0);
  int64_t ranks = 1;
  for (const GroupInfo &group : kGroups)
    if (op.isAmong(group.id)) {
      int64_t size = configOf(module)->getMesh().groupSize(group.id);
      Value before = mul(place, size);
      place = add(before, placeIn(group));
      ranks *= size;
    }
  if (ranks == 1)
    return {place, length};
  Value each = LLVM::UDivOp::create(b, loc, length, i64(ranks)),
        left = LLVM::URemOp::create(b, loc, length, i64(ranks));
  auto upTo = [&](Value place) -> Value {
    Value whole = LLVM::MulOp::create(b, loc, each, place),
          more = LLVM::MulOp::create(b, loc, left, place);
    return add(whole, LLVM::UDivOp::create(b, loc, more, i64(ranks)));
  };
  Value next = add(place, i64(1));
  Value begin = upTo(place), end = upTo(next);
  return {begin, end};
}

void FragmentEmitter::emitFlatRange(rt::FlatRangeOp op) {
  int64_t start = op.getStart(), count = op.getCount(),
          shard = op.getShard().value_or(0);
  Value first = i64(start), local = first, length = i64(count);
  if (shard > 0) {
    Value low = mul(coordinate(MTC_AXIS_DP), shard);
    first = max(i64(start), low);
    Value behind = add(low, i64(shard));
    Value end = min(i64(start + count), behind);
    length = max(sub(end, first), i64(0));
    local = sub(first, low);
  }
  auto [begin, end] = partAmong(op, length);
  values[op.getAt()] = add(first, begin);
  values[op.getLocal()] = add(local, begin);
  values[op.getLength()] = sub(end, begin);
}

Value FragmentEmitter::atElement(Value address, Type view, Value element) {
  int64_t bytes = cast<MemRefType>(view).getElementTypeBitWidth() / 8;
  return moved(address, mul(element, bytes));
}

void FragmentEmitter::emitOffsetView(rt::OffsetViewOp op) {
  values[op.getResult()] = atElement(values.lookup(op.getView()), op.getType(),
                                     values.lookup(op.getElements()));
}

LogicalResult FragmentEmitter::emitLaunch(rt::LaunchOp op) {
  if (auto entries = op->getAttrOfType<DenseI64ArrayAttr>(kEntriesAttr))
    return emitGpuLaunch(op, entries);
  SmallVector<Value> arguments = argumentsOf(op);
  if (op.getContinues())
    return emitContinued(op, arguments);
  if (configOf(module)->getTarget().getThreads() > 1)
    emitTeamLaunch(op, std::move(arguments));
  else
    call(op.getKernel(), arguments);
  return success();
}

/// The most parameters that a kernel of a fragment has, with a field for each
/// scalar, a guard and a workspace.
static int64_t mostParameters(func::FuncOp fragment) {
  size_t most = 0;
  for (auto op : fragment.getOps<rt::LaunchOp>())
    most =
        std::max(most, op.getBuffers().size() + 2 * op.getScalars().size() + 2);
  return static_cast<int64_t>(most);
}

/// The addresses of parameters, which lie behind them. All launches of a
/// fragment use the same space: each copies its parameters.
Value FragmentEmitter::argumentsAt(ArrayRef<Value> arguments) {
  if (!argumentSpace) {
    mostArguments = mostParameters(fragment);
    argumentSpace =
        LLVM::AllocaOp::create(b, loc, ptr, int64, i64(2 * mostArguments));
  }
  for (auto [i, value] : llvm::enumerate(arguments)) {
    auto index = static_cast<int64_t>(i);
    Value place = at(argumentSpace, 8 * (mostArguments + index));
    LLVM::StoreOp::create(b, loc, value, place);
    LLVM::StoreOp::create(b, loc, place, at(argumentSpace, 8 * index));
  }
  return argumentSpace;
}

LogicalResult FragmentEmitter::emitGpuLaunch(rt::LaunchOp op,
                                             ArrayRef<int64_t> entries) {
  SmallVector<Value> arguments, fields;
  for (Value v : op.getBuffers())
    arguments.push_back(values.lookup(v));
  for (Value v : op.getScalars()) {
    auto scalar = splitScalar(v);
    if (failed(scalar))
      return failure();
    arguments.push_back(scalar->first);
    fields.push_back(scalar->second);
  }
  Value columns = arguments.back();
  // The number of columns, the last scalar where it is dynamic, has none.
  auto rest = entries.take_back(3);
  fields.resize(static_cast<size_t>(rest[0]));
  llvm::append_range(arguments, fields);
  if (rest[1])
    arguments.push_back(at(arena(MTC_ARENA_STEP), offsetOf(STEP_APPLIES)));
  if (rest[2])
    arguments.push_back(ofContext(ptr, offsetof(MtcContext, kernel_workspace)));
  Value addresses = argumentsAt(arguments);
  entries = entries.drop_back(3);
  for (size_t i = 0; i < entries.size(); i += 3) {
    Value index = i32(entries[i]), blocks = i64(entries[i + 1]);
    if (int64_t each = entries[i + 2]; entries[i + 1] == 0) {
      Value up = add(columns, i64(each - 1));
      blocks = LLVM::UDivOp::create(b, loc, up, i64(each));
    }
    call("mtc_launch", {context, index, blocks, addresses});
  }
  return success();
}

/// Of the row of the timeline that runs.
Value FragmentEmitter::holds(const target::MicrobatchRow &of) {
  auto compare = [&](LLVM::ICmpPredicate by, size_t field) -> Value {
    Value zero = i32(0);
    return LLVM::ICmpOp::create(b, loc, by, load(int32, step, field), zero);
  };
  Value all;
  if (of.isFirst)
    all = compare(LLVM::ICmpPredicate::eq, offsetof(MtcStep, microbatch));
  if (of.isLast) {
    Value isLast = compare(LLVM::ICmpPredicate::ne, offsetof(MtcStep, last));
    all = all ? LLVM::AndOp::create(b, loc, all, isLast) : isLast;
  }
  return all;
}

/// The product of the microbatch that runs: some have another.
Value FragmentEmitter::gemmIndex(rt::GemmOp op) {
  Value index;
  for (const target::MicrobatchRow &each : target::gemmRows(op)) {
    Value row = i32(gemms.indexOf(each.row));
    Value isMeant = holds(each);
    index = isMeant ? LLVM::SelectOp::create(b, loc, isMeant, row, index) : row;
  }
  return index;
}

void FragmentEmitter::emitGemm(rt::GemmOp op) {
  if (op.getContinuation())
    return; // emits both
  Value index = gemmIndex(op);
  auto address = [&](Value view) {
    return view ? values.lookup(view) : null();
  };
  Value space = address(op.getScratch());
  Value a = values.lookup(op.getA()), b = values.lookup(op.getB()),
        c = values.lookup(op.getC());
  if (!op.hasEpilogue())
    return call("mtc_gemm", {context, index, a, b, c, space});
  Value bias = address(op.getBias()), aux = address(op.getAux());
  call("mtc_gemm_epilogue", {context, index, a, b, bias, c, aux, space});
}

void FragmentEmitter::emitPack(rt::PackOp op) {
  MtcDtype type = target::dtypeOf(op.getB());
  call("mtc_gemm_pack",
       {context, i64(op.getN()), i64(op.getK()), i32(op.getTb()), i32(type),
        values.lookup(op.getB()), values.lookup(op.getPacked())});
}

void FragmentEmitter::emitCollective(rt::CollectiveOp op) {
  int64_t group = op.getGroup();
  Value count = i64(op.getCount());
  Value buffer = op.getInit() ? values.lookup(op.getInit()) : Value();
  Value dtype = i32(op.getInit() ? dtypeOf(op.getInit()) : MTC_F32);
  Value stream = i32(op.getStream());
  switch (op.getKind()) {
  case rt::CollectiveKind::AllReduce:
    call("mtc_all_reduce",
         {context, stream, i32(group), i32(MTC_SUM), dtype, buffer, count});
    break;
  case rt::CollectiveKind::AllReduceMax:
    call("mtc_all_reduce",
         {context, stream, i32(group), i32(MTC_MAX), dtype, buffer, count});
    break;
  case rt::CollectiveKind::ReduceScatter:
    call("mtc_reduce_scatter",
         {context, stream, i32(group), dtype, buffer, count});
    break;
  case rt::CollectiveKind::AllGather:
    call("mtc_all_gather", {context, stream, i32(group), dtype, buffer, count});
    break;
  case rt::CollectiveKind::NormReduce:
    call("mtc_norm_reduce", {context, stream, i32(group)});
    break;
  }
}

void FragmentEmitter::emitEvent(StringRef function, int64_t event,
                                int64_t stream) {
  Value number = i32(event);
  call(function, {context, number, i32(stream)});
}

void FragmentEmitter::emitNorm(rt::NormOp op) {
  switch (op.getAction()) {
  case rt::NormAction::Reset:
    return call("mtc_norm_reset", {context});
  case rt::NormAction::Accumulate: {
    Value dtype = i32(dtypeOf(op.getRange()));
    return call("mtc_norm_accumulate",
                {context, dtype, values.lookup(op.getRange()),
                 values.lookup(op.getLength())});
  }
  case rt::NormAction::Check: {
    auto type = cast<MemRefType>(op.getRange().getType());
    return call("mtc_norm_check", {context, values.lookup(op.getRange()),
                                   i64(type.getNumElements())});
  }
  case rt::NormAction::Finish:
    return call("mtc_norm_finish", {context});
  }
}

void FragmentEmitter::emitMark(int64_t number) {
  Value op = i32(number);
  call("mtc_profile_op", {context, step, op});
}

LogicalResult FragmentEmitter::emitOp(Operation *op) {
  if (!rt::NormOp::continuing(op).empty())
    return success(); // the last of these emits both
  if (auto norm = dyn_cast<rt::NormOp>(op); norm && norm.getContinues())
    return emitContinuing(norm);
  if (auto o = dyn_cast<rt::ViewOp>(op))
    return emitView(o), success();
  if (auto o = dyn_cast<rt::AffineOp>(op))
    return emitAffine(o), success();
  if (auto o = dyn_cast<rt::StepFieldOp>(op))
    return emitStepField(o), success();
  if (auto o = dyn_cast<rt::FlatRangeOp>(op))
    return emitFlatRange(o), success();
  if (auto o = dyn_cast<rt::OffsetViewOp>(op))
    return emitOffsetView(o), success();
  if (auto o = dyn_cast<rt::LaunchOp>(op))
    return emitLaunch(o);
  if (auto o = dyn_cast<rt::GemmOp>(op))
    return emitGemm(o), success();
  if (auto o = dyn_cast<rt::PackOp>(op))
    return emitPack(o), success();
  if (auto o = dyn_cast<rt::AttentionOp>(op))
    return emitAttention(o);
  if (auto o = dyn_cast<rt::CollectiveOp>(op))
    return emitCollective(o), success();
  if (auto o = dyn_cast<rt::RecordOp>(op))
    return emitEvent("mtc_record", o.getEvent(), o.getStream()), success();
  if (auto o = dyn_cast<rt::WaitOp>(op))
    return emitEvent("mtc_wait", o.getEvent(), o.getStream()), success();
  if (auto o = dyn_cast<rt::NormOp>(op))
    return emitNorm(o), success();
  if (auto o = dyn_cast<rt::ZeroOp>(op)) {
    auto type = cast<MemRefType>(o.getInit().getType());
    int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
    call(o.getGuarded() ? "mtc_zero_guarded" : "mtc_zero",
         {context, values.lookup(o.getInit()), i64(bytes)});
    return success();
  }
  if (isa<func::ReturnOp>(op)) {
    LLVM::ReturnOp::create(b, loc, ValueRange());
    return success();
  }
  return op->emitOpError("has no lowering inside a fragment");
}

LogicalResult FragmentEmitter::emit() {
  b.setInsertionPointToEnd(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), {ptr, ptr});
  auto fn = LLVM::LLVMFuncOp::create(b, loc, fragment.getSymName(), type);
  Block *entry = fn.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  context = entry->getArgument(0);
  step = entry->getArgument(1);
  // What a GPU does is not done when the host has issued it.
  bool marks = target::Target::chipOf(configOf(module)->getTarget()).empty();
  for (Operation &op : fragment.getBody().front()) {
    loc = op.getLoc();
    if (marks && rt::takesTime(&op))
      emitMark(timed++);
    if (marks && timed > 0 && isa<func::ReturnOp>(op))
      emitMark(-1);
    if (failed(emitOp(&op)))
      return failure();
  }
  return success();
}

} // namespace mtc::codegen
