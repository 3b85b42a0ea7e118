//===- slot_walk.cpp - does every read find its value ---------------------===//
//
// One step is enough: when each read of a step finds a value that the same step
// wrote, what earlier steps left behind is never read.
//
//===----------------------------------------------------------------------===//

#include "passes/pipeline/schedules/plan_check.h"

#include <fmt/format.h>
#include <map>
#include <set>

namespace mtc::schedules {
namespace {

/// The name that a receive writes: what its pair sends.
using Incoming = std::map<OpRef, Value>;
/// By what waits.
using Posts = std::map<OpRef, OpRef>;

class Walker {
public:
  Walker(const Plan &plan, const Incoming &incoming, const Posts &posts,
         int rank, Findings &findings)
      : plan_(plan), incoming_(incoming), posts_(posts), rank_(rank),
        findings_(findings) {
    for (int count : plan.pools[rank])
      held_.emplace_back(std::max(count, 0));
  }

  void run() {
    const std::vector<Item> &program = plan_.ranks[rank_];
    for (item_ = 0; item_ < int(program.size()); ++item_) {
      if (const Compute *compute = std::get_if<Compute>(&program[item_]))
        walk(*compute);
      else
        walk(std::get<Exchange>(program[item_]));
    }
  }

private:
  template <typename... Args>
  void report(const char *code, fmt::format_string<Args...> format,
              Args &&...args) {
    findings_.push_back(
        {code, fmt::format("stage {} item {}: {}", rank_, item_,
                           fmt::format(format, std::forward<Args>(args)...))});
  }

  /// The contents of a slot, or null with a finding when there is no such slot.
  std::optional<Value> *slot(const Operand &operand) {
    size_t pool = operand.pool,
           count = pool < held_.size() ? held_[pool].size() : 0;
    if (operand.slot >= 0 && operand.slot < int(count))
      return &held_[pool][operand.slot];
    report("slot-range", "{}{}: the pool has {} slots", poolName(operand.pool),
           operand.slot, count);
    return nullptr;
  }

  void read(const Operand &operand, const Value &wanted, const char *verb) {
    std::optional<Value> *found = slot(operand);
    if (!found || *found != wanted)
      report("wrong-value", "{} {}, slot {}{} holds {}", verb, toString(wanted),
             poolName(operand.pool), operand.slot,
             found && *found ? toString(**found) : "nothing");
  }

  void write(const Operand &operand, const Value &value) {
    checkIdle(operand, "writes");
    if (std::optional<Value> *found = slot(operand))
      *found = value;
  }

  /// Between post and wait nobody may write a slot.
  void checkIdle(const Operand &operand, const char *verb) {
    if (posted_.count(operand))
      report("in-flight",
             "{} slot {}{}, from or to which a transfer is posted "
             "that nobody has waited for",
             verb, poolName(operand.pool), operand.slot);
  }

  static bool poolsAgree(const std::vector<Operand> &operands,
                         const std::vector<Value> &values) {
    return std::equal(
        operands.begin(), operands.end(), values.begin(), values.end(),
        [](const Operand &o, const Value &v) { return o.pool == v.pool; });
  }

  void walk(const Compute &compute) {
    SlotValues values = valuesOf(plan_, rank_, compute.slot, compute.isSmall);
    std::set<Operand> used(compute.reads.begin(), compute.reads.end());
    used.insert(compute.writes.begin(), compute.writes.end());
    bool distinct = used.size() == values.reads.size() + values.writes.size();
    if (!poolsAgree(compute.reads, values.reads) ||
        !poolsAgree(compute.writes, values.writes) || !distinct) {
      report("operands",
             "{} has operands of other pools than its {} reads and {} writes "
             "need, or one slot twice",
             toString(compute.slot, true), values.reads.size(),
             values.writes.size());
      return;
    }
    for (size_t i = 0; i < values.reads.size(); ++i)
      read(compute.reads[i], values.reads[i],
           (toString(compute.slot, true) + " reads").c_str());
    for (size_t i = 0; i < values.writes.size(); ++i)
      write(compute.writes[i], values.writes[i]);
  }

  void walk(const Exchange &exchange) {
    std::set<Operand> used;
    for (const Transfer &t : exchange.transfers) {
      if (!used.insert(t.buffer).second)
        report("group-hazard", "{}{} is used twice in one group, expected once",
               poolName(t.buffer.pool), t.buffer.slot);
      if (t.buffer.pool != valueOf(t).pool)
        report("operands", "{} {} uses pool {}, expected {}",
               t.send ? "send" : "receive", tagOf(t), poolName(t.buffer.pool),
               poolName(valueOf(t).pool));
    }
    if (exchange.part != Part::Wait)
      for (const Transfer &t : exchange.transfers)
        if (t.send)
          read(t.buffer, valueOf(t), "sends");
    for (size_t op = 0; op < exchange.transfers.size(); ++op)
      move(exchange, exchange.transfers[op],
           {rank_, item_, static_cast<int>(op)});
  }

  void move(const Exchange &exchange, const Transfer &t, const OpRef &at) {
    if (exchange.part == Part::Post) {
      post(t);
      return;
    }
    OpRef post = exchange.part == Part::Wait ? posts_.at(at) : at;
    if (exchange.part == Part::Wait)
      checkSameSlot(t, post);
    if (!t.send)
      write(t.buffer, incoming_.at(post));
  }

  /// A slot that is sent keeps its value; one that is received into has none.
  void post(const Transfer &t) {
    checkIdle(t.buffer, t.send ? "sends" : "receives into");
    posted_.insert(t.buffer);
    if (std::optional<Value> *found = slot(t.buffer); found && !t.send)
      found->reset();
  }

  void checkSameSlot(const Transfer &t, const OpRef &at) {
    const Transfer &posted =
        std::get<Exchange>(plan_.ranks[rank_][at.item]).transfers[at.op];
    posted_.erase(posted.buffer);
    if (posted.buffer != t.buffer)
      report("operands",
             "waits for {} at slot {}{}, expected {}{}, where item "
             "{} posted it",
             tagOf(t), poolName(t.buffer.pool), t.buffer.slot,
             poolName(posted.buffer.pool), posted.buffer.slot, at.item);
  }

  const Plan &plan_;
  const Incoming &incoming_;
  const Posts &posts_;
  std::set<Operand> posted_; ///< slots of transfers that were not waited for
  int rank_;
  Findings &findings_;
  int item_ = 0;
  std::vector<std::vector<std::optional<Value>>> held_; ///< by pool
};

const Transfer &transferAt(const Plan &plan, const OpRef &ref) {
  return std::get<Exchange>(plan.ranks[ref.rank][ref.item]).transfers[ref.op];
}

} // namespace

Findings walkSlots(const Plan &plan, const Matching &matching) {
  Findings findings;
  if (plan.pools.size() != plan.ranks.size()) {
    findings.push_back(
        {"slot-range", fmt::format("pool sizes of {} ranks, expected {}",
                                   plan.pools.size(), plan.ranks.size())});
    return findings;
  }
  Incoming incoming;
  for (const Pair &pair : matching.pairs) {
    Transfer arriving = transferAt(plan, pair.send);
    arriving.send = false;
    incoming[pair.receive] = valueOf(arriving);
  }
  Posts posts;
  for (const Awaited &each : matching.awaited)
    posts[each.wait] = each.post;
  for (size_t rank = 0; rank < plan.ranks.size(); ++rank)
    Walker(plan, incoming, posts, static_cast<int>(rank), findings).run();
  return findings;
}

} // namespace mtc::schedules
