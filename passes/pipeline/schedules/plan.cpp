//===- plan.cpp - programs of the ranks of a pipeline ---------------------===//

#include "passes/pipeline/schedules/plan.h"

#include <fmt/format.h>

namespace mtc::schedules {

std::string_view poolName(Pool pool) {
  constexpr std::string_view names[poolCount] = {"xin",  "gin", "yout",
                                                 "gout", "act", "wsv"};
  return names[static_cast<int>(pool)];
}

std::string toString(const Value &value) {
  return fmt::format("{} of mb {} at virtual stage {}", poolName(value.pool),
                     value.microbatch, value.u);
}

SlotValues valuesOf(const Shape &shape, int stage, const Slot &slot) {
  int k = slot.microbatch, u = shape.virtualStage(stage, slot.chunk);
  bool first = u == 0, last = u + 1 == shape.virtualStages();
  SlotValues values;
  auto read = [&](bool exists, Pool pool) {
    if (exists)
      values.reads.push_back({pool, k, u});
  };
  auto handOver = [&](bool exists, int next, Pool sent, Pool received) {
    if (exists && shape.place(next) == stage)
      values.writes.push_back({received, k, next});
    else if (exists)
      values.writes.push_back({sent, k, u});
  };
  switch (slot.phase) {
  case Phase::F:
    read(!first, Pool::Xin);
    values.writes.push_back({Pool::Act, k, u});
    handOver(!last, u + 1, Pool::Yout, Pool::Xin);
    break;
  case Phase::B:
  case Phase::I:
    read(true, Pool::Act);
    read(!first, Pool::Xin);
    read(!last, Pool::Gin);
    handOver(!first, u - 1, Pool::Gout, Pool::Gin);
    if (slot.phase == Phase::I)
      values.writes.push_back({Pool::Wsv, k, u});
    break;
  case Phase::W:
    read(true, Pool::Wsv);
    read(!first, Pool::Xin);
    break;
  }
  return values;
}

Value valueOf(const Transfer &transfer) {
  int k = transfer.microbatch, u = transfer.virtualStage;
  if (transfer.kind == Kind::Activation)
    return transfer.send ? Value{Pool::Yout, k, u} : Value{Pool::Xin, k, u + 1};
  return transfer.send ? Value{Pool::Gout, k, u} : Value{Pool::Gin, k, u - 1};
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
