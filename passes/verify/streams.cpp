//===- streams.cpp - streams over fragments and timelines -----------------===//
//
// A fragment that waits for its own events only, and ends with nothing in
// flight, means the same in every row. A program of such fragments is looked at
// fragment by fragment, each once. In any other, work goes on from row to row:
// its timelines are followed, with the slots of each row.
//
//===----------------------------------------------------------------------===//
#include "passes/target/target.h"
#include "passes/verify/checks.h"
#include "passes/verify/stream_checker.h"

using namespace mlir;

namespace mtc::passes::verify {
namespace {

/// Whether a fragment waits for its own events only and ends with nothing in
/// flight. One with streams that the target lacks is looked at alone, too.
bool isClosed(const Fragment &fragment, int64_t streams) {
  StreamClocks clocks(streams);
  auto isStream = [&](int64_t s) { return s >= 0 && s < streams; };
  for (Operation &op : fragment.fn.getBody().front()) {
    if (auto record = dyn_cast<rt::RecordOp>(op)) {
      if (!isStream(record.getStream()))
        return true;
      clocks.record(record.getEvent(), record.getStream());
    } else if (auto wait = dyn_cast<rt::WaitOp>(op)) {
      if (!isStream(wait.getStream()))
        return true;
      if (!clocks.wait(wait.getEvent(), wait.getStream()))
        return false;
    } else if (auto collective = dyn_cast<rt::CollectiveOp>(op)) {
      if (!isStream(collective.getStream()))
        return true;
      clocks.issue(collective.getStream());
    }
  }
  return !clocks.inFlight();
}

/// One entry of a program, row by row. It starts, as it must end, with nothing
/// in flight, so that one step tells what all do.
class TimelineFollower {
public:
  TimelineFollower(const Model &model, const Stage &stage, StringRef entry,
                   int64_t streams, Report &report)
      : model(model), stage(stage), entry(entry), report(report),
        streams(streams, report) {}

  void follow(const Timeline &timeline) {
    for (const Row &row : timeline.rows)
      if (row.isExchange())
        exchange(row);
      else if (row.isLoad())
        load(row);
      else if (row.fragment)
        run(row);
    const StreamWork *last = streams.inFlight();
    if (!last)
      return;
    auto error = report.error(timeline.op)
                 << "expected \"" << entry
                 << "\" to end with nothing in flight, found that stream 0 has "
                    "not waited for the last op of stream "
                 << last->stream;
    error.attachNote(last->site().getLoc()) << "the last op";
  }

private:
  void exchange(const Row &row) {
    SmallVector<StreamBytes, 4> bytes;
    for (const rt::Transfer &t : row.getTransfers())
      bytes.push_back({{MTC_ARENA_ACTIVATIONS, t.offset, t.bytes}, !t.send});
    streams.run(row, nullptr, std::move(bytes));
  }

  void load(const Row &row) {
    SmallVector<StreamBytes, 4> bytes;
    for (auto input : stage.op.getOps<rt::InputSlotOp>())
      if (input.getEntry() == entry && row.slot(input.getPool()))
        bytes.push_back(
            {placed({MTC_ARENA_ACTIVATIONS, input.getOffset(), model.inputBytes,
                     input.getPool(), input.getStride()},
                    &row),
             true});
    streams.run(row, nullptr, std::move(bytes));
  }

  /// A dump reads what the fragment exports right behind it.
  void run(const Row &row) {
    streams.run(*row.fragment, &row);
    for (auto slot : stage.op.getOps<rt::ExportSlotOp>())
      if (slot.getFragment() == row.fragment->name())
        streams.run(
            row, slot,
            {{{slot.getArena(), slot.getOffset(), rt::bytesOf(slot.getType())},
              false}});
  }

  const Model &model;
  const Stage &stage;
  StringRef entry;
  Report &report;
  StreamChecker streams;
};

void checkStage(const Model &model, const Stage &stage, int64_t streams,
                Report &report) {
  bool areClosed = llvm::all_of(stage.fragments, [&](const Fragment &each) {
    return streams == 1 || isClosed(each, streams);
  });
  if (areClosed)
    for (const Fragment &fragment : stage.fragments)
      StreamChecker(streams, report).run(fragment, nullptr);
  else
    for (auto &[entry, timeline] : stage.timelines)
      TimelineFollower(model, stage, entry, streams, report).follow(timeline);
}

} // namespace

void checkStreams(const Model &model, Report &report) {
  FailureOr<target::Target> target = target::Target::of(model.module);
  if (failed(target))
    return report.addFailure();
  forEachStage(model, report, [&](const Stage &stage, Report &found) {
    checkStage(model, stage, target->streams(), found);
  });
}

} // namespace mtc::passes::verify
