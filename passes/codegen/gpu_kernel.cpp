//===- gpu_kernel.cpp - the entries of a kernel ---------------------------===//
//
// Most kernels have one entry. Sums over rows that blocks make parts of end in
// a second one. A kernel with owners that also changes memory row by row goes
// through its rows twice: what it stores may lie where a block that comes later
// for the same row reads.
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/gpu_kernel.h"

#include "passes/codegen/gpu_builder.h"
#include "passes/codegen/kernel_function.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::codegen;

namespace {

void emitForm(GpuBuilder &g) {
  switch (g.shape.form) {
  case GpuForm::Elements:
    return emitGpuElements(g);
  case GpuForm::Rows:
    return emitGpuRows(g);
  case GpuForm::Chunks:
    return emitGpuChunks(g);
  case GpuForm::Owners:
    return emitGpuOwners(g);
  }
}

/// Owners of a table's rows look at the rows' indices before anything else.
LogicalResult checkScatter(const Schedule &plan, rt::ScatterAddOp scatter) {
  ValueInfo row = plan.of(scatter.getRow());
  if (row.level == Level::Column || row.depth > 0)
    return scatter.emitOpError("expected a row that is the same for all "
                               "columns and needs no row_reduce, found "
                               "another; a GPU's blocks choose rows by it");
  return success();
}

/// Rows of a sum are not added one after the other, so there is no value of it
/// in between; and what blocks make parts of is f32.
LogicalResult checkSums(const Schedule &plan) {
  rt::KernelOp kernel = plan.kernel;
  llvm::SmallDenseSet<int64_t> sums;
  for (Operation &op : kernel.getBody().front()) {
    if (!isSink(&op) || !isSum(kernel, &op))
      continue;
    sums.insert(operandIndex(&op));
    if (auto scatter = dyn_cast<rt::ScatterAddOp>(op))
      if (failed(checkScatter(plan, scatter)))
        return failure();
    rt::OperandAttr info = plan.operand(operandIndex(&op));
    if (info.getMode() != rt::Mode::Periodic && !isa<rt::ScatterAddOp>(op) &&
        !isa<FloatType>(info.getElement()))
      return op.emitOpError("expected a sum over rows of floats on a GPU, "
                            "found one of ")
             << info.getElement();
  }
  for (Operation &op : kernel.getBody().front())
    if (isa<rt::LoadOp, rt::GatherOp>(op) && sums.contains(operandIndex(&op)))
      return op.emitOpError("expected no load of operand ")
             << operandIndex(&op)
             << " in a kernel that adds up its rows; a GPU adds them in "
                "another order";
  return success();
}

bool hasSinks(rt::KernelOp kernel, bool sums) {
  return llvm::any_of(kernel.getBody().front(), [&](Operation &op) {
    return isSink(&op) && isSum(kernel, &op) == sums;
  });
}

/// A copy with those sinks only that are sums, or are not. What the body loads
/// behind a store of its own is taken from there: the store may be left out.
rt::KernelOp withSinks(const Schedule &whole, bool sums) {
  rt::KernelOp kernel = whole.kernel;
  OpBuilder b(kernel);
  IRMapping copies;
  auto copy = cast<rt::KernelOp>(b.clone(*kernel, copies));
  for (rt::LoadOp load : kernel.getBody().getOps<rt::LoadOp>())
    if (Value stored = whole.forwarded.lookup(load.getResult()))
      copies.lookup(load.getResult()).replaceAllUsesWith(copies.lookup(stored));
  for (Operation &op : llvm::make_early_inc_range(copy.getBody().front()))
    if (isSink(&op) && isSum(copy, &op) != sums)
      op.erase();
  return copy;
}

class Entries {
public:
  Entries(rt::KernelOp kernel, ArrayRef<int64_t> alignment)
      : kernel(kernel), alignment(alignment) {
    launch.kernel = kernel.getSymName().str();
    launch.arguments = kernel.getArgs();
    launch.guarded = kernel.getGuarded();
  }

  FailureOr<GpuLaunch> build() {
    auto whole = schedule(kernel, /*scratchLimit=*/0);
    if (failed(whole) || failed(checkSums(*whole)))
      return failure();
    GpuShape shape = gpuShape(*whole, alignment);
    launch.workspaceBytes = shape.workspaceBytes();
    bool split = shape.form == GpuForm::Owners && hasSinks(kernel, false);
    if (failed(split ? buildInTwo(*whole) : buildFrom(kernel, "")))
      return failure();
    return launch;
  }

private:
  LogicalResult buildInTwo(const Schedule &whole) {
    for (auto [sums, suffix] : {std::pair(true, "_owners"), {false, ""}}) {
      rt::KernelOp part = withSinks(whole, sums);
      LogicalResult built = buildFrom(part, suffix);
      part.erase();
      if (failed(built))
        return failure();
    }
    return success();
  }

  LogicalResult buildFrom(rt::KernelOp part, StringRef suffix) {
    flattenPointwise(part);
    auto plan = schedule(part, /*scratchLimit=*/0);
    if (failed(plan))
      return failure();
    GpuShape shape = gpuShape(*plan, alignment);
    GpuEntry entry{launch.kernel + suffix.str(), shape.threads, shape.blocks,
                   shape.columnsPerBlock, shape.sharedBytes()};
    if (failed(buildEntry(*plan, shape, entry, emitForm)))
      return failure();
    if (shape.sums.empty())
      return success();
    return buildEntry(
        *plan, shape,
        {launch.kernel + "_sum", kGpuSumThreads, shape.blocksOfSums(), 0, 0},
        emitGpuSums);
  }

  LogicalResult buildEntry(const Schedule &plan, const GpuShape &shape,
                           const GpuEntry &entry, void (*emit)(GpuBuilder &)) {
    constexpr int64_t mostBlocks = 0x7fffffff;
    if (entry.blocks > mostBlocks)
      return kernel.emitOpError("expected at most ")
             << mostBlocks << " blocks on a GPU, found " << entry.blocks
             << "; its rows or columns are too many";
    ImplicitLocOpBuilder b(kernel.getLoc(), kernel);
    auto function = makeGpuFunction(plan.kernel, entry.name, entry.threads,
                                    launch.workspaceBytes, b);
    GpuBuilder g(plan, shape, function, b);
    g.emitGuarded([&] {
      g.check(g.body.emitUniform());
      emit(g);
    });
    b.setInsertionPointToEnd(&function.getBody().back());
    gpu::ReturnOp::create(b);
    if (failed(g.ok))
      return function.erase(), failure();
    launch.entries.push_back(entry);
    return success();
  }

  rt::KernelOp kernel;
  ArrayRef<int64_t> alignment;
  GpuLaunch launch;
};

} // namespace

FailureOr<GpuLaunch> codegen::buildGpuKernel(rt::KernelOp kernel,
                                             ArrayRef<int64_t> alignment) {
  return Entries(kernel, alignment).build();
}
