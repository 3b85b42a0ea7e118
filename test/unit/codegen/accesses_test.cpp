//===- accesses_test.cpp - what kernels with a dropout read and write -----===//
//
// The loops that are emitted for clusters with a dropout, random ones and those
// of a model: each element of an operand is read once, and each of a result is
// written once and not read. Only what sums along a row needs more passes.
//
//===----------------------------------------------------------------------===//
#include "access_counter.h"
#include "fragments.h"
#include "team_kernels.h"

#include "passes/codegen/cpu_team.h"

#include "llvm/ADT/SetVector.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;

namespace {

/// One to three threads, and vectors of AVX2 and AVX-512.
std::vector<codegen::CpuVectors> machines() {
  std::vector<codegen::CpuVectors> all;
  for (int64_t threads : {1, 2, 3}) {
    all.push_back({8, false, threads});
    all.push_back({16, true, threads});
  }
  return all;
}

template <typename Op> int64_t countOf(rt::KernelOp kernel) {
  int64_t n = 0;
  kernel.walk([&](Op) { ++n; });
  return n;
}
bool hasDropout(rt::KernelOp kernel) { return countOf<rt::RandomOp>(kernel); }
bool sumsRows(rt::KernelOp kernel) {
  return countOf<rt::RowReduceOp>(kernel) > 0;
}

std::string print(rt::KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream(text) << kernel;
  return text;
}

void expectEach(const std::vector<int> &counts, int expected,
                const std::string &what) {
  for (size_t i = 0; i < counts.size(); ++i)
    ASSERT_EQ(counts[i], expected) << what << ", element " << i;
}

/// Of a kernel that sums along no row: an operand with an element for each row
/// and column is read once and written once, by whichever thread, or not at
/// all, and so is one that has fewer, once for each row that needs it.
void expectOnePass(rt::KernelOp kernel, const codegen::CpuVectors &vectors) {
  auto counts = countAccesses(kernel, vectors);
  ASSERT_TRUE(counts);
  auto infos = kernel.getOperandsInfo().getAsRange<rt::OperandAttr>();
  for (auto [i, info, access] :
       llvm::enumerate(infos, kernel.getOperandAccesses())) {
    const OperandAccesses &count = (*counts)[i];
    std::string what = "operand " + std::to_string(i);
    int rows = static_cast<int>(kernel.getRows()),
        cols = static_cast<int>(kernel.getCols());
    if (info.getMode() == rt::Mode::Full) {
      expectEach(count.reads, access.reads, what + " read");
      expectEach(count.writes, access.writes, what + " written");
    } else if (info.getMode() == rt::Mode::Col) {
      expectEach(count.reads, access.reads ? rows : 0, what + " read");
    } else if (info.getMode() == rt::Mode::Periodic) {
      expectEach(count.reads, rows / static_cast<int>(info.getExtent()),
                 what + " read");
    } else if (info.getMode() == rt::Mode::Table) {
      int64_t all = 0;
      for (int n : count.reads)
        all += n;
      EXPECT_LE(all, int64_t(rows) * cols) << what; // some are outside of it
    }
  }
}

/// Of one that does: no value is read in more passes than there are, and none
/// is written twice.
void expectFewPasses(rt::KernelOp kernel, const codegen::CpuVectors &vectors) {
  auto counts = countAccesses(kernel, vectors);
  ASSERT_TRUE(counts);
  auto plan = codegen::schedule(kernel, codegen::kCpuRowBuffer);
  ASSERT_TRUE(succeeded(plan));
  auto infos = kernel.getOperandsInfo().getAsRange<rt::OperandAttr>();
  for (auto [i, info, access] :
       llvm::enumerate(infos, kernel.getOperandAccesses())) {
    if (info.getMode() != rt::Mode::Full)
      continue;
    expectEach((*counts)[i].writes, access.writes,
               "operand " + std::to_string(i) + " written");
    for (int n : (*counts)[i].reads)
      ASSERT_LE(n, std::ssize(plan->passes)) << "operand " << i;
  }
}

struct Seen {
  int once = 0, passes = 0;
};

/// The kernels of a module that have a dropout, but those of one column: their
/// elements are known for a whole row, which each thread that works on it reads
/// for itself (what it does not need LLVM leaves out).
void check(ModuleOp module, Seen &seen) {
  for (auto kernel : module.getOps<rt::KernelOp>()) {
    if (!hasDropout(kernel) || int64_t(kernel.getCols()) == 1)
      continue;
    ++(sumsRows(kernel) ? seen.passes : seen.once);
    for (const codegen::CpuVectors &vectors : machines()) {
      SCOPED_TRACE(testing::Message() << vectors.lanes << " lanes, "
                                      << vectors.threads << " threads\n"
                                      << print(kernel));
      if (sumsRows(kernel))
        expectFewPasses(kernel, vectors);
      else
        expectOnePass(kernel, vectors);
      if (testing::Test::HasFailure())
        return;
    }
  }
}

/// What is read through two operands is read twice.
void expectDistinctOperands(rt::ProgramOp program) {
  program.walk([&](rt::LaunchOp launch) {
    auto kernel = program.lookupSymbol<rt::KernelOp>(launch.getKernel());
    if (!hasDropout(kernel))
      return;
    llvm::SetVector<Value> read;
    for (auto [operand, access] :
         llvm::zip(launch.getKernelOperands(), kernel.getOperandAccesses()))
      if (access.reads) {
        EXPECT_TRUE(read.insert(operand->get())) << print(kernel);
      }
  });
}

class ModelAccesses : public testing::Test {
protected:
  void SetUp() override {
    context = makeContext();
    module = teamKernels(*context);
    ASSERT_TRUE(module);
  }

  void expectReads(const std::string &name, const std::vector<int> &expected) {
    auto kernel = module->lookupSymbol<rt::KernelOp>(name);
    ASSERT_TRUE(kernel && hasDropout(kernel));
    auto infos = kernel.getOperandsInfo().getAsRange<rt::OperandAttr>();
    for (const codegen::CpuVectors &vectors : machines()) {
      auto counts = countAccesses(kernel, vectors);
      ASSERT_TRUE(counts);
      std::vector<int> found;
      for (auto [info, count] : llvm::zip(infos, *counts))
        if (info.getMode() == rt::Mode::Full) {
          found.push_back(count.reads[0]);
          expectEach(count.reads, found.back(), name);
        }
      EXPECT_EQ(found, expected) << name << ", " << vectors.threads;
    }
  }

  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
};

} // namespace

TEST(Accesses, OfRandomClustersWithADropoutAreOnceEach) {
  std::mt19937 rng(11);
  std::vector<RandomFunction> functions;
  for (int i = 0; i < 400; ++i)
    functions.push_back(makeRandomFunction(rng, "f" + std::to_string(i)));
  auto context = makeContext();
  auto module = lowerFragments(*context, functions);
  ASSERT_TRUE(module);
  auto program = *module->getOps<rt::ProgramOp>().begin();
  expectDistinctOperands(program);
  Seen seen;
  check(*kernelsOf(program), seen);
  EXPECT_GE(seen.once, 20);
  EXPECT_GE(seen.passes, 5);
}

TEST_F(ModelAccesses, OfClustersWithADropoutAreOnceEach) {
  Seen seen;
  check(*module, seen);
  EXPECT_EQ(seen.once, 8); // forward, gradient, embedding and its gradient
  EXPECT_EQ(seen.passes, 4);
}

// A norm behind a dropout and its sum needs the row three times: for the mean,
// for the squares of what is left of it, and for the result. The branch and
// what it is added to are read in the first pass alone; the others read the sum
// that it stored.
TEST_F(ModelAccesses, OfANormBehindADropoutReadTheSumInItsOtherPasses) {
  for (const char *name : {"f32_3", "bf16_23"})
    expectReads(name, {1, 1, 2, 0}); // branch, residual, sum, result
}

// The gradient of a norm in front of one needs its row twice: for two sums, and
// for the result. The second pass reads both again, which may lie where it
// stores; the gradient that is added is read by it alone.
TEST_F(ModelAccesses, OfANormsGradientReadItsOperandsInBothPasses) {
  for (const char *name : {"f32_11", "bf16_31"})
    expectReads(name, {2, 2, 1, 0, 0}); // dy, x, residual, sum, result
}
