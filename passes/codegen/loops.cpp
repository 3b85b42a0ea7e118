//===- loops.cpp - loops and conditions with one builder ------------------===//
#include "passes/codegen/loops.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mtc;

static Attribute neverUnrolled(ImplicitLocOpBuilder &b) {
  auto unroll = LLVM::LoopUnrollAttr::get(b.getContext(), b.getBoolAttr(true),
                                          {}, {}, {}, {}, {}, {});
  return LLVM::LoopAnnotationAttr::get(b.getContext(), {}, {}, {}, unroll, {},
                                       {}, {}, {}, {}, {}, {}, {}, {}, {}, {});
}

void codegen::annotateLoops(Operation *lowered) {
  lowered->walk([](LLVM::BrOp branch) {
    if (Attribute loop = branch->removeDiscardableAttr(kLoopAttr))
      branch.setLoopAnnotationAttr(cast<LLVM::LoopAnnotationAttr>(loop));
  });
}

SmallVector<Value> codegen::emitFor(ImplicitLocOpBuilder &b, Value from,
                                    Value to, Value step, ValueRange init,
                                    LoopBody body, Unrolling unrolling) {
  auto loop = scf::ForOp::create(b, from, to, step, init);
  if (unrolling == Unrolling::Never)
    loop->setAttr(kLoopAttr, neverUnrolled(b));
  OpBuilder::InsertionGuard guard(b);
  if (init.empty()) {
    b.setInsertionPoint(loop.getBody()->getTerminator());
    body(loop.getInductionVar(), {});
    return {};
  }
  b.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(b,
                       body(loop.getInductionVar(), loop.getRegionIterArgs()));
  return SmallVector<Value>(loop.getResults());
}

void codegen::emitRolledFor(ImplicitLocOpBuilder &b, Value from, Value to,
                            Value step, llvm::function_ref<void(Value)> body) {
  emitFor(
      b, from, to, step, {},
      [&](Value at, ValueRange) {
        body(at);
        return SmallVector<Value>{};
      },
      Unrolling::Never);
}

void codegen::emitIf(ImplicitLocOpBuilder &b, Value condition,
                     llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  body();
}

SmallVector<Value>
codegen::emitIfElse(ImplicitLocOpBuilder &b, Value condition,
                    ValueRange otherwise,
                    llvm::function_ref<SmallVector<Value>()> body) {
  if (otherwise.empty()) {
    emitIf(b, condition, [&] { body(); });
    return {};
  }
  auto branch = scf::IfOp::create(b, otherwise.getTypes(), condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(b, body());
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, otherwise);
  return SmallVector<Value>(branch.getResults());
}
