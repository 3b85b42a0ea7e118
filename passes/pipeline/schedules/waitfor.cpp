//===- waitfor.cpp - can the ranks wait for each other ----------===//

#include "passes/pipeline/schedules/waitfor.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <span>

namespace mtc::schedules {
namespace {

std::string opText(const MachineTransfer &t) {
  return fmt::format("{}{}:{}", t.send ? 'S' : 'R', t.tag, t.peer);
}

class Graph {
public:
  Graph(const Machine &machine, const Matching &matching, int64_t latency)
      : machine_(machine), matching_(matching) {
    addShared(latency);
    findPosted();
    for (size_t rank = 0; rank < machine.ranks.size(); ++rank)
      addProgram(static_cast<int>(rank));
    linkAll();
  }

  /// Kahn's sort; sets the makespan when everything could be sorted.
  WaitForResult analyse() {
    std::vector<int> ready;
    std::vector<int64_t> finish(nodes_.size(), 0);
    waits_.assign(nodes_.size(), 0);
    for (int next : next_)
      ++waits_[next];
    for (size_t n = 0; n < nodes_.size(); ++n)
      if (waits_[n] == 0)
        ready.push_back(static_cast<int>(n));
    WaitForResult result;
    for (size_t done = 0; done < ready.size(); ++done) {
      int n = ready[done];
      finish[n] += nodes_[n].weight;
      result.makespan = std::max(result.makespan, finish[n]);
      for (int next : after(n)) {
        finish[next] = std::max(finish[next], finish[n]);
        if (--waits_[next] == 0)
          ready.push_back(next);
      }
    }
    result.acyclic = ready.size() == nodes_.size();
    if (!result.acyclic)
      describe(shortestCycle(), result);
    return result;
  }

private:
  struct Node {
    int rank = -1; ///< -1: shared
    int item = 0; ///< or index of the pair or, behind the pairs, the collective
    bool isEnd = false;
    int64_t weight = 0;
  };

  int add(const Node &node) {
    nodes_.push_back(node);
    return static_cast<int>(nodes_.size()) - 1;
  }

  std::span<const int> after(int node) const {
    return {next_.data() + firstNext_[node],
            next_.data() + firstNext_[node + 1]};
  }

  void addShared(int64_t latency) {
    int index = 0;
    for (size_t i = 0; i < matching_.pairs.size(); ++i)
      add({-1, index++, false, latency});
    for (const CollectiveInstance &instance : matching_.collectives) {
      int64_t cost = 0;
      for (auto [rank, item] : instance.calls)
        cost = std::max(cost, machine_.ranks[rank][item].cost);
      add({-1, index++, false, cost});
    }
  }

  /// The pair of each post that is awaited; matchMachine pairs all of them. By
  /// a sorted list, as there is a post for each transfer of a step.
  void findPosted() {
    std::vector<std::pair<OpRef, int>> posts;
    for (size_t n = 0; n < matching_.pairs.size(); ++n)
      for (const OpRef &ref :
           {matching_.pairs[n].send, matching_.pairs[n].receive})
        if (isPosted(ref))
          posts.emplace_back(ref, static_cast<int>(n));
    std::sort(posts.begin(), posts.end());
    awaitedPairs_.reserve(matching_.awaited.size());
    for (const Awaited &each : matching_.awaited) {
      auto at =
          std::lower_bound(posts.begin(), posts.end(), std::pair(each.post, 0));
      assert(at != posts.end() && at->first == each.post);
      awaitedPairs_.push_back(at->second);
    }
  }

  /// A begin has the number before its end.
  void addProgram(int rank) {
    std::vector<int> &begins = begins_.emplace_back();
    const std::vector<MachineItem> &program = machine_.ranks[rank];
    begins.reserve(program.size());
    for (int i = 0; i < static_cast<int>(program.size()); ++i) {
      bool compute = program[i].type == MachineItem::Type::Compute;
      begins.push_back(add({rank, i, false, compute ? program[i].cost : 0}));
      if (blocks(program[i]))
        add({rank, i, true, 0});
    }
  }

  /// Edges by their first node, in the order in which forEachEdge has them:
  /// once to count, once to write.
  void linkAll() {
    firstNext_.assign(nodes_.size() + 1, 0);
    forEachEdge([&](int from, int) { ++firstNext_[from + 1]; });
    std::partial_sum(firstNext_.begin(), firstNext_.end(), firstNext_.begin());
    next_.resize(firstNext_.back());
    std::vector<int> free(firstNext_.begin(), firstNext_.end() - 1);
    forEachEdge([&](int from, int to) { next_[free[from]++] = to; });
  }

  template <typename Edge> void forEachEdge(Edge &&edge) const {
    for (size_t rank = 0; rank < machine_.ranks.size(); ++rank)
      forEachProgramEdge(static_cast<int>(rank), edge);
    forEachSharedEdge(edge);
  }

  template <typename Edge>
  void forEachProgramEdge(int rank, Edge &&edge) const {
    int last = -1;
    for (size_t i = 0; i < begins_[rank].size(); ++i) {
      int begin = begins_[rank][i], end = endOf(rank, static_cast<int>(i));
      if (begin != end)
        edge(begin, end);
      if (last >= 0)
        edge(last, begin);
      last = end;
    }
  }

  int endOf(int rank, int item) const {
    return begins_[rank][item] + (blocks(machine_.ranks[rank][item]) ? 1 : 0);
  }

  /// Whether others have a say in when an item that has begun ends. What waits
  /// for what was posted before begins when it ends.
  static bool blocks(const MachineItem &item) {
    return item.type == MachineItem::Type::Collective ||
           (item.type == MachineItem::Type::Exchange &&
            item.part == Part::Whole);
  }

  bool isPosted(const OpRef &ref) const {
    return machine_.ranks[ref.rank][ref.item].part == Part::Post;
  }

  /// A transfer, the `node`-th of all, and its item.
  template <typename Edge>
  void join(const OpRef &ref, int node, Edge &&edge) const {
    edge(begins_[ref.rank][ref.item], node);
    if (!isPosted(ref))
      edge(node, endOf(ref.rank, ref.item));
  }

  /// Those of a channel end in their order; that needs no edges: who posts one
  /// has posted the ones before it.
  template <typename Edge> void forEachSharedEdge(Edge &&edge) const {
    int node = 0;
    for (const Pair &pair : matching_.pairs) {
      join(pair.send, node, edge);
      join(pair.receive, node, edge);
      ++node;
    }
    for (const CollectiveInstance &instance : matching_.collectives) {
      for (auto [rank, item] : instance.calls)
        join(OpRef{rank, item, 0}, node, edge);
      ++node;
    }
    for (size_t i = 0; i < awaitedPairs_.size(); ++i) {
      const OpRef &wait = matching_.awaited[i].wait;
      edge(awaitedPairs_[i], begins_[wait.rank][wait.item]);
    }
  }

  /// Breadth first from every shared node that was not sorted: programs alone
  /// are chains, so each cycle passes a shared node.
  std::vector<int> shortestCycle() const {
    std::vector<int> best;
    size_t shared = matching_.pairs.size() + matching_.collectives.size();
    for (size_t n = 0; n < shared; ++n)
      if (waits_[n] > 0) {
        std::vector<int> cycle = cycleThrough(static_cast<int>(n), best.size());
        if (!cycle.empty())
          best = std::move(cycle);
      }
    return best;
  }

  /// The shortest cycle through `start` if below `limit` nodes (0: any).
  std::vector<int> cycleThrough(int start, size_t limit) const {
    std::vector<int> parent(nodes_.size(), -1), queue{start};
    std::vector<size_t> depth(nodes_.size(), 0);
    depth[start] = 1;
    for (size_t i = 0; i < queue.size(); ++i) {
      int n = queue[i];
      if (limit > 0 && depth[n] >= limit)
        return {};
      for (int next : after(n)) {
        if (next == start)
          return path(parent, n);
        if (waits_[next] == 0 || depth[next] > 0)
          continue;
        depth[next] = depth[n] + 1;
        parent[next] = n;
        queue.push_back(next);
      }
    }
    return {};
  }

  static std::vector<int> path(const std::vector<int> &parent, int last) {
    std::vector<int> nodes;
    for (int n = last; n >= 0; n = parent[n])
      nodes.push_back(n);
    std::reverse(nodes.begin(), nodes.end());
    return nodes;
  }

  std::string callText(const CollectiveCall &call) const {
    return fmt::format("{} on {}", call.op,
                       machine_.communicators[call.communicator].name);
  }

  /// The operations of an item, in braces.
  std::string groupText(const MachineItem &item) const {
    if (item.type == MachineItem::Type::Collective)
      return fmt::format("{{{}}}", callText(item.collective));
    std::vector<std::string> ops;
    for (const MachineTransfer &t : item.transfers)
      ops.push_back(opText(t));
    return fmt::format("{}{{{}}}", name(item.part), fmt::join(ops, " "));
  }

  std::string label(const Node &node) const {
    if (node.rank < 0)
      return sharedLabel(node.item);
    const MachineItem &item = machine_.ranks[node.rank][node.item];
    if (item.type == MachineItem::Type::Compute)
      return fmt::format("r{}:{}", node.rank, item.label);
    if (node.isEnd)
      return fmt::format("r{}:end#{}", node.rank, node.item);
    return fmt::format("r{}:begin#{}{}", node.rank, node.item, groupText(item));
  }

  std::string sharedLabel(size_t index) const {
    if (index < matching_.pairs.size()) {
      const Pair &pair = matching_.pairs[index];
      const OpRef &s = pair.send;
      return fmt::format("x {}->{} {}", s.rank, pair.receive.rank,
                         machine_.ranks[s.rank][s.item].transfers[s.op].tag);
    }
    const CollectiveInstance &instance =
        matching_.collectives[index - matching_.pairs.size()];
    auto [rank, item] = instance.calls.front();
    return fmt::format(
        "c {}#{} {}", machine_.communicators[instance.communicator].name,
        instance.ordinal, machine_.ranks[rank][item].collective.op);
  }

  /// A cycle enters a rank by the end of an item and leaves it by the begin of
  /// a later one.
  void describe(const std::vector<int> &cycle, WaitForResult &result) const {
    const Node *entered = nullptr;
    for (size_t i = 0; i < cycle.size(); ++i) {
      const Node &node = nodes_[cycle[i]];
      result.cycle.push_back(label(node));
      if (node.rank < 0)
        continue;
      if (!entered)
        entered = &node;
      const Node &next = nodes_[cycle[(i + 1) % cycle.size()]];
      if (next.rank >= 0)
        continue;
      const std::vector<MachineItem> &program = machine_.ranks[node.rank];
      result.ranks.push_back(
          {node.rank, entered->item, node.item,
           fmt::format(
               "rank {} cannot end item {} {}, and only then begins item {} {}",
               node.rank, entered->item, groupText(program[entered->item]),
               node.item, groupText(program[node.item]))});
      entered = nullptr;
    }
  }

  const Machine &machine_;
  const Matching &matching_;
  std::vector<Node> nodes_;
  std::vector<std::vector<int>> begins_; ///< node that an item begins with
  std::vector<int> awaitedPairs_;        ///< of each `Awaited`
  std::vector<int> firstNext_, next_;    ///< edges of n: from firstNext_[n] on
  std::vector<int> waits_;
};

} // namespace

WaitForResult analyseWaits(const Machine &machine, const Matching &matching,
                           int64_t latency) {
  return Graph(machine, matching, latency).analyse();
}

std::string rankText(const WaitForResult &waits) {
  std::vector<std::string> lines;
  for (const RankWait &rank : waits.ranks)
    lines.push_back(rank.text);
  return fmt::format("{}", fmt::join(lines, "; "));
}

Findings verifyMachine(const Machine &machine) {
  Matching matching = matchMachine(machine);
  if (!matching.complete)
    return std::move(matching.findings);
  WaitForResult waits = analyseWaits(machine, matching);
  if (waits.acyclic)
    return std::move(matching.findings);
  matching.findings.push_back(
      {"cycle", fmt::format("ranks wait for each other: {}; shortest cycle: {}",
                            rankText(waits), fmt::join(waits.cycle, " -> "))});
  return std::move(matching.findings);
}

} // namespace mtc::schedules
