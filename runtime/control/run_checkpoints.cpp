//===- run_checkpoints.cpp - the checkpoints that a run has ---------------===//

#include "runtime/control/run_checkpoints.h"

#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "runtime/control/newest_checkpoint.h"
#include "runtime/control/past_orders.h"
#include "runtime/control/say.h"
#include "runtime/train/step_batches.h"
#include "runtime/train/train_state.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <random>
#include <set>

namespace mtc::runtime {
namespace {

/// Of one run: folders that it has not finished are told from others'.
std::string makeNonce() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

/// The steps of a run that ends behind so many samples were counted from its
/// first one: those before the checkpoint must be among them.
Status checkSamples(const Job &job, const Descriptor &program) {
  const RunPosition &position = job.checkpoints.start;
  if (job.recipe.samples == 0)
    return Status::okay();
  StepCount before, found{position.step, position.samples};
  MTC_RETURN_IF_ERROR(
      StepBatches::countSteps(job.recipe, program, position.samples, before));
  if (before == found)
    return Status::okay();
  return {StatusCode::usage,
          fmt::format("--samples: '{}' is of other global batches ({} samples "
                      "in {} steps); give --steps, those before it included",
                      job.checkpoints.resume, position.samples, position.step)};
}

/// A profile needs a step behind those that warm up, of this run.
Status checkProfile(const Job &job) {
  int64_t start = job.checkpoints.start.step;
  int64_t left = job.recipe.steps - start;
  if (!job.profile.isWanted() || left > job.profile.warmUp)
    return Status::okay();
  std::string what =
      left == 0 ? "nothing is left to train"
                : fmt::format("no step is left behind the {} of --warm-up",
                              job.profile.warmUp);
  return {
      StatusCode::usage,
      fmt::format("{}: '{}' is of step {}, and the last one is {}; to profile, "
                  "give --steps {} or more, or begin a new run, "
                  "without --resume and --load",
                  what, job.checkpoints.resume, start, job.recipe.steps,
                  start + job.profile.warmUp + 1)};
}

/// A run that goes on trains behind the step of its checkpoint.
Status checkSteps(const Job &job, const Descriptor &program) {
  int64_t start = job.checkpoints.start.step;
  MTC_RETURN_IF_ERROR(checkSamples(job, program));
  if (start > job.recipe.steps)
    return {StatusCode::usage,
            fmt::format("--steps {}: '{}' is of step {}; expected as many "
                        "steps or more, those before it included",
                        job.recipe.steps, job.checkpoints.resume, start)};
  return checkProfile(job);
}

} // namespace

/// Shapes of the tensors of a checkpoint, by name.
static std::map<std::string, std::vector<int64_t>>
savedTensors(const Bundle &bundle) {
  std::map<std::string, std::vector<int64_t>> tensors;
  for (const BundleProgram &stage : bundle.stages)
    for (const ParamInfo &p : stage.descriptor.params)
      for (const std::string &name : tensorsOf(stage.descriptor, p))
        tensors.emplace(name, p.modelShape());
  return tensors;
}

static int64_t
bytesOf(const std::map<std::string, std::vector<int64_t>> &tensors) {
  int64_t elements = 0;
  for (const auto &[name, shape] : tensors)
    elements += elementCount(shape);
  return elements * static_cast<int64_t>(sizeof(float));
}

Status checkFits(const Checkpoint &checkpoint, const Bundle &bundle) {
  std::map<std::string, std::vector<int64_t>> expected = savedTensors(bundle);
  std::map<std::string, std::vector<int64_t>> found =
      checkpoint.manifest.tensors;
  Problems problems;
  const std::string &optimizer = bundle.stages[0].descriptor.optimizer;
  const std::string &saved = checkpoint.manifest.optimizer;
  if (saved != optimizer) {
    problems.add(fmt::format(
        "optimizer: expected {}, found states of {}; compile with --optimizer "
        "{}, or begin with its weights alone (mtc checkpoint export, "
        "--init-from)",
        optimizer, saved, saved));
    auto isState = [](const auto &tensor) {
      return !isParameterTensor(tensor.first);
    };
    std::erase_if(expected, isState);
    std::erase_if(found, isState);
  }
  for (const auto &[name, shape] : expected)
    if (auto tensor = found.find(name); tensor == found.end())
      problems.add(fmt::format("'{}' is missing", name));
    else if (tensor->second != shape)
      problems.add(fmt::format("'{}': expected [{}], found [{}]", name,
                               fmt::join(shape, ", "),
                               fmt::join(tensor->second, ", ")));
  for (const auto &[name, shape] : found)
    if (!expected.contains(name))
      problems.add(fmt::format(
          "'{}': expected a tensor of the model, found one that it has not",
          name));
  return problems.status(
      fmt::format("'{}' is of another model or optimizer", checkpoint.folder));
}

/// A model may have been given another name, or be another one.
static void warnOfName(const Checkpoint &checkpoint, const Bundle &bundle) {
  const std::string &expected = bundle.stages[0].descriptor.model;
  const std::string &found = checkpoint.manifest.model;
  if (found != expected)
    say(fmt::format("warning: '{}' is of the model '{}', and the bundle of "
                    "'{}', whose tensors have the same names and shapes: its "
                    "weights are taken; if they are not meant, name another "
                    "checkpoint",
                    checkpoint.folder, found, expected));
}

/// What the run goes on from; without a folder in it: it is new.
Status RunCheckpoints::choose(const RunOptions &options,
                              const CheckpointOrder &order, Checkpoint &out) {
  if (options.resume)
    MTC_RETURN_IF_ERROR(openNewestIn(order.place.root, out));
  if (!out.folder.empty() || options.load.empty())
    return Status::okay();
  if (Status status = openNewest(options.load, out); !status.ok())
    return {status.code(), "--load: " + status.message()};
  hold_ = std::move(out.hold);
  return Status::okay();
}

Status RunCheckpoints::prepare(const RunOptions &options, int64_t bytes,
                               Job &job) {
  CheckpointOrder &order = job.checkpoints;
  std::string root = behindLinks(options.checkpoints);
  MTC_RETURN_IF_ERROR(makeLastingFolders(root));
  MTC_RETURN_IF_ERROR(FileLock::take(root + ".lock", root, lock_));
  MTC_RETURN_IF_ERROR(lock_.holdEmpty());
  MTC_RETURN_IF_ERROR(removeTemporaries(root));
  order.place = {root, makeNonce(), bytes};
  order.async = options.asyncSave;
  order.interval = options.saveInterval;
  order.keep = options.keepCheckpoints;
  // The run may make room, or somebody may: it begins.
  if (Status room = checkRoom(order.place, 0); !room.ok())
    say("warning: " + room.message());
  if (options.resume)
    return Status::okay();
  std::vector<int64_t> steps;
  MTC_RETURN_IF_ERROR(listSteps(root, steps));
  if (steps.empty())
    return Status::okay();
  return {
      StatusCode::usage,
      fmt::format("'{}' has checkpoints of an earlier run, the last of step "
                  "{}; give --resume to go on from it, or name another "
                  "folder",
                  root, steps.back())};
}

Status RunCheckpoints::renew(Job &job) {
  CheckpointOrder &order = job.checkpoints;
  MTC_RETURN_IF_ERROR(removeTemporaries(order.place.root));
  Checkpoint from; // not held: this run alone removes it
  MTC_RETURN_IF_ERROR(openNewestIn(order.place.root, from));
  if (from.folder.empty())
    return Status::okay();
  order.resume = from.folder;
  order.start = from.manifest.position;
  return Status::okay();
}

/// What a run that goes on has been asked to write of steps before. A first one
/// that loads a checkpoint has the parameters of that as initial ones, and its
/// command line was never one of steps before it.
static Status orderRest(Job &job) {
  const CheckpointOrder &order = job.checkpoints;
  bool isOwn = order.resume == order.place.folder(order.start.step);
  if (!isOwn)
    return checkNonePast(job);
  sayLeftOut(leaveOutPast(job, order.start.step), order.start.step);
  return Status::okay();
}

Status RunCheckpoints::open(const RunOptions &options, const Bundle &bundle,
                            Job &job) {
  CheckpointOrder &order = job.checkpoints;
  if (!options.checkpoints.empty())
    MTC_RETURN_IF_ERROR(prepare(options, bytesOf(savedTensors(bundle)), job));
  Checkpoint from;
  MTC_RETURN_IF_ERROR(choose(options, order, from));
  if (from.folder.empty()) {
    if (options.resume)
      say(fmt::format("no checkpoint in '{}' yet: the run begins anew",
                      order.place.root));
    return Status::okay();
  }
  order.resume = from.folder;
  MTC_RETURN_IF_ERROR(checkFits(from, bundle));
  warnOfName(from, bundle);
  order.start = from.manifest.position;
  loaded_ = std::move(from.manifest);
  if (job.evaluates())
    return Status::okay();
  MTC_RETURN_IF_ERROR(checkSteps(job, bundle.stages[0].descriptor));
  MTC_RETURN_IF_ERROR(orderRest(job));
  if (order.start.step == job.recipe.steps)
    say(fmt::format("nothing is left to train: '{}' is of step {}, the last "
                    "one; with more --steps the run goes on from it",
                    order.resume, order.start.step));
  return Status::okay();
}

} // namespace mtc::runtime
