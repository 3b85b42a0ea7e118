//===- Continuations.cpp - kernels that continue products -----------------===//
#include "passes/plan/Continuations.h"

#include "passes/plan/KernelPool.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace mtc::passes {
namespace {

bool canBeContinued(rt::GemmOp product) {
  return product && product.isOwn() && !product.getBeta() &&
         !product.hasEpilogue() && product.getOutputs().size() == 1;
}

/// Whether each element of what the launch makes is a new value, of one element
/// of the product and of what was there before it.
bool readsByElement(rt::LaunchOp launch, rt::KernelOp kernel, Value product) {
  bool reads = false;
  for (auto [operand, info, kind] :
       llvm::zip(launch.getKernelOperands(), kernel.getOperandsInfo(),
                 kernel.getOperandAccesses())) {
    bool isTensor = isa<TensorType>(operand->get().getType());
    if (kind.writes && (kind.reads || !isTensor))
      return false;
    if (operand->get() != product)
      continue;
    reads = true;
    if (cast<rt::OperandAttr>(info).getMode() != rt::Mode::Full)
      return false;
  }
  return reads;
}

/// Random words are drawn for whole rows, in less time than for blocks.
bool drawsWords(rt::KernelOp kernel) {
  return !kernel.getBody().front().getOps<rt::RandomOp>().empty();
}

bool canContinue(rt::LaunchOp launch, rt::KernelOp kernel) {
  if (!kernel || kernel.getGuarded() || !kernel.isElementwise() ||
      drawsWords(kernel))
    return false;
  rt::GemmOp product = launch.productBefore();
  return canBeContinued(product) && kernel.getRows() == product.getM() &&
         kernel.getCols() == product.getN() &&
         readsByElement(launch, kernel, product.getOutputs().front());
}

llvm::StringMap<rt::KernelOp> kernelsOf(rt::ProgramOp program) {
  llvm::StringMap<rt::KernelOp> kernels;
  for (auto kernel : program.getOps<rt::KernelOp>())
    kernels[kernel.getSymName()] = kernel;
  return kernels;
}

/// Launches of one kernel.
struct Launches {
  SmallVector<rt::LaunchOp> continuing;
  bool hasOthers = false;
};

} // namespace

void continueProducts(rt::ProgramOp program) {
  llvm::StringMap<rt::KernelOp> kernels = kernelsOf(program);
  llvm::MapVector<rt::KernelOp, Launches> found;
  for (auto fn : program.getOps<func::FuncOp>())
    for (auto launch : fn.getOps<rt::LaunchOp>()) {
      rt::KernelOp kernel = kernels.lookup(launch.getKernel());
      if (canContinue(launch, kernel))
        found[kernel].continuing.push_back(launch);
      else
        found[kernel].hasOthers = true;
    }
  // Kernels that change are none of a pool's, which knows them by what they
  // are.
  for (auto &[kernel, launches] : found)
    if (!launches.continuing.empty() && !launches.hasOthers)
      kernel.setTiled(true);
  std::optional<KernelPool> pool;
  for (auto &[kernel, launches] : found) {
    if (launches.continuing.empty())
      continue;
    std::string name = kernel.getSymName().str();
    if (launches.hasOthers) {
      rt::KernelOp tiled = kernel.clone();
      tiled.setTiled(true);
      if (!pool)
        pool.emplace(&program.getBody().front());
      name = pool->add(tiled);
    }
    for (rt::LaunchOp launch : launches.continuing) {
      launch.setKernel(name);
      launch.setContinues(true);
    }
  }
}

llvm::DenseSet<Operation *> continuableProducts(rt::ProgramOp program) {
  llvm::StringMap<rt::KernelOp> kernels = kernelsOf(program);
  llvm::DenseSet<Operation *> products;
  for (auto fn : program.getOps<func::FuncOp>())
    for (auto launch : fn.getOps<rt::LaunchOp>())
      if (canContinue(launch, kernels.lookup(launch.getKernel())))
        products.insert(launch.productBefore());
  return products;
}

} // namespace mtc::passes
