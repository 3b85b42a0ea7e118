//===- descriptor.cpp - what a program says about itself ------------------===//

#include "compiler/descriptor.h"

#include <fmt/format.h>

namespace mtc::compiler {
namespace {

using Json = nlohmann::ordered_json;

Json describeParam(const PlanParam &p) {
  Json init = {{"kind", p.init}};
  if (p.init == "normal")
    init["std"] = p.std;
  return {{"name", p.name},
          {"shape", p.shape},
          {"local_shape", p.local},
          {"split_dim", p.splitDim},
          {"split_axis", p.splitAxis},
          {"bucket", p.bucket},
          {"start", p.start},
          {"owner", p.owner},
          {"decay", p.decay},
          {"init", init},
          {"layer_axes", p.axes}};
}

Json describeBucket(const PlanBucket &b) {
  return {{"elements", b.elements},
          {"unpadded", b.unpadded},
          {"zero", b.zero},
          {"shard_elements", b.shard},
          {"param_offset", b.paramOffset},
          {"grad_offset", b.gradOffset},
          {"main_offset", b.mainOffset},
          {"exp_avg_offset", b.expAvgOffset},
          {"exp_avg_sq_offset", b.expAvgSqOffset},
          {"second_use_of", b.secondUseOf}};
}

Json describeInput(const PlanInput &i) {
  return {{"name", i.name},
          {"pool", i.pool},
          {"offset", i.offset},
          {"stride", i.stride},
          {"entry", i.entry}};
}

Json describeGemm(const PlanGemm &g) {
  return {{"m", g.m},   {"n", g.n},   {"k", g.k},
          {"ta", g.ta}, {"tb", g.tb}, {"beta", g.beta ? 1 : 0},
          {"ab", g.ab}, {"c", g.c},   {"scratch", g.scratch}};
}

/// The rows of the update fragments: those without a microbatch.
Json describeEntry(const PlanTimeline &timeline) {
  Json update = Json::array();
  for (size_t i = 0; i < timeline.rows.size(); ++i)
    if (timeline.rows[i].kind == MTC_STEP_RUN &&
        timeline.rows[i].microbatch < 0)
      update.push_back(i);
  return {{"name", timeline.entry},
          {"length", timeline.rows.size()},
          {"update", update}};
}

/// The entry that runs the fragment of an export.
std::string entryOf(const ProgramPlan &program, const std::string &fragment) {
  for (const PlanTimeline &timeline : program.timelines)
    for (const PlanRow &row : timeline.rows)
      if (row.kind == MTC_STEP_RUN && row.fragment == fragment)
        return timeline.entry;
  return "";
}

/// Dimension 0 is this dp rank's part of the microbatch in both shapes.
Json describeExport(const ProgramPlan &program, const PlanExport &e) {
  std::vector<int64_t> shape = e.shape;
  if (!shape.empty() && !e.local.empty() && e.splitDim != 0)
    shape[0] = e.local[0];
  return {{"name", e.name},
          {"entry", entryOf(program, e.fragment)},
          {"fragment", program.fragmentIndex(e.fragment)},
          {"arena", e.arena},
          {"offset", e.offset},
          {"dtype", e.dtype},
          {"shape", shape},
          {"local_shape", e.local},
          {"split_dim", e.splitDim},
          {"split_axis", e.splitAxis}};
}

Json describeBatch(const PlanConfig &c) {
  return {{"micro_batch", c.microBatch},
          {"microbatches", c.microbatches},
          {"global_batch", c.globalBatch},
          {"seq", c.seq},
          {"vocab", c.vocab}};
}

template <typename T, typename F>
Json listOf(const std::vector<T> &items, F f) {
  Json list = Json::array();
  for (const T &item : items)
    list.push_back(f(item));
  return list;
}

int64_t transferCount(const ProgramPlan &program) {
  int64_t count = 0;
  for (const PlanTimeline &timeline : program.timelines)
    for (const PlanRow &row : timeline.rows)
      count += static_cast<int64_t>(row.transfers.size());
  return count;
}

} // namespace

Json describeMesh(const Mesh &mesh) {
  Json json;
  for (const AxisInfo &axis : kAxes)
    json[std::string(axis.name)] = mesh[axis.id];
  return json;
}

Json describe(const BundlePlan &plan, const ProgramPlan &program) {
  const PlanConfig &c = plan.config;
  return {{"abi", MTC_ABI_VERSION},
          {"plan_hash", plan.hash},
          {"model", c.model},
          {"stage", program.stage},
          {"isa", c.isa},
          {"threads", c.threads},
          {"dtype", c.dtype},
          {"onednn", program.onednn},
          {"mesh", describeMesh(c.mesh)},
          {"batch", describeBatch(c)},
          {"arenas", program.arenas},
          {"params", listOf(program.params, describeParam)},
          {"buckets", listOf(program.buckets, describeBucket)},
          {"inputs", listOf(program.inputs, describeInput)},
          {"gemms", listOf(program.gemms, describeGemm)},
          {"loss", {{"offset", program.lossOffset}}},
          {"entries", listOf(program.timelines, describeEntry)},
          {"exports", listOf(program.exports,
                             [&](const PlanExport &e) {
                               return describeExport(program, e);
                             })},
          {"transfers", transferCount(program)},
          {"fragments", listOf(program.fragments,
                               [](const PlanFragment &f) { return f.name; })},
          {"config", c.json}};
}

Json describeBundle(const BundlePlan &plan) {
  Json programs = Json::array();
  for (const ProgramPlan &program : plan.programs) {
    std::string file = programFile(program.stage);
    programs.push_back({{"stage", program.stage},
                        {"executable", file},
                        {"shared", file + ".so"}});
  }
  return {{"abi", MTC_ABI_VERSION},
          {"plan_hash", plan.hash},
          {"model", plan.config.model},
          {"mesh", describeMesh(plan.config.mesh)},
          {"batch", describeBatch(plan.config)},
          {"programs", programs},
          {"config", plan.config.json}};
}

std::string programFile(int64_t stage) {
  return fmt::format("programs/stage{}", stage);
}

} // namespace mtc::compiler
