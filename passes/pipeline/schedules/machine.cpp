//===- machine.cpp - programs of all ranks, and how they match ------------===//

#include "passes/pipeline/schedules/machine.h"

#include "passes/pipeline/schedules/posted.h"

#include <fmt/format.h>
#include <map>
#include <set>

namespace mtc::schedules {
namespace {

class Matcher {
public:
  explicit Matcher(const Machine &machine) : machine_(machine) {}

  Matching run() {
    checkMembers();
    calls_.resize(machine_.communicators.size());
    for (size_t rank = 0; rank < machine_.ranks.size(); ++rank)
      collectAll(static_cast<int>(rank));
    for (const auto &[channel, ends] : channels_)
      pairUp(channel.first, channel.second, ends);
    for (size_t c = 0; c < calls_.size(); ++c)
      joinCalls(static_cast<int>(c));
    return std::move(result_);
  }

private:
  struct Ends {
    std::vector<OpRef> sends, receives;
  };

  template <typename... Args>
  void report(const char *code, fmt::format_string<Args...> format,
              Args &&...args) {
    result_.findings.push_back(
        {code, fmt::format(format, std::forward<Args>(args)...)});
  }

  bool isRank(int rank) const {
    return rank >= 0 && rank < int(machine_.ranks.size());
  }

  void checkMembers() {
    for (const MachineCommunicator &comm : machine_.communicators) {
      std::set<int> distinct(comm.members.begin(), comm.members.end());
      bool ranks = std::all_of(distinct.begin(), distinct.end(),
                               [&](int rank) { return isRank(rank); });
      if (ranks && distinct.size() == comm.members.size())
        continue;
      report("members",
             "communicator {}: its {} members are not distinct ranks "
             "of 0 to {}",
             comm.name, comm.members.size(), machine_.ranks.size() - 1);
      result_.complete = false;
    }
  }

  void collectAll(int rank) {
    PostedTransfers posted(rank, result_);
    for (size_t i = 0; i < machine_.ranks[rank].size(); ++i) {
      const MachineItem &item = machine_.ranks[rank][i];
      if (item.type == MachineItem::Type::Exchange)
        posted.follow(item, static_cast<int>(i));
      collect(rank, static_cast<int>(i));
    }
    posted.end();
  }

  void collect(int rank, int i) {
    const MachineItem &item = machine_.ranks[rank][i];
    if (item.type == MachineItem::Type::Collective)
      collectCall(rank, i, item.collective);
    if (item.type != MachineItem::Type::Exchange)
      return;
    if (item.part == Part::Wait)
      return;
    for (size_t op = 0; op < item.transfers.size(); ++op) {
      const MachineTransfer &t = item.transfers[op];
      OpRef ref{rank, i, static_cast<int>(op)};
      if (!isRank(t.peer) || t.peer == rank) {
        report("peer",
               "rank {} item {}: {} {} has peer {}, expected another "
               "rank of 0 to {}",
               rank, i, t.send ? "send" : "receive", t.tag, t.peer,
               machine_.ranks.size() - 1);
        result_.complete = false;
      } else if (t.send) {
        channels_[{rank, t.peer}].sends.push_back(ref);
      } else {
        channels_[{t.peer, rank}].receives.push_back(ref);
      }
    }
  }

  void collectCall(int rank, int i, const CollectiveCall &call) {
    bool exists = call.communicator >= 0 &&
                  call.communicator < int(machine_.communicators.size());
    const MachineCommunicator *comm =
        exists ? &machine_.communicators[call.communicator] : nullptr;
    if (comm && std::find(comm->members.begin(), comm->members.end(), rank) !=
                    comm->members.end()) {
      calls_[call.communicator][rank].push_back(i);
      return;
    }
    report("members",
           "rank {} item {}: {} on communicator {}, of which it is no "
           "member",
           rank, i, call.op, comm ? comm->name : "that is unknown");
    result_.complete = false;
  }

  const MachineTransfer &transfer(const OpRef &ref) const {
    return machine_.ranks[ref.rank][ref.item].transfers[ref.op];
  }

  void pairUp(int a, int b, const Ends &ends) {
    size_t sends = ends.sends.size(), receives = ends.receives.size();
    if (sends != receives) {
      report("unpaired",
             "channel {} -> {}: {} sends and {} receives, expected "
             "as many",
             a, b, sends, receives);
      result_.complete = false;
    }
    for (size_t k = 0; k < std::min(sends, receives); ++k) {
      const MachineTransfer &s = transfer(ends.sends[k]);
      const MachineTransfer &r = transfer(ends.receives[k]);
      if (s.tag != r.tag)
        report("pair-order",
               "transfer {} of channel {} -> {}: rank {} sends {} "
               "(item {}) where rank {} expects {} (item {})",
               k, a, b, a, s.tag, ends.sends[k].item, b, r.tag,
               ends.receives[k].item);
      if (s.bytes != r.bytes)
        report("pair-size",
               "transfer {} of channel {} -> {}: {} vs {} bytes: "
               "rank {} item {} sends another size than rank {} item {} "
               "receives",
               k, a, b, s.bytes, r.bytes, a, ends.sends[k].item, b,
               ends.receives[k].item);
      result_.pairs.push_back({ends.sends[k], ends.receives[k]});
    }
  }

  void joinCalls(int c) {
    const MachineCommunicator &comm = machine_.communicators[c];
    if (comm.members.empty())
      return;
    auto &calls = calls_[c];
    int lead = comm.members.front();
    size_t count = calls[lead].size();
    for (int rank : comm.members)
      if (calls[rank].size() != count) {
        report("collective-count",
               "communicator {}: rank {} issues {} "
               "collectives, rank {} issues {}, expected as many",
               comm.name, rank, calls[rank].size(), lead, count);
        result_.complete = false;
        count = std::min(count, calls[rank].size());
      }
    for (size_t n = 0; n < count; ++n) {
      CollectiveInstance instance{c, static_cast<int>(n), {}};
      for (int rank : comm.members) {
        instance.calls.push_back({rank, calls[rank][n]});
        compareCalls(comm, instance.calls.front(), instance.calls.back(), n);
      }
      result_.collectives.push_back(std::move(instance));
    }
  }

  void compareCalls(const MachineCommunicator &comm, std::pair<int, int> a,
                    std::pair<int, int> b, size_t n) {
    const CollectiveCall &x = machine_.ranks[a.first][a.second].collective;
    const CollectiveCall &y = machine_.ranks[b.first][b.second].collective;
    auto differ = [&](const char *code, const auto &left, const auto &right) {
      if (left != right)
        report(code,
               "communicator {} collective {}: rank {} (item {}) has {}, "
               "rank {} (item {}) has {}, expected the same",
               comm.name, n, a.first, a.second, left, b.first, b.second, right);
    };
    differ("collective-order", x.op, y.op);
    differ("collective-size", x.count, y.count);
    differ("collective-type", x.type, y.type);
  }

  const Machine &machine_;
  std::map<std::pair<int, int>, Ends> channels_;
  std::vector<std::map<int, std::vector<int>>> calls_;
  Matching result_;
};

} // namespace

MachineItem MachineItem::compute(std::string label, int64_t cost) {
  return {Type::Compute, std::move(label), cost, {}, {}};
}

MachineItem MachineItem::exchange(std::vector<MachineTransfer> transfers,
                                  Part part) {
  return {Type::Exchange, "", 0, std::move(transfers), {}, part};
}

MachineItem MachineItem::collect(CollectiveCall call, int64_t cost) {
  return {Type::Collective, "", cost, {}, std::move(call)};
}

Matching matchMachine(const Machine &machine) { return Matcher(machine).run(); }

Machine repeatSteps(const Machine &machine, int steps) {
  Machine repeated = machine;
  for (size_t rank = 0; rank < machine.ranks.size(); ++rank)
    for (int step = 1; step < steps; ++step)
      repeated.ranks[rank].insert(repeated.ranks[rank].end(),
                                  machine.ranks[rank].begin(),
                                  machine.ranks[rank].end());
  return repeated;
}

Machine machineOf(const Plan &plan, const Costs &costs) {
  Machine machine;
  for (const std::vector<Item> &program : plan.ranks) {
    std::vector<MachineItem> &items = machine.ranks.emplace_back();
    for (const Item &item : program) {
      if (const Compute *compute = std::get_if<Compute>(&item)) {
        items.push_back(MachineItem::compute(toString(compute->slot, true),
                                             costs.of(compute->slot.phase)));
        continue;
      }
      std::vector<MachineTransfer> transfers;
      for (const Transfer &t : std::get<Exchange>(item).transfers)
        transfers.push_back({t.send, t.peer, t.bytes, tagOf(t)});
      items.push_back(MachineItem::exchange(std::move(transfers),
                                            std::get<Exchange>(item).part));
    }
  }
  return machine;
}

} // namespace mtc::schedules
