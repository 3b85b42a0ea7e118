//===- assignment.cpp - what is written before it is read -----------------===//
#include "test/cuda/ptx/decode/assignment.h"

namespace mtc::ptx {
namespace {

/// Beyond so many bits of sets all registers are followed: only a text that
/// nobody compiled has them.
constexpr uint64_t kMostBits = uint64_t(1) << 31;

using Set = std::vector<uint64_t>;

bool has(const Set &set, uint32_t reg) {
  return set[reg / 64] >> (reg % 64) & 1;
}
void add(Set &set, uint32_t reg) { set[reg / 64] |= uint64_t(1) << (reg % 64); }

/// Which registers may be unwritten where they are read.
class Finder {
public:
  Finder(const Function &function, const std::vector<RegisterUse> &uses,
         const Code &code)
      : uses_(uses), code_(code), words_(function.registers.size() / 64 + 1),
        found_(words_, 0) {}

  Set run() {
    cutBlocks();
    if (uint64_t(starts_.size()) * words_ * 64 > kMostBits)
      return Set(words_, ~uint64_t(0));
    // Everything is taken for written until a way shows that it is not.
    entry_.assign(starts_.size(), Set(words_, ~uint64_t(0)));
    entry_[0].assign(words_, 0);
    std::vector<uint32_t> work{0};
    std::vector<bool> seen(starts_.size());
    while (!work.empty()) {
      uint32_t block = work.back();
      work.pop_back();
      seen[block] = true;
      Set written = through(block, /*note=*/false);
      for (uint32_t next : successors(block))
        if (meet(entry_[next], written) || !seen[next])
          work.push_back(next);
    }
    for (uint32_t block = 0; block < starts_.size(); ++block)
      if (seen[block])
        through(block, /*note=*/true);
    return found_;
  }

private:
  void cutBlocks() {
    size_t count = code_.instructions.size();
    std::vector<bool> first(count + 1);
    first[0] = true;
    for (size_t k = 0; k < count; ++k) {
      const Instruction &i = code_.instructions[k];
      if (i.flow == Flow::branch)
        first[i.target] = true;
      if (i.flow == Flow::table)
        for (uint32_t target : code_.tables[i.target])
          first[target] = true;
      if (i.flow != Flow::plain && i.flow != Flow::barrier)
        first[k + 1] = true;
    }
    blockOf_.resize(count + 1);
    for (size_t k = 0; k < count; ++k) {
      if (first[k])
        starts_.push_back(uint32_t(k));
      blockOf_[k] = uint32_t(starts_.size() - 1);
    }
  }

  uint32_t endOf(uint32_t block) const {
    return block + 1 < starts_.size() ? starts_[block + 1]
                                      : uint32_t(uses_.size());
  }

  std::vector<uint32_t> successors(uint32_t block) const {
    uint32_t end = endOf(block);
    const Instruction &last = code_.instructions[end - 1];
    std::vector<uint32_t> next;
    if (last.flow == Flow::branch)
      next.push_back(blockOf_[last.target]);
    if (last.flow == Flow::table)
      for (uint32_t target : code_.tables[last.target])
        next.push_back(blockOf_[target]);
    bool goesOn =
        last.flow == Flow::plain || last.flow == Flow::barrier || last.guarded;
    if (goesOn && end < uses_.size())
      next.push_back(blockOf_[end]);
    return next;
  }

  void check(const Set &written, uint32_t reg, bool note) {
    if (note && !has(written, reg))
      add(found_, reg);
  }

  Set through(uint32_t block, bool note) {
    Set written = entry_[block];
    for (uint32_t k = starts_[block]; k < endOf(block); ++k) {
      const RegisterUse &use = uses_[k];
      if (use.guard >= 0)
        check(written, uint32_t(use.guard), note);
      for (uint32_t reg : use.reads)
        check(written, reg, note);
      for (uint32_t reg : use.sums)
        check(written, reg, note);
      if (!code_.instructions[k].guarded)
        for (const auto *list : {&use.writes, &use.sums})
          for (uint32_t reg : *list)
            add(written, reg);
    }
    return written;
  }

  static bool meet(Set &into, const Set &written) {
    bool changed = false;
    for (size_t k = 0; k < into.size(); ++k) {
      uint64_t both = into[k] & written[k];
      changed |= both != into[k];
      into[k] = both;
    }
    return changed;
  }

  const std::vector<RegisterUse> &uses_;
  const Code &code_;
  size_t words_;
  Set found_;
  std::vector<uint32_t> starts_, blockOf_;
  std::vector<Set> entry_;
};

} // namespace

void trackUnwritten(const Function &function,
                    const std::vector<RegisterUse> &uses, Frame &frame,
                    Code &code) {
  Set followed = Finder(function, uses, code).run();
  std::vector<uint32_t> number(function.registers.size(), kNowhere);
  for (uint32_t reg = 0; reg < number.size(); ++reg)
    if (has(followed, reg)) {
      number[reg] = uint32_t(code.tracked.size());
      const Register &each = function.registers[reg];
      code.tracked.push_back(
          {frame.mask(), each.name, bytesOf(each.type) == 2});
    }
  if (code.tracked.empty())
    return;
  for (size_t k = 0; k < uses.size(); ++k) {
    Tracking tracking;
    auto note = [&](const std::vector<uint32_t> &regs,
                    std::vector<uint32_t> &to) {
      for (uint32_t reg : regs)
        if (number[reg] != kNowhere)
          to.push_back(number[reg]);
    };
    note(uses[k].reads, tracking.reads);
    note(uses[k].writes, tracking.writes);
    note(uses[k].sums, tracking.writes);
    note(uses[k].sums, tracking.sums);
    if (uses[k].guard >= 0)
      tracking.guard = number[size_t(uses[k].guard)];
    Instruction &i = code.instructions[k];
    i.tracked = !tracking.reads.empty() || !tracking.writes.empty() ||
                tracking.guard != kNowhere;
    if (!i.tracked)
      continue;
    i.tracking = uint32_t(code.tracking.size());
    code.tracking.push_back(std::move(tracking));
  }
}

} // namespace mtc::ptx
