//===- experiment.cpp - what an op touches, found by running it -----------===//
#include "experiment.h"

#include "mtc/runtime/step_field.h"
#include "test/unit/half.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

using namespace mtc::runtime;

namespace mtc::test {
namespace {

constexpr int kPoisons = 3;

uint64_t mixed(uint64_t x) {
  x = (x + 0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

/// NaN in every type; small integers, which a use as an index takes for good;
/// anything. No word is the same in two of them.
uint32_t poisonWord(int poison, int64_t index) {
  switch (poison) {
  case 0:
    return ~uint32_t(0);
  case 1:
    return 1 + mixed(index) % 7;
  default:
    return 0x01010101 | static_cast<uint32_t>(mixed(index) >> 33) << 1;
  }
}

using Bytes = std::vector<unsigned char>;

/// A poison for the largest arena; made once.
const Bytes &poisonBytes(int poison, int64_t bytes) {
  static std::array<Bytes, kPoisons> made;
  Bytes &all = made[poison];
  if (static_cast<int64_t>(all.size()) < bytes) {
    all.resize((bytes + 3) / 4 * 4);
    for (size_t i = 0; i < all.size(); i += 4) {
      uint32_t word = poisonWord(poison, i);
      std::memcpy(&all[i], &word, 4);
    }
  }
  return all;
}

/// Writes element `index` of an input: a positive number of moderate size, or
/// an index into the smallest of tables.
void writeInput(mlir::Type element, int64_t index, unsigned char *to) {
  uint64_t random = mixed(index);
  float value = 0.125F + static_cast<float>(random % 4096) / 4096;
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if (element.isBF16())
    bits >>= 16;
  if (element.isF16())
    bits = nearestF16(value);
  uint64_t word = element.isInteger() ? random % 13 : bits;
  std::memcpy(to, &word, element.getIntOrFloatBitWidth() / 8);
}

/// One rank and what its op declares.
class Side {
public:
  Side(Machine &machine, const Case &which, int rank,
       std::optional<Forgotten> forgotten)
      : rank(rank), arenas(machine.arenas(rank)),
        declared(declaredBy(which.stages.at(machine.stageOf(rank)).op,
                            machine.mesh().coordinates(rank), machine.mesh())) {
    if (!forgotten)
      return;
    rt::AccessKind &kind = declared[forgotten->declared].kind;
    (forgotten->read ? kind.reads : kind.writes) = false;
  }

  /// The first declaration that leaves its arena; empty if none does.
  std::string misplaced() const {
    for (const Declared &d : declared)
      if (!inside(d.start.offset, d.bytes, arenas[d.start.arena].bytes))
        return fmt::format("rank {}: {} leaves the arena {}", rank, d.what,
                           kArenas[d.start.arena].name);
    return "";
  }

  void prepare(int poison) {
    for (size_t i = 0; i < arenas.size(); ++i)
      if (arenas[i].bytes > 0)
        std::memcpy(arenas[i].base, poisonBytes(poison, arenas[i].bytes).data(),
                    arenas[i].bytes);
    writeStep();
    for (const Declared &d : declared)
      if (d.kind.reads)
        writeInputs(d);
    for (size_t i = 0; i < arenas.size(); ++i) {
      auto *base = static_cast<unsigned char *>(arenas[i].base);
      before[i].assign(base, base + arenas[i].bytes);
    }
  }

  /// Looks at memory after the run with a poison.
  void inspect(int poison, std::vector<std::string> &found) {
    for (size_t i = 0; i < arenas.size(); ++i)
      compareRest(static_cast<MtcArena>(i), found);
    for (size_t i = 0; i < declared.size(); ++i)
      if (declared[i].kind.writes && !declared[i].kind.scratch)
        compareOutput(i, poison, found);
  }

private:
  unsigned char *at(ArenaOffset from) const {
    return static_cast<unsigned char *>(arenas[from.arena].base) + from.offset;
  }

  /// What the runtime puts into the step block for its own functions, and for
  /// addresses of random numbers.
  void writeStep() {
    auto *state = reinterpret_cast<MtcStepState *>(at({MTC_ARENA_STEP, 0}));
    state->block.seed = StepValues::kSeed;
    state->block.sample_base = StepValues::kSampleBase;
    state->block.step = 1;
    state->block.follows = 0; // so that nothing of the step before is read
    state->block.clip_threshold = 1;
    state->block.inv_loss_scale = 1;
  }

  void writeInputs(const Declared &d) {
    int64_t width = d.element.getIntOrFloatBitWidth() / 8;
    for (int64_t i = 0; i * width < d.bytes; ++i)
      writeInput(d.element, rank * 1000003 + d.start.offset + i,
                 at(d.start) + i * width);
  }

  /// Every byte that is not declared as written is as before.
  void compareRest(MtcArena arena, std::vector<std::string> &found) {
    std::vector<std::pair<int64_t, int64_t>> written;
    for (const Declared &d : declared)
      if (d.kind.writes && d.start.arena == arena)
        written.emplace_back(d.start.offset, d.start.offset + d.bytes);
    std::sort(written.begin(), written.end());
    written.emplace_back(arenas[arena].bytes, arenas[arena].bytes);
    int64_t from = 0;
    for (auto [begin, end] : written) {
      if (from < begin)
        compareRange(arena, from, begin, found);
      from = std::max(from, end);
    }
  }

  void compareRange(MtcArena arena, int64_t begin, int64_t end,
                    std::vector<std::string> &found) {
    const unsigned char *now = at({arena, 0}), *was = before[arena].data();
    if (std::memcmp(now + begin, was + begin, end - begin) == 0)
      return;
    int64_t byte =
        std::mismatch(now + begin, now + end, was + begin).first - now;
    found.push_back(fmt::format(
        "rank {}: writes byte {} of the arena {}, which it does not declare",
        rank, byte, kArenas[arena].name));
  }

  /// What is stored does not depend on what was in memory.
  void compareOutput(size_t index, int poison,
                     std::vector<std::string> &found) {
    const Declared &d = declared[index];
    Bytes made(at(d.start), at(d.start) + d.bytes);
    outputs.resize(declared.size());
    if (poison == 0) {
      outputs[index] = std::move(made);
      return;
    }
    auto differs =
        std::mismatch(made.begin(), made.end(), outputs[index].begin());
    if (differs.first != made.end())
      found.push_back(fmt::format(
          "rank {}: byte {} of {}, which it declares as written, depends on "
          "memory that it does not declare as read, or is not written",
          rank, differs.first - made.begin(), d.what));
  }

  int rank;
  ArenaViews arenas;
  std::vector<Declared> declared;
  std::array<Bytes, MTC_ARENA_COUNT> before;
  std::vector<Bytes> outputs; ///< with the first poison, by declared
};

/// All ranks of a collective; else the first and the last that have the op.
std::vector<int> ranksOf(const Machine &machine, const Case &which) {
  std::vector<int> ranks;
  for (int rank = 0; rank < machine.mesh().worldSize(); ++rank)
    if (which.stages.contains(machine.stageOf(rank)))
      ranks.push_back(rank);
  if (which.isCollective() || ranks.size() < 2)
    return ranks;
  return {ranks.front(), ranks.back()};
}

} // namespace

std::vector<std::string> findings(Machine &machine, const Case &which,
                                  std::optional<Forgotten> forgotten) {
  std::vector<int> ranks = ranksOf(machine, which);
  std::vector<Side> sides;
  for (int rank : ranks) {
    sides.emplace_back(machine, which, rank, forgotten);
    if (std::string wrong = sides.back().misplaced(); !wrong.empty())
      return {wrong};
  }
  std::vector<std::string> found;
  for (int poison = 0; poison < kPoisons; ++poison) {
    for (Side &side : sides)
      side.prepare(poison);
    if (Status status = machine.run(which, ranks); !status.ok())
      return {"does not run: " + status.message()};
    for (Side &side : sides)
      side.inspect(poison, found);
  }
  return found;
}

std::vector<Forgotten> whatMayBeForgotten(Machine &machine, const Case &which) {
  std::vector<Forgotten> all;
  std::vector<Declared> declared = declaredBy(
      which.op(), machine.mesh().coordinates(ranksOf(machine, which).front()),
      machine.mesh());
  for (size_t i = 0; i < declared.size(); ++i) {
    if (declared[i].kind.reads)
      all.push_back({i, true});
    if (declared[i].kind.writes && !declared[i].kind.scratch)
      all.push_back({i, false});
  }
  return all;
}

} // namespace mtc::test
