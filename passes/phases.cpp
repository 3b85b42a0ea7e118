//===- phases.cpp - the phases of a compilation, in order -----------------===//

#include "passes/phases.h"

#include <fmt/format.h>

namespace mtc::passes {

static constexpr PhaseInfo phaseTable[] = {
    {Phase::import, "import", "spec and strategy to the tfm dialect"},
    {Phase::differentiate, "differentiate", "forward to forward + backward"},
    {Phase::planRecompute, "plan-recompute",
     "saved values to ones that the backward computes again"},
    {Phase::verifyTraining, "verify-training",
     "every parameter use has its gradient"},
    {Phase::annotateShardings, "annotate-shardings",
     "parameters and inputs to mesh axes"},
    {Phase::propagateShardings, "propagate-shardings",
     "a sharding for every value"},
    {Phase::insertCollectives, "insert-collectives",
     "reshards where shardings differ"},
    {Phase::partition, "partition", "global to local shapes"},
    {Phase::verifyPartitioned, "verify-partitioned",
     "local shapes, shardings and collectives agree"},
    {Phase::deriveEval, "derive-eval", "the forward that trains nothing"},
    {Phase::cutStages, "cut-stages", "layers to pipeline stages"},
    {Phase::buildSchedule, "build-schedule", "the order of microbatches"},
    {Phase::splitBackward, "split-backward",
     "input gradients apart from weight gradients"},
    {Phase::expandSchedule, "expand-schedule",
     "sends, receives and buffer slots"},
    {Phase::bucketGradients, "bucket-gradients",
     "a program per stage, gradients in buckets"},
    {Phase::shardOptimizer, "shard-optimizer",
     "reductions and optimizer shards"},
    {Phase::formClusters, "form-clusters", "ops of one kernel to one region"},
    {Phase::verifyFragments, "verify-fragments",
     "shardings of all fragments agree"},
    {Phase::outlineKernels, "outline-kernels", "clusters to kernels"},
    {Phase::lowerCalls, "lower-calls",
     "GEMMs, attention and collectives to calls"},
    {Phase::shardGradients, "shard-gradients",
     "sums of gradients over dp behind each microbatch"},
    {Phase::overlapGradients, "overlap-gradients",
     "sums of gradients to the backward of the last microbatch"},
    {Phase::overlapParameters, "overlap-parameters",
     "gathers of parameters to the forward of the first microbatch"},
    {Phase::storeGradients, "store-gradients",
     "gradients of the first microbatch stored, not added to zeros"},
    {Phase::packWeights, "pack-weights",
     "weights packed for products once a step"},
    {Phase::countGradients, "count-gradients",
     "squares for the norm counted by the products that end gradients"},
    {Phase::assignStreams, "assign-streams",
     "collectives to streams, with events"},
    {Phase::planMemory, "plan-memory", "an offset for every value"},
    {Phase::verifyPlan, "verify-plan",
     "no hang, no overlap, nothing lost, for all ranks"},
    {Phase::codegenKernels, "codegen-kernels", "kernels to loops of vectors"},
    {Phase::lowerToLLVM, "lower-to-llvm", "fragments to LLVM"},
    {Phase::link, "link", "objects, executables and shared objects"}};

std::span<const PhaseInfo> allPhases() { return phaseTable; }

static constexpr PipelineInfo pipelineTable[] = {
    {"mtc-model", Phase::differentiate, Phase::verifyTraining,
     "what is computed: forward to forward + backward"},
    {"mtc-sharding", Phase::annotateShardings, Phase::verifyPartitioned,
     "where values live: global tensors to local ones and collectives"},
    {"mtc-pipeline", Phase::deriveEval, Phase::expandSchedule,
     "who runs what, when: stages and their timelines"},
    {"mtc-plan", Phase::bucketGradients, Phase::verifyPlan,
     "bytes and calls: a verified program per stage"},
    {"mtc-code", Phase::codegenKernels, Phase::lowerToLLVM,
     "machine words: the module of one stage to LLVM"}};

/// Whether each phase between import and link is in one pipeline.
static consteval bool coverAll() {
  int next = static_cast<int>(Phase::import) + 1;
  for (const PipelineInfo &pipeline : pipelineTable) {
    if (static_cast<int>(pipeline.first) != next)
      return false;
    next = static_cast<int>(pipeline.last) + 1;
  }
  return next == static_cast<int>(Phase::link);
}
static_assert(coverAll());

std::span<const PipelineInfo> allPipelines() { return pipelineTable; }

const char *toString(Phase phase) {
  return phaseTable[static_cast<size_t>(phase)].name;
}

std::optional<Phase> phaseNamed(std::string_view name) {
  if (name == "tfm")
    return Phase::import;
  if (name == "kernels")
    return Phase::codegenKernels;
  for (const PhaseInfo &info : phaseTable)
    if (name == info.name)
      return info.phase;
  return std::nullopt;
}

bool follows(Phase phase, Phase reached) {
  if (phase == reached)
    return isVerifier(phase);
  if (phase < reached)
    return false;
  for (auto i = static_cast<size_t>(reached) + 1;
       i < static_cast<size_t>(phase); ++i)
    if (!isVerifier(static_cast<Phase>(i)))
      return false;
  return true;
}

std::string phaseNames() {
  std::string names;
  for (const PhaseInfo &info : phaseTable)
    names += (names.empty() ? "" : ", ") + std::string(info.name);
  return names;
}

std::string phaseFileName(Phase phase) {
  return fmt::format("{:02}-{}", static_cast<int>(phase), toString(phase));
}

} // namespace mtc::passes
