//===- streams.cpp - ops of different streams are ordered -----------------===//
//
// Vector clocks: what each stream knows to be done of each other stream. An
// event carries the clock of the stream that recorded it; a wait takes the
// maximum.
//
//===----------------------------------------------------------------------===//
#include "passes/target/target.h"
#include "passes/verify/checks.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <vector>

using namespace mlir;

namespace mtc::passes::verify {
namespace {

using Clock = std::vector<int64_t>;

/// Norm ops work on the accumulator of the norm, which lies in no arena.
bool ofNorm(Operation *op) {
  auto collective = dyn_cast<rt::CollectiveOp>(op);
  return isa<rt::NormOp>(op) || (collective && !collective.getInit());
}

/// True if the order of the two matters. Collectives: a communicator's must
/// have one order on all its members.
bool conflict(const Touch &one, const Touch &other) {
  if (isa<rt::CollectiveOp>(one.op) && isa<rt::CollectiveOp>(other.op))
    return true;
  if (ofNorm(one.op) && ofNorm(other.op))
    return true;
  for (const Access &a : one.accesses)
    for (const Access &b : other.accesses)
      if ((a.writes || b.writes) && a.extent.overlaps(b.extent))
        return true;
  return false;
}

class StreamChecker {
public:
  StreamChecker(const Fragment &fragment, int64_t streams, Report &report)
      : fragment(fragment), report(report), clocks(streams, Clock(streams, 0)) {
    clocks[0][0] = 1; // what ran before the fragment, on stream 0
  }

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

  bool hasEvents(Operation *op) {
    if (clocks.size() > 1)
      return true;
    report.error(op)
        << "expected no events on a target with one stream, found one";
    return false;
  }

  bool valid(Operation *op, int64_t stream) {
    if (stream >= 0 && stream < static_cast<int64_t>(clocks.size()))
      return true;
    report.error(op) << "expected a stream in [0, " << clocks.size()
                     << ") of the target, found " << stream;
    return false;
  }

  void onRecord(rt::RecordOp op) {
    int64_t stream = op.getStream();
    if (!hasEvents(op) || !valid(op, stream))
      return;
    if (!events.try_emplace(op.getEvent(), clocks[stream]).second)
      report.error(op) << "expected event " << op.getEvent()
                       << " to be recorded once in a fragment, found it twice";
  }

  void onWait(rt::WaitOp op) {
    int64_t stream = op.getStream();
    if (!hasEvents(op) || !valid(op, stream))
      return;
    auto it = events.find(op.getEvent());
    if (it == events.end()) {
      report.error(op) << "expected event " << op.getEvent()
                       << " to be recorded before the wait, found no record: "
                          "it would wait for "
                          "the step before, or for ever";
      return;
    }
    for (size_t i = 0; i < clocks.size(); ++i)
      clocks[stream][i] = std::max(clocks[stream][i], it->second[i]);
  }

  void onTouch(const Touch &touch) {
    auto collective = dyn_cast<rt::CollectiveOp>(touch.op);
    int64_t stream = collective ? collective.getStream() : 0;
    if (!valid(touch.op, stream))
      return;
    if (stream != 0 && clocks[stream][0] < 1)
      report.error(touch.op)
          << "expected stream " << stream
          << " to wait for stream 0 first, which ran what came before this "
             "fragment, found no such wait";
    auto at = llvm::find_if(llvm::reverse(done), [&](const Done &earlier) {
      return earlier.time > clocks[stream][earlier.stream] &&
             conflict(*earlier.touch, touch);
    });
    if (at != done.rend())
      reject(*at, touch, stream);
    done.push_back({&touch, stream, ++clocks[stream][stream]});
  }

  /// Only the latest op that is not ordered: the others follow from it.
  void reject(const Done &earlier, const Touch &touch, int64_t stream) {
    auto error = report.error(touch.op);
    error << "expected an event between this op on stream " << stream
          << " and the earlier one on stream " << earlier.stream
          << (isa<rt::CollectiveOp>(touch.op) &&
                      isa<rt::CollectiveOp>(earlier.touch->op)
                  ? ", because all ranks must issue collectives in one order"
                  : " that touches the same bytes")
          << ", found none: they can run in either order";
    error.attachNote(earlier.touch->op->getLoc()) << "the earlier op";
  }

  void onEnd(Operation *op) {
    for (size_t i = 1; i < clocks.size(); ++i)
      if (clocks[i][i] > clocks[0][i])
        report.error(op)
            << "expected a fragment to end with nothing in flight, found that "
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
  FailureOr<target::Target> target = target::Target::of(model.module);
  if (failed(target))
    return report.addFailure();
  for (const Stage &stage : model.stages)
    for (const Fragment &fragment : stage.fragments)
      StreamChecker(fragment, target->streams(), report).run();
}

} // namespace mtc::passes::verify
