//===- PlanMemory.cpp - --plan-memory -------------------------------------===//
//
// Establishes: every operand of a fragment is an rt.view; arenas have sizes;
// timelines are rt.timeline. Pipe ops and tensors are left in rt.tensor_form.
//
//===----------------------------------------------------------------------===//
#include "dialects/dist/Dist.h"
#include "dialects/pipe/Pipe.h"
#include "mtc/runtime/abi.h"
#include "passes/Passes.h"
#include "passes/plan/FragmentMemory.h"
#include "passes/plan/KernelPool.h"
#include "passes/plan/MemoryLayout.h"
#include "passes/plan/ProgramPhase.h"
#include "passes/plan/Timelines.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"

namespace mtc::passes {
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;
using namespace mtc::passes;

namespace {

struct PlanMemoryPass
    : ProgramPhase<
          PhasePass<mtc::passes::impl::PlanMemoryBase<PlanMemoryPass>>> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<rt::RtDialect, memref::MemRefDialect, arith::ArithDialect>();
  }

  /// What the program computes, as it is before planning: verify-plan compares
  /// the bytes with it.
  OwningOpRef<rt::TensorFormOp> tensorFormOf(rt::ProgramOp program) const {
    OpBuilder b(program.getContext());
    OwningOpRef<rt::TensorFormOp> form =
        rt::TensorFormOp::create(b, program.getLoc());
    b.setInsertionPointToEnd(&form->getBody().emplaceBlock());
    for (Operation &op : program.getBody().front())
      if (isa<rt::KernelOp, rt::BucketOp, rt::ParamOp, func::FuncOp>(op))
        b.clone(op);
    return form;
  }

  void writeInputSlots(rt::ProgramOp program,
                       const ProgramLayout &layout) const {
    OpBuilder b = OpBuilder::atBlockEnd(&program.getBody().front());
    auto write = [&](StringRef name, int64_t offset, StringRef entry,
                     MtcPool pool) {
      const PoolRegion &region = layout.pools.at(pool);
      rt::InputSlotOp::create(b, program.getLoc(), name, region.base + offset,
                              pool, region.stride, entry);
    };
    for (auto &[name, offset] : layout.inputOffset) {
      for (MtcPool pool : layout.inputPools)
        write(name, offset, "train", pool);
      write(name, offset, "eval", *layout.inputPools.begin());
    }
  }

  /// Whether it computes a product of the program.
  static bool usesLibrary(rt::ProgramOp program) {
    return program
        .walk([](rt::GemmOp op) {
          return op.isOwn() ? WalkResult::advance() : WalkResult::interrupt();
        })
        .wasInterrupted();
  }

  LogicalResult runOnProgram(rt::ProgramOp program) const override {
    auto target = target::Target::of(program->getParentOfType<ModuleOp>());
    if (failed(target))
      return failure();
    OwningOpRef<rt::TensorFormOp> tensors = tensorFormOf(program);
    ProgramLayout layout = layOutProgram(program);
    KernelPool pool(&program.getBody().front());
    int64_t workspace = 0;
    SmallVector<func::FuncOp> fragments(program.getOps<func::FuncOp>());
    for (func::FuncOp fn : fragments) {
      FragmentMemory memory(program, fn, layout, pool, *target);
      if (failed(memory.run()))
        return failure();
      workspace = std::max(workspace, memory.workspaceBytes());
    }
    writeInputSlots(program, layout);
    if (failed(buildTimelines(program, layout)))
      return failure();
    program.getBody().front().push_back(tensors.release());
    program.setArenas(ArrayRef<int64_t>(
        {layout.paramBytes, layout.gradBytes, layout.optimizerBytes,
         layout.activationBytes, alignTo(workspace, kPage),
         alignTo(sizeof(MtcStepState), kPage), layout.packedBytes}));
    program.setLossOffset(layout.lossOffset);
    // The scratch sizes above are this library's; the runtime rejects another.
    program.setOnednn(usesLibrary(program) ? target->library() : "");
    return success();
  }
};

} // namespace
