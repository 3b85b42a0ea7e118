//===- run_header.cpp - the first line of a run's log ---------------------===//

#include "runtime/control/run_header.h"

#include "mtc/runtime/abi.h"
#include "mtc/runtime/recipe_fields.h"
#include "runtime/base/json.h"
#include "runtime/base/wall_time.h"
#include "runtime/train/metrics.h"

#include <algorithm>
#include <gnu/libc-version.h>
#include <numeric>

namespace mtc::runtime {
namespace {

/// Names of files may be of any bytes; JSON is UTF-8.
std::string textOfJson(const Json &json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string recipeText(const Recipe &recipe) {
  Json json = Json::object();
  for (const RecipeField &field : recipeFields())
    std::visit([&](auto member) { json[field.key] = recipe.*member; },
               field.member);
  return textOfJson(json);
}

std::string meshText(const Mesh &mesh) {
  Json json = Json::object();
  for (const AxisInfo &axis : kAxes)
    json[std::string(axis.name)] = mesh[axis.id];
  return textOfJson(json);
}

std::string flopsText(const std::vector<ModelFlops> &flops) {
  if (flops.empty())
    return "";
  Json json = Json::object();
  for (const ModelFlops &of : flops)
    json[std::to_string(of.seq)] = of.perToken;
  return textOfJson(json);
}

/// Of the rank that needs most.
int64_t plannedBytes(const Bundle &bundle) {
  int64_t most = 0;
  for (const BundleProgram &stage : bundle.stages) {
    const auto &arenas = stage.descriptor.arenas;
    most = std::max(most,
                    std::accumulate(arenas.begin(), arenas.end(), int64_t{0}));
  }
  return most;
}

} // namespace

std::string runHeader(CommKind comm, const Bundle &bundle, const Job &job) {
  const Descriptor &program = bundle.stages.front().descriptor;
  std::string host = hostName(), mesh = meshText(bundle.mesh),
              recipe = recipeText(job.recipe),
              flops = flopsText(job.report.flops),
              seed = std::to_string(job.recipe.seed);
  RunRecord record;
  record.time = wallTime();
  record.mtc = MTC_VERSION;
  record.abi = MTC_ABI_VERSION;
  record.onednn = mtc_gemm_library();
  record.libc = gnu_get_libc_version();
  record.host = host;
  record.model = program.model;
  record.plan = bundle.planHash;
  record.mesh = {mesh};
  record.ranks = bundle.mesh.worldSize();
  record.comm = infoOf(job.nccl ? CommKind::nccl : comm).name;
  record.isa = program.isa;
  record.dtype = program.dtype;
  record.globalBatch = job.recipe.global_batch_size > 0
                           ? job.recipe.global_batch_size
                           : program.batch.globalBatch;
  record.seed = {seed};
  record.recipe = {recipe};
  record.startStep = job.startStep();
  record.memoryBytes = plannedBytes(bundle);
  record.flopsPerToken = {flops};
  record.flopsRule = flops.empty() ? "" : kFlopsRule;
  if (job.report.peak > 0)
    record.peak = job.report.peak;
  return formatRun(record);
}

} // namespace mtc::runtime
