//===- plan_check.cpp - may this plan run ---------------------------------===//

#include "passes/pipeline/schedules/plan_check.h"

#include "passes/pipeline/schedules/check.h"
#include "passes/pipeline/schedules/waitfor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <tuple>

namespace mtc::schedules {
namespace {

/// A transfer less its peer, size and slot: rank, send, name, microbatch, u.
using TransferKey = std::tuple<int, bool, CrossingName, int, int>;

struct Expected {
  int peer = 0;
  int64_t bytes = 0;
  int found = 0;
};

std::string describe(const TransferKey &key) {
  auto [rank, send, name, microbatch, u] = key;
  return fmt::format("stage {}: {} of {} of mb {} from virtual stage {}", rank,
                     send ? "send" : "receive", name.text(), microbatch, u);
}

/// Every dependence between stages, once per side.
std::map<TransferKey, Expected> expectedTransfers(const Schedule &schedule) {
  std::map<TransferKey, Expected> expected;
  for (int b = 0; b < schedule.stages; ++b)
    for (const Slot &slot : schedule.slots[b]) {
      if (!schedule.contains(slot))
        continue;
      for (const Dependence &dep : dependences(schedule, b, slot)) {
        int a = schedule.stageOf(dep.u);
        if (a == b)
          continue;
        expected[{a, true, dep.name, dep.microbatch, dep.u}] = {b, dep.bytes};
        expected[{b, false, dep.name, dep.microbatch, dep.u}] = {a, dep.bytes};
      }
    }
  return expected;
}

class TransferCheck {
public:
  TransferCheck(const Plan &plan, const Schedule &schedule)
      : plan_(plan), expected_(expectedTransfers(schedule)) {}

  Findings run() {
    for (size_t rank = 0; rank < plan_.ranks.size(); ++rank)
      for (const Item &item : plan_.ranks[rank])
        if (const Exchange *exchange = std::get_if<Exchange>(&item);
            exchange && exchange->part != Part::Wait)
          for (const Transfer &transfer : exchange->transfers)
            check(static_cast<int>(rank), transfer);
    for (const auto &[key, entry] : expected_)
      if (entry.found != 1)
        report("transfer-set", fmt::format("{} found {} times, expected once",
                                           describe(key), entry.found));
    return std::move(findings_);
  }

private:
  void report(const char *code, std::string message) {
    findings_.push_back({code, std::move(message)});
  }

  void check(int rank, const Transfer &t) {
    TransferKey key{rank, t.send, t.name, t.microbatch, t.virtualStage};
    auto it = expected_.find(key);
    if (it == expected_.end()) {
      report("transfer-set", describe(key) +
                                 " is no dependence between stages, expected "
                                 "none");
      return;
    }
    ++it->second.found;
    if (t.peer != it->second.peer)
      report("peer", fmt::format("{} has peer {}, expected {}", describe(key),
                                 t.peer, it->second.peer));
    if (t.bytes != it->second.bytes)
      report("pair-size",
             fmt::format("{} has {} bytes, expected {}", describe(key), t.bytes,
                         it->second.bytes));
  }

  const Plan &plan_;
  std::map<TransferKey, Expected> expected_;
  Findings findings_;
};

void append(Findings &to, Findings from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()),
            std::make_move_iterator(from.end()));
}

} // namespace

Findings checkPlan(const Plan &plan, const PlanCheckOptions &options) {
  Schedule schedule = scheduleOf(plan);
  Findings findings = checkSchedule(schedule);
  if (hasCode(findings, "timeline-count") || hasCode(findings, "crossing"))
    return findings;
  append(findings, TransferCheck(plan, schedule).run());
  Machine machine = machineOf(plan);
  Matching matching = matchMachine(machine);
  append(findings, matching.findings);
  if (!matching.complete)
    return findings;
  bool known = !hasCode(findings, "range") && !hasCode(findings, "phase");
  if (options.slotsAssigned && known)
    append(findings, walkSlots(plan, matching));
  WaitForResult waits = analyseWaits(machine, matching);
  if (!waits.acyclic)
    findings.push_back(
        {"cycle",
         fmt::format("stages wait for each other: {}; shortest cycle: "
                     "{}",
                     rankText(waits), fmt::join(waits.cycle, " -> "))});
  return findings;
}

} // namespace mtc::schedules
