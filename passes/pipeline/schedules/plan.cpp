//===- plan.cpp - programs of the ranks of a pipeline ---------------------===//

#include "passes/pipeline/schedules/plan.h"

#include <fmt/format.h>

namespace mtc::schedules {

std::string toString(const Value &value) {
  return fmt::format("{} of mb {} at virtual stage {}", poolName(value.pool),
                     value.microbatch, value.u);
}

SlotValues valuesOf(const Shape &shape, int stage, const Slot &slot) {
  int k = slot.microbatch, u = shape.virtualStage(stage, slot.chunk);
  bool first = u == 0, last = u + 1 == shape.virtualStages();
  SlotValues values;
  auto read = [&](bool exists, MtcPool pool) {
    if (exists)
      values.reads.push_back({pool, k, u});
  };
  auto handOver = [&](bool exists, int next, MtcPool sent, MtcPool received) {
    if (exists && shape.place(next) == stage)
      values.writes.push_back({received, k, next});
    else if (exists)
      values.writes.push_back({sent, k, u});
  };
  switch (slot.phase) {
  case Phase::F:
    read(!first, MTC_POOL_RECV_ACTIVATION);
    values.writes.push_back({MTC_POOL_SAVED, k, u});
    handOver(!last, u + 1, MTC_POOL_SEND_ACTIVATION, MTC_POOL_RECV_ACTIVATION);
    break;
  case Phase::B:
  case Phase::I:
    read(true, MTC_POOL_SAVED);
    read(!first, MTC_POOL_RECV_ACTIVATION);
    read(!last, MTC_POOL_RECV_GRADIENT);
    handOver(!first, u - 1, MTC_POOL_SEND_GRADIENT, MTC_POOL_RECV_GRADIENT);
    if (slot.phase == Phase::I)
      values.writes.push_back({MTC_POOL_SPLIT, k, u});
    break;
  case Phase::W:
    read(true, MTC_POOL_SPLIT);
    read(!first, MTC_POOL_RECV_ACTIVATION);
    break;
  }
  return values;
}

Value valueOf(const Transfer &transfer) {
  int k = transfer.microbatch, u = transfer.virtualStage;
  if (transfer.kind == Kind::Activation)
    return transfer.send ? Value{MTC_POOL_SEND_ACTIVATION, k, u}
                         : Value{MTC_POOL_RECV_ACTIVATION, k, u + 1};
  return transfer.send ? Value{MTC_POOL_SEND_GRADIENT, k, u}
                       : Value{MTC_POOL_RECV_GRADIENT, k, u - 1};
}

std::string tagOf(const Transfer &transfer) {
  return fmt::format("{}{}.{}", transfer.kind == Kind::Activation ? 'a' : 'g',
                     transfer.microbatch, transfer.virtualStage);
}

std::string printItem(const Item &item, int chunks) {
  if (const Compute *compute = std::get_if<Compute>(&item))
    return toString(compute->slot, chunks > 1);
  std::string text;
  for (const Transfer &t : std::get<Exchange>(item).transfers)
    text += fmt::format("{}{}{}:{}@{}", text.empty() ? "" : " ",
                        t.send ? '>' : '<', t.peer, tagOf(t), t.buffer.slot);
  return fmt::format("{{{}}}", text);
}

std::string printProgram(const Plan &plan, int rank) {
  std::string text;
  for (const Item &item : plan.ranks[rank]) {
    text += text.empty() ? "" : " ";
    text += printItem(item, plan.chunks);
  }
  return text;
}

std::string printPlan(const Plan &plan) {
  std::string text;
  for (size_t rank = 0; rank < plan.ranks.size(); ++rank)
    text += printProgram(plan, static_cast<int>(rank)) + "\n";
  return text;
}

Schedule scheduleOf(const Plan &plan) {
  Schedule schedule{plan, "", 0, {}};
  for (const std::vector<Item> &program : plan.ranks) {
    std::vector<Slot> &line = schedule.slots.emplace_back();
    for (const Item &item : program)
      if (const Compute *compute = std::get_if<Compute>(&item))
        line.push_back(compute->slot);
  }
  return schedule;
}

} // namespace mtc::schedules
