//===- post_early.cpp - transfers posted and waited for apart -------------===//

#include "passes/pipeline/schedules/post_early.h"

#include "passes/pipeline/schedules/slots.h"

#include <algorithm>
#include <limits>
#include <map>

namespace mtc::schedules {
namespace {

/// A value on its way. Gap g of a stage lies before its slot g, the last one
/// behind all of them.
struct Message {
  Transfer send, receive;
  int source = 0, target = 0; ///< stages
  int made = 0;               ///< slot of the source that makes it
  int read = 0;               ///< slot of the target that reads it first
  int received = 0;           ///< gap in which the target posts it
  int freed = 0;              ///< gap in which the source may wait for it
};

/// What a stage does in a gap, in this order.
struct Gap {
  std::vector<Transfer> posts, waits;
};

/// Waits that are put off at a time: each takes room of backends.
constexpr size_t mostPutOff = 64;

/// Moves each wait for a send to right before the slot that writes its buffer
/// next, or to the end.
class LateWaits {
public:
  explicit LateWaits(std::vector<Item> &program) : program_(program) {}

  void run() {
    for (Item &item : program_)
      if (Exchange *exchange = std::get_if<Exchange>(&item))
        visit(*exchange);
      else
        visit(item);
    std::vector<Transfer> rest;
    for (auto &[buffer, send] : waiting_)
      rest.push_back(send);
    add(std::move(rest));
    program_ = std::move(moved_);
  }

private:
  void visit(Exchange &exchange) {
    if (exchange.part == Part::Wait)
      std::erase_if(exchange.transfers, [&](const Transfer &t) {
        return t.send && waiting_.size() < mostPutOff &&
               waiting_.try_emplace(t.buffer, t).second;
      });
    if (!exchange.transfers.empty())
      moved_.push_back(std::move(exchange));
  }

  void visit(Item &compute) {
    std::vector<Transfer> needed;
    for (const Operand &operand : std::get<Compute>(compute).writes)
      if (auto it = waiting_.find(operand); it != waiting_.end()) {
        needed.push_back(it->second);
        waiting_.erase(it);
      }
    add(std::move(needed));
    moved_.push_back(std::move(compute));
  }

  /// Together with the receives that the stage waits for there.
  void add(std::vector<Transfer> waits) {
    if (waits.empty())
      return;
    Exchange *last =
        moved_.empty() ? nullptr : std::get_if<Exchange>(&moved_.back());
    if (last && last->part == Part::Wait)
      last->transfers.insert(last->transfers.end(), waits.begin(), waits.end());
    else
      moved_.push_back(Exchange{std::move(waits), Part::Wait});
  }

  std::vector<Item> &program_;
  std::vector<Item> moved_;
  std::map<Operand, Transfer> waiting_; ///< put off
};

class Poster {
public:
  Poster(const Schedule &schedule, const ExpandOptions &options)
      : schedule_(schedule), options_(options), index_(schedule),
        timing_(asap(schedule, options.costs)) {
    for (const std::vector<Slot> &line : schedule.slots)
      gaps_.emplace_back(line.size() + 1);
  }

  Plan run() {
    for (int stage = 0; stage < schedule_.stages; ++stage)
      for (size_t i = 0; i < schedule_.slots[stage].size(); ++i)
        addMessages(stage, static_cast<int>(i));
    sortByChannel();
    receiveInOrder();
    for (Message &message : messages_)
      place(message);
    Plan plan{schedule_, {}, {}};
    plan.ranks.resize(gaps_.size());
    plan.pools.resize(gaps_.size());
    options_.eachStage(schedule_.stages, [&](int stage) {
      std::vector<Item> &items = plan.ranks[size_t(stage)];
      items = program(stage);
      plan.pools[size_t(stage)] =
          assignSlots(plan, stage, /*overlap=*/false, Reuse::Oldest);
      LateWaits(items).run();
    });
    return plan;
  }

private:
  /// What slot `read` of stage `target` needs from other stages.
  void addMessages(int target, int read) {
    const Slot &slot = schedule_.slots[target][read];
    for (const Dependence &dep : dependences(schedule_, target, slot)) {
      int source = schedule_.stageOf(dep.u);
      if (source == target)
        continue;
      Message message;
      message.send = {true,      dep.name, dep.microbatch, dep.u, target,
                      dep.bytes, {}};
      message.receive = message.send;
      message.receive.send = false;
      message.receive.peer = source;
      message.source = source;
      message.target = target;
      message.made = index_.find(source, dep.role, dep.microbatch,
                                 schedule_.chunkOf(dep.u));
      message.read = read;
      message.received =
          std::max(0, read - std::min(options_.depth, read + 1) + 1);
      messages_.push_back(message);
    }
  }

  /// By channel, and there in the order in which they are made.
  void sortByChannel() {
    auto key = [](const Message &m) {
      return std::tuple(m.source, m.target, m.made, m.send.name,
                        m.send.microbatch);
    };
    std::sort(
        messages_.begin(), messages_.end(),
        [&](const Message &a, const Message &b) { return key(a) < key(b); });
  }

  static bool shareChannel(const Message &a, const Message &b) {
    return a.source == b.source && a.target == b.target;
  }

  /// No value is posted behind one that its source makes later.
  void receiveInOrder() {
    for (size_t i = messages_.size(); i-- > 1;)
      if (shareChannel(messages_[i - 1], messages_[i]))
        messages_[i - 1].received =
            std::min(messages_[i - 1].received, messages_[i].received);
  }

  /// When a stage reaches a gap.
  int64_t timeOf(int stage, int gap) const {
    return gap == 0 ? 0 : timing_.end[stage][gap - 1];
  }

  void place(Message &m) {
    const std::vector<int64_t> &start = timing_.start[m.source];
    int64_t posted = timeOf(m.target, m.received);
    auto begin = start.begin() + m.made + 1;
    int first = static_cast<int>(std::lower_bound(begin, start.end(), posted) -
                                 start.begin());
    // One slot more, as times are not those of the estimate.
    m.freed = std::min(first + 1, static_cast<int>(start.size()));
    gaps_[m.source][m.made + 1].posts.push_back(m.send);
    gaps_[m.source][m.freed].waits.push_back(m.send);
    gaps_[m.target][m.received].posts.push_back(m.receive);
    gaps_[m.target][m.read].waits.push_back(m.receive);
  }

  std::vector<Item> program(int stage) const {
    std::vector<Item> items;
    for (size_t gap = 0; gap < gaps_[stage].size(); ++gap) {
      const Gap &here = gaps_[stage][gap];
      if (!here.posts.empty())
        items.push_back(Exchange{here.posts, Part::Post});
      if (!here.waits.empty())
        items.push_back(Exchange{here.waits, Part::Wait});
      if (gap < schedule_.slots[stage].size())
        items.push_back(Compute{schedule_.slots[stage][gap], {}, {}});
    }
    return items;
  }

  const Schedule &schedule_;
  const ExpandOptions &options_;
  SlotIndex index_;
  Timing timing_;
  std::vector<Message> messages_;
  std::vector<std::vector<Gap>> gaps_; ///< by stage
};

} // namespace

Plan postEarly(const Schedule &schedule, const ExpandOptions &options) {
  return Poster(schedule, options).run();
}

} // namespace mtc::schedules
