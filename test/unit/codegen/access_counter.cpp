//===- access_counter.cpp - what a kernel's code reads and writes ---------===//
#include "access_counter.h"

#include "operand_count.h"

#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;

namespace {

/// One thread's way through a function. Scalar integers are known, of masks how
/// many lanes they have, of all else nothing.
class Walk {
public:
  Walk(func::FuncOp function, std::vector<OperandAccesses> &counts)
      : function(function), counts(counts) {}

  bool run(ArrayRef<uint64_t> scalars) {
    for (BlockArgument arg : function.getArguments())
      if (arg.getType().isInteger())
        known[arg] = scalars[arg.getArgNumber()];
    return block(function.getBody().front());
  }

private:
  using Number = std::optional<uint64_t>;

  Number of(Value v) const {
    auto found = known.find(v);
    return found == known.end() ? Number() : Number(found->second);
  }
  void set(Value v, Number n) {
    known.erase(v);
    if (!n)
      return;
    unsigned bits = v.getType().isIndex() || isa<VectorType>(v.getType())
                        ? 64
                        : v.getType().getIntOrFloatBitWidth();
    known[v] = bits < 64 ? *n & ((uint64_t(1) << bits) - 1) : *n;
  }
  bool fail(Operation &op, const char *why) {
    ADD_FAILURE() << why << ": " << op.getName().getStringRef().str() << " in "
                  << function.getSymName().str();
    return false;
  }

  bool block(Block &block) {
    for (Operation &op : block)
      if (!step(op))
        return false;
    return true;
  }

  bool step(Operation &op) {
    return llvm::TypeSwitch<Operation &, bool>(op)
        .Case<scf::ForOp>([&](auto loop) { return all(loop); })
        .Case<scf::IfOp>([&](auto branch) { return taken(branch); })
        .Case<memref::LoadOp>([&](auto load) {
          if (load.getType().isInteger())
            set(load, 0);
          return touch(op, load.getMemRef(), load.getIndices(), 1, false);
        })
        .Case<memref::StoreOp>([&](auto store) {
          return touch(op, store.getMemRef(), store.getIndices(), 1, true);
        })
        .Case<vector::LoadOp, vector::MaskedLoadOp>([&](auto load) {
          return touch(op, load.getBase(), load.getIndices(), lanes(load),
                       false);
        })
        .Case<vector::StoreOp, vector::MaskedStoreOp>([&](auto store) {
          return touch(op, store.getBase(), store.getIndices(), lanes(store),
                       true);
        })
        .Case<vector::CreateMaskOp>([&](auto mask) {
          set(mask, of(mask.getOperand(0)));
          return true;
        })
        .Case<memref::PrefetchOp, memref::AllocaOp, LLVM::CallOp,
              func::ReturnOp, scf::YieldOp>([](auto) { return true; })
        .Default([&](Operation &other) {
          // An intrinsic that is given no address touches no memory.
          if (!isMemoryEffectFree(&other) &&
              (!isa<LLVM::CallIntrinsicOp>(other) || hasAddress(other)))
            return fail(other, "unknown op that may touch memory");
          if (other.getNumResults() == 1 &&
              other.getResult(0).getType().isIntOrIndex())
            set(other.getResult(0), arithmetic(other));
          return true;
        });
  }

  static bool hasAddress(Operation &op) {
    return llvm::any_of(op.getOperandTypes(), [](Type type) {
      return isa<LLVM::LLVMPointerType, MemRefType>(type);
    });
  }

  bool all(scf::ForOp loop) {
    Number at = of(loop.getLowerBound()), end = of(loop.getUpperBound()),
           by = of(loop.getStep());
    if (!at || !end || !by || *by == 0)
      return fail(*loop, "unknown bounds");
    SmallVector<Number> carried;
    for (Value v : loop.getInitArgs())
      carried.push_back(of(v));
    for (int64_t i = *at; i < static_cast<int64_t>(*end); i += *by) {
      set(loop.getInductionVar(), i);
      for (auto [arg, number] : llvm::zip(loop.getRegionIterArgs(), carried))
        set(arg, number);
      if (!block(*loop.getBody()))
        return false;
      for (auto [i, v] :
           llvm::enumerate(loop.getBody()->getTerminator()->getOperands()))
        carried[i] = of(v);
    }
    for (auto [result, number] : llvm::zip(loop.getResults(), carried))
      set(result, number);
    return true;
  }

  bool taken(scf::IfOp branch) {
    Number condition = of(branch.getCondition());
    if (!condition)
      return fail(*branch, "unknown condition");
    Block *way = *condition ? branch.thenBlock() : branch.elseBlock();
    if (!way)
      return true;
    if (!block(*way))
      return false;
    for (auto [result, v] :
         llvm::zip(branch.getResults(), way->getTerminator()->getOperands()))
      set(result, of(v));
    return true;
  }

  static VectorType typeOf(vector::LoadOp op) { return op.getVectorType(); }
  static VectorType typeOf(vector::StoreOp op) { return op.getVectorType(); }
  template <typename Op> Number lanes(Op op) {
    if constexpr (std::is_same_v<Op, vector::MaskedLoadOp> ||
                  std::is_same_v<Op, vector::MaskedStoreOp>)
      return of(op.getMask());
    else
      return typeOf(op).getNumElements();
  }

  /// Row buffers and a team's workspace are no operands.
  bool touch(Operation &op, Value memory, ValueRange indices, Number lanes,
             bool writes) {
    auto arg = dyn_cast<BlockArgument>(memory);
    if (!arg)
      return memory.getDefiningOp<memref::AllocaOp>() ||
             fail(op, "unknown memory");
    if (arg.getArgNumber() >= counts.size())
      return true;
    Number at = of(indices[0]);
    if (!at || !lanes)
      return fail(op, "unknown place");
    OperandAccesses &operand = counts[arg.getArgNumber()];
    std::vector<int> &count = writes ? operand.writes : operand.reads;
    if (*at + *lanes > count.size())
      return fail(op, "a place outside of the operand");
    for (uint64_t i = 0; i < *lanes; ++i)
      ++count[*at + i];
    return true;
  }

  Number arithmetic(Operation &op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto value = dyn_cast<IntegerAttr>(constant.getValue());
      return value ? Number(value.getValue().getSExtValue()) : Number();
    }
    SmallVector<uint64_t> x;
    for (Value v : op.getOperands()) {
      Number n = of(v);
      if (!n)
        return {};
      x.push_back(*n);
    }
    return llvm::TypeSwitch<Operation &, Number>(op)
        .Case<arith::AddIOp>([&](auto) { return x[0] + x[1]; })
        .Case<arith::SubIOp>([&](auto) { return x[0] - x[1]; })
        .Case<arith::MulIOp>([&](auto) { return x[0] * x[1]; })
        .Case<arith::DivUIOp>([&](auto) { return x[0] / x[1]; })
        .Case<arith::RemUIOp>([&](auto) { return x[0] % x[1]; })
        .Case<arith::CeilDivUIOp>(
            [&](auto) { return (x[0] + x[1] - 1) / x[1]; })
        .Case<arith::MinUIOp>([&](auto) { return std::min(x[0], x[1]); })
        .Case<arith::AndIOp>([&](auto) { return x[0] & x[1]; })
        .Case<arith::ShRUIOp>([&](auto) { return x[0] >> x[1]; })
        .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtUIOp,
              arith::TruncIOp>([&](auto) { return x[0]; })
        .Case<arith::SelectOp>([&](auto) { return x[0] ? x[1] : x[2]; })
        .Case<arith::CmpIOp>([&](arith::CmpIOp compare) -> Number {
          switch (compare.getPredicate()) {
          case arith::CmpIPredicate::eq:
            return x[0] == x[1];
          case arith::CmpIPredicate::ne:
            return x[0] != x[1];
          case arith::CmpIPredicate::ult:
            return x[0] < x[1];
          default:
            return {};
          }
        })
        .Default([](Operation &) { return Number(); });
  }

  func::FuncOp function;
  std::vector<OperandAccesses> &counts;
  llvm::DenseMap<Value, uint64_t> known;
};

OwningOpRef<ModuleOp> emitted(rt::KernelOp kernel,
                              const codegen::CpuVectors &vectors) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  module->push_back(kernel->clone());
  PassManager passes(kernel.getContext());
  passes.addPass(passes::createCodegenKernels(
      {vectors.lanes, vectors.nativeBf16, vectors.threads}));
  if (failed(passes.run(*module)))
    return {};
  return module;
}

} // namespace

std::optional<std::vector<OperandAccesses>>
test::countAccesses(rt::KernelOp kernel, const codegen::CpuVectors &vectors) {
  std::vector<OperandAccesses> counts;
  for (auto info : kernel.getOperandsInfo().getAsRange<rt::OperandAttr>()) {
    auto count =
        static_cast<size_t>(countOf(info, kernel.getRows(), kernel.getCols()));
    counts.push_back({std::vector<int>(count), std::vector<int>(count)});
  }
  auto module = emitted(kernel, vectors);
  if (!module) {
    ADD_FAILURE() << "not emitted: " << kernel.getSymName().str();
    return {};
  }
  auto function = module->lookupSymbol<func::FuncOp>(kernel.getSymName());
  for (int64_t part = 0; part < vectors.threads; ++part) {
    std::vector<uint64_t> scalars(function.getNumArguments());
    if (vectors.threads > 1) {
      scalars.end()[-2] = static_cast<uint64_t>(part);
      scalars.end()[-1] = static_cast<uint64_t>(vectors.threads);
    }
    if (!Walk(function, counts).run(scalars))
      return {};
  }
  return counts;
}
