//===- spills_test.cpp - what ptxas says of the shipped models' kernels ---===//
//
// Each kernel once, whatever models have it. Those of attention, norm and
// products are not of plans: docs/cuda.md.
//
//===----------------------------------------------------------------------===//

#include "shipped_models.h"

#include "dialects/rt/KernelStructure.h"
#include "passes/codegen/emit_ptx.h"
#include "passes/codegen/gpu_alignment.h"
#include "passes/codegen/gpu_lower.h"
#include "runtime/base/ptxas.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <future>
#include <unordered_map>

namespace mtc::compiler {
namespace {

constexpr const char *kChip = "sm_90";

/// Kernels that had code before, by structure and by what is known of the
/// addresses of their operands.
class KnownKernels {
public:
  /// Takes those out of a program, and notes the others.
  void removeFrom(rt::ProgramOp program) {
    auto alignments = codegen::alignmentsOf(program);
    std::vector<rt::KernelOp> kernels;
    program.walk([&](rt::KernelOp kernel) { kernels.push_back(kernel); });
    for (rt::KernelOp kernel : kernels)
      if (!note(kernel, alignments[kernel.getSymName().str()]))
        kernel.erase();
  }

private:
  using Alignments = llvm::SmallVector<int64_t>;
  struct Known {
    mlir::OwningOpRef<rt::KernelOp> kernel;
    Alignments alignments;
  };

  /// Whether it is new.
  bool note(rt::KernelOp kernel, const Alignments &alignments) {
    std::vector<Known> &alike = known_[rt::hashStructure(kernel)];
    for (Known &each : alike)
      if (each.alignments == alignments &&
          rt::haveSameStructure(*each.kernel, kernel))
        return false;
    alike.push_back({kernel.clone(), alignments});
    return true;
  }

  std::unordered_map<size_t, std::vector<Known>> known_;
};

struct Counts {
  int kernels = 0, plans = 0;
};

/// Holds what ptxas says of a text to have no local memory.
void expectNoSpills(const std::string &of, const runtime::Status &status,
                    const runtime::Assembly &assembly, Counts &counts) {
  EXPECT_TRUE(status.ok()) << of << ": " << status.message();
  for (const auto &[name, entry] : assembly.entries) {
    EXPECT_EQ(entry.spillBytes, 0) << of << ": " << name;
    EXPECT_EQ(entry.stackBytes, 0) << of << ": " << name;
    EXPECT_GT(entry.registers, 0) << of << ": " << name;
    ++counts.kernels;
  }
  ++counts.plans;
}

/// ptxas at work beside the compiler, on one text at a time.
class Assembler {
public:
  explicit Assembler(std::string ptxas) : ptxas_(std::move(ptxas)) {}
  ~Assembler() { finish(); }

  void begin(std::string of, std::string ptx) {
    finish();
    of_ = std::move(of);
    running_ = std::async(std::launch::async, [this, ptx = std::move(ptx)] {
      return runtime::assemble(ptxas_, ptx, kChip, assembly_);
    });
  }
  void finish() {
    if (running_.valid())
      expectNoSpills(of_, running_.get(), assembly_, counts);
  }

  Counts counts;

private:
  std::string ptxas_, of_;
  runtime::Assembly assembly_;
  std::future<runtime::Status> running_;
};

/// Of the plans of a model.
void assembleKernels(const std::string &model, KnownKernels &known,
                     mlir::MLIRContext &context, DiagnosticLog &log,
                     Assembler &assembler) {
  for (const char *dtype : {"bf16", "f32"}) {
    const std::string of = model + " in " + dtype;
    mlir::OwningOpRef<mlir::ModuleOp> module;
    runtime::Status status =
        test::planOf(model, {{"dtype", dtype}, {"micro-batch-size", "2"}},
                     context, log, module);
    ASSERT_TRUE(status.ok()) << of << ": " << status.message();
    module->walk([&](rt::ProgramOp program) {
      known.removeFrom(program);
      auto made = codegen::emitPtx(program, {kChip});
      ASSERT_TRUE(bool(made)) << of << llvm::toString(made.takeError());
      if (!made->launches.empty())
        assembler.begin(of, made->code.front().ptx);
    });
  }
}

TEST(Spills, AreInNoShippedModel) {
  const std::string ptxas = runtime::findPtxas();
  if (ptxas.empty())
    GTEST_SKIP() << "ptxas of the CUDA toolkit is not here";
  auto context = makeContext();
  DiagnosticLog log(*context);
  codegen::loadGpuDialects(*context);
  KnownKernels known;
  Assembler assembler(ptxas);
  for (const std::string &model : test::shippedModels())
    ASSERT_NO_FATAL_FAILURE(
        assembleKernels(model, known, *context, log, assembler));
  assembler.finish();
  const Counts &counts = assembler.counts;
  std::printf("%d kernels of %d plans\n", counts.kernels, counts.plans);
  EXPECT_GT(counts.kernels, 900);
}

} // namespace
} // namespace mtc::compiler
