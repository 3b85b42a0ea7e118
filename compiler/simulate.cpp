//===- simulate.cpp - how long stages wait for each other -----------------===//

#include "compiler/simulate.h"

#include <algorithm>
#include <map>
#include <tuple>

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

  std::vector<Walker> walkers;
  std::map<Key, Posts> posts;
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
