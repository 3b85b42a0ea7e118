//===- fragment_team.cpp - launches on all threads of a rank --------------===//
#include "passes/codegen/fragment_emitter.h"

#include "mtc/runtime/abi.h"

#include <cstddef>

using namespace mlir;

namespace mtc::codegen {
namespace {

/// To wake threads takes microseconds, in which one moves some 100 KB.
constexpr int64_t kLeastElements = 16384;

/// Numbers that an MtcPart and an MtcTile get behind the address of arguments.
constexpr int64_t kOfPart = 2, kOfTile = 4;

/// True unless all operands are known to be small.
bool isLarge(rt::LaunchOp op) {
  return llvm::any_of(op.getBuffers(), [](Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    return !type.hasStaticShape() || type.getNumElements() >= kLeastElements;
  });
}

/// The most parameters of a kernel in a fragment, the workspace included.
int64_t mostOfTeam(func::FuncOp fragment) {
  size_t most = 0;
  for (auto op : fragment.getOps<rt::LaunchOp>())
    most = std::max(most, op.getBuffers().size() + op.getScalars().size() + 1);
  return static_cast<int64_t>(most);
}

} // namespace

SmallVector<Value> FragmentEmitter::argumentsOf(rt::LaunchOp op) {
  SmallVector<Value> arguments;
  for (Value v : op.getBuffers())
    arguments.push_back(values.lookup(v));
  for (Value v : op.getScalars())
    arguments.push_back(values.lookup(v));
  return arguments;
}

void FragmentEmitter::emitTeamLaunch(rt::LaunchOp op,
                                     SmallVector<Value> arguments) {
  arguments.push_back(ofContext(ptr, offsetof(MtcContext, kernel_workspace)));
  if (!isLarge(op)) {
    arguments.append({i64(0), i64(1)});
    return call(op.getKernel(), arguments);
  }
  Value stored = store(arguments);
  call(
      "mtc_parallel",
      {context, callerOf(op.getKernel(), ".part", arguments, kOfPart), stored});
}

LogicalResult FragmentEmitter::emitContinued(rt::LaunchOp op,
                                             ArrayRef<Value> arguments) {
  rt::GemmOp product = op.productBefore();
  if (!product)
    return op.emitOpError("expected a product in front of what continues it, "
                          "found another op");
  Value scratch =
            product.getScratch() ? values.lookup(product.getScratch()) : null(),
        stored = store(arguments);
  call("mtc_gemm_then",
       {context, gemmIndex(product), values.lookup(product.getA()),
        values.lookup(product.getB()), values.lookup(product.getC()), scratch,
        callerOf(op.getKernel(), ".part", arguments, kOfTile), stored});
  return success();
}

Value FragmentEmitter::store(ArrayRef<Value> arguments) {
  if (!teamArguments)
    teamArguments =
        LLVM::AllocaOp::create(b, loc, ptr, int64, i64(mostOfTeam(fragment)));
  for (auto [i, value] : llvm::enumerate(arguments))
    LLVM::StoreOp::create(b, loc, value,
                          at(teamArguments, 8 * static_cast<int64_t>(i)));
  return teamArguments;
}

Value FragmentEmitter::callerOf(
    StringRef kernel, StringRef suffix, ArrayRef<Value> values, int64_t own,
    llvm::function_ref<void(SmallVector<Value> &)> change) {
  std::string name = (kernel + suffix).str();
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(module.getBody());
    SmallVector<Type> types(1 + own, int64);
    types.front() = ptr;
    auto type = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(b.getContext()), types);
    auto part =
        LLVM::LLVMFuncOp::create(b, loc, name, type, LLVM::Linkage::Internal);
    Block *block = part.addEntryBlock(b);
    b.setInsertionPointToStart(block);
    SmallVector<Value> arguments;
    for (auto [i, value] : llvm::enumerate(values))
      arguments.push_back(load(value.getType(), block->getArgument(0),
                               8 * static_cast<int64_t>(i)));
    llvm::append_range(arguments, block->getArguments().drop_front());
    if (change)
      change(arguments);
    call(kernel, arguments);
    LLVM::ReturnOp::create(b, loc, ValueRange());
  }
  return LLVM::AddressOfOp::create(b, loc, ptr, name);
}

} // namespace mtc::codegen
