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
LogicalResult checkScatters(const Schedule &plan) {
  rt::KernelOp kernel = plan.kernel;
  for (auto scatter : kernel.getBody().getOps<rt::ScatterAddOp>()) {
    ValueInfo row = plan.of(scatter.getRow());
    if (row.level == Level::Column || row.depth > 0)
      return scatter.emitOpError("expected a row that is the same for all "
                                 "columns and needs no row_reduce, found "
                                 "another; a GPU's blocks choose rows by it");
  }
  return success();
}

bool hasSinks(rt::KernelOp kernel, bool sums) {
  return llvm::any_of(kernel.getBody().front(), [&](Operation &op) {
    return isSink(&op) && isSum(kernel, &op) == sums;
  });
}

/// A copy with those sinks only that are sums, or are not.
rt::KernelOp withSinks(rt::KernelOp kernel, bool sums) {
  OpBuilder b(kernel);
  auto copy = cast<rt::KernelOp>(b.clone(*kernel));
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
  }

  FailureOr<GpuLaunch> build() {
    auto whole = schedule(kernel, /*scratchLimit=*/0);
    if (failed(whole) || failed(checkScatters(*whole)))
      return failure();
    GpuShape shape = gpuShape(*whole, alignment);
    launch.workspaceBytes = shape.workspaceBytes();
    bool split = shape.form == GpuForm::Owners && hasSinks(kernel, false);
    if (failed(split ? buildInTwo() : buildFrom(kernel, "")))
      return failure();
    return launch;
  }

private:
  LogicalResult buildInTwo() {
    for (auto [sums, suffix] : {std::pair(true, "_owners"), {false, ""}}) {
      rt::KernelOp part = withSinks(kernel, sums);
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
    ImplicitLocOpBuilder b(kernel.getLoc(), kernel);
    auto function = makeGpuFunction(plan.kernel, entry.name, entry.threads,
                                    launch.workspaceBytes, b);
    GpuBuilder g(plan, shape, function, b);
    g.check(g.body.emitUniform());
    emit(g);
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
