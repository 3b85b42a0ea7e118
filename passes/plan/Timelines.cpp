//===- Timelines.cpp - pipe.timeline to rt.timeline -----------------------===//
#include "passes/plan/Timelines.h"

#include "dialects/pipe/Pipe.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace mtc::passes {

std::optional<pipe::Phase> phaseOf(StringRef entry, const pipe::Row &slot) {
  using Maybe = std::optional<pipe::Phase>;
  return llvm::StringSwitch<Maybe>(slot.getPhase())
      .Case("F", entry == "eval" ? pipe::Phase::Eval : pipe::Phase::Forward)
      .Case("B", pipe::Phase::Backward)
      .Case("I", pipe::Phase::InputGradient)
      .Case("W", pipe::Phase::WeightGradient)
      .Default(std::nullopt);
}

SlotOrder::SlotOrder(const pipe::Rows &rows) : rows(rows) {
  for (auto [at, row] : llvm::enumerate(rows.all()))
    if (row.isSlot()) {
      auto key = std::pair(row.phaseIndex(), row.getChunk());
      ends.try_emplace(key, at, at).first->second.second = at;
    }
}

pipe::Form SlotOrder::conditionsOf(size_t at) const {
  pipe::Row row = rows[at];
  auto [first, last] = ends.at({row.phaseIndex(), row.getChunk()});
  pipe::Form holds = row.getForm();
  if (first == at)
    holds = holds | pipe::Form::First;
  if (last == at)
    holds = holds | pipe::Form::Last;
  return holds;
}

func::FuncOp formFor(ArrayRef<func::FuncOp> forms, pipe::Form holds) {
  func::FuncOp best;
  for (func::FuncOp fn : forms) {
    auto of = pipe::FragmentAttr::of(fn);
    if (bitEnumContainsAll(holds, of.getForm()) &&
        (!best || of.isOf(pipe::FragmentAttr::of(best).getForm())))
      best = fn;
  }
  return best;
}

namespace {

class TimelineBuilder {
public:
  TimelineBuilder(rt::ProgramOp program, const ProgramLayout &layout,
                  pipe::TimelineOp from)
      : program(program), layout(layout), from(from), order(from.getRows()) {
    for (auto op :
         program->getParentOfType<ModuleOp>().getOps<pipe::CrossingOp>())
      if (op.getEntry() == from.getEntry())
        bytesOf[{op.getName(), op.getFrom()}] =
            alignTo(rt::bytesOf(op.getType()), kAlign);
    for (auto fn : program.getOps<func::FuncOp>())
      if (auto of = pipe::FragmentAttr::of(fn))
        fragments[{of.getPhase(), of.getChunk()}].push_back(fn);
  }

  LogicalResult build() {
    auto b = OpBuilder::atBlockEnd(&program.getBody().front());
    auto made =
        rt::TimelineOp::create(b, from.getLoc(), from.getEntry(),
                               /*sequence=*/IntegerAttr(),
                               /*microbatches=*/IntegerAttr(), rt::Rows());
    pipe::Rows slots = from.getRows();
    for (size_t at = 0; at < slots.size(); ++at)
      if (failed(slots[at].isSlot() ? run(slots[at], at)
                                    : writeExchange(slots[at], at)))
        return failure();
    if (from.getEntry() == "train" && (failed(run(made, pipe::Phase::Reduce)) ||
                                       failed(run(made, pipe::Phase::Apply))))
      return failure();
    made.setRows(rows.finish());
    return success();
  }

private:
  /// The fragment of a phase and chunk, in the form for what holds; fails, with
  /// the diagnostic that `emitError` begins, if there is none.
  FailureOr<StringAttr>
  fragment(llvm::function_ref<InFlightDiagnostic()> emitError,
           pipe::Phase phase, int64_t chunk,
           pipe::Form holds = pipe::Form::Plain) {
    if (func::FuncOp fn = formFor(fragments[{phase, chunk}], holds))
      return fn.getSymNameAttr();
    return emitError() << "expected a fragment of phase "
                       << pipe::stringifyPhase(phase) << " of chunk " << chunk
                       << " on stage " << program.getStage() << ", found none";
  }

  /// A row of the update.
  LogicalResult run(rt::TimelineOp made, pipe::Phase phase) {
    FailureOr<StringAttr> name =
        fragment([&] { return made.emitOpError(); }, phase, 0);
    if (succeeded(name))
      rows.addRow(rt::RowData{rt::RowKind::Run, rows.add(*name)});
    return name;
  }

  bool readsInputs(const pipe::Row &slot) const {
    return layout.chunksWithInputs.count(slot.getChunk());
  }

  /// Those of the schedule. In eval nothing is saved, but inputs of one
  /// microbatch at a time lie there as well.
  SmallVector<int32_t> slotsOf(const pipe::Row &slot) {
    SmallVector<int32_t> slots(slot.getSlots().getNumbers());
    if (from.getEntry() == "train" || !readsInputs(slot))
      return slots;
    MtcPool inputs = *layout.inputPools.begin();
    if (slot.getSlots().of(inputs))
      return slots;
    slots.resize(std::max<size_t>(slots.size(), inputs + 1),
                 pipe::SlotList::kNone);
    slots[inputs] = 0;
    return slots;
  }

  LogicalResult run(const pipe::Row &slot, size_t at) {
    std::optional<pipe::Phase> phase = phaseOf(from.getEntry(), slot);
    if (!phase)
      return from.emitRowError(at)
             << "expected phase F, B, I or W, found " << slot.getPhase();
    FailureOr<StringAttr> name =
        fragment([&] { return from.emitRowError(at); }, *phase, slot.getChunk(),
                 order.conditionsOf(at));
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

  static rt::RowKind kindOf(const pipe::Row &exchange) {
    return exchange.posts()   ? rt::RowKind::Post
           : exchange.waits() ? rt::RowKind::Wait
                              : rt::RowKind::Exchange;
  }

  LogicalResult writeExchange(const pipe::Row &exchange, size_t at) {
    SmallVector<rt::Transfer> transfers;
    for (const pipe::Transfer &t : exchange.getTransfers()) {
      auto region = layout.pools.find(crossingPool(t.value, t.send));
      auto bytes = bytesOf.find({t.value, t.virtualStage});
      Tag tag{t.value, t.microbatch, t.virtualStage};
      if (std::string text = rt::problemOf(tag); !text.empty())
        return from.emitRowError(at) << text;
      if (bytes == bytesOf.end() || region == layout.pools.end())
        return from.emitRowError(at)
               << "expected a pipe.crossing of \"" << from.getEntry()
               << "\" and a pool for " << t.value.text()
               << " from virtual stage " << t.virtualStage << ", found none";
      transfers.push_back({t.send, t.peer, tag,
                           region->second.base + t.slot * region->second.stride,
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
  /// The forms of each phase and chunk.
  std::map<std::pair<pipe::Phase, int64_t>, std::vector<func::FuncOp>>
      fragments;
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
