//===- slots.cpp - which slot of its pool a value gets --------------------===//

#include "passes/pipeline/schedules/slots.h"

#include <map>
#include <queue>
#include <tuple>

namespace mtc::schedules {
namespace {

struct Lifetime {
  int begin = 0, end = 0;
  Value value;
  auto operator<=>(const Lifetime &) const = default;
};

class Assigner {
public:
  Assigner(const Plan &plan, std::vector<Item> &program, int rank, bool overlap)
      : plan_(plan), program_(program), rank_(rank), overlap_(overlap) {}

  PoolCounts run() {
    for (position_ = 0; position_ < int(program_.size()); ++position_)
      forEachOperand([&](const Value &value, Operand &) { touch(value); });
    if (overlap_)
      widen();
    PoolCounts counts(plan_.crossings.poolCount());
    for (size_t pool = 0; pool < counts.size(); ++pool)
      counts[pool] = colour(static_cast<MtcPool>(pool));
    for (position_ = 0; position_ < int(program_.size()); ++position_)
      forEachOperand([&](const Value &value, Operand &operand) {
        operand = {value.pool, slots_.at(value)};
      });
    return counts;
  }

private:
  /// Calls `use` for the operands of the item at position_.
  template <typename Use> void forEachOperand(Use use) {
    Item &item = program_[position_];
    if (Exchange *exchange = std::get_if<Exchange>(&item)) {
      for (Transfer &transfer : exchange->transfers)
        use(valueOf(transfer), transfer.buffer);
      return;
    }
    Compute &compute = std::get<Compute>(item);
    SlotValues values = valuesOf(plan_, rank_, compute.slot);
    compute.reads.resize(values.reads.size());
    compute.writes.resize(values.writes.size());
    for (size_t i = 0; i < values.reads.size(); ++i)
      use(values.reads[i], compute.reads[i]);
    for (size_t i = 0; i < values.writes.size(); ++i)
      use(values.writes[i], compute.writes[i]);
  }

  /// A value is written before it is read, so its first use is its write.
  void touch(const Value &value) {
    auto [it, fresh] = lives_.try_emplace(value, position_, position_);
    it->second.second = position_;
  }

  void widen() {
    int count = static_cast<int>(program_.size());
    auto isCompute = [&](int i) {
      return std::holds_alternative<Compute>(program_[i]);
    };
    for (auto &[value, life] : lives_) {
      auto &[begin, end] = life;
      if (!isCompute(begin)) // received
        for (int i = begin - 1; i >= 0; --i)
          if (isCompute(i)) {
            begin = i;
            break;
          }
      if (!isCompute(end)) // sent
        for (int i = end + 1; i < count; ++i)
          if (isCompute(i)) {
            end = i;
            break;
          }
    }
  }

  /// Left edge over the values of one pool; returns the number of slots.
  int colour(MtcPool pool) {
    std::vector<Lifetime> lives;
    for (const auto &[value, life] : lives_)
      if (value.pool == pool)
        lives.push_back({life.first, life.second, value});
    std::sort(lives.begin(), lives.end());
    using Busy = std::pair<int, int>; // end, slot
    std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy;
    std::priority_queue<int, std::vector<int>, std::greater<>> free;
    int count = 0;
    for (const Lifetime &life : lives) {
      for (; !busy.empty() && busy.top().first < life.begin; busy.pop())
        free.push(busy.top().second);
      int slot = count;
      if (free.empty()) {
        ++count;
      } else {
        slot = free.top();
        free.pop();
      }
      busy.push({life.end, slot});
      slots_[life.value] = slot;
    }
    return count;
  }

  const Plan &plan_;
  std::vector<Item> &program_;
  int rank_;
  bool overlap_;
  int position_ = 0;
  std::map<Value, std::pair<int, int>> lives_;
  std::map<Value, int> slots_;
};

} // namespace

void assignSlots(Plan &plan, bool overlap) {
  plan.pools.clear();
  for (size_t rank = 0; rank < plan.ranks.size(); ++rank)
    plan.pools.push_back(
        Assigner(plan, plan.ranks[rank], static_cast<int>(rank), overlap)
            .run());
}

} // namespace mtc::schedules
