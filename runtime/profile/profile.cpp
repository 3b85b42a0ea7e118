//===- profile.cpp - what the ops of a step take --------------------------===//

#include "mtc/runtime/profile.h"

#include "mtc/runtime/isa.h"
#include "runtime/base/cores.h"
#include "runtime/control/parts_folder.h"
#include "runtime/profile/step_table.h"
#include "runtime/train/profile_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <new>

namespace mtc::runtime {
namespace {

/// What times would be of something else with, or of nothing.
Status checkOptions(const ProfileOptions &options) {
  const RunOptions &run = options.run;
  auto refuse = [](const char *what, const char *why) {
    return Status(StatusCode::usage, fmt::format("{}: {}", what, why));
  };
  if (run.evalBatches > 0)
    return refuse("--eval", "expected a run that trains, whose steps are "
                            "timed; leave it out");
  if (!run.traceFile.empty())
    return refuse("--trace and --profile", "expected none of them beside a "
                                           "profile, which they would slow; "
                                           "`mtc run` has them");
  if (run.timingLevel > 0)
    return refuse("--timing-log-level", "expected none beside a profile, which "
                                        "has all of these times");
  if (run.maxRestarts > 0)
    return refuse("--max-restarts", "expected none: steps of one start are "
                                    "timed; leave it out");
  if (run.exitInterval > 0 || run.exitMinutes > 0)
    return refuse(
        "--exit-interval and --exit-duration-in-mins",
        "expected none: times are told at the last step; use --steps");
  if (run.comm == CommKind::mpi || run.comm == CommKind::nccl)
    return refuse("--comm", "expected shm or threads: ranks of this host are "
                            "timed");
  const char *device = std::getenv("MTC_DEVICE");
  if (device && std::string_view(device) != "cpu")
    return refuse("MTC_DEVICE", "expected none or cpu, which does at once what "
                                "it is given");
  if (run.recipe.samples == 0 && run.recipe.steps <= options.warmUp)
    return {StatusCode::usage,
            fmt::format("--steps: expected more than the {} steps of "
                        "--warm-up, found {}",
                        options.warmUp, run.recipe.steps)};
  return Status::okay();
}

Status checkBundle(const Bundle &bundle) {
  const Descriptor &program = bundle.stages.front().descriptor;
  if (program.isForGpu())
    return {StatusCode::usage,
            fmt::format("'{}': expected a bundle for CPUs, found one for {}, "
                        "whose work runs behind the host; `mtc explain "
                        "--kernels` has the least times of its kernels and "
                        "`mtc run --trace` its steps",
                        bundle.folder, program.device)};
  return Status::okay();
}

/// Ranks share the processors that the run may use, and have the instructions
/// of the plan.
Status limitsOfRank(const Bundle &bundle, MachineLimits &out) {
  const Descriptor &program = bundle.stages.front().descriptor;
  if (!processorHas(program.isa))
    return {StatusCode::infeasible,
            fmt::format("the plan needs a CPU with {}, {}; compile the plan "
                        "with --isa",
                        program.isa, lackOf(program.isa))};
  auto ranks = static_cast<int64_t>(bundle.mesh.worldSize());
  int64_t threads = std::min<int64_t>(
      ranks * std::max<int64_t>(1, program.threads), usableCores());
  try {
    out = measureLimits(static_cast<int>(threads), program.isa)
              .ofEach(static_cast<double>(ranks));
  } catch (const std::bad_alloc &) {
    return {StatusCode::failed,
            "expected 512 MB of memory to measure a copy, found less"};
  }
  return Status::okay();
}

Status readRanks(const Bundle &bundle, const std::string &folder,
                 const ProfileOptions &options, std::vector<RankProfile> &out) {
  std::error_code ignored;
  for (int64_t rank = 0; rank < bundle.mesh.worldSize(); ++rank) {
    std::string path = profilePath(folder, rank);
    if (!std::filesystem::exists(path, ignored))
      return {StatusCode::failed,
              fmt::format("expected the times of rank {}, found none: the run "
                          "ended before its last step",
                          rank)};
    MTC_RETURN_IF_ERROR(readProfile(path, out.emplace_back()));
    if (out.back().seconds.size() != out.front().seconds.size())
      return {StatusCode::internal,
              fmt::format("rank {} timed {} steps, rank 0 {}", rank,
                          out.back().seconds.size(),
                          out.front().seconds.size())};
  }
  if (out.front().seconds.empty())
    return {StatusCode::usage,
            fmt::format("expected more steps than the {} of --warm-up, found "
                        "none behind them",
                        options.warmUp)};
  return Status::okay();
}

} // namespace

Status profileBundle(const ProfileOptions &options, std::string &text) {
  MTC_RETURN_IF_ERROR(checkOptions(options));
  Bundle bundle;
  MTC_RETURN_IF_ERROR(
      openBundle(options.run.bundle, ProgramForm::executable, bundle));
  MTC_RETURN_IF_ERROR(checkBundle(bundle));
  std::vector<ExplainedStage> stages;
  MTC_RETURN_IF_ERROR(readExplanation(bundle.folder, bundle, stages));
  std::error_code error;
  std::filesystem::path place = std::filesystem::temp_directory_path(error);
  if (error)
    return {StatusCode::writeFailed,
            "expected a folder for files that do not stay, found none: " +
                error.message() + "; TMPDIR names one"};
  PartsFolder folder;
  MTC_RETURN_IF_ERROR(
      PartsFolder::create((place / "mtc-profile").string(), folder));
  MachineLimits limits;
  MTC_RETURN_IF_ERROR(limitsOfRank(bundle, limits));
  RunOptions run = options.run;
  run.comm = run.comm.value_or(CommKind::shm);
  run.profileFolder = folder.path();
  run.profileWarmUp = options.warmUp;
  MTC_RETURN_IF_ERROR(runBundle(run));
  std::vector<RankProfile> ranks;
  MTC_RETURN_IF_ERROR(readRanks(bundle, folder.path(), options, ranks));
  Json answer;
  MTC_RETURN_IF_ERROR(
      profileTable({bundle, stages, ranks, limits, options.warmUp}, answer));
  text = options.json ? answer.dump(2) + "\n" : profileText(answer);
  return Status::okay();
}

} // namespace mtc::runtime
