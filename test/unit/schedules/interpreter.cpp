//===- interpreter.cpp - runs plans on numbers ----------------------------===//

#include "interpreter.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

namespace mtc::schedules::test {
namespace {

/// Any function that scatters its arguments.
template <typename... Args> uint64_t mix(Args... args) {
  uint64_t hash = 0x9e3779b97f4a7c15;
  for (uint64_t x : {static_cast<uint64_t>(args)...}) {
    hash = (hash ^ x) * 0xff51afd7ed558ccd;
    hash ^= hash >> 31;
  }
  return hash;
}

class Interpreter {
public:
  Interpreter(const Plan &plan, int steps) : plan_(plan), steps_(steps) {
    outcome_.sums.assign(plan.virtualStages(), 0);
    ranks_.resize(plan.ranks.size());
    for (size_t rank = 0; rank < ranks_.size(); ++rank)
      for (int count : plan.pools[rank])
        ranks_[rank].held.emplace_back(std::max(0, count));
  }

  Outcome run() {
    bool moved = true, done = false;
    while (outcome_.error.empty() && moved && !done) {
      moved = false;
      done = true;
      for (size_t rank = 0; rank < ranks_.size(); ++rank) {
        while (outcome_.error.empty() && advance(static_cast<int>(rank)))
          moved = true;
        done = done && finished(static_cast<int>(rank));
      }
    }
    if (outcome_.error.empty() && !done)
      fail("deadlock");
    for (const Rank &rank : ranks_)
      if (!rank.posted.empty())
        fail("not waited for");
    return outcome_;
  }

private:
  using Name = std::tuple<bool, int, std::string>;
  static Name nameOf(const Transfer &t) { return {t.send, t.peer, tagOf(t)}; }

  struct Rank {
    size_t next = 0; ///< item, counted over all steps
    bool entered = false;
    /// By name: what crossed, once it did. The buffers of all of them.
    std::map<Name, std::optional<uint64_t>> posted;
    std::set<Operand> busy;
    std::vector<std::vector<std::optional<uint64_t>>> held; ///< by pool
  };
  struct Side {
    int rank;
    const Transfer *transfer;
  };
  struct Channel {
    std::deque<Side> sends, receives;
  };

  void fail(const char *error) {
    if (outcome_.error.empty())
      outcome_.error = error;
  }

  bool finished(int rank) const {
    return ranks_[rank].next == plan_.ranks[rank].size() * steps_;
  }

  /// Runs or enters the current item of a rank; false when it must wait.
  bool advance(int rank) {
    Rank &state = ranks_[rank];
    if (finished(rank))
      return false;
    const std::vector<Item> &program = plan_.ranks[rank];
    const Item &item = program[state.next % program.size()];
    if (const Compute *compute = std::get_if<Compute>(&item)) {
      run(rank, *compute);
      ++state.next;
      return true;
    }
    const Exchange &exchange = std::get<Exchange>(item);
    if (!state.entered && exchange.part != Part::Wait) {
      post(rank, exchange);
      state.entered = true;
      return true;
    }
    if (exchange.part != Part::Post) {
      if (!haveEnded(rank, exchange))
        return false;
      end(rank, exchange);
    }
    state.entered = false;
    ++state.next;
    return true;
  }

  void post(int rank, const Exchange &exchange) {
    for (const Transfer &t : exchange.transfers) {
      if (t.peer < 0 || t.peer >= int(ranks_.size()) || t.peer == rank)
        return fail("peer");
      auto key = t.send ? std::pair(rank, t.peer) : std::pair(t.peer, rank);
      Channel &channel = channels_[key];
      if (!ranks_[rank].posted.try_emplace(nameOf(t), std::nullopt).second)
        return fail("posted twice");
      if (slot(rank, t.buffer) && !ranks_[rank].busy.insert(t.buffer).second)
        return fail("in flight");
      (t.send ? channel.sends : channel.receives).push_back({rank, &t});
      match(channel);
    }
  }

  bool haveEnded(int rank, const Exchange &exchange) {
    return std::all_of(exchange.transfers.begin(), exchange.transfers.end(),
                       [&](const Transfer &t) {
                         auto it = ranks_[rank].posted.find(nameOf(t));
                         if (it == ranks_[rank].posted.end())
                           fail("not posted");
                         return it == ranks_[rank].posted.end() || it->second;
                       });
  }

  /// What was received can be read from here on, and not before.
  void end(int rank, const Exchange &exchange) {
    for (const Transfer &t : exchange.transfers) {
      auto it = ranks_[rank].posted.find(nameOf(t));
      if (it == ranks_[rank].posted.end())
        return;
      ranks_[rank].busy.erase(t.buffer);
      if (!t.send)
        write(rank, t.buffer, *it->second);
      ranks_[rank].posted.erase(it);
    }
  }

  void match(Channel &channel) {
    while (!channel.sends.empty() && !channel.receives.empty()) {
      Side send = channel.sends.front(), receive = channel.receives.front();
      channel.sends.pop_front();
      channel.receives.pop_front();
      if (send.transfer->bytes != receive.transfer->bytes)
        return fail("size");
      uint64_t value = *held(send.rank, send.transfer->buffer);
      ranks_[send.rank].posted[nameOf(*send.transfer)] = value;
      ranks_[receive.rank].posted[nameOf(*receive.transfer)] = value;
    }
  }

  std::optional<uint64_t> *slot(int rank, const Operand &operand) {
    auto &pool = ranks_[rank].held[static_cast<int>(operand.pool)];
    if (operand.slot >= 0 && operand.slot < int(pool.size()))
      return &pool[operand.slot];
    fail("slot");
    return nullptr;
  }

  /// The value in a slot; 0 where there is none.
  std::optional<uint64_t> held(int rank, const Operand &operand) {
    std::optional<uint64_t> *value = slot(rank, operand);
    if (value && !*value)
      fail("empty read");
    return value && *value ? **value : 0;
  }

  uint64_t read(int rank, const Operand &operand) {
    // What is sent meanwhile may be read, what is received may not.
    if (ranks_[rank].busy.count(operand) && crossingEnd(operand.pool) &&
        !crossingEnd(operand.pool)->sends)
      fail("in flight");
    return *held(rank, operand);
  }

  void write(int rank, const Operand &operand, uint64_t value) {
    if (ranks_[rank].busy.count(operand))
      fail("in flight");
    if (std::optional<uint64_t> *place = slot(rank, operand))
      *place = value;
  }

  /// B does what I and W do together, so their sums agree.
  void run(int rank, const Compute &compute) {
    const Slot &s = compute.slot;
    if (s.chunk < 0 || s.chunk >= plan_.chunks)
      return fail("chunk");
    uint64_t u = plan_.virtualStage(rank, s.chunk);
    SlotValues values = valuesOf(plan_, rank, s, compute.isSmall);
    if (values.reads.size() != compute.reads.size() ||
        values.writes.size() != compute.writes.size())
      return fail("operands");
    // What is received is of the microbatch, and all values that cross in.
    uint64_t received = mix(s.microbatch), gradient = received, saved = 0,
             kept = 0, operand = 0;
    for (size_t i = 0; i < compute.reads.size(); ++i) {
      uint64_t value = read(rank, compute.reads[i]);
      std::optional<CrossingEnd> end = crossingEnd(values.reads[i].pool);
      MtcPool pool = anySize(values.reads[i].pool);
      if (pool == MTC_POOL_OPERAND)
        operand = value;
      else if (!end)
        (pool == MTC_POOL_SAVED ? saved : kept) = value;
      else if (end->name.gradient)
        gradient = mix(gradient, value, end->name.number);
      else
        received = mix(received, value, end->name.number);
    }
    uint64_t split = s.phase == Phase::W ? kept : mix(saved, gradient, 3);
    uint64_t onward =
        s.phase == Phase::F ? mix(received, u, 1) : mix(saved, gradient, u, 2);
    for (size_t i = 0; i < compute.writes.size(); ++i) {
      MtcPool pool = anySize(values.writes[i].pool);
      uint64_t value = pool == MTC_POOL_SAVED     ? mix(received, u, 4)
                       : pool == MTC_POOL_OPERAND ? mix(received, u, 5)
                       : pool == MTC_POOL_SPLIT   ? split
                                                  : onwardAs(pool, onward);
      write(rank, compute.writes[i], value);
    }
    if (s.phase == Phase::B || s.phase == Phase::W)
      outcome_.sums[u] = outcome_.sums[u] * 31 + mix(split, received, operand);
  }

  /// What is kept in small slots is worth as much as in large ones.
  static MtcPool anySize(MtcPool pool) {
    for (MtcPool full : {MTC_POOL_SAVED, MTC_POOL_SPLIT, MTC_POOL_OPERAND})
      if (againPool(full) == pool)
        return full;
    return pool;
  }

  /// Each value that a slot hands on is another one.
  static uint64_t onwardAs(MtcPool pool, uint64_t onward) {
    return mix(onward, crossingEnd(pool)->name.number);
  }

  const Plan &plan_;
  size_t steps_;
  Outcome outcome_;
  std::vector<Rank> ranks_;
  std::map<std::pair<int, int>, Channel> channels_;
};

} // namespace

Outcome interpret(const Plan &plan, int steps) {
  return Interpreter(plan, steps).run();
}

} // namespace mtc::schedules::test
