//===- plan.cpp - programs of the ranks of a pipeline ---------------------===//

#include "passes/pipeline/schedules/plan.h"

#include <fmt/format.h>

namespace mtc::schedules {

std::string toString(const Value &value) {
  return fmt::format("{} of mb {} of virtual stage {}", poolName(value.pool),
                     value.microbatch, value.u);
}

SlotValues valuesOf(const Shape &shape, int stage, const Slot &slot,
                    bool isSmall) {
  int k = slot.microbatch, u = shape.virtualStage(stage, slot.chunk);
  SlotValues values;
  auto receive = [&](bool gradient) {
    for (const Crossing &in : shape.into(u, gradient))
      values.reads.push_back({receivePool(in.name), k, in.from});
  };
  auto rereceive = [&] {
    if (shape.rereadsReceived)
      receive(/*gradient=*/false);
  };
  auto handOver = [&](bool gradient) {
    for (const Crossing &out : shape.outOf(u, gradient)) {
      bool here = shape.stageOf(out.to) == stage;
      values.writes.push_back({crossingPool(out.name, /*sends=*/!here), k, u});
    }
  };
  auto kept = [&](MtcPool pool) {
    return Value{isSmall ? againPool(pool) : pool, k, u};
  };
  switch (slot.phase) {
  case Phase::F:
    receive(/*gradient=*/false);
    values.writes.push_back(kept(MTC_POOL_SAVED));
    if (shape.savesOperands)
      values.writes.push_back(kept(MTC_POOL_OPERAND));
    handOver(/*gradient=*/false);
    break;
  case Phase::B:
  case Phase::I:
    values.reads.push_back(kept(MTC_POOL_SAVED));
    if (shape.savesOperands)
      values.reads.push_back(kept(MTC_POOL_OPERAND));
    rereceive();
    receive(/*gradient=*/true);
    handOver(/*gradient=*/true);
    if (slot.phase == Phase::I)
      values.writes.push_back(kept(MTC_POOL_SPLIT));
    break;
  case Phase::W:
    values.reads.push_back(kept(MTC_POOL_SPLIT));
    if (shape.savesOperands)
      values.reads.push_back(kept(MTC_POOL_OPERAND));
    rereceive();
    break;
  }
  return values;
}

Value valueOf(const Transfer &transfer) {
  return {crossingPool(transfer.name, transfer.send), transfer.microbatch,
          transfer.virtualStage};
}

std::string_view name(Part part) {
  constexpr std::string_view names[] = {"", "post", "wait"};
  return names[static_cast<size_t>(part)];
}

std::string tagOf(const Transfer &transfer) {
  return Tag{transfer.name, transfer.microbatch, transfer.virtualStage}.text();
}

std::string printItem(const Item &item, int chunks) {
  if (const Compute *compute = std::get_if<Compute>(&item))
    return toString(compute->slot, chunks > 1);
  std::string text;
  const Exchange &exchange = std::get<Exchange>(item);
  for (const Transfer &t : exchange.transfers)
    text += fmt::format("{}{}{}:{}@{}", text.empty() ? "" : " ",
                        t.send ? '>' : '<', t.peer, tagOf(t), t.buffer.slot);
  return fmt::format("{}{{{}}}", name(exchange.part), text);
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
