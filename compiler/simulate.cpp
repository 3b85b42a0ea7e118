//===- simulate.cpp - how long stages wait for each other -----------------===//

#include "compiler/simulate.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

namespace mtc::compiler {
namespace {

/// One stage on its way through its timeline.
struct Walker {
  const ProgramPlan *program = nullptr;
  const PlanTimeline *timeline = nullptr;
  size_t row = 0;
  bool posted = false; ///< the sends of the current exchange are posted
  double now = 0, busy = 0;
  bool done() const { return row >= timeline->rows.size(); }
};

class Simulation {
public:
  bool add(const ProgramPlan &program, const std::string &entry) {
    for (const PlanTimeline &timeline : program.timelines)
      if (timeline.entry == entry) {
        walkers.push_back({&program, &timeline});
        for (const PlanFragment &fragment : program.fragments)
          anyFlops |= fragment.flops > 0;
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

  double bubble() const {
    double longest = 0, busy = 0;
    for (const Walker &walker : walkers) {
      longest = std::max(longest, walker.now);
      busy += walker.busy;
    }
    return longest > 0 ? 1 - busy / (longest * walkers.size()) : 0;
  }

private:
  /// A message: sender, receiver, tag.
  using Key = std::tuple<int64_t, int64_t, int64_t>;

  bool step(Walker &w) {
    const MtcStep &row = w.timeline->rows[w.row];
    if (row.kind == MTC_STEP_RUN && row.microbatch >= 0) {
      const PlanFragment &fragment = w.program->fragments[row.fragment];
      double cost = anyFlops ? fragment.flops : 1;
      w.now += cost;
      w.busy += cost;
    } else if (row.kind == MTC_STEP_EXCHANGE && !exchange(w, row)) {
      return false;
    }
    ++w.row;
    w.posted = false;
    return true;
  }

  bool exchange(Walker &w, const MtcStep &row) {
    int64_t self = w.program->stage();
    std::span<const MtcTransfer> transfers = w.program->transfersOf(row);
    if (!w.posted)
      for (const MtcTransfer &t : transfers)
        if (t.is_send)
          sent[{self, t.peer_stage, t.tag}].push_back(w.now);
    w.posted = true;
    for (const MtcTransfer &t : transfers)
      if (!t.is_send && !sent.count({t.peer_stage, self, t.tag}))
        return false;
    for (const MtcTransfer &t : transfers)
      if (!t.is_send)
        w.now = std::max(w.now, take({t.peer_stage, self, t.tag}));
    return true;
  }

  /// When the oldest message on its way was sent; 0 if a row asks for one
  /// twice.
  double take(const Key &key) {
    auto queue = sent.find(key);
    if (queue == sent.end())
      return 0;
    double when = queue->second.front();
    queue->second.pop_front();
    if (queue->second.empty())
      sent.erase(queue);
    return when;
  }

  std::vector<Walker> walkers;
  std::map<Key, std::deque<double>> sent; ///< on their way, none empty
  bool anyFlops = false;
};

} // namespace

std::optional<double> bubbleFraction(const BundlePlan &plan,
                                     const std::string &entry) {
  Simulation simulation;
  for (const ProgramPlan &program : plan.programs)
    if (!simulation.add(program, entry))
      return std::nullopt;
  if (!simulation.run())
    return std::nullopt;
  return simulation.bubble();
}

} // namespace mtc::compiler
