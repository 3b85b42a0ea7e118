//===- phases.h - the phases of a compilation, in order ---------*- C++ -*-===//
#ifndef MTC_PASSES_PHASES_H
#define MTC_PASSES_PHASES_H

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mtc::passes {

/// Phases in the order in which they run. Those between `import` and `link` are
/// passes whose flag is the phase's name.
enum class Phase {
  import,
  differentiate,
  planRecompute,
  verifyTraining,
  annotateShardings,
  propagateShardings,
  insertCollectives,
  partition,
  verifyPartitioned,
  deriveEval,
  cutStages,
  buildSchedule,
  splitBackward,
  expandSchedule,
  bucketGradients,
  shardOptimizer,
  formClusters,
  verifyFragments,
  outlineKernels,
  lowerCalls,
  shardGradients,
  overlapGradients,
  overlapParameters,
  storeGradients,
  packWeights,
  countGradients,
  assignStreams,
  planMemory,
  verifyPlan,
  codegenKernels,
  lowerToLLVM,
  link
};

struct PhaseInfo {
  Phase phase;
  const char *name; ///< as in --from and --compile-to; the pass's flag
  const char *what; ///< one line for people
};

/// All phases, in order; the index is the enum's value.
std::span<const PhaseInfo> allPhases();

const char *toString(Phase phase);

/// Phases that follow each other and have a name together: a pipeline of
/// mtc-opt, a heading of `mtc help phases`.
struct PipelineInfo {
  const char *name;
  Phase first, last;
  const char *what; ///< one line for people
};

/// Each phase that is a pass is in one of these, in order.
std::span<const PipelineInfo> allPipelines();

/// The phases from imported IR to a verified plan.
inline constexpr PipelineInfo planPipeline = {
    "mtc-compile", Phase::differentiate, Phase::verifyPlan,
    "imported IR to a verified plan: all before code"};

/// True for phases that change nothing and reject what is wrong.
constexpr bool isVerifier(Phase phase) {
  return phase == Phase::verifyTraining || phase == Phase::verifyPartitioned ||
         phase == Phase::verifyFragments || phase == Phase::verifyPlan;
}

/// The phase of that name ("tfm" is another name of "import", "kernels" of
/// "codegen-kernels"); none if there is no such phase.
std::optional<Phase> phaseNamed(std::string_view name);

/// "import, differentiate, ...": for messages.
std::string phaseNames();

/// True if the pass of `phase` may run on IR that reached `reached`: only
/// verifiers lie between them. What a verifier wrote may have been edited
/// since, so it takes its own IR, too.
bool follows(Phase phase, Phase reached);

/// "07-partition": the name of a saved file without its ending.
std::string phaseFileName(Phase phase);

/// The last phase whose result `--from` accepts. After it each stage is a
/// module of its own, and its descriptor cannot be built from the IR any more.
inline constexpr Phase lastResumable = Phase::verifyPlan;

} // namespace mtc::passes
#endif // MTC_PASSES_PHASES_H
