//===- slots.cpp - which slot of its pool a value gets --------------------===//

#include "passes/pipeline/schedules/slots.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <utility>

namespace mtc::schedules {
namespace {

/// Positions of the first and the last item that use a value, and its slot.
struct Lifetime {
  int begin = 0, end = 0;
  Value value;
  int slot = -1;
  auto operator<=>(const Lifetime &) const = default;
};

struct HashOfValue {
  size_t operator()(const Value &value) const {
    size_t hash = value.pool;
    for (int part : {value.u, value.microbatch})
      hash = hash * 0x9e3779b97f4a7c15u + static_cast<size_t>(part);
    return hash;
  }
};

class Assigner {
public:
  Assigner(const Plan &plan, std::vector<Item> &program, int rank, bool overlap,
           Reuse reuse)
      : plan_(plan), program_(program), rank_(rank), overlap_(overlap),
        reuse_(reuse) {}

  PoolCounts run() {
    if (plan_.smallSlots > 0)
      chooseSmall();
    std::vector<int> used = lifetimes();
    if (overlap_)
      widen();
    PoolCounts counts(plan_.crossings.poolCount());
    for (size_t pool = 0; pool < counts.size(); ++pool)
      counts[pool] = colour(static_cast<MtcPool>(pool));
    auto next = used.begin();
    for (position_ = 0; position_ < int(program_.size()); ++position_)
      forEachOperand([&](const Value &value, Operand &operand) {
        operand = {value.pool, lives_[*next++].slot};
      });
    return counts;
  }

private:
  /// Finds when values live. Returns the value of each operand, in the order of
  /// items.
  std::vector<int> lifetimes() {
    lives_.clear();
    numbers_.clear();
    std::vector<int> used;
    for (position_ = 0; position_ < int(program_.size()); ++position_)
      forEachOperand(
          [&](const Value &value, Operand &) { used.push_back(touch(value)); });
    return used;
  }

  /// Puts what microbatches keep into small slots where all others are taken:
  /// of the slots that they would have if all were alike, the last ones. What
  /// lives longest of a microbatch decides: the others of its values then need
  /// no more slots of either size.
  void chooseSmall() {
    lifetimes();
    MtcPool longest = plan_.savesOperands ? MTC_POOL_OPERAND : MTC_POOL_SAVED;
    Reuse reuse = std::exchange(reuse_, Reuse::Lowest);
    int firstSmall = colour(longest) - plan_.smallSlots;
    reuse_ = reuse;
    for (Item &item : program_)
      if (Compute *compute = std::get_if<Compute>(&item)) {
        int u = plan_.virtualStage(rank_, compute->slot.chunk);
        Value kept{longest, compute->slot.microbatch, u};
        compute->isSmall = lives_[numbers_.at(kept)].slot >= firstSmall;
      }
  }

  /// Calls `use` for the operands of the item at position_.
  template <typename Use> void forEachOperand(Use use) {
    Item &item = program_[position_];
    if (Exchange *exchange = std::get_if<Exchange>(&item)) {
      for (Transfer &transfer : exchange->transfers)
        use(valueOf(transfer), transfer.buffer);
      return;
    }
    Compute &compute = std::get<Compute>(item);
    SlotValues values = valuesOf(plan_, rank_, compute.slot, compute.isSmall);
    compute.reads.resize(values.reads.size());
    compute.writes.resize(values.writes.size());
    for (size_t i = 0; i < values.reads.size(); ++i)
      use(values.reads[i], compute.reads[i]);
    for (size_t i = 0; i < values.writes.size(); ++i)
      use(values.writes[i], compute.writes[i]);
  }

  /// The number of a value, which is written before it is read: its first use
  /// is its write.
  int touch(const Value &value) {
    auto [it, fresh] =
        numbers_.try_emplace(value, static_cast<int>(lives_.size()));
    if (fresh)
      lives_.push_back({position_, position_, value});
    lives_[it->second].end = position_;
    return it->second;
  }

  void widen() {
    int count = static_cast<int>(program_.size());
    auto isCompute = [&](int i) {
      return std::holds_alternative<Compute>(program_[i]);
    };
    for (Lifetime &life : lives_) {
      auto &[begin, end, value, slot] = life;
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
    std::vector<Lifetime *> lives;
    for (Lifetime &life : lives_)
      if (life.value.pool == pool)
        lives.push_back(&life);
    std::sort(lives.begin(), lives.end(),
              [](const Lifetime *a, const Lifetime *b) { return *a < *b; });
    using Busy = std::pair<int, int>; // end, slot
    std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy, free;
    int count = 0;
    for (Lifetime *life : lives) {
      for (; !busy.empty() && busy.top().first < life->begin; busy.pop())
        free.push({reuse_ == Reuse::Oldest ? busy.top().first : 0,
                   busy.top().second});
      if (free.empty()) {
        life->slot = count++;
      } else {
        life->slot = free.top().second;
        free.pop();
      }
      busy.push({life->end, life->slot});
    }
    return count;
  }

  const Plan &plan_;
  std::vector<Item> &program_;
  int rank_;
  bool overlap_;
  Reuse reuse_;
  int position_ = 0;
  std::vector<Lifetime> lives_;                         ///< by number
  std::unordered_map<Value, int, HashOfValue> numbers_; ///< looked up only
};

} // namespace

PoolCounts assignSlots(Plan &plan, int rank, bool overlap, Reuse reuse) {
  return Assigner(plan, plan.ranks[size_t(rank)], rank, overlap, reuse).run();
}

} // namespace mtc::schedules
