//===- timed_ops.cpp - the ops of fragments that profiles time ------------===//

#include "compiler/explain/timed_ops.h"

#include "compiler/explain/live_values.h"
#include "compiler/read_calls.h"
#include "passes/target/gemm_rows.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <set>

namespace mtc::compiler {
namespace {

using Json = nlohmann::ordered_json;

/// Values, each once, and where each stands.
class Table {
public:
  int64_t add(const Json &value) {
    auto [at, isNew] =
        places.try_emplace(value.dump(), static_cast<int64_t>(places.size()));
    if (isNew)
      values.push_back(value);
    return at->second;
  }
  Json take() { return std::move(values); }

private:
  std::map<std::string, int64_t> places;
  Json values = Json::array();
};

/// Those that some entry runs as its update.
std::set<int64_t> updatesOf(const ProgramPlan &plan) {
  std::set<int64_t> found;
  for (const PlanTimeline &timeline : plan.timelines)
    for (const MtcStep &row : timeline.rows)
      if (row.kind == MTC_STEP_RUN && row.microbatch < 0)
        found.insert(row.fragment);
  return found;
}

class TimedOps {
public:
  TimedOps(rt::ProgramOp program, const ProgramPlan &plan,
           const PlanConfig &config)
      : program(program), plan(plan), config(config), updates(updatesOf(plan)) {
  }

  Json run() {
    for (auto fragment : program.getOps<mlir::func::FuncOp>())
      gemms.add(fragment);
    Json fragments = Json::array();
    for (auto fragment : program.getOps<mlir::func::FuncOp>())
      fragments.push_back(fragmentJson(fragment));
    return {{"work", work.take()},
            {"parts", parts.take()},
            {"timed", std::move(fragments)}};
  }

private:
  Json fragmentJson(mlir::func::FuncOp fragment) {
    int64_t index = plan.fragmentIndex(fragment.getSymName().str());
    Json ops = Json::array(), places = Json::array();
    for (mlir::Operation &op : fragment.getOps()) {
      if (!rt::takesTime(&op))
        continue;
      ops.push_back(work.add(workJson(&op)));
      places.push_back(parts.add(partOf(op.getLoc())));
    }
    return {{"index", index},
            {"update", updates.contains(index)},
            {"ops", std::move(ops)},
            {"parts", std::move(places)}};
  }

  Json workJson(mlir::Operation *op) {
    auto working = mlir::dyn_cast<rt::WorkOpInterface>(op);
    if (!working) {
      PlanCalls wait;
      wait.op = op->getName().stripDialect().str();
      return toJson(wait, std::nullopt);
    }
    PlanCalls call = readCall(working, working.getWork(config.mesh));
    std::optional<int64_t> row;
    if (auto gemm = mlir::dyn_cast<rt::GemmOp>(op)) {
      row = gemms.indexOf(target::gemmRows(gemm).front().row);
      addContinuation(gemm, call);
    }
    addCounts(op, call);
    return toJson(call, row);
  }

  /// What continues a product is timed with it. It finds c in a cache.
  void addContinuation(rt::GemmOp gemm, PlanCalls &call) const {
    rt::LaunchOp then = gemm.getContinuation();
    if (!then)
      return;
    call.name += " then " + then.describeCall();
    double ofC = static_cast<double>(rt::bytesOf(gemm.getC().getType()));
    call.bytes += then.getWork(config.mesh).bytes - ofC;
  }

  /// What counts what a sum makes is timed with it.
  void addCounts(mlir::Operation *sum, PlanCalls &call) const {
    auto counts = rt::NormOp::continuing(sum);
    if (!counts.empty())
      call.name += ", counted";
    for (rt::NormOp norm : counts) {
      rt::Work work = norm.getWork(config.mesh);
      call.flops += work.flops;
      call.bytes += work.bytes;
    }
  }

  static Json toJson(const PlanCalls &call, std::optional<int64_t> row) {
    Json json = {{"op", call.op},
                 {"name", call.name},
                 {"factors", call.factors},
                 {"stream", call.stream},
                 {"flops", call.flops},
                 {"bytes", call.bytes},
                 {"link_bytes", call.linkBytes}};
    if (row)
      json["row"] = *row;
    return json;
  }

  rt::ProgramOp program;
  const ProgramPlan &plan;
  const PlanConfig &config;
  std::set<int64_t> updates;
  target::GemmRows gemms;
  Table work, parts;
};

} // namespace

Json timedOps(rt::ProgramOp program, const ProgramPlan &plan,
              const PlanConfig &config) {
  return TimedOps(program, plan, config).run();
}

} // namespace mtc::compiler
