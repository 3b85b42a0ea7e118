//===- trace.cpp - what warps read and wrote ------------------------------===//
#include "test/cuda/ptx/trace.h"

#include <bit>

namespace mtc::ptx {
namespace {

uint64_t mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 29;
}

uint64_t hashOf(Warp &warp, const std::vector<uint32_t> &registers,
                uint32_t lanes, uint64_t hash) {
  for (uint32_t reg : registers) {
    auto [place, slot] = warp.block->code.registers[reg];
    if (slot == 0)
      hash = mixed(hash, warp.mask(place) & lanes);
    else
      forLanes(lanes, [&, place = place, slot = slot](int lane) {
        hash = mixed(hash, warp.read(place, slot, lane));
      });
  }
  return hash;
}

uint64_t written(Warp &warp, const RegisterUse &use, uint32_t lanes) {
  uint64_t hash = hashOf(warp, use.writes, lanes, warp.carry & lanes);
  return hashOf(warp, use.sums, lanes, hash);
}

uint64_t exactHash(Warp &warp, const Instruction &by, Arithmetic what,
                   uint32_t lanes) {
  uint64_t hash = 0;
  bool fused = what == Arithmetic::fused;
  const float *a = warp.slots<float>(by.from[0]);
  const float *b = warp.slots<float>(by.from[1]);
  const float *c = fused ? warp.slots<float>(by.from[2]) : nullptr;
  forLanes(lanes, [&](int lane) {
    auto [high, low] = exactValue(what, a[lane], b[lane], fused ? c[lane] : 0);
    hash = mixed(hash, std::bit_cast<uint64_t>(high));
    hash = mixed(hash, std::bit_cast<uint64_t>(low));
  });
  return hash;
}

class Comparison {
public:
  Comparison(int line, Difference &difference)
      : line(line), difference(difference) {}

  /// One warp in both runs.
  void run(const std::vector<Step> &first, const std::vector<Step> &second) {
    size_t i = 0, j = 0;
    while ((i < first.size() || j < second.size()) && !difference.otherWay) {
      bool one = i < first.size() && first[i].line == line;
      bool two = j < second.size() && second[j].line == line;
      if (one || two)
        lookedAt(one ? &first[i] : nullptr, two ? &second[j] : nullptr);
      else if (i < first.size() && j < second.size())
        others(first[i], second[j]);
      else
        difference.otherWay = true;
      bool either = one || two;
      i += !either || one;
      j += !either || two;
    }
  }

private:
  /// Null: left out, or no lane's guard is true.
  void lookedAt(const Step *first, const Step *second) {
    difference.executed = true;
    if (first && second) {
      bool same = first->lanes == second->lanes && first->hasResult;
      difference.otherOperands |= first->read != second->read;
      difference.otherResult |= !same || first->wrote != second->wrote;
      return;
    }
    const Step *only = first ? first : second;
    difference.otherOperands = true;
    difference.otherResult |= !only->hasResult || only->found != only->wrote;
  }

  void others(const Step &first, const Step &second) {
    if (first.line != second.line || first.lanes != second.lanes) {
      difference.otherWay = true;
      return;
    }
    bool sameRead = first.read == second.read;
    bool sameWrote = first.wrote == second.wrote;
    if (!sameRead && sameWrote) {
      difference.lost.insert(first.line);
      if (first.exact != second.exact)
        difference.rounded.insert(first.line);
    }
    if (sameRead && !sameWrote)
      difference.through.insert(first.line);
    if (!sameRead && !sameWrote)
      difference.carried.insert(first.line);
  }

  int line;
  Difference &difference;
};

} // namespace

void Trace::begin() {
  ++launches;
  block = nullptr;
}

std::vector<Step> &Trace::of(Warp &warp) {
  if (block != warp.block || number != warp.block->number) {
    block = warp.block;
    number = block->number;
    recent.assign(block->warps.size(), nullptr);
  }
  std::vector<Step> *&steps = recent[size_t(warp.index)];
  if (!steps)
    steps = &warps[{launches, number, warp.index}];
  return *steps;
}

Arithmetic Trace::arithmeticOf(const Block &block, uint32_t pc) {
  std::vector<Arithmetic> &known = arithmetic[&block.code];
  if (known.empty())
    for (const Instruction &each : block.code.instructions)
      known.push_back(
          ptx::arithmeticOf(block.program.lines[size_t(each.line) - 1]));
  return known[pc];
}

void Trace::before(Warp &warp, uint32_t pc, uint32_t active) {
  const Code &code = warp.block->code;
  const RegisterUse &use = code.uses[pc];
  Step step{code.instructions[pc].line, active};
  step.hasResult = !use.writes.empty() || !use.sums.empty();
  step.read = hashOf(warp, use.reads, active, 0);
  step.read = hashOf(warp, use.sums, active, step.read);
  if (step.line == line)
    step.found = written(warp, use, active);
  if (Arithmetic what = arithmeticOf(*warp.block, pc); what != Arithmetic::none)
    step.exact = exactHash(warp, code.instructions[pc], what, active);
  of(warp).push_back(step);
}

void Trace::after(Warp &warp, uint32_t pc, uint32_t active) {
  of(warp).back().wrote = written(warp, warp.block->code.uses[pc], active);
}

Difference compare(const Trace &first, const Trace &second) {
  Difference difference;
  Comparison comparison(first.lookedAt(), difference);
  static const std::vector<Step> none;
  auto stepsOf = [](const Trace &trace,
                    const Trace::Place &place) -> const std::vector<Step> & {
    auto found = trace.steps().find(place);
    return found == trace.steps().end() ? none : found->second;
  };
  for (const auto &[place, steps] : first.steps())
    comparison.run(steps, stepsOf(second, place));
  for (const auto &[place, steps] : second.steps())
    if (!first.steps().contains(place))
      comparison.run(none, steps);
  return difference;
}

} // namespace mtc::ptx
