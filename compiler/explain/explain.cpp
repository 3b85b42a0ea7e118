//===- explain.cpp - why a plan is as it is, for mtc explain --------------===//

#include "compiler/explain/explain.h"

#include "compiler/explain/live_values.h"
#include "compiler/explain/served_buckets.h"
#include "compiler/explain/slots.h"
#include "compiler/explain/timed_ops.h"
#include "compiler/stage.h"
#include "mtc/runtime/memory.h"

#include <algorithm>
#include <set>

namespace mtc::compiler {
namespace {

using Json = nlohmann::ordered_json;

std::string textOf(mlir::Operation *op, const char *name) {
  auto text = op->getAttrOfType<mlir::StringAttr>(name);
  return text ? text.getValue().str() : "";
}

/// The file's part of one program.
class StageExplainer {
public:
  StageExplainer(rt::ProgramOp program, const ProgramPlan &plan)
      : program(program), plan(plan) {
    for (const PlanTimeline &timeline : plan.timelines)
      if (timeline.entry == "train")
        train = &timeline;
  }

  Json run() {
    readFragments();
    Json json = {{"stage", plan.stage()},
                 {"parameters", parametersJson()},
                 {"collectives", std::move(collectives)},
                 {"fragments", std::move(fragmentsJson)},
                 {"pools", poolsJson()},
                 {"kept", keptJson()}};
    addRows(json);
    return json;
  }

private:
  int64_t timesOf(int64_t fragment) const {
    if (!train)
      return 0;
    return std::count_if(
        train->rows.begin(), train->rows.end(), [&](const MtcStep &row) {
          return row.kind == MTC_STEP_RUN && row.fragment == fragment;
        });
  }

  void readFragments() {
    values.resize(plan.fragments.size());
    for (auto fragment : program.getOps<mlir::func::FuncOp>()) {
      int64_t index = plan.fragmentIndex(fragment.getSymName().str());
      if (int64_t times = index < 0 ? 0 : timesOf(index)) {
        readFragment(fragment, index);
        readCollectives(fragment, index, times);
      }
    }
  }

  void readFragment(mlir::func::FuncOp fragment, int64_t index) {
    FragmentValues &found = values[index] = valuesOf(fragment);
    for (auto view : fragment.getOps<rt::ViewOp>())
      if (view.getPool()) {
        auto offset = static_cast<int64_t>(view.getOffset());
        auto [it, isNew] = pools.try_emplace(
            *view.getPool(),
            PoolPlace{offset,
                      static_cast<int64_t>(view.getStride().value_or(0))});
        it->second.base = std::min(it->second.base, offset);
      }
    for (KeptValue &value : found.kept) {
      auto same = [&](const KeptValue &other) {
        return other.pool == value.pool && other.offset == value.offset &&
               other.bytes == value.bytes;
      };
      if (std::none_of(kept.begin(), kept.end(), same))
        kept.push_back(value);
    }
    Json list = Json::array();
    for (const LiveValue &value : found.values)
      list.push_back({{"part", value.part},
                      {"maker", value.maker},
                      {"bytes", value.bytes},
                      {"begin", value.begin},
                      {"end", value.end}});
    fragmentsJson.push_back({{"index", index},
                             {"name", plan.fragments[index].name},
                             {"calls", found.calls},
                             {"peak_bytes", found.peakBytes},
                             {"peak_call", found.peakCall},
                             {"values", std::move(list)}});
  }

  void readCollectives(mlir::func::FuncOp fragment, int64_t index,
                       int64_t times) {
    auto counted = plan.fragments[index].collectives.begin();
    fragment.walk([&](rt::CollectiveOp op) {
      // As read_fragment.cpp has them: in the order of the walk.
      const PlanCollective &known = *counted++;
      Json json = {{"kind", known.kind},
                   {"group", known.group},
                   {"bytes", known.bytes},
                   {"times", times},
                   {"fragment", plan.fragments[index].name},
                   {"origin", textOf(op, "origin")},
                   {"serves", textOf(op, "serves")},
                   {"part", partOf(op.getLoc())},
                   {"spec", specLineOf(op.getLoc())},
                   {"bucket", nullptr},
                   {"arena", ""},
                   {"offset", 0}};
      if (std::optional<int64_t> bucket = servedBucket(op))
        json["bucket"] = *bucket;
      if (rt::ViewOp view =
              op.getInit() ? viewOf(op.getInit()) : rt::ViewOp()) {
        json["arena"] = kArenas[view.getArena()].name;
        json["offset"] = static_cast<int64_t>(view.getOffset());
      }
      collectives.push_back(std::move(json));
    });
  }

  /// Each parameter of the stage once, whatever its uses are.
  Json parametersJson() {
    Json json = Json::array();
    std::set<llvm::StringRef> seen;
    for (auto param : program.getOps<rt::ParamOp>())
      if (seen.insert(param.getName()).second)
        json.push_back({{"name", param.getName().str()},
                        {"spec", specLineOf(param.getLoc())}});
    return json;
  }

  Json poolsJson() const {
    Json json = Json::array();
    for (auto [pool, place] : pools)
      json.push_back({{"name", poolName(pool)}, {"bytes", place.stride}});
    return json;
  }

  Json keptJson() const {
    Json json = Json::array();
    for (const KeptValue &value : kept)
      json.push_back({{"pool", poolName(value.pool)},
                      {"bytes", value.bytes},
                      {"part", value.part}});
    return json;
  }

  /// Row by row what slots hold, and the row where most is there in all.
  void addRows(Json &json) const {
    Json fragment = Json::array(), microbatch = Json::array(),
         slots = Json::array(), live = Json::array();
    int64_t peakRow = 0, peak = -1;
    std::vector<SlotUse> uses;
    if (train) {
      uses = slotUses(plan, *train, pools);
      std::vector<int64_t> change(train->rows.size() + 1);
      for (const SlotUse &use : uses) {
        change[use.first] += pools.at(use.pool).stride;
        change[use.last + 1] -= pools.at(use.pool).stride;
      }
      int64_t held = 0;
      for (size_t i = 0; i < train->rows.size(); ++i) {
        const MtcStep &row = train->rows[i];
        int64_t run = row.kind == MTC_STEP_RUN ? row.fragment : -1;
        held += change[i];
        fragment.push_back(run);
        microbatch.push_back(row.microbatch);
        slots.push_back(held);
        int64_t bytes = held + (run < 0 ? 0 : values[run].peakBytes);
        if (bytes > peak) {
          peak = bytes;
          peakRow = static_cast<int64_t>(i);
        }
      }
    }
    for (const SlotUse &use : uses)
      if (use.first <= peakRow && peakRow <= use.last)
        live.push_back({{"pool", poolName(use.pool)},
                        {"slot", use.slot},
                        {"microbatch", use.microbatch}});
    json["row_fragment"] = std::move(fragment);
    json["row_microbatch"] = std::move(microbatch);
    json["row_slot_bytes"] = std::move(slots);
    json["peak_row"] = peakRow;
    json["peak_slots"] = std::move(live);
  }

  rt::ProgramOp program;
  const ProgramPlan &plan;
  const PlanTimeline *train = nullptr;
  std::vector<FragmentValues> values; ///< by fragment; empty of other entries
  PoolPlaces pools;
  std::vector<KeptValue> kept;
  Json collectives = Json::array(), fragmentsJson = Json::array();
};

} // namespace

Json explain(mlir::ModuleOp module, const BundlePlan &plan) {
  Json json = {{"plan_hash", plan.hash}, {"stages", Json::array()}};
  std::vector<rt::ProgramOp> programs = programsByStage(module);
  for (size_t i = 0; i < programs.size(); ++i) {
    Json stage = StageExplainer(programs[i], plan.programs[i]).run();
    if (!plan.config.isForGpu())
      stage.update(timedOps(programs[i], plan.programs[i], plan.config));
    json["stages"].push_back(std::move(stage));
  }
  return json;
}

} // namespace mtc::compiler
