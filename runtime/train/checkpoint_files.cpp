//===- checkpoint_files.cpp - ranks save and load checkpoints -------------===//

#include "runtime/train/checkpoint_files.h"

#include "mtc/runtime/recipe_fields.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/train/progress.h"
#include "runtime/train/train_state.h"

#include <fmt/format.h>

#include <cstdio>

namespace mtc::runtime {
namespace {

std::string meshText(const Mesh &mesh) {
  std::string text;
  for (const AxisInfo &axis : kAxes)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis.name,
                        mesh[axis.id]);
  return text;
}

bool isOfFiles(const Status &status) {
  return status.code() == StatusCode::writeFailed ||
         status.code() == StatusCode::inputRejected;
}

} // namespace

bool CheckpointFiles::due(int64_t step) const {
  int64_t interval = job_.checkpoints.interval;
  // The last one is written at the end of the run.
  return enabled() && interval > 0 && step % interval == 0 &&
         step < job_.recipe.steps;
}

Status CheckpointFiles::load() {
  Clock::time_point began = Clock::now();
  Checkpoint from;
  MTC_RETURN_IF_ERROR(Checkpoint::open(job_.checkpoints.resume, from));
  MTC_RETURN_IF_ERROR(loadTrainState(rank_, from.pieces));
  if (rank_.rank() == 0)
    tell("loaded by rank 0", from.manifest.position.step, from.elements(),
         began);
  if (from.folder == job_.checkpoints.place.folder(from.manifest.position.step))
    tried_ = from.manifest.position.step; // one of this run's own
  return Status::okay();
}

Status CheckpointFiles::save(const RunPosition &position) {
  Clock::time_point began = Clock::now();
  tried_ = position.step;
  outcome_ = write(position);
  // The others meet whether or not this rank could write.
  if (!outcome_.ok() && !isOfFiles(outcome_))
    return outcome_;
  MTC_RETURN_IF_ERROR(meet_());
  if (rank_.rank() == 0)
    if (Status committed = commit(position, began); outcome_.ok())
      outcome_ = committed;
  return outcome_;
}

Status CheckpointFiles::write(const RunPosition &position) {
  return writeRank(job_.checkpoints.place, position.step, rank_.rank(),
                   rank_.stream(), trainState(rank_));
}

Status CheckpointFiles::saveAndGoOn(const RunPosition &position) {
  Status status = save(position);
  if (status.ok() || !isOfFiles(status))
    return status;
  std::fprintf(stderr,
               "warning: no checkpoint of step %lld, training goes on: %s\n",
               static_cast<long long>(position.step), status.message().c_str());
  return Status::okay();
}

void CheckpointFiles::tell(const char *done, int64_t step, int64_t elements,
                           Clock::time_point began) const {
  std::chrono::duration<double> time = Clock::now() - began;
  double gigabytes = 4e-9 * static_cast<double>(elements);
  ProgressLine(job_.progressFd, job_.progressRewrites)
      .print(fmt::format("checkpoint of step {} {}: {:.1f} MB in {:.2f} s, "
                         "{:.2f} GB/s",
                         step, done, 1e3 * gigabytes, time.count(),
                         gigabytes / time.count()));
}

Status CheckpointFiles::commit(const RunPosition &position,
                               Clock::time_point began) {
  const CheckpointOrder &order = job_.checkpoints;
  const Descriptor &program = rank_.descriptor();
  Manifest manifest;
  manifest.position = position;
  manifest.model = program.model;
  manifest.planHash = program.planHash;
  manifest.mesh = meshText(rank_.mesh());
  for (const RecipeField &field : recipeFields())
    manifest.recipe[field.key] = textOf(field, job_.recipe);
  MTC_RETURN_IF_ERROR(commitCheckpoint(
      order.place, static_cast<int>(rank_.mesh().worldSize()), manifest));
  tell("written", position.step, elementsOf(manifest), began);
  if (order.keep == 0)
    return Status::okay();
  if (Status pruned = pruneCheckpoints(order.place, order.keep); !pruned.ok())
    std::fprintf(stderr, "warning: older checkpoints stay: %s\n",
                 pruned.message().c_str());
  return Status::okay();
}

} // namespace mtc::runtime
