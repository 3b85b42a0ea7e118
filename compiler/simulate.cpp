//===- simulate.cpp - how long stages wait for each other -----------------===//

#include "compiler/simulate.h"

#include <algorithm>
#include <unordered_map>

namespace mtc::compiler {
namespace {

/// One stage on its way through its timeline.
struct Walker {
  const ProgramPlan *program = nullptr;
  const PlanTimeline *timeline = nullptr;
  size_t row = 0;
  bool posted = false; ///< the transfers of the current row
  double now = 0, busy = 0;
  bool done() const { return row >= timeline->rows.size(); }
};

class Simulation {
public:
  explicit Simulation(const RowCost &cost) : cost(cost) {}

  bool add(const ProgramPlan &program, const std::string &entry) {
    for (const PlanTimeline &timeline : program.timelines)
      if (timeline.entry == entry) {
        walkers.push_back({&program, &timeline});
        return true;
      }
    return false;
  }

  /// Moves stages in turn until all are done; false if none can move.
  bool run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (Walker &walker : walkers)
        while (!walker.done() && step(walker))
          moved = true;
    }
    return std::all_of(walkers.begin(), walkers.end(),
                       [](const Walker &w) { return w.done(); });
  }

  double longest() const {
    double longest = 0;
    for (const Walker &walker : walkers)
      longest = std::max(longest, walker.now);
    return longest;
  }

  double bubble() const {
    double busy = 0, whole = longest() * static_cast<double>(walkers.size());
    for (const Walker &walker : walkers)
      busy += walker.busy;
    return whole > 0 ? 1 - busy / whole : 0;
  }

private:
  /// A message.
  struct Key {
    int64_t sender = 0, receiver = 0, tag = 0;
    bool operator==(const Key &) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key &key) const {
      constexpr uint64_t kOdd = 0x9e3779b97f4a7c15; // of the golden ratio
      uint64_t hash = (key.sender << 32) ^ key.receiver;
      return ((hash * kOdd) ^ key.tag) * kOdd >> 16;
    }
  };

  bool step(Walker &w) {
    const MtcStep &row = w.timeline->rows[w.row];
    if (row.kind == MTC_STEP_RUN) {
      double taken = cost(*w.program, row);
      w.now += taken;
      w.busy += taken;
    } else if (!exchange(w, row)) {
      return false;
    }
    ++w.row;
    w.posted = false;
    return true;
  }

  static Key keyOf(int64_t self, const MtcTransfer &t) {
    return t.is_send ? Key{self, t.peer_stage, t.tag}
                     : Key{t.peer_stage, self, t.tag};
  }

  /// Posts and waits; false if there is nothing to wait for yet.
  bool exchange(Walker &w, const MtcStep &row) {
    int64_t self = w.program->stage();
    std::span<const MtcTransfer> transfers = w.program->transfersOf(row);
    if (!w.posted && row.kind != MTC_STEP_WAIT)
      for (const MtcTransfer &t : transfers)
        (t.is_send ? posts[keyOf(self, t)].send
                   : posts[keyOf(self, t)].receive) = w.now;
    w.posted = true;
    if (row.kind == MTC_STEP_POST)
      return true;
    double done = w.now;
    for (const MtcTransfer &t : transfers) {
      const Posts &both = posts[keyOf(self, t)];
      if (!both.send || !both.receive)
        return false;
      done = std::max({done, *both.send, *both.receive});
    }
    w.now = done;
    return true;
  }

  /// When either side posted a message, which takes no time itself.
  struct Posts {
    std::optional<double> send, receive;
  };

  const RowCost &cost;
  std::vector<Walker> walkers;
  std::unordered_map<Key, Posts, KeyHash> posts; // looked up only
};

bool simulate(const BundlePlan &plan, const std::string &entry,
              Simulation &simulation) {
  for (const ProgramPlan &program : plan.programs)
    if (!simulation.add(program, entry))
      return false;
  return simulation.run();
}

bool hasFlops(const BundlePlan &plan) {
  for (const ProgramPlan &program : plan.programs)
    for (const PlanFragment &fragment : program.fragments)
      if (fragment.flops > 0)
        return true;
  return false;
}

} // namespace

std::optional<double> bubbleFraction(const BundlePlan &plan,
                                     const std::string &entry) {
  bool byFlops = hasFlops(plan);
  RowCost cost = [&](const ProgramPlan &program, const MtcStep &row) {
    if (row.microbatch < 0)
      return 0.0; // of the update
    return byFlops ? program.fragments[row.fragment].flops : 1.0;
  };
  Simulation simulation(cost);
  if (!simulate(plan, entry, simulation))
    return std::nullopt;
  return simulation.bubble();
}

std::optional<double> lengthOfStep(const BundlePlan &plan,
                                   const std::string &entry,
                                   const RowCost &cost) {
  Simulation simulation(cost);
  if (!simulate(plan, entry, simulation))
    return std::nullopt;
  return simulation.longest();
}

} // namespace mtc::compiler
