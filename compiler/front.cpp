//===- front.cpp - options to the first IR --------------------------------===//

#include "compiler/front.h"

#include "compiler/gemm_choice.h"
#include "compiler/join_plans.h"
#include "compiler/least_recompute.h"
#include "compiler/model_cost.h"
#include "compiler/print_ir.h"
#include "compiler/problems.h"
#include "compiler/splits.h"
#include "dialects/mtc/Mtc.h"
#include "models/import/import.h"
#include "models/spec.h"
#include "models/without_effect.h"
#include "mtc/runtime/isa.h"
#include "passes/PhasePass.h"
#include "passes/target/target.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

/// Whether oneDNN makes the products. The planner asks it for its scratch, on
/// this machine, with the instructions of the plan.
bool usesOneDnn(TargetAttr target) {
  return target.getDevice() == "cpu" && target.getGemm() != GemmChoice::Own;
}

/// Why oneDNN, on this machine, has no plan for this instruction set. What it
/// computes by without these allocates memory in each call
/// (runtime/kernels/cpu/gemm.h).
Status checkOneDnn(const std::string &isa, bool bf16) {
  if (bf16 && !runtime::isaIncludes(isa, "x86-64-v4-bf16"))
    return {
        StatusCode::infeasible,
        fmt::format("dtype bf16: expected the instruction set "
                    "x86-64-v4-bf16 or -amx for oneDNN's products, which have "
                    "memory of a plan with AVX-512-BF16 only, found {}; "
                    "take --gemm own (in IR gemm = own), or --dtype f32",
                    isa)};
  if (isa == "x86-64-v3")
    return {StatusCode::infeasible,
            "isa: expected an instruction set with AVX-512 for oneDNN's "
            "products, which have memory of a plan there only, found "
            "x86-64-v3; take --gemm own (in IR gemm = own)"};
  if (!runtime::processorHas(isa))
    return {
        StatusCode::infeasible,
        fmt::format(
            "isa: expected one that this machine has, found {}; the scratch "
            "of oneDNN's products comes from the library on the compiling "
            "machine, so compile on one with {}, or with --gemm own",
            isa, isa)};
  return Status::okay();
}

/// Writes the instruction set into mtc.config: what the option says, else what
/// the IR says, else the best of this machine.
Status setIsa(mlir::ModuleOp module, DiagnosticLog &log,
              const std::string &option) {
  mlir::FailureOr<ConfigAttr> config = configOf(module);
  if (failed(config))
    return {StatusCode::infeasible, log.take()};
  std::string isa = option;
  if (mlir::StringAttr given = config->getTarget().getIsa();
      given && isa.empty())
    isa = given.getValue().str();
  bool bf16 = config->getPrecision() == Precision::BF16,
       oneDnn = usesOneDnn(config->getTarget());
  if (isa.empty())
    isa = target::Target::bestIsa(bf16);
  if (isa.empty() && oneDnn)
    return {StatusCode::infeasible,
            "dtype bf16: expected a processor with AVX-512-BF16 for oneDNN's "
            "products, found none; take --gemm own, or --dtype f32"};
  if (isa.empty())
    isa = target::Target::bestIsa(/*bf16=*/false);
  if (!runtime::isKnownIsa(isa))
    return {StatusCode::usage,
            fmt::format("isa: expected one of {}, found '{}'",
                        runtime::isaNames(), isa)};
  if (oneDnn)
    MTC_RETURN_IF_ERROR(checkOneDnn(isa, bf16));
  module->setAttr(configAttrName, config->withIsa(isa));
  return Status::okay();
}

/// Whether the results of two phases are the same IR: only verifiers lie
/// between.
bool isSame(Phase a, Phase b) {
  return a == b || (a < b ? isVerifier(b) && passes::follows(b, a)
                          : isVerifier(a) && passes::follows(a, b));
}

Status readIR(const CompileOptions &options, mlir::MLIRContext &context,
              DiagnosticLog &log, mlir::OwningOpRef<mlir::ModuleOp> &module,
              Phase &after) {
  std::optional<Phase> saved;
  MTC_RETURN_IF_ERROR(parseModule(options.input, context, log, module, saved));
  if (options.from && saved && !isSame(*options.from, *saved))
    return {StatusCode::usage,
            fmt::format("--from: expected {}, as '{}' says of itself, found {}",
                        toString(*saved), options.inputName(),
                        toString(*options.from))};
  std::optional<Phase> from = options.from ? options.from : saved;
  if (!from)
    return {StatusCode::usage,
            fmt::format("expected --from=PHASE for '{}', which names no "
                        "phase (mtc.phase); one of: {}",
                        options.inputName(), passes::phaseNames())};
  if (!saved && *from != Phase::import)
    return {StatusCode::infeasible,
            fmt::format("'{}': expected the module attribute {}, as IR of "
                        "--save-ir has it, found none; only IR at the level "
                        "of import may be written without it",
                        options.inputName(), passes::phaseAttr.str())};
  if (*from > passes::lastResumable)
    return {
        StatusCode::usage,
        fmt::format("--from: expected at most {}, found {}; later IR has no "
                    "descriptor",
                    toString(passes::lastResumable), toString(*from))};
  after = *from;
  return Status::okay();
}

} // namespace

Status checkOptions(const CompileOptions &options) {
  Problems problems;
  problems.demand(!options.output.empty() ||
                      (options.to && *options.to != Phase::link),
                  "expected -o DIR, the folder of the bundle");
  if (options.startsFromIR())
    problems.demand(
        options.strategyFile.empty() && options.strategy.empty() &&
            options.settings.empty(),
        "expected no strategy and no --set with IR, found one; the IR carries "
        "its own in "
        "mtc.config");
  else
    problems.demand(!options.from,
                    fmt::format("--from needs IR (a file that ends in .mlir, "
                                "or -), found '{}'",
                                options.input));
  problems.demand(options.isa.empty() || runtime::isKnownIsa(options.isa),
                  fmt::format("--isa: expected one of {}, found '{}'",
                              runtime::isaNames(), options.isa));
  if (options.to)
    problems.demand(options.verify || !isVerifier(*options.to),
                    fmt::format("--compile-to: expected a phase that runs "
                                "under --no-verify, found {}",
                                toString(*options.to)));
  for (Phase phase : options.printAfter)
    problems.demand(phase != Phase::link &&
                        (options.verify || !isVerifier(phase)),
                    fmt::format("--mlir-print-ir-after: expected a phase that "
                                "runs and whose result is IR, found {}",
                                toString(phase)));
  if (options.from && options.to)
    problems.demand(*options.from < *options.to ||
                        (options.from == options.to && isVerifier(*options.to)),
                    fmt::format("--compile-to: expected a phase after {}, "
                                "found {}",
                                toString(*options.from),
                                toString(*options.to)));
  return problems.status();
}

Status checkPhases(const CompileOptions &options, Phase after) {
  Problems problems;
  if (options.to)
    problems.demand(*options.to >= after,
                    fmt::format("--compile-to: expected a phase after {}, "
                                "found {}",
                                toString(after), toString(*options.to)));
  for (Phase phase : options.printAfter)
    problems.demand(
        (phase >= after) && (!options.to || phase <= *options.to),
        fmt::format("--mlir-print-ir-after: expected a phase from "
                    "{} to {}, found {}",
                    toString(after),
                    toString(options.to.value_or(Phase::lowerToLLVM)),
                    toString(phase)));
  return problems.status();
}

IRCheck checkBehind(const CompileOptions &options, Phase phase) {
  if (options.verifyEach || options.startsFromIR())
    return IRCheck::eachPass;
  // verify-plan changes nothing, and the last phases end in LLVM's verifier.
  if (phase > Phase::planMemory)
    return IRCheck::none;
  bool isWanted = phase == Phase::planMemory || options.to == phase ||
                  wantsResult(options, phase);
  return isWanted ? IRCheck::result : IRCheck::none;
}

/// Balances the stages of `strategy`, if it asks for that.
static Status importPlan(const models::ModelSpec &spec,
                         models::Strategy &strategy, const std::string &isa,
                         mlir::MLIRContext &context, DiagnosticLog &log,
                         mlir::OwningOpRef<mlir::ModuleOp> &module) {
  module = models::importModel(context, spec, strategy);
  MTC_RETURN_IF_ERROR(checkSplits(*module, strategy));
  if (strategy.balancedStages) {
    models::ModelCost cost;
    MTC_RETURN_IF_ERROR(costOf(*module, spec, strategy, log, cost));
    strategy.layersPerStage = models::balancedStages(
        cost, models::stageLimits(spec.layers, strategy));
    models::setConfig(*module, spec, strategy);
  }
  (*module)->setAttr(passes::phaseAttr,
                     mlir::StringAttr::get(&context, toString(Phase::import)));
  setGemmTable(*module, strategy.gemmTable);
  return setIsa(*module, log, isa);
}

Status importInputs(const models::ModelSpec &spec, models::Strategy strategy,
                    const std::string &isa, mlir::MLIRContext &context,
                    DiagnosticLog &log,
                    mlir::OwningOpRef<mlir::ModuleOp> &module) {
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> plans;
  for (models::Strategy &each : strategy.ofEachShape()) {
    each.layersPerStage = strategy.layersPerStage;
    each.balancedStages &= plans.empty(); // by the largest step
    plans.emplace_back();
    MTC_RETURN_IF_ERROR(
        importPlan(spec, each, isa, context, log, plans.back()));
    strategy.layersPerStage = each.layersPerStage;
  }
  module = bundlePlans(plans);
  return Status::okay();
}

Status makeModule(const CompileOptions &options, mlir::MLIRContext &context,
                  DiagnosticLog &log, mlir::OwningOpRef<mlir::ModuleOp> &module,
                  Phase &after) {
  if (options.startsFromIR()) {
    MTC_RETURN_IF_ERROR(readIR(options, context, log, module, after));
    for (mlir::ModuleOp plan : plansOf(*module))
      MTC_RETURN_IF_ERROR(setIsa(plan, log, options.isa));
    return Status::okay();
  }
  models::ModelSpec spec;
  models::Strategy strategy;
  MTC_RETURN_IF_ERROR(readInputs(options, spec, strategy));
  if (options.progress)
    for (const std::string &idle : models::choicesWithoutEffect(strategy))
      options.progress("note: " + idle);
  PlanRequest request = {options.isa, options.threads, /*verify=*/false};
  MTC_RETURN_IF_ERROR(
      chooseRecompute(spec, strategy, request, options.progress));
  after = Phase::import;
  return importInputs(spec, strategy, options.isa, context, log, module);
}

} // namespace mtc::compiler
