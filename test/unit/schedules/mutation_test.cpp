//===- mutation_test.cpp - broken plans must be rejected
//-------------------===//
//
// Legal plans are broken at random (fixed seed) in one to three places. A
// mutant that misbehaves when run (deadlock, empty read, size, other sums) must
// be rejected; one that is accepted must run to the same sums.
//
//===----------------------------------------------------------------------===//

#include "interpreter.h"
#include "oracle.h"
#include "passes/pipeline/schedules/plan_check.h"
#include "passes/pipeline/schedules/waitfor.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace mtc::schedules::test {
namespace {

class Mutator {
public:
  Mutator(Plan &plan, std::mt19937 &random) : plan_(plan), random_(random) {}

  /// Breaks the plan in one place; the name of what it did, or null when that
  /// kind does not apply to the place chosen.
  const char *mutate() {
    struct Row {
      const char *name;
      bool (Mutator::*apply)();
    };
    static constexpr Row rows[] = {
        {"drop-item", &Mutator::dropItem},
        {"drop-transfer", &Mutator::dropTransfer},
        {"drop-pair", &Mutator::dropPair},
        {"duplicate", &Mutator::duplicate},
        {"swap-adjacent", &Mutator::swapAdjacent},
        {"swap-far", &Mutator::swapFar},
        {"move", &Mutator::moveItem},
        {"resize", &Mutator::resize},
        {"reroute", &Mutator::reroute},
        {"retag", &Mutator::retag},
        {"buffer", &Mutator::changeBuffer},
        {"operand", &Mutator::changeOperand},
        {"split", &Mutator::split},
        {"merge", &Mutator::merge},
        {"swap-in-channel", &Mutator::swapInChannel},
        {"swap-compute", &Mutator::swapComputes},
        {"part", &Mutator::changePart},
    };
    const Row &row = rows[below(std::size(rows))];
    return (this->*row.apply)() ? row.name : nullptr;
  }

private:
  // Not std::uniform_int_distribution: its results differ between libraries.
  size_t below(size_t count) { return count ? random_() % count : 0; }

  std::vector<Item> &program() {
    return plan_.ranks[below(plan_.ranks.size())];
  }

  Exchange *exchangeOf(std::vector<Item> &items) {
    return std::get_if<Exchange>(&items[below(items.size())]);
  }

  Transfer *anyTransfer() {
    Exchange *exchange = exchangeOf(program());
    return exchange ? &exchange->transfers[below(exchange->transfers.size())]
                    : nullptr;
  }

  bool dropItem() {
    std::vector<Item> &items = program();
    items.erase(items.begin() + below(items.size()));
    return true;
  }

  static void eraseEmpty(std::vector<Item> &items) {
    std::erase_if(items, [](const Item &item) {
      const Exchange *exchange = std::get_if<Exchange>(&item);
      return exchange && exchange->transfers.empty();
    });
  }

  bool dropTransfer() {
    std::vector<Item> &items = program();
    Exchange *exchange = exchangeOf(items);
    if (!exchange)
      return false;
    exchange->transfers.erase(exchange->transfers.begin() +
                              below(exchange->transfers.size()));
    eraseEmpty(items);
    return true;
  }

  bool dropPair() {
    const Transfer *transfer = anyTransfer();
    if (!transfer)
      return false;
    std::string tag = tagOf(*transfer);
    for (std::vector<Item> &items : plan_.ranks) {
      for (Item &item : items)
        if (Exchange *exchange = std::get_if<Exchange>(&item))
          std::erase_if(exchange->transfers,
                        [&](const Transfer &t) { return tagOf(t) == tag; });
      eraseEmpty(items);
    }
    return true;
  }

  bool duplicate() {
    std::vector<Item> &items = program();
    Item copy = items[below(items.size())];
    items.insert(items.begin() + below(items.size() + 1), copy);
    return true;
  }

  bool swapAdjacent() {
    std::vector<Item> &items = program();
    if (items.size() < 2)
      return false;
    size_t i = below(items.size() - 1);
    std::swap(items[i], items[i + 1]);
    return true;
  }

  bool swapFar() {
    std::vector<Item> &items = program();
    size_t i = below(items.size()), j = below(items.size());
    std::swap(items[i], items[j]);
    return i != j;
  }

  bool moveItem() {
    std::vector<Item> &items = program();
    size_t from = below(items.size());
    Item item = items[from];
    items.erase(items.begin() + from);
    size_t to = below(items.size() + 1);
    items.insert(items.begin() + to, item);
    return from != to;
  }

  bool resize() {
    Transfer *transfer = anyTransfer();
    if (transfer)
      transfer->bytes += below(2) ? 4 : -512;
    return transfer;
  }

  bool reroute() {
    Transfer *transfer = anyTransfer();
    if (transfer)
      transfer->peer = (transfer->peer + 1) % plan_.stages;
    return transfer;
  }

  bool retag() {
    Transfer *transfer = anyTransfer();
    if (!transfer)
      return false;
    if (below(2))
      transfer->microbatch = (transfer->microbatch + 1) % plan_.microbatches;
    else
      transfer->virtualStage =
          (transfer->virtualStage + 1) % plan_.virtualStages();
    return true;
  }

  bool changeBuffer() {
    Transfer *transfer = anyTransfer();
    if (transfer)
      transfer->buffer.slot += below(2) ? 1 : -1;
    return transfer;
  }

  bool changeOperand() {
    std::vector<Item> &items = program();
    Compute *compute = std::get_if<Compute>(&items[below(items.size())]);
    if (!compute)
      return false;
    auto &operands = below(2) ? compute->reads : compute->writes;
    if (operands.empty())
      return false;
    operands[below(operands.size())].slot += below(2) ? 1 : -1;
    return true;
  }

  bool split() {
    std::vector<Item> &items = program();
    size_t i = below(items.size());
    Exchange *exchange = std::get_if<Exchange>(&items[i]);
    if (!exchange || exchange->transfers.size() < 2)
      return false;
    size_t taken = below(exchange->transfers.size());
    Exchange alone{{exchange->transfers[taken]}, exchange->part};
    exchange->transfers.erase(exchange->transfers.begin() + taken);
    items.insert(items.begin() + i + below(2), alone);
    return true;
  }

  bool merge() {
    std::vector<Item> &items = program();
    if (items.size() < 2)
      return false;
    size_t i = below(items.size() - 1);
    Exchange *a = std::get_if<Exchange>(&items[i]);
    Exchange *b = std::get_if<Exchange>(&items[i + 1]);
    if (!a || !b)
      return false;
    a->transfers.insert(a->transfers.end(), b->transfers.begin(),
                        b->transfers.end());
    items.erase(items.begin() + i + 1);
    return true;
  }

  /// Exchanges two transfers of one direction with one peer.
  bool swapInChannel() {
    std::vector<Item> &items = program();
    std::vector<Transfer *> channel;
    const Transfer *model = nullptr;
    if (Exchange *exchange = exchangeOf(items))
      model = &exchange->transfers.front();
    if (!model)
      return false;
    for (Item &item : items)
      if (Exchange *exchange = std::get_if<Exchange>(&item))
        for (Transfer &t : exchange->transfers)
          if (t.peer == model->peer && t.send == model->send)
            channel.push_back(&t);
    size_t i = below(channel.size()), j = below(channel.size());
    std::swap(*channel[i], *channel[j]);
    return i != j;
  }

  bool swapComputes() {
    std::vector<Item> &items = program();
    Compute *a = std::get_if<Compute>(&items[below(items.size())]);
    Compute *b = std::get_if<Compute>(&items[below(items.size())]);
    if (!a || !b || a == b)
      return false;
    std::swap(*a, *b);
    return true;
  }

  bool changePart() {
    Exchange *exchange = exchangeOf(program());
    if (exchange)
      exchange->part =
          Part((static_cast<int>(exchange->part) + 1 + below(2)) % 3);
    return exchange;
  }

  Plan &plan_;
  std::mt19937 &random_;
};

/// Deadlock when and only when something has no partner or the wait-for graph
/// has a cycle; a run that failed otherwise did not get that far.
void expectGraphTellsDeadlock(const Plan &plan, const Outcome &outcome) {
  Machine machine = machineOf(plan);
  Matching matching = matchMachine(machine);
  bool stuck = !matching.complete || !analyseWaits(machine, matching).acyclic;
  if (outcome.error == "deadlock") {
    EXPECT_TRUE(stuck) << printPlan(plan);
  } else if (outcome.error.empty()) {
    EXPECT_FALSE(stuck) << printPlan(plan);
  }
}

TEST(Mutation, EveryMutantThatMisbehavesIsRejected) {
  std::mt19937 random(20240607);
  std::map<std::string, int> applied;
  int misbehaving = 0, accepted = 0, rejected = 0, deadlocks = 0;
  for (const Setting &setting : settings(3, 4, 2)) {
    if (setting.params.p < 2)
      continue;
    for (int kind = 0; kind < 6; ++kind) {
      int depth = kind % 3 ? kind % 3 : unlimitedDepth;
      bool apart = kind >= 3;
      Plan plan = makePlan(make(setting.name, setting.params), depth,
                           Grouping::SameStamp, apart);
      Outcome right = interpret(plan);
      for (int trial = 0; trial < 150; ++trial) {
        Plan mutant = plan;
        std::string what;
        for (size_t n = random() % 3 + 1; n > 0; --n)
          if (const char *name = Mutator(mutant, random).mutate()) {
            ++applied[name];
            what += std::string(name) + " ";
          }
        if (what.empty())
          continue;
        Outcome outcome = interpret(mutant);
        bool good = outcome == right;
        expectGraphTellsDeadlock(mutant, outcome);
        deadlocks += outcome.error == "deadlock";
        bool passes = checkPlan(mutant).empty();
        misbehaving += !good;
        ++(passes ? accepted : rejected);
        ASSERT_TRUE(good || !passes)
            << nameOf(setting) << " d=" << depth << (apart ? " apart: " : ": ")
            << what << "\n"
            << printPlan(mutant);
      }
    }
  }
  // All kinds, and both verdicts, were exercised.
  EXPECT_EQ(applied.size(), 17u);
  EXPECT_GT(misbehaving, 3000);
  EXPECT_GT(rejected, misbehaving);
  EXPECT_GT(accepted, 100);
  EXPECT_GT(deadlocks, 100);
}

// Microbatches backward in another order: legal but for its bits, and the sums
// of the interpreter see it.
TEST(Mutation, AccumulationOrderChangesTheSums) {
  Findings findings;
  Schedule other = parseSchedule("F0 F1 B1 B0\n", {1, 2, 1, {}}, findings);
  Plan plan{other, {{}}, {}};
  for (const Slot &slot : other.slots[0])
    plan.ranks[0].push_back(
        Compute{slot,
                slot.phase == Phase::B
                    ? std::vector<Operand>{{MTC_POOL_SAVED, slot.microbatch}}
                    : std::vector<Operand>{},
                slot.phase == Phase::F
                    ? std::vector<Operand>{{MTC_POOL_SAVED, slot.microbatch}}
                    : std::vector<Operand>{}});
  plan.pools = {{0, 0, 0, 0, 2, 0}};
  Outcome right = interpret(makePlan(make("gpipe", {1, 2, 1, 0}), 1));
  EXPECT_EQ(interpret(plan).error, "");
  EXPECT_NE(interpret(plan).sums, right.sums);
  EXPECT_TRUE(hasCode(checkPlan(plan), "accumulation-order"));
}

} // namespace
} // namespace mtc::schedules::test
