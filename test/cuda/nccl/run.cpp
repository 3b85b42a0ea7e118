//===- run.cpp - one run of a plan ----------------------------------------===//
#include "test/cuda/nccl/run.h"

#include "test/cuda/driver/report.h"
#include "test/cuda/nccl/communicator.h"
#include "test/cuda/nccl/driver_calls.h"

#include <cstdlib>
#include <cstring>
#include <list>
#include <set>
#include <utility>

namespace mtc::standin::nccl {
namespace {

/// At most so often an operation is asked in vain before its rank arrives.
constexpr uint64_t kMostDelay = 4;
/// Pieces of one question, at most.
constexpr uint64_t kMostMoves = 8;

/// Whether calls of a device run in the order in which the host made them. The
/// real library promises that with NCCL_LAUNCH_ORDER_IMPLICIT alone; without it
/// those of several communicators run, by the seed, as their streams come to
/// them.
bool runsAsIssued() {
  static const bool asIssued = [] {
    const char *implicit = std::getenv("NCCL_LAUNCH_ORDER_IMPLICIT");
    return (implicit && !std::strcmp(implicit, "1")) ||
           uint64_t(environment("MTC_STANDIN_SEED", 1)) % 2 == 1;
  }();
  return asIssued;
}

} // namespace

class Run {
public:
  explicit Run(Plan &plan);
  MtcStandinProgress step();

private:
  bool hasTurn() const;
  bool move();
  void end();
  std::string misaligned() const;
  void tell(const std::string &why);
  std::string waitsFor() const;

  Plan &plan;
  ncclComm &comm;
  Device &device;
  std::list<Part> parts;
  uint64_t number = 0, ticket = 0, delay = 0;
  double since = 0; ///< when something moved last
  bool told = false;
  bool wasGone = false; ///< when this started
};

Run::Run(Plan &plan)
    : plan(plan), comm(*plan.comm), device(*comm.device),
      delay(draw() % kMostDelay) {
  wasGone = comm.life >= Life::finalized;
  if (wasGone)
    return;
  number = comm.runs++;
  ticket = ++device.tickets;
  device.issued.insert(ticket);
  ++comm.open;
  for (const Request &each : plan.requests) {
    uint64_t &counter =
        each.call.kind == Kind::send      ? comm.sends[each.call.root]
        : each.call.kind == Kind::receive ? comm.receives[each.call.root]
                                          : comm.collectives;
    parts.emplace_back(each, PartPlace{*comm.shared, comm.rank, counter++});
  }
}

bool Run::hasTurn() const {
  if (number != comm.runsDone)
    return false;
  return runsAsIssued() ? *device.issued.begin() == ticket
                        : device.holder == 0 || device.holder == ticket;
}

void Run::end() {
  ++comm.runsDone;
  --comm.open;
  device.issued.erase(ticket);
  if (device.holder == ticket)
    device.holder = 0;
}

std::string Run::misaligned() const {
  for (const Request &each : plan.requests) {
    size_t width = each.call.elementBytes();
    if ((each.call.bytesRead(comm.rank, comm.size) && each.from % width) ||
        (each.call.bytesWritten(comm.rank, comm.size) && each.to % width))
      return each.call.text() + ": a buffer is not aligned to its elements";
  }
  return "";
}

std::string Run::waitsFor() const {
  if (!hasTurn())
    return "it waits for " +
           (device.holds.empty() ? "a call before it" : device.holds);
  if (comm.shared->head().broken)
    return "two ranks disagreed";
  std::string gone = whoIsGone(comm);
  if (!gone.empty())
    return gone;
  for (const Part &each : parts)
    if (!each.isDone())
      return each.what().call.text() + " waits for rank " +
             std::to_string(each.missing());
  return "nothing";
}

void Run::tell(const std::string &why) {
  report("NCCL: " + plan.name + ", " + comm.name + ": " + why);
}

/// False: nothing could be done. Collectives go one after the other, and so do
/// sends to one rank, and receives from one.
bool Run::move() {
  bool moved = false;
  uint64_t moves = 1 + draw() % kMostMoves;
  std::set<std::pair<int, int>> begun;
  for (Part &each : parts) {
    const Call &call = each.what().call;
    auto lane = call.isTransfer() ? std::pair(int(call.kind), call.root)
                                  : std::pair(-1, -1);
    if (each.isDone() || !begun.insert(lane).second)
      continue;
    std::string wrong;
    for (uint64_t k = 0; k < moves && !each.isDone(); ++k) {
      if (each.step(&wrong) == PartState::waiting)
        break;
      moved = true;
    }
    if (!wrong.empty())
      report("NCCL: ranks disagree in " + comm.name + ", " + wrong);
  }
  return moved;
}

MtcStandinProgress Run::step() {
  if (wasGone) {
    driver().mtcStandinFail_(
        (plan.name + " in " + comm.name + ", which is gone").c_str());
    return MTC_STANDIN_DONE;
  }
  if (comm.life == Life::aborted) {
    for (const Part &each : parts)
      each.spoil();
    end();
    return MTC_STANDIN_DONE;
  }
  if (since == 0)
    since = now();
  bool moved = false;
  if (delay > 0) {
    --delay;
  } else if (hasTurn()) {
    if (device.holder != ticket) {
      if (std::string wrong = misaligned(); !wrong.empty()) {
        end();
        driver().mtcStandinFail_(wrong.c_str());
        return MTC_STANDIN_DONE;
      }
      device.holder = ticket;
      device.holds = plan.name + " of " + comm.name;
    }
    moved = move();
    bool done = true;
    for (const Part &each : parts)
      done &= each.isDone();
    if (done) {
      end();
      return MTC_STANDIN_DONE;
    }
  }
  if (moved)
    since = now();
  else if (device.holder == ticket)
    comm.vainAt = now();
  if (!told && now() - since > environment("MTC_STANDIN_HANG", 10)) {
    told = true;
    tell("no progress: " + waitsFor());
  }
  return MTC_STANDIN_AGAIN;
}

MtcStandinProgress stepRun(MtcStandinPhase phase, void *bytes) {
  auto &arguments = *static_cast<RunArguments *>(bytes);
  if (phase == MTC_STANDIN_START) {
    arguments.run = new Run(*arguments.plan);
    return MTC_STANDIN_AGAIN;
  }
  MtcStandinProgress progress = arguments.run->step();
  if (progress == MTC_STANDIN_AGAIN)
    return progress;
  delete arguments.run;
  ncclComm &comm = *arguments.plan->comm;
  // A graph may launch its plan again.
  if (!arguments.plan->captured) {
    std::lock_guard lock(comm.mutex);
    std::erase_if(comm.plans, [&](const auto &each) {
      return each.get() == arguments.plan;
    });
  }
  return progress;
}

} // namespace mtc::standin::nccl
