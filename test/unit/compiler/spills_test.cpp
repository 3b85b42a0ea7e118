//===- spills_test.cpp - what ptxas says of the shipped models' kernels ---===//
//
// Each kernel once, whatever models have it. Those of attention, norm and
// products are not of plans: docs/cuda.md.
//
//===----------------------------------------------------------------------===//

#include "shipped_models.h"

#include "compiler/gpu_assembly.h"
#include "dialects/rt/KernelStructure.h"
#include "passes/codegen/emit_ptx.h"
#include "passes/codegen/gpu_alignment.h"
#include "passes/codegen/gpu_lower.h"
#include "runtime/base/ptxas.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <future>
#include <set>
#include <sstream>
#include <unordered_map>

namespace mtc::compiler {
namespace {

/// Of which ptxas spills in f32 on sm_100 until it is asked for fewer blocks.
const std::set<std::string> kSpilling = {
    "gpt2-1558m", "megatron-2.5b", "megatron-4.2b", "mlsys23-1t", "sc21-1.7b"};

/// For which a model is assembled. MTC_SPILLS_CHIPS has those of all models,
/// with commas between them; a chip takes 20 s.
std::vector<std::string> chipsOf(const std::string &model,
                                 const std::string &dtype) {
  const char *asked = std::getenv("MTC_SPILLS_CHIPS");
  const bool both = dtype == "f32" && kSpilling.count(model);
  std::istringstream names(asked ? asked : both ? "sm_90,sm_100" : "sm_90");
  std::vector<std::string> all;
  for (std::string name; std::getline(names, name, ',');)
    all.push_back(name);
  return all;
}

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
  int entries = 0, texts = 0;
};

using Entries = std::map<std::string, runtime::AssembledEntry>;

/// Holds what ptxas says of a cubin to have no local memory.
void expectNoSpills(const std::string &of, const runtime::Status &status,
                    const Entries &entries, Counts &counts) {
  EXPECT_TRUE(status.ok()) << of << ": " << status.message();
  for (const auto &[name, entry] : entries) {
    EXPECT_EQ(entry.spillBytes, 0) << of << ": " << name;
    EXPECT_EQ(entry.stackBytes, 0) << of << ": " << name;
    EXPECT_GT(entry.registers, 0) << of << ": " << name;
    ++counts.entries;
  }
  ++counts.texts;
}

/// ptxas at work beside the compiler, on the texts of one program at a time.
class Assembler {
public:
  explicit Assembler(std::string ptxas) : ptxas_(std::move(ptxas)) {}
  ~Assembler() { finish(); }

  void begin(std::string of, std::vector<codegen::GpuCode> texts) {
    finish();
    of_ = std::move(of);
    texts_ = std::move(texts);
    running_ = std::async(std::launch::async, [this] { assemble(); });
  }
  void finish() {
    if (!running_.valid())
      return;
    running_.get();
    for (size_t i = 0; i < texts_.size(); ++i)
      expectNoSpills(of_ + " on " + texts_[i].chip, statuses_[i], entries_[i],
                     counts);
  }

  Counts counts;

private:
  void assemble() {
    statuses_.assign(texts_.size(), {});
    entries_.assign(texts_.size(), {});
    for (size_t i = 0; i < texts_.size(); ++i)
      statuses_[i] = assembleGpuCode(ptxas_, texts_[i], entries_[i]);
  }

  std::string ptxas_, of_;
  std::vector<codegen::GpuCode> texts_;
  std::vector<runtime::Status> statuses_;
  std::vector<Entries> entries_;
  std::future<void> running_;
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
      auto made = codegen::emitPtx(program, chipsOf(model, dtype));
      ASSERT_TRUE(bool(made)) << of << llvm::toString(made.takeError());
      if (!made->launches.empty())
        assembler.begin(of, std::move(made->code));
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
  std::printf("%d entries of %d texts\n", counts.entries, counts.texts);
  EXPECT_GT(counts.entries, 900);
}

} // namespace
} // namespace mtc::compiler
