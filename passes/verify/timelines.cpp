//===- timelines.cpp - shape of the timelines -----------------------------===//
#include "passes/pipeline/schedules/schedule.h"
#include "passes/verify/checks.h"

#include "llvm/ADT/MapVector.h"

#include <set>

using namespace mlir;

namespace mtc::passes::verify {
namespace {

bool hasAccess(const Fragment &fragment,
               llvm::function_ref<bool(const Access &)> which) {
  return llvm::any_of(fragment.touches, [&](const Touch &touch) {
    return llvm::any_of(touch.accesses, which);
  });
}

/// A sum that several microbatches add to: its order is part of the numerics.
bool accumulates(const Fragment &fragment) {
  return hasAccess(fragment, [](const Access &access) {
    return access.extent.arena == MTC_ARENA_GRADS && access.reads &&
           access.writes;
  });
}

/// The slots that run a fragment; none of the update.
std::optional<schedules::Phase> slotPhase(Phase phase) {
  switch (phase) {
  case Phase::Forward:
    return schedules::Phase::F;
  case Phase::Backward:
    return schedules::Phase::B;
  case Phase::InputGradient:
    return schedules::Phase::I;
  case Phase::WeightGradient:
    return schedules::Phase::W;
  default:
    return std::nullopt;
  }
}

/// A sum that microbatch 0 begins.
bool storesFirst(const Fragment &fragment) {
  return hasAccess(fragment,
                   [](const Access &access) { return access.storesFirst; });
}

class TimelineChecker {
public:
  TimelineChecker(const Model &model, const Stage &stage,
                  const Timeline &timeline, Report &report)
      : model(model), stage(stage), timeline(timeline), report(report),
        isTrain(timeline.op.getSymName() == "train") {}

  void check() {
    if (isTrain)
      checkEnd();
    for (auto [at, row] : llvm::enumerate(timeline.rows))
      if (row.fragment)
        visit(row);
      else if (row.isLoad())
        checkLoad(row, chunkBehind(at));
    for (auto &[fragment, order] : orders)
      checkOrder(*fragment, order);
  }

private:
  using Order = std::vector<const Row *>;

  void checkEnd() {
    const std::pair<Phase, StringRef> expected[] = {{Phase::Reduce, "reduce"},
                                                    {Phase::Apply, "apply"}};
    size_t size = timeline.rows.size();
    for (size_t i = 0; i < 2; ++i) {
      const Row *row = size >= 2 ? &timeline.rows[size - 2 + i] : nullptr;
      if (!row || !row->fragment || row->fragment->phase() != expected[i].first)
        report.error(row ? Site(*row) : Site(timeline.op.getOperation()))
            << "expected train to end with the fragments reduce and apply, "
               "found "
            << (row ? "another row in place of " : "too few rows for ")
            << expected[i].second;
      else
        last.insert(row);
    }
  }

  void visit(const Row &row) {
    const Fragment &fragment = *row.fragment;
    if (fragment.isUpdate()) {
      if (!last.count(&row))
        report.error(row)
            << "expected reduce and apply only at the end of train, found \""
            << row.fragment->name() << "\" in \"" << timeline.op.getSymName()
            << "\"";
      if (row.getMicrobatch())
        report.error(row) << "expected the update once for all "
                             "microbatches, found microbatch "
                          << row.microbatch;
      return;
    }
    bool isEval = fragment.phase() == Phase::Eval;
    if (isTrain == isEval)
      report.error(row) << "expected "
                        << (isTrain ? "forward and backward" : "eval")
                        << " fragments in \"" << timeline.op.getSymName()
                        << "\", found \"" << row.fragment->name() << "\"";
    orders[firstForm(fragment)].push_back(&row);
  }

  /// The one of its forms that stands for all of them.
  const Fragment *firstForm(const Fragment &fragment) const {
    return &*llvm::find_if(stage.fragments, [&](const Fragment &other) {
      return other.of.plain() == fragment.of.plain();
    });
  }

  /// The chunk of the next fragment, which a load is for; 0 without one.
  int64_t chunkBehind(size_t at) const {
    for (const Row &row : ArrayRef(timeline.rows).drop_front(at))
      if (row.fragment)
        return row.fragment->of.getChunk();
    return 0;
  }

  /// Each chunk that reads inputs has them in slots of its own.
  void checkLoad(const Row &row, int64_t chunk) {
    int64_t m = row.microbatch;
    if (m < 0 || m >= model.microbatches)
      report.error(row) << "expected to load a microbatch of 0 to "
                        << model.microbatches - 1 << ", found " << m;
    else if (!loaded.insert({chunk, m}).second)
      report.error(row) << "expected to load each microbatch once, found " << m
                        << " again";
  }

  /// Where somebody wrote the schedule, the microbatches of a fragment as they
  /// stand there.
  std::optional<std::vector<int64_t>> writtenOrder(const Fragment &fragment) {
    ArrayAttr lines = model.config.getSchedule().getSlots();
    if (!isTrain || !lines || uint64_t(stage.index) >= lines.size())
      return std::nullopt;
    schedules::Findings findings; // build-schedule reports them
    std::vector<int64_t> order;
    for (const schedules::Slot &slot : schedules::readSlots(
             cast<StringAttr>(lines[stage.index]).getValue(), "", findings))
      if (slot.phase == slotPhase(fragment.phase()) &&
          slot.chunk == fragment.of.getChunk())
        order.push_back(slot.microbatch);
    return order;
  }

  void checkOrder(const Fragment &fragment, const Order &order) {
    std::set<int64_t> seen;
    int64_t previous = -1;
    bool ascends = llvm::any_of(
        order, [](const Row *row) { return accumulates(*row->fragment); });
    if (auto written = writtenOrder(fragment); ascends && written) {
      ascends = false;
      checkWritten(order, *written);
    }
    checkFirst(order);
    for (const Row *row : order) {
      int64_t m = row->microbatch;
      if (m < 0 || m >= model.microbatches)
        report.error(*row) << "expected a microbatch of 0 to "
                           << model.microbatches - 1 << ", found " << m;
      else if (!seen.insert(m).second)
        report.error(*row) << "expected \"" << row->fragment->name()
                           << "\" once per microbatch, found microbatch " << m
                           << " again";
      else if (ascends && m < previous)
        report.error(*row)
            << "expected microbatches in ascending order, because \""
            << row->fragment->name() << "\" accumulates, found microbatch " << m
            << " after " << previous;
      previous = m;
    }
    for (int64_t m = 0; m < model.microbatches; ++m)
      if (!seen.count(m))
        report.error(timeline.op)
            << "expected \"" << fragment.name() << "\" for microbatch " << m
            << ", found no such row";
  }

  /// Where microbatch 0 stores its gradients, those before it are lost.
  void checkFirst(const Order &order) {
    if (order.front()->microbatch != 0 &&
        llvm::any_of(
            order, [](const Row *row) { return storesFirst(*row->fragment); }))
      report.error(*order.front())
          << "expected microbatch 0 before others, because \""
          << order.front()->fragment->name()
          << "\" stores its gradients (stores_first), found microbatch "
          << order.front()->microbatch;
  }

  void checkWritten(const Order &order, ArrayRef<int64_t> written) {
    if (order.size() != written.size()) {
      report.error(*order.front())
          << "expected as many rows of \"" << order.front()->fragment->name()
          << "\" as the schedule has slots "
          << "of its phase and chunk, " << written.size() << ", found "
          << order.size();
      return;
    }
    for (auto [row, m] : llvm::zip(order, written))
      if (row->microbatch != m) {
        report.error(*row)
            << "expected microbatches in the order of the schedule's slots, "
               "because \""
            << row->fragment->name() << "\" accumulates, found microbatch "
            << row->microbatch << " in the place of " << m;
        return;
      }
  }

  const Model &model;
  const Stage &stage;
  const Timeline &timeline;
  Report &report;
  bool isTrain;
  std::set<std::pair<int64_t, int64_t>> loaded; ///< chunks and microbatches
  std::set<const Row *> last;                   ///< the two rows of the update
  /// By the first form of a fragment, in the order of first appearance: an
  /// order by addresses would not repeat.
  llvm::MapVector<const Fragment *, Order> orders;
};

/// A fragment that no row runs would leave its microbatches out silently.
void checkAllRun(const Stage &stage, Report &report) {
  std::set<const Fragment *> run;
  for (auto &[entry, timeline] : stage.timelines)
    for (const Row &row : timeline.rows)
      run.insert(row.fragment);
  for (const Fragment &fragment : stage.fragments)
    if (!run.count(&fragment))
      report.error(fragment.fn)
          << "expected every fragment in a timeline, found no row that runs \""
          << fragment.name() << "\"";
}

} // namespace

void checkTimelines(const Model &model, Report &report) {
  std::set<std::string> entries{"train"};
  for (const Stage &stage : model.stages)
    for (auto &[entry, timeline] : stage.timelines)
      entries.insert(entry);
  forEachStage(model, report, [&](const Stage &stage, Report &found) {
    for (const std::string &entry : entries)
      if (!stage.timelines.count(entry))
        found.error(stage.op)
            << "expected a timeline \"" << entry
            << "\" on every stage, found none on stage " << stage.index;
    for (auto &[entry, timeline] : stage.timelines)
      TimelineChecker(model, stage, timeline, found).check();
    checkAllRun(stage, found);
  });
}

} // namespace mtc::passes::verify
