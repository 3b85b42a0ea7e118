//===- VerifyPlanStreams.cpp - ops of different streams are ordered ------------===//
//
// Vector clocks: what each stream knows to be done of each other stream. An event
// carries the clock of the stream that recorded it; a wait takes the maximum.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/Config.h"
#include "passes/plan/Streams.h"
#include "passes/plan/VerifyPlan.h"

using namespace mlir;

namespace mtc::passes::verify {
namespace {

using Clock = std::vector<int64_t>;

bool conflict(const Access &a, const Access &b) {
  return (a.writes || b.writes) && a.extent.overlaps(b.extent);
}

/// Norm ops work on the accumulator of the norm, which lies in no arena.
bool ofNorm(Operation *op) {
  auto collective = dyn_cast<rt::CollectiveOp>(op);
  return isa<rt::NormOp>(op) || (collective && !collective.getBuffer());
}

class StreamChecker {
public:
  StreamChecker(const Fragment &fragment, int64_t streams, Report &report)
      : fragment(fragment), report(report), clocks(streams, Clock(streams, 0)) {}

  void run() {
    auto touch = fragment.touches.begin();
    for (Operation &op : fragment.fn.getBody().front()) {
      if (auto record = dyn_cast<rt::RecordOp>(op))
        onRecord(record);
      else if (auto wait = dyn_cast<rt::WaitOp>(op))
        onWait(wait);
      else if (touch != fragment.touches.end() && touch->op == &op)
        onTouch(*touch++);
      else if (op.hasTrait<OpTrait::IsTerminator>())
        onEnd(&op);
    }
  }

private:
  struct Done {
    const Touch *touch;
    int64_t stream, time;
  };

  bool valid(Operation *op, int64_t stream) {
    if (stream >= 0 && stream < static_cast<int64_t>(clocks.size()))
      return true;
    report.error(op) << "expected a stream in [0, " << clocks.size()
                     << ") of the target, found " << stream;
    return false;
  }

  void onRecord(rt::RecordOp op) {
    auto stream = static_cast<int64_t>(op.getStream());
    if (!valid(op, stream))
      return;
    if (!events.try_emplace(op.getEvent(), clocks[stream]).second)
      report.error(op) << "expected event " << op.getEvent()
                       << " to be recorded once in a fragment, found it twice";
  }

  void onWait(rt::WaitOp op) {
    auto stream = static_cast<int64_t>(op.getStream());
    if (!valid(op, stream))
      return;
    auto it = events.find(op.getEvent());
    if (it == events.end()) {
      report.error(op) << "expected event " << op.getEvent()
                       << " to be recorded before the wait, found no record: it would wait for "
                          "the step before, or for ever";
      return;
    }
    for (size_t i = 0; i < clocks.size(); ++i)
      clocks[stream][i] = std::max(clocks[stream][i], it->second[i]);
  }

  void onTouch(const Touch &touch) {
    auto collective = dyn_cast<rt::CollectiveOp>(touch.op);
    int64_t stream = collective ? static_cast<int64_t>(collective.getStream()) : 0;
    if (!valid(touch.op, stream))
      return;
    for (const Done &earlier : done)
      if (earlier.time > clocks[stream][earlier.stream])
        compare(earlier, touch, stream);
    done.push_back({&touch, stream, ++clocks[stream][stream]});
  }

  void compare(const Done &earlier, const Touch &touch, int64_t stream) {
    bool both = ofNorm(earlier.touch->op) && ofNorm(touch.op);
    for (const Access &a : earlier.touch->accesses)
      for (const Access &b : touch.accesses)
        both |= conflict(a, b);
    if (!both)
      return;
    auto error = report.error(touch.op);
    error << "expected an event between this op on stream " << stream
          << " and the earlier one on stream " << earlier.stream
          << " that touches the same bytes, found none: they can run in either order";
    error.attachNote(earlier.touch->op->getLoc()) << "the earlier op";
  }

  void onEnd(Operation *op) {
    for (size_t i = 1; i < clocks.size(); ++i)
      if (clocks[i][i] > clocks[0][i])
        report.error(op) << "expected a fragment to end with nothing in flight, found that "
                            "stream 0 has not waited for the last op of stream "
                         << i;
  }

  const Fragment &fragment;
  Report &report;
  std::vector<Clock> clocks;
  std::map<int64_t, Clock> events;
  std::vector<Done> done;
};

} // namespace

void checkStreams(const Model &model, Report &report) {
  int64_t streams = streamsOf(Config(model.module).text("target"));
  for (const Stage &stage : model.stages)
    for (const Fragment &fragment : stage.fragments)
      StreamChecker(fragment, streams, report).run();
}

} // namespace mtc::passes::verify
