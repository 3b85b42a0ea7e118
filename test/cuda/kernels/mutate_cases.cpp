//===- mutate_cases.cpp - are wrong kernels found? ------------------------===//
//
//   mutate_cases FOLDER SEED COUNT
//
// changes one instruction of a random kernel of FOLDER/cases.bin, COUNT times,
// and runs the kernel's case: a mutant is refused, ends with a fault, leaves
// the evaluator's bounds, has other bits than the kernel, or has its bits.
// Counts of each by kind of change, and the lines of those that had its bits.
//
//===----------------------------------------------------------------------===//
#include "case_run.h"
#include "mutants.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

using namespace mtc;
using namespace mtc::test;

namespace {

using Bits = std::vector<std::vector<uint8_t>>;

/// Warp instructions that a mutant may take: no kernel here takes as many.
constexpr uint64_t kMutantLimit = 3'000'000;

/// Sets of data that a mutant must have the kernel's bits on, beside the first.
constexpr int kOtherData = 8;

std::string join(const std::vector<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += line + "\n";
  return text;
}

/// What becomes of a text as the kernel of a case, empty if nothing is wrong
/// with it; `bits` is what came out.
std::string outcomeOf(const KernelCase &c, const std::string &text,
                      Bits &bits) {
  std::vector<ptx::Problem> problems;
  auto module = ptx::Module::fromText(text, kernelRules(), problems);
  if (!module)
    return "refused";
  CaseRun run(c, *module, 1);
  if (auto fault = run.run(kMutantLimit))
    return "fault: " + std::string(ptx::describe(fault->kind));
  bits.clear();
  bool wrong = false;
  for (size_t i = 0; i < c.operands.size(); ++i) {
    bits.push_back(run.read(i));
    wrong |= !wrongElement(c.operands[i], bits.back()).empty();
  }
  return wrong ? "beyond its bound of error" : "";
}

/// The same case on other data: elements in another order, floats times a power
/// of two. What has to come out is not known.
KernelCase withOtherData(KernelCase c, std::mt19937 &rng) {
  for (CaseOperand &o : c.operands) {
    uint64_t width = widthOf(o.element);
    int shift = static_cast<int>(rng() % 9) - 4;
    for (uint64_t i = o.count; i > 1; --i) {
      uint64_t other = rng() % i;
      std::swap_ranges(o.before.begin() + (i - 1) * width,
                       o.before.begin() + i * width,
                       o.before.begin() + other * width);
    }
    for (uint64_t i = 0; o.element == "f32" && i < o.count; ++i) {
      float x;
      std::memcpy(&x, o.before.data() + 4 * i, 4);
      x = std::ldexp(rng() % 4 ? x : -x, shift);
      std::memcpy(o.before.data() + 4 * i, &x, 4);
    }
    o.expected.clear(), o.tolerance.clear();
  }
  return c;
}

class Campaign {
public:
  Campaign(std::string folder, unsigned seed)
      : folder(std::move(folder)), rng(seed) {}

  bool load() {
    std::string wrong = loadCases(folder + "/cases.bin", cases);
    if (!wrong.empty())
      std::cerr << wrong << "\n";
    return wrong.empty() && !cases.empty();
  }

  void run(int count) {
    for (int made = 0; made < count;)
      made += runOne(cases[rng() % cases.size()]);
    for (const auto &[outcome, byKind] : outcomes) {
      int sum = 0;
      for (const auto &[kind, n] : byKind)
        sum += n;
      std::cout << sum << " " << outcome << ":";
      for (const auto &[kind, n] : byKind)
        std::cout << " " << n << " " << kind;
      std::cout << "\n";
    }
  }

private:
  const std::string &textOf(const std::string &file) {
    auto [entry, isNew] = texts.try_emplace(file);
    if (isNew) {
      std::ifstream stream(folder + "/" + file);
      std::stringstream text;
      text << stream.rdbuf();
      entry->second = text.str();
    }
    return entry->second;
  }

  /// False if there was nothing to change.
  bool runOne(const KernelCase &c) {
    std::vector<std::string> entries;
    for (const CaseLaunch &launch : c.launches)
      entries.push_back(launch.entry);
    auto lines = linesOf(textOf(c.ptx), entries);
    Mutant mutant = makeMutant(lines, rng);
    Bits right, found;
    // Of a kernel that is itself wrong execute_cases says why.
    if (mutant.kind.empty() || !outcomeOf(c, join(lines), right).empty())
      return false;
    std::string outcome = outcomeOf(c, join(mutant.lines), found);
    if (outcome.empty())
      outcome = found != right || differsOnOtherData(c, lines, mutant.lines)
                    ? "other bits"
                    : ruleOf(c, lines, mutant);
    ++outcomes[outcome][mutant.kind];
    if (outcome == kOtherReason)
      std::cout << c.ptx << " " << c.kernel << " " << mutant.kind << ": "
                << lines[mutant.line] << " -> " << mutant.lines[mutant.line]
                << "\n";
    return true;
  }

  bool differsOnOtherData(const KernelCase &c,
                          const std::vector<std::string> &lines,
                          const std::vector<std::string> &mutant) {
    for (int i = 0; i < kOtherData; ++i) {
      KernelCase other = withOtherData(c, rng);
      Bits right, found;
      std::string outcome = outcomeOf(other, join(lines), right);
      if (outcomeOf(other, join(mutant), found) != outcome || found != right)
        return true;
    }
    return false;
  }

  /// Why a mutant has the kernel's bits.
  std::string ruleOf(const KernelCase &c, std::vector<std::string> lines,
                     const Mutant &mutant) {
    if (mutant.kind == "operands" && isCommutative(lines[mutant.line]))
      return "equal: commutative";
    Bits bits;
    lines[mutant.line] = "\ttrap;";
    if (outcomeOf(c, join(lines), bits).empty())
      return "equal: no thread comes to the line";
    return kOtherReason;
  }

  static constexpr const char *kOtherReason = "equal for another reason";

  std::string folder;
  std::mt19937 rng;
  std::vector<KernelCase> cases;
  std::map<std::string, std::string> texts;
  std::map<std::string, std::map<std::string, int>> outcomes;
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 4) {
    std::cerr << "usage: mutate_cases FOLDER SEED COUNT\n";
    return 2;
  }
  Campaign campaign(argv[1], static_cast<unsigned>(std::stoul(argv[2])));
  if (!campaign.load())
    return 2;
  campaign.run(std::stoi(argv[3]));
}
