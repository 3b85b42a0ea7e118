//===- report.cpp - what a plan costs -------------------------------------===//

#include "compiler/report.h"

#include "compiler/beside_plan.h"
#include "compiler/descriptor.h"
#include "compiler/hosts.h"
#include "compiler/roofline.h"
#include "compiler/simulate.h"
#include "compiler/state_memory.h"
#include "compiler/traffic.h"
#include "mtc/runtime/memory.h"

#include <functional>
#include <numeric>
#include <set>

namespace mtc::compiler {
namespace {

using Json = nlohmann::ordered_json;

int64_t product(const std::vector<int64_t> &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                         std::multiplies<>());
}

Json memory(const ProgramPlan &program) {
  Json json;
  int64_t total = 0;
  for (int kind = 0; kind < MTC_ARENA_COUNT; ++kind) {
    json[std::string(kArenas[kind].name)] = program.descriptor.arenas[kind];
    total += program.descriptor.arenas[kind];
  }
  // Of a GPU, one for all kernels of a rank.
  if (int64_t kernels = program.descriptor.kernelWorkspace) {
    json["kernels"] = kernels;
    total += kernels;
  }
  json["total"] = total;
  return json;
}

Json toJson(const Traffic &traffic) {
  return {{"calls", traffic.calls}, {"bytes", traffic.bytes}};
}

Json toJson(const BesidePlan &beside) {
  return {{"context", beside.context},
          {"communicators", beside.communicators},
          {"nccl", beside.nccl},
          {"total", beside.total()}};
}

Json stageReport(const PlanConfig &config, const ProgramPlan &program) {
  Json json = {{"stage", program.stage()}};
  int64_t parameters = 0;
  for (const runtime::ParamInfo &p : program.descriptor.params)
    parameters += product(p.localShape);
  json["parameters"] = parameters;
  json["memory"] = memory(program);
  if (config.isForGpu())
    json["beside_plan"] = toJson(besidePlan(config, program));
  json["state"] = stateMemory(program);
  json["padding"] = paddingMemory(program);
  Json collectives = Json::object();
  Traffic sends;
  StepTraffic traffic = trafficOfStep(program);
  for (const auto &[group, value] : traffic.groups) {
    collectives[group] = toJson(value.all);
    for (const auto &[kind, part] : value.kinds)
      collectives[group]["kinds"][kind] = toJson(part);
  }
  for (const auto &[peer, part] : traffic.sendsTo)
    sends.add(part);
  json["collectives"] = collectives;
  json["sends"] = toJson(sends);
  return json;
}

/// Global elements; a tied parameter counts where it is owned.
int64_t totalParameters(const BundlePlan &plan) {
  int64_t total = 0;
  for (const ProgramPlan &program : plan.programs)
    for (const runtime::ParamInfo &p : program.descriptor.params)
      if (p.owner)
        total += product(p.shape);
  return total;
}

/// A number of each entry of a program, the largest first.
template <typename Of>
std::vector<int64_t> ofEntries(const BundlePlan &plan, Of of) {
  std::set<int64_t, std::greater<>> found;
  for (const PlanTimeline &timeline : plan.programs.front().timelines)
    found.insert(of(timeline));
  return {found.begin(), found.end()};
}

/// Tokens of a sample.
std::vector<int64_t> lengthsOf(const BundlePlan &plan) {
  return ofEntries(plan, [&](const PlanTimeline &timeline) {
    return timeline.seq.value_or(plan.config.seq);
  });
}

/// Samples of a step.
std::vector<int64_t> batchesOf(const BundlePlan &plan) {
  const PlanConfig &c = plan.config;
  return ofEntries(plan, [&](const PlanTimeline &timeline) {
    return c.globalBatch / c.microbatches *
           timeline.microbatches.value_or(c.microbatches);
  });
}

int64_t totalSendBytes(const BundlePlan &plan, const Json &stages) {
  int64_t bytes = 0;
  for (const Json &stage : stages)
    bytes += stage["sends"]["bytes"].get<int64_t>();
  return bytes * plan.config.mesh.worldSize() / plan.config.mesh.stages();
}

} // namespace

/// Whether they count squares or not.
static std::set<runtime::GemmInfo>
distinctProducts(const std::vector<runtime::GemmInfo> &rows) {
  std::set<runtime::GemmInfo> products;
  for (runtime::GemmInfo row : rows) {
    row.counts = false;
    products.insert(row);
  }
  return products;
}

/// The distinct products of each program, by what computes them; of our own
/// also those of weights that are packed once a step, of oneDNN's also those by
/// its inner_product.
static Json productsReport(const BundlePlan &plan) {
  int64_t own = 0, packed = 0, library = 0, inner = 0;
  for (const ProgramPlan &program : plan.programs)
    for (const runtime::GemmInfo &row :
         distinctProducts(program.descriptor.gemms)) {
      ++(isOwn(row.kernel) ? own : library);
      packed += row.kernel == runtime::GemmKernel::ownPacked;
      inner += row.kernel == runtime::GemmKernel::innerProduct;
    }
  return {{"own", own},
          {"own_packed", packed},
          {"onednn", library},
          {"onednn_inner_product", inner}};
}

static Json gemmTableReport(const GemmChoices &gemms) {
  return {{"file", gemms.file},
          {"processor", gemms.processor},
          {"by_table", gemms.byTable},
          {"by_table_onednn", gemms.byLibrary},
          {"continued", gemms.continued},
          {"by_rule", gemms.byRule},
          {"packing", gemms.packing},
          {"by_table_inner_product", gemms.byInnerProduct}};
}

/// What verify-plan proved, in numbers; false if it did not look.
static Json proofReport(const ProofCounts &proof) {
  if (proof.plans == 0)
    return false;
  Json counts;
  for (const auto &[name, count] : proof.counts)
    counts[name] = count;
  if (proof.plans > 1) // of steps of so many shapes
    counts["shapes"] = proof.plans;
  return counts;
}

static Json sumOrdersReport(const std::vector<SumOrder> &orders) {
  Json list = Json::array();
  for (const SumOrder &order : orders)
    list.push_back({{"stage", order.stage},
                    {"chunk", order.chunk},
                    {"microbatches", order.microbatches}});
  return list;
}

/// Entries of cubins that have values in local memory.
static Json localMemoryReport(const BundlePlan &plan) {
  Json list = Json::array();
  for (const ProgramPlan &program : plan.programs)
    for (const codegen::GpuCode &code : program.gpu.code)
      for (const auto &[entry, bytes] : code.localBytes)
        list.push_back({{"stage", program.stage()},
                        {"chip", code.chip},
                        {"entry", entry},
                        {"bytes_of_a_thread", bytes}});
  return list;
}

/// For which GPUs there is code, and whether ptxas looked at it.
static Json codeReport(const BundlePlan &plan) {
  bool isAssembled = !plan.programs.empty();
  for (const ProgramPlan &program : plan.programs) {
    isAssembled = isAssembled && !program.gpu.code.empty();
    for (const codegen::GpuCode &code : program.gpu.code)
      isAssembled = isAssembled && !code.cubin.empty();
  }
  return {{"chips", gpuChipsOf(plan.config.device)},
          {"assembled", isAssembled},
          {"local_memory", localMemoryReport(plan)}};
}

Json report(const BundlePlan &plan) {
  const PlanConfig &c = plan.config;
  Json stages = Json::array();
  for (const ProgramPlan &program : plan.programs)
    stages.push_back(stageReport(plan.config, program));
  Json json = {
      {"model", c.model},
      {"plan_hash", plan.hash},
      {"ranks", c.mesh.worldSize()},
      {"mesh", describeMesh(c.mesh)},
      {"sequence_parallel", c.sequenceParallel},
      {"recompute", c.recompute.empty() ? "none" : c.recompute},
      {"overlap", c.overlap},
      {"comm_thread", !c.isForGpu() && c.streams > 1},
      {"programs", plan.programs.size()},
      {"device", c.device},
      {"isa", c.isa},
      {"dtype", c.dtype},
      {"grad_dtype", c.gradDtype},
      {"seq_lengths", lengthsOf(plan)},
      {"global_batches", batchesOf(plan)},
      {"tokens_per_step", c.globalBatch * c.seq},
      {"total_parameters", totalParameters(plan)},
      {"total_p2p_bytes", totalSendBytes(plan, stages)},
  };
  if (auto bubble = bubbleFraction(plan, "train"))
    json["bubble_fraction"] = *bubble;
  if (!c.sumOrders.empty())
    json["sum_orders"] = sumOrdersReport(c.sumOrders);
  if (c.isForGpu())
    json["gemm_epilogues"] = c.epilogues;
  if (!c.gemm.empty())
    json["gemm"] = c.gemm;
  if (!c.isForGpu())
    json["products"] = productsReport(plan);
  if (!plan.gemms.file.empty())
    json["gemm_table"] = gemmTableReport(plan.gemms);
  json["zero"] = c.zeroStage;
  json["bytes_per_parameter"] = bytesPerParameter(plan);
  if (c.ranksPerHost)
    json["hosts"] = hostsReport(plan);
  json["verified"] = proofReport(plan.proof);
  json["stages"] = std::move(stages);
  if (c.isForGpu()) {
    json["code"] = codeReport(plan);
    json["roofline"] = rooflineReport(plan);
  }
  return json;
}

} // namespace mtc::compiler
