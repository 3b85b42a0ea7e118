//===- stream_checker.cpp - ops of different streams are ordered ----------===//
#include "passes/verify/stream_checker.h"

using namespace mlir;

namespace mtc::passes::verify {
namespace {

/// They work on the accumulator of the norm, which lies in no arena.
bool ofNorm(const StreamWork &work) {
  return work.op && rt::touchesNorm(work.op);
}

bool isCollective(const StreamWork &work) {
  return isa_and_present<rt::CollectiveOp>(work.op);
}

/// True if the order of the two matters. Collectives: a communicator's must
/// have one order on all its members. A transfer may run beside a collective:
/// in program order ranks do not wait in a cycle (checkMachine), and streams
/// that run at the same time only wait for less.
bool conflict(const StreamWork &one, const StreamWork &other) {
  if (isCollective(one) && isCollective(other))
    return true;
  if (ofNorm(one) && ofNorm(other))
    return true;
  for (const StreamBytes &a : one.bytes)
    for (const StreamBytes &b : other.bytes)
      if ((a.writes || b.writes) && a.extent.overlaps(b.extent))
        return true;
  return false;
}

/// Which run of a fragment the work is of, for messages.
std::string nameOfRun(const StreamWork &work) {
  if (!work.row || !work.row->fragment)
    return "";
  std::string out = ", in \"" + work.row->fragment->name().str() + "\"";
  if (work.row->microbatch >= 0)
    out += " of microbatch " + std::to_string(work.row->microbatch);
  return out;
}

} // namespace

Extent placed(Extent e, const Row *row) {
  if (row && e.pool) { // without a slot: reported by checkValues
    int64_t slot = row->slot(*e.pool).value_or(0);
    e.offset = saturatingAdd(e.offset, saturatingMul(slot, e.stride));
    e.pool = std::nullopt;
  }
  return e;
}

void StreamChecker::run(const Fragment &fragment, const Row *row) {
  recorded.clear();
  auto next = fragment.touches.begin();
  for (Operation &op : fragment.fn.getBody().front()) {
    if (auto event = dyn_cast<rt::RecordOp>(op))
      record(event);
    else if (auto event = dyn_cast<rt::WaitOp>(op))
      wait(event);
    else if (next != fragment.touches.end() && next->op == &op)
      touch(*next++, row);
  }
  forgetDone();
}

void StreamChecker::run(const Row &row, Operation *op,
                        SmallVector<StreamBytes, 4> bytes) {
  issue({op, std::move(bytes), 0, 0, &row});
}

const StreamWork *StreamChecker::inFlight() const {
  int64_t stream = clocks.inFlight();
  return stream ? &given[stream].back() : nullptr;
}

void StreamChecker::record(rt::RecordOp op) {
  int64_t event = op.getEvent(), stream = op.getStream();
  if (!hasEvents(op) || !hasStream(op.getOperation(), stream))
    return;
  if (!recorded.insert(event).second && isNew(op.getOperation()))
    report.error(op) << "expected event " << event
                     << " to be recorded once in a fragment, found it twice";
  clocks.record(event, stream);
}

void StreamChecker::wait(rt::WaitOp op) {
  if (!hasEvents(op) || !hasStream(op.getOperation(), op.getStream()))
    return;
  if (!clocks.wait(op.getEvent(), op.getStream()) && isNew(op.getOperation()))
    report.error(op) << "expected event " << op.getEvent()
                     << " to be recorded before the wait, in this fragment or "
                        "by an earlier row, found no record: it would wait for "
                        "the step before, or for ever";
}

void StreamChecker::touch(const Touch &touch, const Row *row) {
  StreamWork work;
  work.op = touch.op;
  work.row = row;
  if (auto collective = dyn_cast<rt::CollectiveOp>(touch.op))
    work.stream = collective.getStream();
  for (const Access &access : touch.accesses)
    work.bytes.push_back({placed(access.extent, row), access.writes});
  issue(std::move(work));
}

void StreamChecker::issue(StreamWork work) {
  int64_t stream = work.stream;
  if (!hasStream(work.site(), stream))
    return;
  if (stream != 0 && !clocks.isAfter(stream, 0, 1) && isNew(work.site()))
    report.error(work.site())
        << "expected stream " << stream
        << " to wait for stream 0 first, which ran what came before this "
           "fragment, found no such wait";
  for (int64_t other = 0; other < clocks.size(); ++other)
    for (const StreamWork &earlier : llvm::reverse(given[other])) {
      if (clocks.isAfter(stream, other, earlier.time))
        break; // and so after all that came before it
      if (!conflict(earlier, work))
        continue;
      reject(earlier, work);
      break; // the others follow from the latest
    }
  work.time = clocks.issue(stream);
  given[stream].push_back(std::move(work));
}

void StreamChecker::reject(const StreamWork &earlier, const StreamWork &work) {
  if (!isNew(work.site(), earlier.site()))
    return;
  auto error = report.error(work.site());
  error << "expected an event between this op on stream " << work.stream
        << " and the earlier one on stream " << earlier.stream
        << (isCollective(work) && isCollective(earlier)
                ? ", because all ranks must issue collectives in one order"
                : " that touches the same bytes")
        << ", found none: they can run in either order";
  error.attachNote(earlier.site().getLoc())
      << "the earlier op" << nameOfRun(earlier);
}

bool StreamChecker::hasEvents(Operation *op) {
  if (clocks.size() > 1)
    return true;
  report.error(op)
      << "expected no events on a target with one stream, found one";
  return false;
}

bool StreamChecker::hasStream(const Site &site, int64_t stream) {
  if (stream >= 0 && stream < clocks.size())
    return true;
  if (isNew(site))
    report.error(site) << "expected a stream in [0, " << clocks.size()
                       << ") of the target, found " << stream;
  return false;
}

void StreamChecker::forgetDone() {
  for (int64_t stream = 0; stream < clocks.size(); ++stream) {
    std::vector<StreamWork> &all = given[stream];
    auto isPending = [&](const StreamWork &work) {
      for (int64_t other = 0; other < clocks.size(); ++other)
        if (!clocks.isAfter(other, stream, work.time))
          return true;
      return false;
    };
    all.erase(all.begin(), llvm::find_if(all, isPending));
  }
}

} // namespace mtc::passes::verify
