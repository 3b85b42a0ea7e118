//===- Timelines.cpp - pipe.timeline to rt.timeline -----------------------===//
#include "passes/plan/Timelines.h"

#include "dialects/pipe/Pipe.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace mtc::passes {

std::optional<pipe::Phase> phaseOf(pipe::SlotOp slot) {
  using Maybe = std::optional<pipe::Phase>;
  auto timeline = slot->getParentOfType<pipe::TimelineOp>();
  return llvm::StringSwitch<Maybe>(slot.getPhase())
      .Case("F", timeline.getEntry() == "eval" ? pipe::Phase::Eval
                                               : pipe::Phase::Forward)
      .Case("B", pipe::Phase::Backward)
      .Case("I", pipe::Phase::InputGradient)
      .Case("W", pipe::Phase::WeightGradient)
      .Default(std::nullopt);
}

SlotOrder::SlotOrder(pipe::TimelineOp timeline) {
  for (auto slot : timeline.getOps<pipe::SlotOp>()) {
    first.try_emplace({slot.getPhase(), slot.getChunk()}, slot);
    last[{slot.getPhase(), slot.getChunk()}] = slot;
  }
}

pipe::Form SlotOrder::conditionsOf(pipe::SlotOp slot) const {
  std::pair<StringRef, int64_t> key{slot.getPhase(), slot.getChunk()};
  pipe::Form holds = slot.getForm();
  if (first.at(key) == slot)
    holds = holds | pipe::Form::First;
  if (last.at(key) == slot)
    holds = holds | pipe::Form::Last;
  return holds;
}

namespace {

class TimelineBuilder {
public:
  TimelineBuilder(rt::ProgramOp program, const ProgramLayout &layout,
                  pipe::TimelineOp from)
      : program(program), layout(layout), from(from), order(from) {
    for (auto op :
         program->getParentOfType<ModuleOp>().getOps<pipe::CrossingOp>())
      if (op.getEntry() == from.getEntry())
        bytesOf[{op.getName(), op.getFrom()}] =
            alignTo(rt::bytesOf(op.getType()), kAlign);
    for (auto fn : program.getOps<func::FuncOp>())
      if (auto of = pipe::FragmentAttr::of(fn))
        fragments[{of.getPhase(), of.getChunk()}].push_back(
            {of.getForm(), fn.getSymNameAttr()});
  }

  LogicalResult build() {
    auto b = OpBuilder::atBlockEnd(&program.getBody().front());
    auto made = rt::TimelineOp::create(b, from.getLoc(), from.getEntry(),
                                       /*sequence=*/IntegerAttr(), rt::Rows());
    for (Operation &op : from.getBody().front()) {
      if (auto slot = dyn_cast<pipe::SlotOp>(op)) {
        if (failed(run(slot)))
          return failure();
      } else if (auto exchange = dyn_cast<pipe::ExchangeOp>(op)) {
        if (failed(writeExchange(exchange)))
          return failure();
      }
    }
    if (from.getEntry() == "train" && (failed(run(made, pipe::Phase::Reduce)) ||
                                       failed(run(made, pipe::Phase::Apply))))
      return failure();
    made.setRows(rows.finish());
    return success();
  }

private:
  /// The fragment of a phase and chunk, in the form whose conditions all hold,
  /// and most; fails, with a diagnostic at `user`, if there is none.
  FailureOr<StringAttr> fragment(Operation *user, pipe::Phase phase,
                                 int64_t chunk,
                                 pipe::Form holds = pipe::Form::Plain) {
    const Candidate *best = nullptr;
    for (const Candidate &each : fragments[{phase, chunk}])
      if (bitEnumContainsAll(holds, each.form) &&
          (!best || bitEnumContainsAll(each.form, best->form)))
        best = &each;
    if (best)
      return best->name;
    return user->emitOpError("expected a fragment of phase ")
           << pipe::stringifyPhase(phase) << " of chunk " << chunk
           << " on stage " << program.getStage() << ", found none";
  }

  /// A row of the update.
  LogicalResult run(rt::TimelineOp made, pipe::Phase phase) {
    FailureOr<StringAttr> name = fragment(made, phase, 0);
    if (succeeded(name))
      rows.addRow(rt::RowData{rt::RowKind::Run, rows.add(*name)});
    return name;
  }

  bool readsInputs(pipe::SlotOp slot) const {
    return layout.chunksWithInputs.count(slot.getChunk());
  }

  /// Those of the schedule. In eval nothing is saved, but inputs of one
  /// microbatch at a time lie there as well.
  SmallVector<int64_t> slotsOf(pipe::SlotOp slot) {
    SmallVector<int64_t> slots(slot.getSlots().getNumbers());
    if (from.getEntry() == "train" || !readsInputs(slot))
      return slots;
    MtcPool inputs = *layout.inputPools.begin();
    if (slot.getSlots().of(inputs))
      return slots;
    slots.resize(std::max<size_t>(slots.size(), inputs + 1),
                 pipe::PerPoolAttr::kNone);
    slots[inputs] = 0;
    return slots;
  }

  LogicalResult run(pipe::SlotOp slot) {
    std::optional<pipe::Phase> phase = phaseOf(slot);
    if (!phase)
      return slot.emitOpError("expected phase F, B, I or W, found ")
             << slot.getPhase();
    FailureOr<StringAttr> name =
        fragment(slot, *phase, slot.getChunk(), order.conditionsOf(slot));
    if (failed(name))
      return failure();
    int64_t microbatch = slot.getMicrobatch();
    pipe::RowSpan slots = rows.addSlots(slotsOf(slot));
    if (slot.getPhase() == "F" && readsInputs(slot))
      rows.addRow(rt::RowData{rt::RowKind::Load, -1, microbatch, slots});
    rows.addRow(
        rt::RowData{rt::RowKind::Run, rows.add(*name), microbatch, slots});
    return success();
  }

  static rt::RowKind kindOf(pipe::ExchangeOp exchange) {
    if (!exchange.getPart())
      return rt::RowKind::Exchange;
    return *exchange.getPart() == pipe::ExchangePart::Post ? rt::RowKind::Post
                                                           : rt::RowKind::Wait;
  }

  LogicalResult writeExchange(pipe::ExchangeOp exchange) {
    SmallVector<rt::Transfer> transfers;
    for (auto t : exchange.getTransfers().getAsRange<pipe::TransferAttr>()) {
      auto region = layout.pools.find(crossingPool(t.getValue(), t.getSend()));
      auto bytes = bytesOf.find({t.getValue(), t.getVirtualStage()});
      Tag tag{t.getValue(), t.getMicrobatch(), t.getVirtualStage()};
      if (std::string text = rt::problemOf(tag); !text.empty())
        return exchange.emitOpError(text);
      if (bytes == bytesOf.end() || region == layout.pools.end())
        return exchange.emitOpError("expected a pipe.crossing of \"")
               << from.getEntry() << "\" and a pool for " << t.getValue().text()
               << " from virtual stage " << t.getVirtualStage()
               << ", found none";
      transfers.push_back(
          {t.getSend(), t.getPeer(), tag,
           region->second.base + t.getSlot() * region->second.stride,
           bytes->second});
    }
    rows.addRow(rt::RowData{
        kindOf(exchange), -1, {}, {}, rows.addTransfers(ArrayRef(transfers))});
    return success();
  }

  rt::ProgramOp program;
  const ProgramLayout &layout;
  pipe::TimelineOp from;
  rt::RowWriter rows;
  struct Candidate {
    pipe::Form form;
    StringAttr name;
  };
  /// The forms of each phase and chunk.
  std::map<std::pair<pipe::Phase, int64_t>, std::vector<Candidate>> fragments;
  SlotOrder order;
  /// By name and sender. Of whole cache lines, as slots are.
  std::map<std::pair<CrossingName, int64_t>, int64_t> bytesOf;
};

} // namespace

LogicalResult buildTimelines(rt::ProgramOp program,
                             const ProgramLayout &layout) {
  SmallVector<pipe::TimelineOp> all(program.getOps<pipe::TimelineOp>());
  for (pipe::TimelineOp from : all) {
    if (failed(TimelineBuilder(program, layout, from).build()))
      return failure();
    from.erase();
  }
  return success();
}

} // namespace mtc::passes
