//===- read_plan.cpp - rt IR to plain values ------------------------------===//

#include "compiler/read_plan.h"

#include "compiler/parallel.h"
#include "compiler/read_program.h"
#include "compiler/sum_orders.h"
#include "dialects/mtc/Mtc.h"
#include "passes/target/target.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

using Problems = std::vector<std::string>;

void checkProgram(const ProgramPlan &p, Problems &problems) {
  auto add = [&](const std::string &text) {
    problems.push_back(fmt::format("rt.program @{}: {}", p.name, text));
  };
  if (p.timelines.empty())
    add("expected an rt.timeline, found none");
  for (const PlanTimeline &timeline : p.timelines)
    for (const std::string &name : timeline.unknown)
      add(fmt::format("timeline @{} runs \"{}\", which is no fragment",
                      timeline.entry, name));
  for (const runtime::ExportInfo &e : p.descriptor.exports)
    if (e.fragment < 0)
      add(fmt::format("export \"{}\" is of a fragment that is not here",
                      e.name));
}

Status reject(const std::string &head, const Problems &problems) {
  std::string text = head;
  for (const std::string &problem : problems)
    text += "\n  " + problem;
  return {StatusCode::infeasible, text};
}

void checkStages(const BundlePlan &plan, Problems &problems) {
  if (static_cast<int64_t>(plan.programs.size()) != plan.config.mesh.stages())
    problems.push_back(
        fmt::format("expected one rt.program per stage, pp = {}, found {}",
                    plan.config.mesh.stages(), plan.programs.size()));
  for (size_t i = 0; i < plan.programs.size(); ++i)
    if (plan.programs[i].stage() != static_cast<int64_t>(i))
      problems.push_back(fmt::format("expected stage {}, found {} at @{}", i,
                                     plan.programs[i].stage(),
                                     plan.programs[i].name));
}

/// Hashes what is printed, and keeps none of it: a large plan has many rows.
class HashStream : public llvm::raw_ostream {
public:
  HashStream() {
    XXH3_64bits_reset(&state);
    SetBufferSize(1 << 14);
  }
  ~HashStream() override { flush(); }
  uint64_t hash() {
    flush();
    return XXH3_64bits_digest(&state);
  }

private:
  void write_impl(const char *data, size_t size) override {
    XXH3_64bits_update(&state, data, size);
    written += size;
  }
  uint64_t current_pos() const override { return written; }

  XXH3_state_t state;
  uint64_t written = 0;
};

/// A program, what is wrong with it, and the hash of its text.
struct ProgramResult {
  ProgramPlan plan;
  Problems problems;
  uint64_t hash = 0;
};

ProgramResult readOne(rt::ProgramOp op, const PlanConfig &config,
                      const Parameters &model) {
  ProgramResult result;
  if (!op.getArenas() || op.getArenas()->size() != MTC_ARENA_COUNT)
    result.problems.push_back(fmt::format(
        "rt.program @{}: expected {} arena sizes; run plan-memory first",
        op.getSymName().str(), int(MTC_ARENA_COUNT)));
  result.plan = readProgram(op, config, model);
  checkProgram(result.plan, result.problems);
  HashStream text;
  // Local scope: no aliases, so the text depends on the op alone. The module
  // was verified when it was read or made.
  op->print(text, mlir::OpPrintingFlags().useLocalScope().assumeVerified());
  result.hash = text.hash();
  return result;
}

/// Moves the programs into `plan`, in order; adds their hashes to `text`.
void takePrograms(std::vector<ProgramResult> &programs, BundlePlan &plan,
                  HashStream &text, Problems &problems) {
  for (ProgramResult &program : programs) {
    plan.programs.push_back(std::move(program.plan));
    problems.insert(problems.end(), program.problems.begin(),
                    program.problems.end());
    text << "\n" << program.hash;
  }
}

/// As strategies write it.
std::string recomputeText(RecomputeAttr recompute) {
  if (!recompute)
    return "";
  std::string text = stringifyEnum(recompute.getPolicy()).str();
  if (auto layers = recompute.getLayers())
    text += fmt::format("={}", *layers);
  if (auto microbatches = recompute.getMicrobatches())
    text += fmt::format("={}", *microbatches);
  if (mlir::ArrayAttr families = recompute.getFamilies()) {
    char separator = '=';
    for (auto family : families.getAsRange<mlir::StringAttr>()) {
      text += separator + family.str();
      separator = ',';
    }
  }
  return text;
}

PlanConfig readConfig(ConfigAttr config) {
  PlanConfig result;
  BatchAttr batch = config.getBatch();
  TargetAttr target = config.getTarget();
  result.model = config.getModel().getName().str();
  result.vocab = config.getModel().getVocab();
  result.mesh = config.getMesh();
  result.microBatch = batch.getMicro();
  result.microbatches = batch.getMicrobatches();
  result.globalBatch = batch.getGlobal();
  result.seq = batch.getSequence();
  result.dtype = stringifyPrecision(config.getPrecision()).str();
  Precision sums =
      config.getOptimizer().getGradDtype().value_or(Precision::F32);
  result.gradDtype = stringifyPrecision(sums).str();
  result.optimizer =
      stringifyOptimizerKind(config.getOptimizer().getKind()).str();
  if (mlir::ArrayAttr groups = config.getOptimizer().getGroups())
    for (auto name : groups.getAsRange<mlir::StringAttr>())
      result.groups.push_back(name.str());
  result.zero = config.shardsOptimizer();
  result.zeroStage = config.getOptimizer().getZero();
  result.recompute = recomputeText(config.getRecompute());
  if (config.getOverlap())
    for (auto name : config.getOverlap().getAsRange<mlir::StringAttr>())
      result.overlap.push_back(name.str());
  result.sumOrders = ownSumOrders(config);
  result.isa = target.getIsa().str();
  result.device = target.getDevice().str();
  result.threads = target.getThreads();
  result.streams = target::Target::chipOf(target).empty()
                       ? target.getStreams().value_or(1)
                       : int64_t(MTC_STREAM_COUNT);
  if (target.getEpilogues())
    for (auto name : target.getEpilogues().getAsRange<mlir::StringAttr>())
      result.epilogues.push_back(name.str());
  if (auto gemm = target.getGemm())
    result.gemm = stringifyGemmChoice(*gemm).str();
  result.deviceMemory = target.getMemory();
  result.ranksPerHost = target.getRanksPerHost();
  llvm::raw_string_ostream(result.text) << config;
  return result;
}

} // namespace

Status readPlan(mlir::ModuleOp module, BundlePlan &plan) {
  BundlePlan result;
  mlir::FailureOr<ConfigAttr> config = configOf(module);
  if (failed(config) || !config->getTarget().getIsa())
    return {StatusCode::infeasible,
            "expected the module attribute mtc.config with an instruction set"};
  result.config = readConfig(*config);
  result.config.sequenceParallel = module->hasAttr(dist::weakSplitAttrName);
  std::vector<rt::ProgramOp> ops(module.getOps<rt::ProgramOp>().begin(),
                                 module.getOps<rt::ProgramOp>().end());
  std::stable_sort(ops.begin(), ops.end(),
                   [](auto a, auto b) { return a.getStage() < b.getStage(); });
  Problems problems;
  HashStream text;
  text << result.config.text;
  Parameters model;
  for (auto param : module.getOps<pipe::ParameterOp>()) {
    model[param.getName().str()] = param;
    // Its attributes, as an op that is not isolated is printed by numbering the
    // whole module.
    text << "\n" << param->getAttrDictionary();
  }
  std::vector<ProgramResult> programs(ops.size());
  MTC_RETURN_IF_ERROR(
      forEachJob(*module.getContext(), ops.size(), [&](size_t i) {
        programs[i] = readOne(ops[i], result.config, model);
        return Status::okay();
      }));
  takePrograms(programs, result, text, problems);
  checkStages(result, problems);
  if (!problems.empty())
    return reject("the rt IR is not a whole plan:", problems);
  result.hash = fmt::format("{:016x}", text.hash());
  plan = std::move(result);
  return Status::okay();
}

} // namespace mtc::compiler
