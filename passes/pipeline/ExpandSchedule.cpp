//===- ExpandSchedule.cpp - --expand-schedule -----------------------------===//
//
// Establishes: a pipe.timeline per entry and stage, with exchanges placed and
// buffer slots assigned; pipe.schedule ops are consumed.
//
//===----------------------------------------------------------------------===//
#include "dialects/pipe/Pipe.h"
#include "mtc/runtime/abi.h"
#include "passes/Passes.h"
#include "passes/PhasePass.h"
#include "passes/pipeline/crossings.h"
#include "passes/pipeline/schedules/expand.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Threading.h"

#include <array>
#include <set>
#include <string>
#include <vector>

namespace mtc::passes {
#define GEN_PASS_DEF_EXPANDSCHEDULE
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;

namespace {

/// Writes the rows of a timeline.
class RowsOfStage {
public:
  explicit RowsOfStage(Builder &b) : b(b) {}

  void write(const schedules::Item &item) {
    if (const auto *compute = std::get_if<schedules::Compute>(&item))
      write(*compute);
    else
      write(std::get<schedules::Exchange>(item));
  }
  pipe::Rows finish() { return rows.finish(); }

private:
  void write(const schedules::Compute &compute) {
    slots.clear();
    for (const auto *list : {&compute.reads, &compute.writes})
      for (const auto &operand : *list) {
        if (slots.size() <= operand.pool)
          slots.resize(operand.pool + 1, pipe::SlotList::kNone);
        slots[operand.pool] = operand.slot;
      }
    pipe::RowData row;
    row.form = compute.isSmall ? pipe::Form::Recompute : pipe::Form::Plain;
    row.phase = rows.add(phase(compute.slot.phase));
    row.microbatch = compute.slot.microbatch;
    row.chunk = compute.slot.chunk;
    row.slots = rows.addSlots(slots);
    rows.addRow(row);
  }

  void write(const schedules::Exchange &exchange) {
    SmallVector<pipe::Transfer> transfers;
    for (const auto &t : exchange.transfers)
      transfers.push_back({t.send, t.name, t.microbatch, t.virtualStage, t.peer,
                           t.buffer.slot});
    pipe::RowData row;
    row.kind = kindOf(exchange.part);
    row.transfers = rows.addTransfers(ArrayRef<pipe::Transfer>(transfers));
    rows.addRow(row);
  }

  static pipe::RowKind kindOf(schedules::Part part) {
    switch (part) {
    case schedules::Part::Whole:
      return pipe::RowKind::Exchange;
    case schedules::Part::Post:
      return pipe::RowKind::Post;
    case schedules::Part::Wait:
      return pipe::RowKind::Wait;
    }
    return pipe::RowKind::Exchange;
  }

  StringAttr phase(schedules::Phase phase) {
    StringAttr &letter = letters[static_cast<size_t>(phase)];
    if (!letter)
      letter = b.getStringAttr(std::string(1, schedules::letter(phase)));
    return letter;
  }

  Builder &b;
  pipe::TimelineWriter rows;
  SmallVector<int32_t> slots; ///< of the row that is written
  std::array<StringAttr, 4> letters;
};

/// A value that stays on its stage is handed over without a transfer, which no
/// fragment can do: a send is written to a buffer of its own.
LogicalResult checkStages(pipe::ScheduleOp op, const schedules::Shape &shape) {
  for (auto crossing :
       op->getParentOfType<ModuleOp>().getOps<pipe::CrossingOp>())
    if (crossing.getEntry() == op.getSymName() &&
        crossing.getFrom() % shape.stages == crossing.getTo() % shape.stages)
      return crossing.emitOpError("expected virtual stages of different stages "
                                  "to send each other values, found ")
             << crossing.getFrom() << " and " << crossing.getTo() << " of "
             << shape.stages << " stages, which lie on the same one";
  return success();
}

/// Whether a weight gradient reads what a forward saved, or an input.
bool readsOperands(ModuleOp module) {
  std::set<std::pair<int64_t, int64_t>> saved; // by forwards: stage, key
  bool found = false;
  module.walk([&](func::FuncOp fn) {
    if (auto of = pipe::FragmentAttr::of(fn);
        of && of.getPhase() == pipe::Phase::Forward)
      fn.walk([&](pipe::SaveOp save) {
        saved.insert({of.getStage(), save.getKey()});
      });
  });
  module.walk([&](func::FuncOp fn) {
    auto of = pipe::FragmentAttr::of(fn);
    if (!of || of.getPhase() != pipe::Phase::WeightGradient)
      return;
    found |= !fn.getOps<pipe::InputOp>().empty();
    for (auto read : fn.getOps<pipe::SavedOp>())
      found |= saved.count({of.getStage(), read.getKey()}) > 0;
  });
  return found;
}

/// The phase of the fragments that slots of training run.
pipe::Phase phaseOf(schedules::Phase phase) {
  switch (phase) {
  case schedules::Phase::F:
    return pipe::Phase::Forward;
  case schedules::Phase::B:
    return pipe::Phase::Backward;
  case schedules::Phase::I:
    return pipe::Phase::InputGradient;
  case schedules::Phase::W:
    return pipe::Phase::WeightGradient;
  }
  return pipe::Phase::Forward;
}

/// Whether a backward reads what the forward of its microbatch received. Where
/// there are no fragments yet, one might.
bool rereadsReceived(ModuleOp module) {
  bool hasBackward = false, found = false;
  module.walk([&](func::FuncOp fn) {
    auto of = pipe::FragmentAttr::of(fn);
    if (!of || !of.isBackward())
      return;
    hasBackward = true;
    for (auto op : fn.getOps<pipe::ReceivedOp>())
      found |= !op.getName().gradient;
  });
  return found || !hasBackward;
}

struct ExpandSchedulePass
    : mtc::passes::PhasePass<
          passes::impl::ExpandScheduleBase<ExpandSchedulePass>> {
  LogicalResult expand(pipe::ScheduleOp op) {
    schedules::Findings findings;
    schedules::Shape shape;
    shape.stages = op.getStages();
    shape.chunks = op.getChunks();
    shape.microbatches = op.getMicrobatches();
    shape.crossings = pipeline::crossingsOf(getOperation(), op.getSymName());
    shape.savesOperands =
        op.getSymName() == "train" && readsOperands(getOperation());
    shape.anyOrder = op.getSymName() == "train" && isWritten;
    shape.rereadsReceived = rereadsReceived(getOperation());
    shape.smallSlots = static_cast<int>(op.getSmall());
    if (failed(checkStages(op, shape)))
      return failure();
    auto schedule = schedules::parseSchedule(pipeline::textOf(op.getSlots()),
                                             shape, findings);
    // The CPU backends have no thread of their own for transfers: receive
    // in the gap before the consumer (depth 1), which also holds least memory.
    schedules::ExpandOptions options;
    options.depth = 1;
    options.apart = op.getApart();
    options.eachStage = eachStage();
    auto plan = schedules::expand(schedule, options, findings); // checks it
    for (const auto &finding : findings)
      op.emitOpError("is not a legal schedule: ") << finding.message;
    if (!plan || !findings.empty())
      return failure();
    write(op, *plan);
    if (op.getSmall() > 0)
      eraseUnused(*plan);
    op.erase();
    return success();
  }

  /// Forms of forwards and backwards that no microbatch runs: where a stage has
  /// small slots only, or a chunk always finds a large one.
  void eraseUnused(const schedules::Plan &plan) {
    llvm::DenseSet<Attribute> used; // looked up only
    for (auto [stage, items] : llvm::enumerate(plan.ranks))
      for (const schedules::Item &item : items)
        if (auto *compute = std::get_if<schedules::Compute>(&item))
          used.insert(pipe::FragmentAttr::get(
              &getContext(), stage, compute->slot.chunk,
              phaseOf(compute->slot.phase),
              compute->isSmall ? pipe::Form::Recompute : pipe::Form::Plain));
    for (auto fn :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (auto of = pipe::FragmentAttr::of(fn);
          of && of.getEntry() == "train" && !used.contains(of))
        fn.erase();
  }

  /// On the threads of the context.
  schedules::EachStage eachStage() {
    return [context = &getContext()](int stages, const auto &work) {
      parallelFor(context, 0, size_t(stages),
                  [&](size_t stage) { work(int(stage)); });
    };
  }

  void write(pipe::ScheduleOp op, const schedules::Plan &plan) {
    OpBuilder b(op);
    std::vector<pipe::Rows> rows(plan.ranks.size());
    eachStage()(plan.stages, [&](int stage) {
      RowsOfStage writer(b);
      for (const schedules::Item &item : plan.ranks[size_t(stage)])
        writer.write(item);
      rows[size_t(stage)] = writer.finish();
    });
    for (int stage = 0; stage < plan.stages; ++stage)
      write(b, op, plan, stage, rows[size_t(stage)]);
  }

  void write(OpBuilder &b, pipe::ScheduleOp op, const schedules::Plan &plan,
             int stage, pipe::Rows rows) {
    SmallVector<int64_t> pools;
    for (int count : plan.pools[stage])
      pools.push_back(count ? count : pipe::PerPoolAttr::kNone);
    std::string name = op.getSymName().str() + "_stage" + std::to_string(stage);
    Location loc = NameLoc::get(b.getStringAttr(name));
    pipe::TimelineOp::create(b, loc, name, op.getSymName(), stage,
                             pipe::PerPoolAttr::of(b.getContext(), pools),
                             std::move(rows));
  }

  bool isWritten = false; ///< the schedule for training, by somebody

  void runPhase() override {
    auto config = getOperation()->getAttrOfType<ConfigAttr>(configAttrName);
    isWritten = config && config.getSchedule().getSlots();
    SmallVector<pipe::ScheduleOp> all(
        getOperation().getOps<pipe::ScheduleOp>());
    for (pipe::ScheduleOp op : all)
      if (failed(expand(op)))
        return signalPassFailure();
  }
};

} // namespace
