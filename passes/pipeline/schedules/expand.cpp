//===- expand.cpp - from a schedule to programs ---------------------------===//

#include "passes/pipeline/schedules/expand.h"

#include "passes/pipeline/schedules/check.h"
#include "passes/pipeline/schedules/post_early.h"
#include "passes/pipeline/schedules/slots.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace mtc::schedules {
namespace {

/// Position in L: stamp; transfers (0) before slots (1) of equal stamp; then
/// what makes it total. The same on both sides of a transfer.
using Key = std::array<int64_t, 8>;

struct Event {
  Key key;
  Item item;
  bool isTransfer() const { return key[1] == 0; }
};

/// Neighbouring links get different colours, so that chains of single transfers
/// of one stamp stay short.
int linkColour(int a, int b, int p) {
  auto [low, high] = std::minmax(a, b);
  bool wrap = p > 2 && low == 0 && high == p - 1;
  if (!wrap)
    return low % 2;
  return p % 2 == 0 ? (p - 1) % 2 : 2;
}

class Expander {
public:
  Expander(const Schedule &schedule, const ExpandOptions &options)
      : schedule_(schedule), options_(options), index_(schedule),
        timing_(asap(schedule, options.costs)), events_(schedule.stages) {}

  Plan run() {
    for (int stage = 0; stage < schedule_.stages; ++stage)
      for (size_t i = 0; i < schedule_.slots[stage].size(); ++i) {
        addTransfers(stage, i);
        Key key{timing_.start[stage][i], 1, int64_t(i)};
        events_[stage].push_back({key, Compute{slot(stage, i), {}, {}}});
      }
    Plan plan{schedule_, {}, {}};
    for (std::vector<Event> &events : events_)
      plan.ranks.push_back(program(events)); // takes the items out of it
    plan.pools.resize(plan.ranks.size());
    options_.eachStage(schedule_.stages, [&](int stage) {
      plan.pools[size_t(stage)] = assignSlots(plan, stage, options_.overlap);
    });
    return plan;
  }

private:
  const Slot &slot(int stage, size_t i) const {
    return schedule_.slots[stage][i];
  }

  /// Stamps what slot i of stage b needs from other stages.
  void addTransfers(int b, size_t i) {
    for (const Dependence &dep : dependences(schedule_, b, slot(b, i))) {
      int a = schedule_.stageOf(dep.u);
      if (a == b)
        continue;
      int producer =
          index_.find(a, dep.role, dep.microbatch, schedule_.chunkOf(dep.u));
      int64_t stamp = timing_.end[a][producer];
      if (i >= size_t(options_.depth))
        stamp = std::max(stamp, timing_.end[b][i - options_.depth]);
      addTransfer(dep, a, b, stamp);
    }
  }

  void addTransfer(const Dependence &dep, int a, int b, int64_t stamp) {
    Key key{stamp,
            0,
            dep.name.gradient,
            linkColour(a, b, schedule_.stages),
            a,
            dep.microbatch,
            dep.u,
            dep.name.number};
    for (bool send : {true, false}) {
      Transfer transfer{
          send, dep.name, dep.microbatch, dep.u, send ? b : a, dep.bytes, {}};
      events_[send ? a : b].push_back({key, Exchange{{transfer}}});
    }
  }

  bool joins(const Event &before, const Event &event) const {
    if (!before.isTransfer() || !event.isTransfer())
      return false;
    return options_.grouping == Grouping::WholeGap ||
           (options_.grouping == Grouping::SameStamp &&
            before.key[0] == event.key[0]);
  }

  std::vector<Item> program(std::vector<Event> &events) const {
    std::vector<Event *> order;
    order.reserve(events.size());
    for (Event &event : events)
      order.push_back(&event);
    std::sort(order.begin(), order.end(),
              [](const Event *a, const Event *b) { return a->key < b->key; });
    std::vector<Item> items;
    for (size_t i = 0; i < order.size(); ++i) {
      if (i > 0 && joins(*order[i - 1], *order[i]))
        std::get<Exchange>(items.back())
            .transfers.push_back(
                std::get<Exchange>(order[i]->item).transfers[0]);
      else
        items.push_back(std::move(order[i]->item));
    }
    return items;
  }

  const Schedule &schedule_;
  const ExpandOptions &options_;
  SlotIndex index_;
  Timing timing_;
  std::vector<std::vector<Event>> events_;
};

void checkOptions(const ExpandOptions &options, Findings &findings) {
  if (options.depth < 1)
    findings.push_back(
        {"parameters",
         fmt::format(
             "depth {}: expected at least 1, a value cannot be received "
             "after the slot that reads it",
             options.depth)});
  for (Phase phase : {Phase::F, Phase::B, Phase::I, Phase::W})
    if (options.costs.of(phase) < 1)
      findings.push_back(
          {"parameters",
           fmt::format("cost {} of {}: expected a positive number",
                       options.costs.of(phase), letter(phase))});
}

/// What exceeds `limit`, or nothing.
std::string excess(const Plan &plan, const PoolCounts &limit) {
  std::string text;
  for (size_t rank = 0; rank < plan.pools.size(); ++rank)
    for (size_t pool = 0; pool < plan.pools[rank].size(); ++pool) {
      int needed = plan.pools[rank][pool],
          most = pool < limit.size() ? limit[pool] : 0;
      if (needed > most)
        text += fmt::format("{}stage {} needs {} slots of {}, limit {}",
                            text.empty() ? "" : "; ", rank, needed,
                            poolName(static_cast<MtcPool>(pool)), most);
    }
  return text;
}

} // namespace

void oneAfterTheOther(int stages, const std::function<void(int)> &work) {
  for (int stage = 0; stage < stages; ++stage)
    work(stage);
}

std::optional<Plan> expand(const Schedule &schedule,
                           const ExpandOptions &options, Findings &findings) {
  Findings found = checkSchedule(schedule);
  checkOptions(options, found);
  findings.insert(findings.end(), found.begin(), found.end());
  if (!found.empty())
    return std::nullopt;
  return options.apart ? postEarly(schedule, options)
                       : Expander(schedule, options).run();
}

std::optional<Plan> expandWithin(const Schedule &schedule,
                                 ExpandOptions options, const PoolCounts &limit,
                                 Findings &findings) {
  // No slot list is longer than this, so greater depths give the same plan.
  size_t longest = 1;
  for (const std::vector<Slot> &line : schedule.slots)
    longest = std::max(longest, line.size());
  if (options.depth > int(longest))
    options.depth = static_cast<int>(longest);
  std::string why;
  for (; options.depth >= 1; --options.depth) {
    std::optional<Plan> plan = expand(schedule, options, findings);
    if (!plan)
      return std::nullopt;
    why = excess(*plan, limit);
    if (why.empty())
      return plan;
  }
  findings.push_back(
      {"slot-limit", fmt::format("even with depth 1: {}; raise the limit or "
                                 "choose a schedule with fewer microbatches in "
                                 "flight",
                                 why)});
  return std::nullopt;
}

} // namespace mtc::schedules
