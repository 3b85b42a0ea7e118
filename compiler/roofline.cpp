//===- roofline.cpp - the least time that a plan takes on GPUs ------------===//

#include "compiler/roofline.h"

#include "compiler/model_flops.h"
#include "compiler/read_calls.h"
#include "compiler/simulate.h"

#include <algorithm>
#include <map>

namespace mtc::compiler {
namespace {

using Json = nlohmann::ordered_json;

/// A row of a stage.
using Calls = std::vector<PlanCalls>;

constexpr size_t kLargest = 10;
constexpr const char *kByTensorCores = "tensor cores", *kByF32 = "fp32",
                     *kByMemory = "memory", *kByLink = "link";

/// Products of f32 take no tensor cores: nobody asked for tf32.
bool onTensorCores(const PlanCalls &calls) {
  return !calls.factors.empty() && calls.factors != "f32";
}

/// By stage.
std::vector<Calls> callsOfStages(const BundlePlan &plan) {
  std::vector<Calls> stages;
  for (const ProgramPlan &program : plan.programs)
    stages.push_back(callsOfStep(program));
  return stages;
}

double computing(const PlanFragment &fragment, const GpuCard &card) {
  double seconds = 0;
  for (const PlanCalls &calls : fragment.calls)
    if (calls.stream == MTC_STREAM_COMPUTE)
      seconds += floorOf(calls, card).seconds;
  return seconds;
}

double floorOfStep(const BundlePlan &plan, const GpuCard &card,
                   double busiest) {
  std::map<const PlanFragment *, double> known;
  RowCost cost = [&](const ProgramPlan &program, const MtcStep &row) {
    const PlanFragment &fragment = program.fragments[row.fragment];
    auto [at, isNew] = known.try_emplace(&fragment);
    if (isNew)
      at->second = computing(fragment, card);
    return at->second;
  };
  return std::max(busiest, lengthOfStep(plan, "train", cost).value_or(0));
}

/// Of all ranks in a step; none without the entry eval, by which it counts.
std::optional<double> modelFlopsOfStep(const BundlePlan &plan) {
  std::vector<runtime::ModelFlops> flops = modelFlops(plan);
  if (flops.empty())
    return std::nullopt;
  return flops.front().perToken *
         static_cast<double>(plan.config.globalBatch * plan.config.seq);
}

/// Of products, in the type that the plan computes in.
double peakOf(const BundlePlan &plan, const GpuCard &card) {
  return plan.config.dtype == "f32" ? card.f32 : card.products16;
}

Json entriesOf(const ProgramPlan &program, const std::string &kernel) {
  Json entries = Json::array();
  for (const codegen::GpuLaunch &launch : program.gpu.launches)
    if (launch.kernel == kernel)
      for (const codegen::GpuEntry &entry : launch.entries)
        entries.push_back({{"name", entry.name},
                           {"threads", entry.threads},
                           {"shared_bytes", entry.sharedBytes}});
  return entries;
}

Json floors(const PlanCalls &calls) {
  Json json;
  for (const GpuCard &card : kGpuCards) {
    Floor floor = floorOf(calls, card);
    json[std::string(card.name)] = {{"seconds", floor.seconds},
                                    {"bound", floor.bound}};
  }
  return json;
}

Json toJson(const PlanCalls &calls, const ProgramPlan &program) {
  Json json = {{"op", calls.op},
               {"name", calls.name},
               {"part", calls.part},
               {"calls", calls.calls},
               {"unit", onTensorCores(calls) ? kByTensorCores : kByF32},
               {"stream", calls.stream},
               {"flops", calls.flops},
               {"unmasked_flops", calls.unmaskedFlops},
               {"bytes", calls.bytes},
               {"link_bytes", calls.linkBytes}};
  if (calls.bytes > 0)
    json["intensity"] = calls.flops / calls.bytes;
  if (Json entries = entriesOf(program, calls.name); !entries.empty())
    json["entries"] = std::move(entries);
  json["floor"] = floors(calls);
  return json;
}

Json stageJson(const ProgramPlan &program, const Calls &calls) {
  PlanCalls all;
  Json rows = Json::array();
  for (const PlanCalls &row : calls) {
    all.add(row);
    rows.push_back(toJson(row, program));
  }
  return {{"stage", program.stage()},
          {"flops", all.flops},
          {"bytes", all.bytes},
          {"link_bytes", all.linkBytes},
          {"calls", std::move(rows)}};
}

Json largestOf(const Calls &calls, const GpuCard &card) {
  std::vector<std::pair<Floor, const PlanCalls *>> rows;
  for (const PlanCalls &row : calls)
    if (Floor floor = floorOf(row, card); floor.seconds > 0)
      rows.emplace_back(floor, &row);
  std::ranges::stable_sort(rows, [](const auto &a, const auto &b) {
    return a.first.seconds > b.first.seconds;
  });
  rows.resize(std::min(rows.size(), kLargest));
  Json json = Json::array();
  for (const auto &[floor, row] : rows)
    json.push_back({{"op", row->op},
                    {"name", row->name},
                    {"part", row->part},
                    {"calls", row->calls},
                    {"seconds", floor.seconds},
                    {"bound", floor.bound}});
  return json;
}

Json byBound(const Calls &calls, const GpuCard &card) {
  Json json = {
      {kByTensorCores, 0.0}, {kByF32, 0.0}, {kByMemory, 0.0}, {kByLink, 0.0}};
  for (const PlanCalls &row : calls) {
    Floor floor = floorOf(row, card);
    json[floor.bound] = json[floor.bound].get<double>() + floor.seconds;
  }
  return json;
}

Json cardJson(const BundlePlan &plan, const std::vector<Calls> &stages,
              const GpuCard &card, std::optional<double> modelFlops) {
  std::vector<double> busy;
  for (const Calls &calls : stages)
    busy.push_back(floorOf(calls, card));
  auto busiest = std::ranges::max_element(busy);
  const Calls &calls = stages[static_cast<size_t>(busiest - busy.begin())];
  double step = floorOfStep(plan, card, *busiest);
  Json json = {{"card", card.name},
               {"description", card.description},
               {"flops_16_bits", card.products16},
               {"flops_fp32", card.f32},
               {"memory_bytes_per_second", card.memory},
               {"link_bytes_per_second", card.link},
               {"busiest_stage", busiest - busy.begin()},
               {"busy_seconds", *busiest},
               {"step_seconds", step},
               {"mfu", nullptr}};
  if (modelFlops && step > 0)
    json["mfu"] =
        *modelFlops / (step * peakOf(plan, card) *
                       static_cast<double>(plan.config.mesh.worldSize()));
  json["bounds"] = byBound(calls, card);
  json["largest"] = largestOf(calls, card);
  return json;
}

} // namespace

Floor floorOf(const PlanCalls &calls, const GpuCard &card) {
  bool tensor = onTensorCores(calls);
  Floor floor{calls.flops / (tensor ? card.products16 : card.f32),
              tensor ? kByTensorCores : kByF32};
  if (double seconds = calls.bytes / card.memory; seconds >= floor.seconds)
    floor = {seconds, kByMemory};
  if (double seconds = calls.linkBytes / card.link; seconds > floor.seconds)
    floor = {seconds, kByLink};
  return floor;
}

double floorOf(const Calls &calls, const GpuCard &card) {
  std::map<int64_t, double> streams;
  double longest = 0;
  for (const PlanCalls &row : calls) {
    double &sum = streams[row.stream];
    sum += floorOf(row, card).seconds;
    longest = std::max(longest, sum);
  }
  return longest;
}

double floorOfStep(const BundlePlan &plan, const GpuCard &card) {
  double busiest = 0;
  for (const Calls &calls : callsOfStages(plan))
    busiest = std::max(busiest, floorOf(calls, card));
  return floorOfStep(plan, card, busiest);
}

Json rooflineReport(const BundlePlan &plan) {
  std::vector<Calls> stages = callsOfStages(plan);
  std::optional<double> modelFlops = modelFlopsOfStep(plan);
  Json json = {{"card", gpuCardFor(gpuChipsOf(plan.config.device)).name},
               {"model_flops", nullptr},
               {"cards", Json::array()},
               {"stages", Json::array()}};
  if (modelFlops)
    json["model_flops"] = *modelFlops;
  for (const GpuCard &card : kGpuCards)
    json["cards"].push_back(cardJson(plan, stages, card, modelFlops));
  for (size_t i = 0; i < stages.size(); ++i)
    json["stages"].push_back(stageJson(plan.programs[i], stages[i]));
  return json;
}

} // namespace mtc::compiler
