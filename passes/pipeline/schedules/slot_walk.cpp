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

class Walker {
public:
  Walker(const Plan &plan, const Incoming &incoming, int rank,
         Findings &findings)
      : plan_(plan), incoming_(incoming), rank_(rank), findings_(findings) {
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
    if (std::optional<Value> *found = slot(operand))
      *found = value;
  }

  static bool poolsAgree(const std::vector<Operand> &operands,
                         const std::vector<Value> &values) {
    return std::equal(
        operands.begin(), operands.end(), values.begin(), values.end(),
        [](const Operand &o, const Value &v) { return o.pool == v.pool; });
  }

  void walk(const Compute &compute) {
    SlotValues values = valuesOf(plan_, rank_, compute.slot);
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
    for (const Transfer &t : exchange.transfers)
      if (t.send)
        read(t.buffer, valueOf(t), "sends");
    for (size_t op = 0; op < exchange.transfers.size(); ++op)
      if (!exchange.transfers[op].send)
        write(exchange.transfers[op].buffer,
              incoming_.at({rank_, item_, static_cast<int>(op)}));
  }

  const Plan &plan_;
  const Incoming &incoming_;
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
  for (size_t rank = 0; rank < plan.ranks.size(); ++rank)
    Walker(plan, incoming, static_cast<int>(rank), findings).run();
  return findings;
}

} // namespace mtc::schedules
