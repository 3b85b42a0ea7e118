//===- gemm_choice.cpp - products by a table that was measured ------------===//

#include "compiler/gemm_choice.h"

#include "compiler/join_plans.h"
#include "dialects/mtc/Mtc.h"
#include "dialects/pipe/Pipe.h"
#include "dialects/rt/Rt.h"
#include "mtc/runtime/abi.h"
#include "mtc/runtime/cpu_gemm_table.h"
#include "mtc/runtime/gemm_scratch.h"
#include "passes/phases.h"
#include "passes/plan/Continuations.h"
#include "passes/target/gemm_rows.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <filesystem>

#include <fmt/format.h>

using mtc::runtime::CpuGemmTable;
using mtc::runtime::GemmInfo;
using mtc::runtime::GemmKernel;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;
using mtc::runtime::TunedProduct;

namespace mtc::compiler {
namespace {

constexpr llvm::StringLiteral tableAttr = "mtc.gemm_table";

/// One plan and the table for it.
class Choice {
public:
  /// `continued`: of the products, those that a kernel continues.
  Choice(ConfigAttr config, const CpuGemmTable &table,
         const llvm::DenseSet<mlir::Operation *> &continued,
         GemmChoices &counts)
      : isa(config.getTarget().getIsa().str()),
        threads(config.getTarget().getThreads()),
        microbatches(config.getBatch().getMicrobatches()),
        prepacks(config.getTarget().getPrepack().has_value()), table(table),
        continued(continued), counts(counts) {}

  Status choose(rt::GemmOp op) {
    auto found = table.rows.find(runtime::productOf(mostRun(op), threads));
    if (found == table.rows.end()) {
      ++counts.byRule;
      return Status::okay();
    }
    ++counts.byTable;
    const GemmKernel named = found->second.kernel;
    bool isLibrarys = !isOwn(named);
    bool isContinued = isLibrarys && continued.contains(op);
    bool packs =
        choosePacking(op, found->second, isContinued ? GemmKernel::own : named);
    if (isContinued) {
      ++counts.continued;
    } else if (isLibrarys && !packs) {
      ++counts.byLibrary;
      counts.byInnerProduct += named == GemmKernel::innerProduct;
      setLibrarys(op, named);
    } else {
      op.setKernel(rt::GemmKernel::Own);
    }
    return check(op, found->first, found->second);
  }

private:
  /// A product of the library's matmul has no name.
  static void setLibrarys(rt::GemmOp op, GemmKernel kernel) {
    if (kernel == GemmKernel::innerProduct)
      op.setKernel(rt::GemmKernel::InnerProduct);
    else
      op.removeKernelAttr();
  }

  /// Tells pack-weights what the table says, if it does: whether packing pays
  /// where the product is else by `otherwise`.
  bool choosePacking(rt::GemmOp op, const TunedProduct &tuned,
                     GemmKernel otherwise) const {
    if (!prepacks || !multipliesWeight(op))
      return false;
    std::optional<bool> pays = tuned.packingPays(microbatches, otherwise);
    op.setPacks(pays);
    counts.packing += pays.value_or(false);
    return pays.value_or(false);
  }

  /// Of training, as it lies: such as pack-weights can pack.
  static bool multipliesWeight(rt::GemmOp op) {
    auto of = pipe::FragmentAttr::of(op->getParentOfType<mlir::func::FuncOp>());
    return of && of.getEntry() == "train" &&
           op.getB().getDefiningOp<pipe::ParamOp>();
  }

  /// Of the op's rows that of most microbatches of a step.
  GemmInfo mostRun(rt::GemmOp op) const {
    auto rows = target::gemmRows(op);
    return (microbatches == 1 ? rows.back() : rows.front()).row;
  }

  Status check(rt::GemmOp op, const runtime::CpuProduct &product,
               const TunedProduct &tuned) const {
    for (const target::MicrobatchRow &each : target::gemmRows(op))
      if (runtime::gemmScratch(isa, each.row, static_cast<int>(threads)) < 0)
        return {
            StatusCode::infeasible,
            fmt::format("{}: {}: expected a kernel that has this product "
                        "under {} on this machine, found {}; make the "
                        "table again by `mtc tune` here, or compile where "
                        "it was made",
                        counts.file, describe(product), isa,
                        nameOf(op.isOwn() ? GemmKernel::own : tuned.kernel))};
    return Status::okay();
  }

  std::string isa;
  int64_t threads, microbatches;
  bool prepacks;
  const CpuGemmTable &table;
  const llvm::DenseSet<mlir::Operation *> &continued;
  GemmChoices &counts;
};

/// Nobody has measured whether a product by oneDNN gains more than the kernel
/// behind it loses, which then reads what has left the caches.
llvm::DenseSet<mlir::Operation *> continuedProducts(ConfigAttr config,
                                                    mlir::ModuleOp plan) {
  llvm::DenseSet<mlir::Operation *> all;
  if (config.getTarget().hasEpilogue(mtc::Epilogue::Pointwise))
    for (auto program : plan.getOps<rt::ProgramOp>())
      all.insert_range(passes::continuableProducts(program));
  return all;
}

Status chooseInPlan(mlir::ModuleOp plan, const CpuGemmTable &table,
                    GemmChoices &out) {
  mlir::FailureOr<ConfigAttr> config = configOf(plan);
  if (failed(config))
    return {StatusCode::internal,
            "expected a plan with mtc.config, found none or no valid one"};
  if (config->getTarget().getDevice() != "cpu")
    return {StatusCode::infeasible,
            fmt::format("{}: expected target = cpu, found {}; remove it: runs "
                        "of GPUs take theirs by `mtc run --gemm-table`",
                        tableAttr.str(),
                        config->getTarget().getDevice().str())};
  MTC_RETURN_IF_ERROR(table.check(out.file, config->getTarget().getIsa().str(),
                                  mtc_gemm_library()));
  auto continued = continuedProducts(*config, plan);
  Choice choice(*config, table, continued, out);
  Status status = Status::okay();
  plan.walk([&](rt::GemmOp op) {
    if (status.ok())
      status = choice.choose(op);
  });
  return status;
}

std::string shown(mlir::Attribute note) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (note)
    stream << note;
  return text.empty() ? "none" : text;
}

/// Plans of several lengths have their notes each; nobody reads one around
/// them.
Status checkAround(mlir::ModuleOp module) {
  mlir::Attribute note = module->getAttr(tableAttr);
  if (!note || plansOf(module).front() == module)
    return Status::okay();
  return {StatusCode::infeasible,
          fmt::format("{}: expected it on each plan, found {} on the module "
                      "around them; move it there, or remove it",
                      tableAttr.str(), shown(note))};
}

/// Takes the note out of the plans; an empty path: they have none.
Status takeNote(llvm::ArrayRef<mlir::ModuleOp> plans, std::string &file) {
  mlir::Attribute first = plans.front()->getAttr(tableAttr);
  for (mlir::ModuleOp plan : plans)
    if (mlir::Attribute note = plan->removeAttr(tableAttr); note != first)
      return {StatusCode::infeasible,
              fmt::format("{}: expected one table for all plans, found {} and "
                          "{}; give each plan the same",
                          tableAttr.str(), shown(first), shown(note))};
  auto path = llvm::dyn_cast_or_null<mlir::StringAttr>(first);
  if (first && (!path || path.empty()))
    return {StatusCode::infeasible,
            fmt::format("{}: expected the path of a table in quotes, found {}; "
                        "remove it, or name one",
                        tableAttr.str(), shown(first))};
  file = path ? path.str() : "";
  return Status::okay();
}

} // namespace

void setGemmTable(mlir::ModuleOp plan, const std::string &file) {
  if (file.empty())
    return;
  std::error_code error; // of a folder that is gone: then the file is not found
  auto path = std::filesystem::absolute(file, error);
  if (!error)
    path = std::filesystem::weakly_canonical(path, error); // behind links
  plan->setAttr(tableAttr, mlir::StringAttr::get(plan.getContext(),
                                                 error ? file : path.string()));
}

Status chooseGemmKernels(mlir::ModuleOp module, GemmChoices &out) {
  std::vector<mlir::ModuleOp> plans = plansOf(module);
  MTC_RETURN_IF_ERROR(checkAround(module));
  MTC_RETURN_IF_ERROR(takeNote(plans, out.file));
  if (out.file.empty())
    return Status::okay();
  CpuGemmTable table;
  MTC_RETURN_IF_ERROR(runtime::readCpuGemmTable(out.file, table));
  out.processor = table.processor;
  for (mlir::ModuleOp plan : plans)
    MTC_RETURN_IF_ERROR(chooseInPlan(plan, table, out));
  return Status::okay();
}

Status checkGemmsAreChosen(mlir::ModuleOp module) {
  MTC_RETURN_IF_ERROR(checkAround(module));
  for (mlir::ModuleOp plan : plansOf(module))
    if (mlir::Attribute note = plan->getAttr(tableAttr))
      return {StatusCode::infeasible,
              fmt::format("{}: expected IR in front of {}, where mtc compile "
                          "takes kernels of products from the table, found IR "
                          "behind it that still asks for {}; compile from "
                          "earlier IR, or remove the attribute to go without "
                          "the table",
                          tableAttr.str(),
                          toString(passes::Phase::storeGradients),
                          shown(note))};
  return Status::okay();
}

} // namespace mtc::compiler
