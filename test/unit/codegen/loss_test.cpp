//===- loss_test.cpp - the loss's reductions along a row ------------------===//
//
// The cross-entropy of gpt2-nano, as instructions: its largest logit and its
// sums have four accumulators each, and no comparison looks for NaN, which the
// results have all the same.
//
//===----------------------------------------------------------------------===//
#include "team_kernels.h"

#include "mtc/runtime/isa.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <map>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;

namespace {

constexpr int64_t kRows = 128, kCols = 256, kWords = 250;
/// Of a pass over a row (docs/numerics.md).
constexpr int kAccumulators = 4;
/// The loss of training. (That of an evaluation also stores logits, which in
/// bf16 are rounded, where a NaN must be looked for.)
constexpr const char *kKernels[] = {"f32_6", "bf16_26"};
constexpr const char *kSets[] = {"x86-64-v3", "x86-64-v4", "x86-64-v4-bf16"};

//===--- instructions -----------------------------------------------------===//

struct Instruction {
  std::string name;
  std::vector<std::string> places; ///< registers by number, memory as written
};
using Loop = std::vector<Instruction>;

/// `%zmm3 {%k1}` is v3 and {%k1, `8(%rsp,%rax)` one place.
std::vector<std::string> placesOf(const std::string &text) {
  std::vector<std::string> places(1);
  int depth = 0;
  for (char c : text) {
    depth += (c == '(') - (c == ')');
    bool separates = c == ',' && depth == 0;
    if (separates || c == '{')
      places.emplace_back();
    if (!separates && c != ' ' && c != '\t' && c != '}')
      places.back() += c;
  }
  for (std::string &place : places)
    if (place.size() > 4 && place.substr(2, 2) == "mm")
      place = "v" + place.substr(4);
  return places;
}

/// The innermost loops of a function: from a label to the jump to it.
std::vector<Loop> innerLoops(const std::string &function) {
  std::istringstream stream(function);
  std::map<std::string, size_t> labels;
  std::vector<Loop> loops;
  Loop all;
  size_t taken = 0;
  for (std::string line; std::getline(stream, line);) {
    line = line.substr(0, line.find('#'));
    if (line.compare(0, 4, ".LBB") == 0)
      labels[line.substr(0, line.find(':'))] = all.size();
    std::istringstream words(line);
    std::string name, rest;
    if (line.empty() || line[0] != '\t' || !(words >> name) || name[0] == '.')
      continue;
    std::getline(words, rest);
    all.push_back({name, placesOf(rest)});
    auto target = labels.find(all.back().places[0]);
    if (name[0] != 'j' || target == labels.end() || target->second < taken)
      continue;
    loops.emplace_back(all.begin() + target->second, all.end());
    taken = all.size();
  }
  return loops;
}

int countOf(const Loop &loop, const std::string &name) {
  int n = 0;
  for (const Instruction &i : loop)
    n += i.name == name;
  return n;
}

/// By how many instructions `name`, each of which waits for the one before it,
/// the longest chain grows in so many turns of the loop.
int growth(const Loop &loop, const std::string &name, int turns) {
  std::map<std::string, int> lengths;
  auto run = [&] {
    int longest = 0;
    for (int turn = 0; turn < turns; ++turn)
      for (const Instruction &i : loop) {
        // `vop a, b, d {k}`: d is read, too, by what adds to a product, and
        // where a mask leaves it as it is, not with {z}.
        auto mask = std::find_if(
            i.places.begin(), i.places.end(),
            [](const std::string &place) { return place[0] == '{'; });
        auto to = static_cast<size_t>(mask - i.places.begin()) - 1;
        bool chooses = i.name.find("vblend") == 0 || i.places.back() == "{z";
        bool keeps = i.name.find("vfm") == 0 || i.name.find("vfnm") == 0 ||
                     (mask != i.places.end() && !chooses);
        int length = keeps ? lengths[i.places[to]] : 0;
        for (size_t from = 0; from < to; ++from)
          length = std::max(length, lengths[i.places[from]]);
        lengths[i.places[to]] = length + (i.name == name);
        longest = std::max(longest, lengths[i.places[to]]);
      }
    return longest;
  };
  int first = run(); // until what comes in front of the loop shows no more
  return run() - first;
}

/// So many accumulators: that much of the work does not wait.
void expectAccumulators(const Loop &loop, const std::string &name,
                        int ofAVector, int vectors) {
  constexpr int kTurns = 32;
  EXPECT_EQ(countOf(loop, name), ofAVector * vectors) << name;
  EXPECT_EQ(growth(loop, name, kTurns), kTurns * vectors / kAccumulators)
      << name;
}

class Loss : public testing::Test {
protected:
  void SetUp() override {
    context = makeContext();
    auto all = teamKernels(*context);
    ASSERT_TRUE(all);
    module = ModuleOp::create(all->getLoc());
    for (const char *name : kKernels)
      module->push_back(all->lookupSymbol(name)->clone());
  }

  /// The passes of a kernel over its row, in the order of the code.
  std::vector<Loop> passes(const std::string &set, const std::string &name) {
    auto isa = *codegen::isaByName(set);
    auto low = lowered(*module, isa.lanes, isa.nativeBf16);
    std::string text = llvm::cantFail(codegen::emitAssembly(*low, isa));
    size_t begin = text.find("\n" + name + ":"),
           end = text.find(".size\t" + name, begin);
    EXPECT_NE(end, std::string::npos) << name;
    return innerLoops(text.substr(begin, end - begin));
  }

  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
};

} // namespace

// The first pass has the maximum, which is one of integers, and the logit that
// the label names; the second one has exponentials, four vectors at a time.
TEST_F(Loss, HasFourAccumulatorsAndLooksForNoNaN) {
  for (const char *set : kSets)
    for (const char *name : kKernels) {
      SCOPED_TRACE(testing::Message() << name << " for " << set);
      std::vector<Loop> loops = passes(set, name);
      ASSERT_EQ(loops.size(), 2u);
      int vectors = countOf(loops[0], "vpmaxud");
      ASSERT_GE(vectors, 1);
      expectAccumulators(loops[0], "vpmaxud", 1, vectors);
      expectAccumulators(loops[0], "vaddps", 1, vectors);
      // Two additions of an exponential's own, one to the sum.
      EXPECT_EQ(countOf(loops[1], "vsubps"), kAccumulators);
      expectAccumulators(loops[1], "vaddps", 3, kAccumulators);
      for (const Loop &loop : loops)
        for (const Instruction &i : loop) {
          EXPECT_EQ(i.name.find("vmaxp"), std::string::npos);
          EXPECT_EQ(i.name.find("vcmpunord"), std::string::npos);
          EXPECT_EQ(i.name.find("vcmpord"), std::string::npos);
        }
      // Logits are compared with nothing: numbers of columns are.
      for (const Instruction &i : loops[0])
        EXPECT_NE(i.name.substr(0, 4), "vcmp") << i.name;
    }
}

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double logit(int64_t row, int64_t col) {
  return static_cast<double>((row * 37 + col * 11) % 64) / 16 - 2; // of bf16
}

/// The largest logit, sum of exponentials and loss of each row.
struct Rows {
  Buffer most, sum, loss;
};

Rows run(rt::KernelOp kernel, const Library &library, const Buffer &logits) {
  Buffer ofRows;
  for (int64_t row = 0; row < kRows; ++row)
    ofRows.elements.push_back({NAN, uint64_t(row % kWords), 0});
  std::vector<Memory> memory;
  std::vector<void *> pointers;
  for (auto info : kernel.getOperandsInfo().getAsRange<rt::OperandAttr>())
    memory.emplace_back(info.getElement(),
                        info.getMode() == rt::Mode::Full ? logits : ofRows);
  for (Memory &m : memory)
    pointers.push_back(m.data());
  call(library.find(kernel.getSymName().str()), pointers, {});
  return {memory[1].read(), memory[2].read(), memory[4].read()};
}

/// Rows of ordinary logits, with `odd` in row r's column 2·r.
Buffer logitsWith(double odd) {
  Buffer logits;
  for (int64_t row = 0; row < kRows; ++row)
    for (int64_t col = 0; col < kCols; ++col)
      logits.elements.push_back({col == 2 * row ? odd : logit(row, col), 0, 0});
  return logits;
}

void expectRow(const Rows &found, const Buffer &logits, int64_t row) {
  double most = -kInfinite, sum = 0, label = 0;
  bool isNaN = false;
  for (int64_t col = 0; col < kWords; ++col) {
    double x = logits.elements[row * kCols + col].f;
    isNaN |= std::isnan(x);
    most = std::max(most, x);
    label = col == row % kWords ? x : label;
  }
  if (isNaN)
    most = NAN;
  for (int64_t col = 0; col < kWords; ++col)
    sum += std::exp(logits.elements[row * kCols + col].f - most);
  double loss = (std::log(sum) + most - label) / kRows;
  auto expectNear = [&](double x, double y, const char *what) {
    if (std::isnan(y) || std::isinf(y))
      EXPECT_TRUE(std::isnan(y) ? std::isnan(x) : x == y)
          << what << " " << row << ": " << x << " for " << y;
    else
      EXPECT_NEAR(x, y, 1e-5 * (std::fabs(y) + 1)) << what << " " << row;
  };
  expectNear(found.most.elements[row].f, most, "largest");
  expectNear(found.sum.elements[row].f, sum, "sum");
  expectNear(found.loss.elements[row].f, loss, "loss");
}

} // namespace

// A NaN of either sign makes its row's maximum, sum and loss NaN, wherever it
// is but in the padding; infinities do what subtraction makes of them.
TEST_F(Loss, KeepsWhatIsNotFinite) {
  int ran = 0;
  for (const char *set : kSets) {
    if (!runtime::processorHas(set))
      continue;
    Library library(*module, *codegen::isaByName(set));
    ASSERT_TRUE(library.loaded());
    for (const char *name : kKernels)
      for (float odd : {NAN, -NAN, float(kInfinite), float(-kInfinite), 1.0f}) {
        SCOPED_TRACE(testing::Message() << name << " " << set << " " << odd);
        Buffer logits = logitsWith(odd);
        auto kernel = module->lookupSymbol<rt::KernelOp>(name);
        Rows found = run(kernel, library, logits);
        for (int64_t row = 0; row < kRows; ++row)
          expectRow(found, logits, row);
        ++ran;
      }
  }
  if (!ran)
    GTEST_SKIP() << "this machine has no supported instruction set";
}
