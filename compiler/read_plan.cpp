//===- read_plan.cpp - rt IR to plain values ------------------------------===//

#include "compiler/read_plan.h"

#include "compiler/attributes.h"
#include "compiler/read_fragment.h"
#include "dialects/rt/Rt.h"
#include "passes/target/gemm_rows.h"

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

PlanBucket readBucket(rt::BucketOp op) {
  PlanBucket b;
  b.index = op.getIndex();
  b.elements = op.getElements();
  b.unpadded = op.getUnpadded();
  b.shard = op.getShard();
  b.zero = op.getZero();
  b.secondUseOf = op.getSecondUseOf();
  b.paramOffset = op.getParamOffset();
  b.gradOffset = op.getGradOffset();
  b.mainOffset = op.getMainOffset();
  b.expAvgOffset = op.getExpAvgOffset();
  b.expAvgSqOffset = op.getExpAvgSqOffset();
  return b;
}

PlanParam readParam(rt::ParamOp op) {
  PlanParam p;
  p.name = op.getName().str();
  p.init = op.getInit().str();
  p.bucket = op.getBucket();
  p.start = op.getStart();
  p.splitDim = op.getSplitDim();
  if (p.splitDim >= 0)
    p.splitAxis = op.getSplitAxis().str();
  p.shape.assign(op.getShape().begin(), op.getShape().end());
  p.local.assign(op.getLocal().begin(), op.getLocal().end());
  p.owner = op.getOwner();
  p.decay = op.getDecay();
  p.std = op.getStd().convertToDouble();
  if (auto axes = op->getAttrOfType<mlir::ArrayAttr>("axes"))
    for (mlir::Attribute axis : axes)
      p.axes.push_back(textOf(axis));
  return p;
}

PlanInput readInput(rt::InputSlotOp op) {
  return {op.getName().str(), op.getEntry().str(),
          static_cast<int64_t>(op.getPool()), op.getOffset(), op.getStride()};
}

PlanExport readExport(rt::ExportSlotOp op) {
  PlanExport e;
  e.name = op.getName().str();
  e.fragment = op.getFragment().str();
  e.arena = op.getArena();
  e.offset = op.getOffset();
  e.splitDim = op.getSplitDim();
  if (e.splitDim >= 0)
    e.splitAxis = op.getSplitAxis().str();
  e.dtype = op.getElement() && op.getElement()->isBF16() ? "bf16" : "f32";
  e.shape.assign(op.getShape().begin(), op.getShape().end());
  e.local.assign(op.getLocal().begin(), op.getLocal().end());
  return e;
}

PlanRow readStep(rt::StepOp op) {
  PlanRow row;
  row.kind = op.getKind() == rt::StepKind::Load ? MTC_STEP_LOAD : MTC_STEP_RUN;
  row.fragment = op.getFragment().value_or("").str();
  row.microbatch = op.getMicrobatch();
  row.chunk = op.getChunk();
  row.slots.fill(-1);
  llvm::ArrayRef<int64_t> slots = op.getSlots();
  std::copy_n(slots.begin(), std::min(slots.size(), row.slots.size()),
              row.slots.begin());
  return row;
}

PlanRow readExchange(rt::ExchangeOp op) {
  PlanRow row;
  row.kind = MTC_STEP_EXCHANGE;
  row.microbatch = -1;
  row.slots.fill(-1);
  for (auto t : op.getTransfers().getAsRange<rt::TransferAttr>())
    row.transfers.push_back({t.getSend(), t.getPeer(), MTC_ARENA_ACTIVATIONS,
                             t.getTag().tag().encoded(), t.getOffset(),
                             t.getBytes()});
  return row;
}

PlanTimeline readTimeline(rt::TimelineOp op) {
  PlanTimeline timeline;
  timeline.entry = op.getSymName().str();
  for (mlir::Operation &row : op.getBody().front()) {
    if (auto step = mlir::dyn_cast<rt::StepOp>(row))
      timeline.rows.push_back(readStep(step));
    else if (auto exchange = mlir::dyn_cast<rt::ExchangeOp>(row))
      timeline.rows.push_back(readExchange(exchange));
  }
  return timeline;
}

std::vector<PlanGemm> readGemms(rt::ProgramOp program) {
  target::GemmRows gemms;
  for (auto fragment : program.getOps<mlir::func::FuncOp>())
    gemms.add(fragment);
  std::vector<PlanGemm> rows;
  auto name = [](MtcDtype type) { return type == MTC_BF16 ? "bf16" : "f32"; };
  for (const target::GemmRow &row : gemms.rows())
    rows.push_back({row.m, row.n, row.k, row.ta, row.tb, row.beta, name(row.ab),
                    name(row.c), row.scratch});
  return rows;
}

void readOp(mlir::Operation &op, const PlanConfig &config, ProgramPlan &p) {
  if (auto bucket = mlir::dyn_cast<rt::BucketOp>(op))
    p.buckets.push_back(readBucket(bucket));
  else if (auto param = mlir::dyn_cast<rt::ParamOp>(op)) {
    // A bucket of second accumulators holds gradients only.
    bool holds = std::none_of(
        p.buckets.begin(), p.buckets.end(), [&](const PlanBucket &b) {
          return b.index == param.getBucket() && b.secondUseOf >= 0;
        });
    if (holds)
      p.params.push_back(readParam(param));
  } else if (auto input = mlir::dyn_cast<rt::InputSlotOp>(op))
    p.inputs.push_back(readInput(input));
  else if (auto slot = mlir::dyn_cast<rt::ExportSlotOp>(op))
    p.exports.push_back(readExport(slot));
  else if (auto timeline = mlir::dyn_cast<rt::TimelineOp>(op))
    p.timelines.push_back(readTimeline(timeline));
  else if (auto fn = mlir::dyn_cast<mlir::func::FuncOp>(op))
    p.fragments.push_back(readFragment(fn, config));
}

ProgramPlan readProgram(rt::ProgramOp op, const PlanConfig &config) {
  ProgramPlan p;
  p.name = op.getSymName().str();
  p.stage = op.getStage();
  p.onednn = textOf(op->getAttr("onednn"));
  p.lossOffset = integerOf(op->getAttr("loss_offset"));
  std::vector<int64_t> arenas = integersOf(op->getAttr("arenas"));
  std::copy_n(arenas.begin(), std::min(arenas.size(), p.arenas.size()),
              p.arenas.begin());
  p.gemms = readGemms(op);
  for (mlir::Operation &inner : op.getBody().front())
    readOp(inner, config, p);
  auto byIndex = [](const auto &a, const auto &b) { return a.index < b.index; };
  std::stable_sort(p.buckets.begin(), p.buckets.end(), byIndex);
  return p;
}

using Problems = std::vector<std::string>;

void checkProgram(const ProgramPlan &p, Problems &problems) {
  auto add = [&](const std::string &text) {
    problems.push_back(fmt::format("rt.program @{}: {}", p.name, text));
  };
  if (p.timelines.empty())
    add("expected an rt.timeline, found none");
  for (const PlanTimeline &timeline : p.timelines)
    for (const PlanRow &row : timeline.rows)
      if (row.kind == MTC_STEP_RUN && p.fragmentIndex(row.fragment) < 0)
        add(fmt::format("timeline @{} runs \"{}\", which is no fragment",
                        timeline.entry, row.fragment));
  for (const PlanExport &e : p.exports)
    if (p.fragmentIndex(e.fragment) < 0)
      add(fmt::format("export \"{}\" names \"{}\", which is no fragment",
                      e.name, e.fragment));
}

Status refuse(const std::string &head, const Problems &problems) {
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
    if (plan.programs[i].stage != static_cast<int64_t>(i))
      problems.push_back(fmt::format("expected stage {}, found {} at @{}", i,
                                     plan.programs[i].stage,
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

} // namespace

int64_t ProgramPlan::fragmentIndex(const std::string &fragment) const {
  for (size_t i = 0; i < fragments.size(); ++i)
    if (fragments[i].name == fragment)
      return static_cast<int64_t>(i);
  return -1;
}

Status readConfig(mlir::ModuleOp module, PlanConfig &config) {
  auto dictionary = module->getAttrOfType<mlir::DictionaryAttr>("mtc.config");
  if (!dictionary)
    return {StatusCode::infeasible,
            "expected the module attribute mtc.config, found none; start from "
            "IR that `mtc compile --save-ir` wrote"};
  Problems problems;
  auto get = [&](const char *key) {
    mlir::Attribute attribute = dictionary.get(key);
    if (!attribute)
      problems.push_back(fmt::format("expected the key '{}', found none", key));
    return attribute;
  };
  config.model = textOf(get("model"));
  config.isa = textOf(get("isa"));
  config.dtype = textOf(get("dtype"));
  for (const AxisInfo &axis : kAxes)
    config.mesh[axis.id] = integerOf(get(axis.name.data()), 1);
  config.threads = integerOf(get("threads"), 1);
  config.microBatch = integerOf(get("micro_batch"), 1);
  config.microbatches = integerOf(get("microbatches"), 1);
  config.globalBatch = integerOf(get("global_batch"), 1);
  config.seq = integerOf(get("seq"), 1);
  config.vocab = integerOf(get("vocab"), 1);
  config.deviceMemory = integerOf(dictionary.get("device_memory"));
  config.json = jsonOf(dictionary);
  return problems.empty() ? Status::okay() : refuse("mtc.config:", problems);
}

Status readPlan(mlir::ModuleOp module, BundlePlan &plan) {
  BundlePlan result;
  MTC_RETURN_IF_ERROR(readConfig(module, result.config));
  std::vector<rt::ProgramOp> ops(module.getOps<rt::ProgramOp>().begin(),
                                 module.getOps<rt::ProgramOp>().end());
  std::stable_sort(ops.begin(), ops.end(),
                   [](auto a, auto b) { return a.getStage() < b.getStage(); });
  Problems problems;
  HashStream text;
  text << result.config.json.dump();
  for (rt::ProgramOp op : ops) {
    if (integersOf(op->getAttr("arenas")).size() != MTC_ARENA_COUNT)
      problems.push_back(fmt::format(
          "rt.program @{}: expected {} arena sizes; run plan-memory first",
          op.getSymName().str(), int(MTC_ARENA_COUNT)));
    result.programs.push_back(readProgram(op, result.config));
    checkProgram(result.programs.back(), problems);
    text << "\n";
    // Local scope: no aliases, so the text depends on the op alone.
    op->print(text, mlir::OpPrintingFlags().useLocalScope());
  }
  checkStages(result, problems);
  if (!problems.empty())
    return refuse("the rt IR is not a whole plan:", problems);
  result.hash = fmt::format("{:016x}", text.hash());
  plan = std::move(result);
  return Status::okay();
}

} // namespace mtc::compiler
