//===- gpu_builder.cpp - what all forms of GPU kernels share --------------===//
#include "passes/codegen/gpu_builder.h"

#include "passes/codegen/gpu_team.h"
#include "passes/codegen/kernel_function.h"
#include "passes/codegen/loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::codegen;

static Value emitColumns(rt::KernelOp kernel, gpu::GPUFuncOp function,
                         ImplicitLocOpBuilder &b) {
  if (numCols(kernel) >= 0)
    return arith::ConstantIndexOp::create(b, numCols(kernel));
  size_t operands = kernel.getOperandsInfo().size();
  return arith::IndexCastOp::create(
      b, b.getIndexType(), function.getArgument(operands + kernel.getArgs()));
}

/// What of the step block is added to an argument: the number at `address`, or
/// nothing.
static Value emitField(Value address, ImplicitLocOpBuilder &b) {
  Value none = arith::ConstantIntOp::create(b, b.getI64Type(), 0);
  Value isThere =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, address, none);
  return emitIfElse(b, isThere, none, [&] {
    auto global = LLVM::LLVMPointerType::get(
        b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
    Value place = LLVM::IntToPtrOp::create(b, global, address);
    return SmallVector<Value>{LLVM::LoadOp::create(b, b.getI64Type(), place)};
  })[0];
}

/// The 64-bit arguments of a kernel, behind the operands, each with its field
/// (makeGpuFunction).
static SmallVector<Value> emitArguments(rt::KernelOp kernel,
                                        gpu::GPUFuncOp function,
                                        ImplicitLocOpBuilder &b) {
  auto all =
      function.getArguments().drop_front(kernel.getOperandsInfo().size());
  int64_t count = kernel.getArgs();
  auto fields = all.drop_front(count + (numCols(kernel) < 0 ? 1 : 0));
  SmallVector<Value> arguments;
  for (int64_t i = 0; i < count; ++i)
    arguments.push_back(
        arith::AddIOp::create(b, all[i], emitField(fields[i], b)));
  return arguments;
}

GpuBuilder::GpuBuilder(const Schedule &schedule, const GpuShape &shape,
                       gpu::GPUFuncOp function, ImplicitLocOpBuilder &b)
    : b(b), s(schedule), shape(shape), function(function),
      kernel(schedule.kernel), cols(emitColumns(kernel, function, b)),
      arguments(emitArguments(kernel, function, b)),
      body(b, s,
           function.getArguments().take_front(kernel.getOperandsInfo().size()),
           arguments, cols) {
  body.setNativeBf16(true);
  body.setAccessBytes(kGpuAccessBytes);
}

void GpuBuilder::emitGuarded(llvm::function_ref<void()> all) {
  if (!kernel.getGuarded())
    return all();
  size_t place = kernel.getOperandsInfo().size() + 2 * kernel.getArgs() +
                 (numCols(kernel) < 0 ? 1 : 0);
  Value applies = memref::LoadOp::create(b, function.getArgument(place),
                                         ValueRange{index(0)});
  Value none = arith::ConstantIntOp::create(b, b.getI32Type(), 0);
  emitIf(b, arith::CmpIOp::create(b, arith::CmpIPredicate::ne, applies, none),
         all);
}

Value GpuBuilder::add(Value x, Value y) {
  return arith::AddIOp::create(b, x, y);
}
Value GpuBuilder::mul(Value x, Value y) {
  return arith::MulIOp::create(b, x, y);
}
Value GpuBuilder::less(Value x, Value y) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, x, y);
}
Value GpuBuilder::equal(Value x, Value y) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y);
}

Value GpuBuilder::totals() {
  if (shape.rowThreads == kGpuWarp)
    return {};
  if (!totalsMemory) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&function.getBody().front());
    totalsMemory = emitShared(b, function,
                              (function.getName() + "_totals").str(), kGpuWarp);
  }
  return totalsMemory;
}

/// A block adds up rows and reduces each: gradients of norms. ptxas takes so
/// few registers for several of their rounds at once that it may keep values in
/// local memory. Of kernels with a costly pass (random words) some would get so
/// many registers instead that fewer blocks find room: docs/cuda.md.
static bool keepsSums(const Schedule &s, const GpuShape &shape) {
  if (shape.form != GpuForm::Chunks || s.passes.size() < 2)
    return false;
  for (size_t k = 0; k < s.passes.size(); ++k)
    if (isCostly(s, static_cast<int>(k)))
      return false;
  return true;
}

SmallVector<Value>
GpuBuilder::forColumns(Value thread, SmallVector<Value> carried, Step step) {
  int64_t count = numCols(kernel);
  if (count < 0)
    return forDynamicColumns(thread, std::move(carried), step);
  // Rounds in which every thread has a vector have a count that LLVM knows.
  // They are unrolled in any case if a round of some threads follows: two
  // copies of a round need registers whether there are more of them or not.
  int64_t lanes = shape.lanes, round = shape.rowThreads * lanes;
  int64_t whole = count / round, rest = (count - whole * round) / lanes;
  Value mine = mul(thread, index(lanes));
  if (whole == 1)
    carried = step({mine, lanes > 1 ? lanes : 0, {}}, carried);
  else if (whole > 1)
    carried = emitFor(
        b, index(0), index(whole * round), index(round), carried,
        [&](Value start, ValueRange old) {
          return step({add(start, mine), lanes > 1 ? lanes : 0, {}}, old);
        },
        rest == 0 && keepsSums(s, shape) ? Unrolling::Never : Unrolling::Free);
  if (rest == 0)
    return carried;
  Value last = add(index(whole * round), mine);
  return emitIfElse(b, less(thread, index(rest)), carried, [&] {
    return step({last, lanes > 1 ? lanes : 0, {}}, carried);
  });
}

SmallVector<Value> GpuBuilder::forDynamicColumns(Value thread,
                                                 SmallVector<Value> carried,
                                                 Step step) {
  return emitFor(b, thread, cols, index(shape.rowThreads), carried,
                 [&](Value col, ValueRange old) {
                   return step({col, 0, {}}, old);
                 });
}

void GpuBuilder::emitPass(int k, Value thread) {
  SmallVector<rt::RowReduceOp> reduces = s.passes[k].reduces;
  bool vectors = shape.lanes > 1 && numCols(kernel) >= 0;
  Type like = b.getF32Type();
  if (vectors)
    like = VectorType::get({shape.lanes}, like);
  SmallVector<Value> carried;
  for (rt::RowReduceOp op : reduces)
    carried.push_back(emitIdentity(b, op.getKind(), like));
  carried = forColumns(thread, carried, [&](Columns columns, ValueRange old) {
    auto values = body.emitPass(k, columns);
    SmallVector<Value> next(old.begin(), old.end());
    if (check(values))
      for (auto [i, op] : llvm::enumerate(reduces))
        next[i] = emitCombine(b, op.getKind(), old[i], (*values)[i]);
    return next;
  });
  for (auto [i, op] : llvm::enumerate(reduces)) {
    Value mine = emitFold(b, op.getKind(), carried[i]);
    body.setReduced(
        op, emitTeamReduce(b, op.getKind(), mine, shape.rowThreads, totals()));
  }
}

static bool readsRowsInPlace(rt::KernelOp kernel) {
  return llvm::any_of(kernel.getBody().getOps<rt::LoadOp>(), [&](auto load) {
    auto info =
        cast<rt::OperandAttr>(kernel.getOperandsInfo()[operandIndex(load)]);
    return info.getMode() == rt::Mode::Row ||
           info.getMode() == rt::Mode::Scalar || numCols(kernel) == 1;
  });
}

void GpuBuilder::emitRow(Value row, Value thread) {
  body.startRow(row);
  check(body.emitRowOps(0));
  for (size_t k = 0; k < s.passes.size(); ++k) {
    emitPass(k, thread);
    check(body.emitRowOps(k + 1));
  }
  if (s.rowSinks.empty())
    return;
  // Row and scalar operands may be read and written in place, and one thread
  // writes for all.
  if (readsRowsInPlace(kernel))
    emitTeamBarrier(b, shape.rowThreads);
  emitIf(b, equal(thread, index(0)), [&] { check(body.emitRowSinks()); });
}

gpu::GPUFuncOp codegen::makeGpuFunction(rt::KernelOp kernel, StringRef name,
                                        int64_t threads, int64_t workspaceBytes,
                                        ImplicitLocOpBuilder &b) {
  SmallVector<Type> types = kernelParameters(kernel, b);
  types.append(kernel.getArgs(), b.getI64Type());
  if (kernel.getGuarded())
    types.push_back(MemRefType::get({1}, b.getI32Type()));
  if (workspaceBytes)
    types.push_back(MemRefType::get({workspaceBytes / 4}, b.getF32Type()));
  auto function = gpu::GPUFuncOp::create(b, name, b.getFunctionType(types, {}));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  function.setKnownBlockSizeAttr(
      b.getDenseI32ArrayAttr({static_cast<int32_t>(threads), 1, 1}));
  b.setInsertionPointToStart(&function.getBody().front());
  return function;
}
