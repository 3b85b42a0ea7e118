//===- Timelines.cpp - pipe.timeline to rt.timeline -----------------------===//
#include "passes/plan/Timelines.h"

#include "dialects/pipe/Pipe.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace mtc::passes {
namespace {

class TimelineBuilder {
public:
  TimelineBuilder(rt::ProgramOp program, const ProgramLayout &layout,
                  pipe::TimelineOp from)
      : program(program), layout(layout), from(from), b(program.getContext()),
        loc(from.getLoc()) {}

  LogicalResult build() {
    OpBuilder outer = OpBuilder::atBlockEnd(&program.getBody().front());
    auto made = rt::TimelineOp::create(outer, loc, from.getEntry());
    b.setInsertionPointToEnd(&made.getBody().emplaceBlock());
    for (Operation &op : from.getBody().front()) {
      if (auto slot = dyn_cast<pipe::SlotOp>(op)) {
        if (failed(run(slot)))
          return failure();
      } else if (auto exchange = dyn_cast<pipe::ExchangeOp>(op)) {
        writeExchange(exchange);
      }
    }
    if (from.getEntry() == "train") {
      SmallVector<int64_t> none(kPools, -1);
      for (StringRef suffix : {"_reduce", "_apply"})
        step(rt::StepKind::Run, (program.getSymName() + suffix).str(), -1, 0,
             none);
    }
    return success();
  }

private:
  void step(rt::StepKind kind, const std::string &fragment, int64_t microbatch,
            int64_t chunk, ArrayRef<int64_t> slots) {
    rt::StepOp::create(b, loc, kind, fragment, microbatch, chunk, slots);
  }

  LogicalResult run(pipe::SlotOp slot) {
    bool eval = from.getEntry() == "eval";
    SmallVector<int64_t> slots(slot.getSlots());
    if (slots[4] < 0 && !layout.inputOffset.empty())
      slots[4] = 0; // eval: inputs of one microbatch at a time
    StringRef suffix =
        slot.getPhase() == "F" ? (eval ? "_eval" : "_fwd") : "_bwd";
    if (slot.getPhase() != "F" && slot.getPhase() != "B")
      return slot.emitOpError("expected phase F or B (split backwards have no "
                              "fragments yet), "
                              "found ")
             << slot.getPhase();
    if (slot.getPhase() == "F" && !layout.inputOffset.empty())
      step(rt::StepKind::Load, "", slot.getMicrobatch(), slot.getChunk(),
           slots);
    step(rt::StepKind::Run, (program.getSymName() + suffix).str(),
         slot.getMicrobatch(), slot.getChunk(), slots);
    return success();
  }

  void writeExchange(pipe::ExchangeOp exchange) {
    SmallVector<Attribute> transfers;
    for (auto t : exchange.getTransfers().getAsRange<pipe::TransferAttr>()) {
      int pool = t.getSend() ? (t.getActivation() ? 2 : 3)
                             : (t.getActivation() ? 0 : 1);
      const PoolRegion &region = layout.pools[pool];
      int64_t tag = ((t.getActivation() ? 0 : 1) << 30) |
                    (t.getVirtualStage() << 20) | t.getMicrobatch();
      transfers.push_back(rt::TransferAttr::get(
          b.getContext(), t.getSend(), t.getPeer(), 3, tag,
          region.base + t.getSlot() * region.stride, region.stride));
    }
    rt::ExchangeOp::create(b, loc, b.getArrayAttr(transfers));
  }

  rt::ProgramOp program;
  const ProgramLayout &layout;
  pipe::TimelineOp from;
  OpBuilder b;
  Location loc;
};

} // namespace

/// A tag holds the microbatch in 20 bits and the virtual stage in 10.
static LogicalResult checkTags(pipe::TimelineOp timeline) {
  LogicalResult ok = success();
  timeline.walk([&](pipe::ExchangeOp exchange) {
    for (auto t : exchange.getTransfers().getAsRange<pipe::TransferAttr>())
      if (t.getMicrobatch() >= (1 << 20) || t.getVirtualStage() >= (1 << 10))
        ok = exchange.emitOpError(
                 "expected fewer than 1048576 microbatches and 1024 virtual "
                 "stages, found microbatch ")
             << t.getMicrobatch() << " of virtual stage "
             << t.getVirtualStage();
  });
  return ok;
}

LogicalResult buildTimelines(rt::ProgramOp program,
                             const ProgramLayout &layout) {
  SmallVector<pipe::TimelineOp> all(program.getOps<pipe::TimelineOp>());
  for (pipe::TimelineOp from : all) {
    if (failed(checkTags(from)))
      return failure();
    if (failed(TimelineBuilder(program, layout, from).build()))
      return failure();
    from.erase();
  }
  return success();
}

} // namespace mtc::passes
