//===- gemm_choice.cpp - products by a table that was measured ------------===//

#include "compiler/gemm_choice.h"

#include "compiler/join_plans.h"
#include "dialects/mtc/Mtc.h"
#include "dialects/rt/Rt.h"
#include "mtc/runtime/abi.h"
#include "mtc/runtime/cpu_gemm_table.h"
#include "mtc/runtime/gemm_scratch.h"
#include "passes/target/gemm_rows.h"

#include <vector>

#include <fmt/format.h>

using mtc::runtime::CpuGemmTable;
using mtc::runtime::GemmInfo;
using mtc::runtime::GemmKernel;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

constexpr llvm::StringLiteral tableAttr = "mtc.gemm_table";

/// One plan and the table for it.
class Choice {
public:
  Choice(ConfigAttr config, const CpuGemmTable &table, GemmChoices &counts)
      : isa(config.getTarget().getIsa().str()),
        threads(config.getTarget().getThreads()),
        microbatches(config.getBatch().getMicrobatches()), table(table),
        counts(counts) {}

  Status choose(rt::GemmOp op) {
    auto found = table.rows.find(runtime::productOf(mostRun(op), threads));
    if (found == table.rows.end()) {
      ++counts.byRule;
      return Status::okay();
    }
    ++counts.byTable;
    if (found->second.kernel == GemmKernel::library) {
      ++counts.byLibrary;
      op.removeKernelAttr();
    } else {
      op.setKernel(rt::GemmKernel::Own);
    }
    return check(op, found->first);
  }

private:
  /// Of the op's rows that of most microbatches of a step.
  GemmInfo mostRun(rt::GemmOp op) const {
    auto rows = target::gemmRows(op);
    return microbatches == 1 ? rows.back() : rows.front();
  }

  Status check(rt::GemmOp op, const runtime::CpuProduct &product) const {
    for (const GemmInfo &row : target::gemmRows(op))
      if (runtime::gemmScratch(isa, row, static_cast<int>(threads)) < 0)
        return {StatusCode::infeasible,
                fmt::format("{}: {}: expected a kernel that has this product "
                            "under {} on this machine, found {}; make the "
                            "table again by `mtc tune` here, or compile where "
                            "it was made",
                            counts.file, describe(product), isa,
                            op.getKernel() ? "own" : "onednn")};
    return Status::okay();
  }

  std::string isa;
  int64_t threads, microbatches;
  const CpuGemmTable &table;
  GemmChoices &counts;
};

Status chooseInPlan(mlir::ModuleOp plan, GemmChoices &out) {
  auto file = plan->getAttrOfType<mlir::StringAttr>(tableAttr);
  plan->removeAttr(tableAttr);
  mlir::FailureOr<ConfigAttr> config = configOf(plan);
  if (!file || failed(config))
    return Status::okay();
  out.file = file.str();
  CpuGemmTable table;
  MTC_RETURN_IF_ERROR(runtime::readCpuGemmTable(out.file, table));
  MTC_RETURN_IF_ERROR(table.check(out.file, config->getTarget().getIsa().str(),
                                  mtc_gemm_library()));
  out.processor = table.processor;
  Choice choice(*config, table, out);
  Status status = Status::okay();
  plan.walk([&](rt::GemmOp op) {
    if (status.ok())
      status = choice.choose(op);
  });
  return status;
}

} // namespace

void setGemmTable(mlir::ModuleOp plan, const std::string &file) {
  if (!file.empty())
    plan->setAttr(tableAttr, mlir::StringAttr::get(plan.getContext(), file));
}

Status chooseGemmKernels(mlir::ModuleOp module, GemmChoices &out) {
  for (mlir::ModuleOp plan : plansOf(module))
    MTC_RETURN_IF_ERROR(chooseInPlan(plan, out));
  return Status::okay();
}

} // namespace mtc::compiler
