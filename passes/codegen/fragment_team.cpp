//===- fragment_team.cpp - launches on all threads of a rank --------------===//
#include "passes/codegen/fragment_emitter.h"

#include "mtc/runtime/abi.h"

#include <cstddef>

using namespace mlir;

namespace mtc::codegen {
namespace {

/// To wake threads takes microseconds, in which one moves some 100 KB.
constexpr int64_t kLeastElements = 16384;

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

void FragmentEmitter::emitTeamLaunch(rt::LaunchOp op,
                                     SmallVector<Value> arguments) {
  arguments.push_back(ofContext(ptr, offsetof(MtcContext, kernel_workspace)));
  if (!isLarge(op)) {
    arguments.append({i64(0), i64(1)});
    return call(op.getKernel(), arguments);
  }
  if (!teamArguments)
    teamArguments =
        LLVM::AllocaOp::create(b, loc, ptr, int64, i64(mostOfTeam(fragment)));
  SmallVector<Type> types;
  for (auto [i, value] : llvm::enumerate(arguments)) {
    LLVM::StoreOp::create(b, loc, value,
                          at(teamArguments, 8 * static_cast<int64_t>(i)));
    types.push_back(value.getType());
  }
  call("mtc_parallel", {context, partOf(op.getKernel(), types), teamArguments});
}

Value FragmentEmitter::partOf(StringRef kernel, ArrayRef<Type> parameters) {
  std::string name = (kernel + ".part").str();
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(b.getContext()), {ptr, int64, int64});
    auto part =
        LLVM::LLVMFuncOp::create(b, loc, name, type, LLVM::Linkage::Internal);
    Block *block = part.addEntryBlock(b);
    b.setInsertionPointToStart(block);
    SmallVector<Value> arguments;
    for (auto [i, parameter] : llvm::enumerate(parameters))
      arguments.push_back(
          load(parameter, block->getArgument(0), 8 * static_cast<int64_t>(i)));
    arguments.append({block->getArgument(1), block->getArgument(2)});
    call(kernel, arguments);
    LLVM::ReturnOp::create(b, loc, ValueRange());
  }
  return LLVM::AddressOfOp::create(b, loc, ptr, name);
}

} // namespace mtc::codegen
