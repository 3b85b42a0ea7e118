//===- team_test.cpp - kernels on several threads -------------------------===//
//
// Random kernels, and shapes that models have, compiled for one thread and for
// several: every byte that they leave must be the same.
//
//===----------------------------------------------------------------------===//
#include "harness.h"
#include "on_team.h"
#include "passes/codegen/cpu_team.h"
#include "random_inputs.h"
#include "random_kernel.h"

#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;
using codegen::TeamForm;

namespace {

/// A kernel's operands in memory, those that share one only once.
class Operands {
public:
  Operands(const RandomKernel &k, rt::KernelOp kernel,
           const std::vector<Buffer> &start)
      : shared(k.sharesWith) {
    for (auto [i, attr] : llvm::enumerate(kernel.getOperandsInfo()))
      memory.emplace_back(cast<rt::OperandAttr>(attr).getElement(), start[i]);
  }

  std::vector<void *> pointers() {
    std::vector<void *> all;
    for (size_t i = 0; i < memory.size(); ++i)
      all.push_back(at(i).data());
    return all;
  }
  Memory &at(size_t i) { return memory[shared[i] >= 0 ? shared[i] : i]; }
  size_t size() { return memory.size(); }

private:
  std::vector<int> shared;
  std::vector<Memory> memory;
};

/// Blocks of three rows and 24 columns, as products have them, the last first.
void callOnBlocks(void *function, Operands &operands,
                  const std::vector<int64_t> &args, int64_t rows,
                  int64_t cols) {
  constexpr int64_t kRows = 3, kCols = 24;
  for (int64_t row = (rows - 1) / kRows * kRows; row >= 0; row -= kRows)
    for (int64_t col = (cols - 1) / kCols * kCols; col >= 0; col -= kCols) {
      std::vector<int64_t> block = args;
      block.insert(block.end(), {row, std::min(row + kRows, rows), col,
                                 std::min(col + kCols, cols)});
      call(function, operands.pointers(), block);
    }
}

class TeamTest : public testing::Test {
protected:
  void run(const RandomKernel &k, rt::KernelOp kernel, int64_t threads) {
    std::vector<Buffer> start;
    for (auto [i, attr] : llvm::enumerate(kernel.getOperandsInfo()))
      start.push_back(
          fill(rng, kernel, int64_t(i),
               countOf(cast<rt::OperandAttr>(attr), k.rows, k.cols)));
    std::vector<int64_t> args = {0x123456789abcdef, 77, 259};
    args.resize(kernel.getArgs());
    if (k.dynamic)
      args.push_back(k.cols);
    Operands expected(k, kernel, start), found(k, kernel, start);
    std::string name = kernel.getSymName().str();
    call(alone->find(name), expected.pointers(), args);
    if (threads == kBlocks)
      callOnBlocks(team->find(name), found, args, k.rows, k.cols);
    else
      callOnTeam(team->find(name), found.pointers(), args,
                 codegen::teamWorkspace(kernel, threads), threads);
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_TRUE(found.at(i).guardsIntact()) << "operand " << i << k.text;
      ASSERT_EQ(found.at(i).bits(), expected.at(i).bits())
          << "operand " << i << " on " << threads << " threads\n"
          << k.text;
    }
    if (threads == kBlocks)
      return;
    auto plan = codegen::schedule(kernel, codegen::kCpuRowBuffer);
    ASSERT_TRUE(succeeded(plan));
    ++forms[codegen::teamShape(*plan, threads).form];
  }

  /// With `kBlocks` threads kernels are tiled, and called for each block.
  static constexpr int64_t kBlocks = 1;

  void runAll(std::vector<RandomKernel> &kernels, int64_t threads) {
    auto isa = codegen::hostIsa();
    ASSERT_TRUE(bool(isa));
    std::string text;
    for (const RandomKernel &k : kernels)
      text += k.text;
    auto context = makeContext();
    auto module = parse(*context, text);
    ASSERT_TRUE(module);
    alone.emplace(*module, *isa);
    OwningOpRef<ModuleOp> other(module->clone());
    if (threads == kBlocks)
      other->walk([](rt::KernelOp kernel) { kernel.setTiled(true); });
    team.emplace(*other, *isa, threads);
    ASSERT_TRUE(alone->loaded() && team->loaded());
    size_t i = 0;
    for (auto kernel : module->getOps<rt::KernelOp>())
      if (run(kernels[i++], kernel, threads); HasFatalFailure())
        return;
  }

  std::mt19937 rng{7};
  std::optional<Library> alone, team;
  std::map<TeamForm, int> forms;
};

/// Another number of rows: several blocks of what is kept for sums, whose last
/// is not whole.
void setRows(RandomKernel &k, int64_t rows) {
  if (k.rows == 1)
    return;
  std::string old = " rows " + std::to_string(k.rows) + " ";
  k.text.replace(k.text.find(old), old.size(),
                 " rows " + std::to_string(rows) + " ");
  k.rows = rows;
}

} // namespace

TEST_F(TeamTest, RandomKernelsLeaveTheSameBytes) {
  for (int64_t threads : {2, 3}) {
    std::vector<RandomKernel> kernels;
    for (int i = 0; i < 60; ++i) {
      kernels.push_back(makeRandomKernel(rng, "k" + std::to_string(i)));
      setRows(kernels.back(), i % 2 ? 5 : 131);
    }
    runAll(kernels, threads);
    if (HasFatalFailure())
      return;
  }
  for (TeamForm form :
       {TeamForm::One, TeamForm::Rows, TeamForm::Columns, TeamForm::Blocks})
    EXPECT_GE(forms[form], 5) << "form " << int(form);
}

TEST_F(TeamTest, BlocksLeaveTheSameBytes) {
  std::vector<RandomKernel> kernels;
  auto context = makeContext();
  for (int i = 0; i < 400; ++i) {
    RandomKernel k = makeRandomKernel(rng, "k" + std::to_string(i));
    auto module = parse(*context, k.text);
    ASSERT_TRUE(module);
    rt::KernelOp kernel = *module->getOps<rt::KernelOp>().begin();
    if (kernel.isElementwise() && !kernel.getGuarded())
      kernels.push_back(std::move(k));
  }
  EXPECT_GE(kernels.size(), 10u);
  runAll(kernels, kBlocks);
}

TEST_F(TeamTest, KernelsOfModelsLeaveTheSameBytes) {
  std::stringstream text;
  for (const char *name : {"/team_f32.mlir", "/team_bf16.mlir"})
    text << std::ifstream(std::string(MTC_CODEGEN_KERNELS) + name).rdbuf();
  auto context = makeContext();
  auto module = parse(*context, text.str());
  ASSERT_TRUE(module);
  std::vector<RandomKernel> kernels;
  for (auto kernel : module->getOps<rt::KernelOp>()) {
    size_t operands = kernel.getOperandsInfo().size();
    RandomKernel k{
        "",    int64_t(kernel.getRows()),      int64_t(kernel.getCols()),
        false, std::vector<int>(operands, -1), {}};
    llvm::raw_string_ostream(k.text) << kernel << "\n";
    kernels.push_back(std::move(k));
  }
  for (int64_t threads : {2, 3, 5})
    runAll(kernels, threads);
  EXPECT_EQ(forms[TeamForm::One], 0);
  EXPECT_GE(forms[TeamForm::Blocks], 6);
}
