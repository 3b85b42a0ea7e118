//===- checkpoint_files.cpp - ranks save and load checkpoints -------------===//

#include "runtime/train/checkpoint_files.h"

#include "mtc/runtime/recipe_fields.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/train/progress.h"
#include "runtime/train/train_state.h"

#include <fmt/format.h>

#include <cstdio>
#include <optional>

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

/// Where lines of progress go.
struct Teller {
  int fd;
  bool rewrites;
  explicit Teller(const Job &job)
      : fd(job.progressFd), rewrites(job.progressRewrites) {}
  void say(const std::string &text) const {
    ProgressLine(fd, rewrites).print(text);
  }
};

double secondsSince(std::chrono::steady_clock::time_point began) {
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - began;
  return time.count();
}

std::string amount(int64_t elements, double seconds) {
  double gigabytes = 4e-9 * static_cast<double>(elements);
  return fmt::format("{:.1f} MB in {:.2f} s, {:.2f} GB/s", 1e3 * gigabytes,
                     seconds, gigabytes / seconds);
}

/// Makes what all ranks wrote a checkpoint, and removes older ones. Owns all
/// that it needs: it may outlive the run.
struct Commit {
  CheckpointPlace place;
  int ranks;
  int64_t keep;
  Manifest manifest;
  Teller teller;
  std::chrono::steady_clock::time_point began;
  std::optional<double> waited; ///< written beside training

  Status operator()() {
    MTC_RETURN_IF_ERROR(commitCheckpoint(place, ranks, manifest));
    std::string text =
        fmt::format("checkpoint of step {} written: {}", manifest.position.step,
                    amount(elementsOf(manifest), secondsSince(began)));
    if (waited)
      text += fmt::format(", beside training, which waited {:.3f} s", *waited);
    teller.say(text);
    if (keep == 0)
      return Status::okay();
    if (Status pruned = pruneCheckpoints(place, manifest.position.step, keep);
        !pruned.ok())
      std::fprintf(stderr, "warning: older checkpoints stay: %s\n",
                   pruned.message().c_str());
    return Status::okay();
  }
};

} // namespace

bool CheckpointFiles::due(int64_t step) const {
  int64_t interval = job_.checkpoints.interval;
  // The last one is written at the end of the run.
  return enabled() && interval > 0 && step % interval == 0 &&
         step < job_.recipe.steps;
}

Status CheckpointFiles::prepare() {
  if (!enabled() || !job_.checkpoints.async)
    return Status::okay();
  snapshot_ = std::make_shared<Snapshot>();
  MTC_RETURN_IF_ERROR(Snapshot::create(
      trainState(rank_), fmt::format("rank {}", rank_.rank()), *snapshot_));
  // Rounding does not matter: it is for people.
  float most = 1e-6f * static_cast<float>(snapshot_->bytes()), sum = most;
  Communicator &comm = rank_.comm();
  MTC_RETURN_IF_ERROR(
      comm.allReduce(MTC_GROUP_ALL, MTC_MAX, MTC_F32, &most, 1));
  MTC_RETURN_IF_ERROR(comm.allReduce(MTC_GROUP_ALL, MTC_SUM, MTC_F32, &sum, 1));
  MTC_RETURN_IF_ERROR(rank_.complete());
  if (rank_.rank() == 0)
    Teller(job_).say(fmt::format("snapshots for --async-save take {:.1f} MB of "
                                 "memory, {:.1f} MB a rank at most",
                                 sum, most));
  return Status::okay();
}

Status CheckpointFiles::load() {
  Clock::time_point began = Clock::now();
  Checkpoint from;
  MTC_RETURN_IF_ERROR(Checkpoint::open(job_.checkpoints.resume, from));
  MTC_RETURN_IF_ERROR(loadTrainState(rank_, from.pieces));
  orders_ = from.manifest.orders;
  int64_t step = from.manifest.position.step;
  if (rank_.rank() == 0)
    Teller(job_).say(fmt::format("checkpoint of step {} loaded by rank 0: {}",
                                 step,
                                 amount(from.elements(), secondsSince(began))));
  if (from.folder == job_.checkpoints.place.folder(step))
    tried_ = step; // one of this run's own
  return Status::okay();
}

Status CheckpointFiles::save(const RunPosition &position) {
  MTC_RETURN_IF_ERROR(finishEarlier());
  began_ = Clock::now();
  waited_.reset();
  position_ = position;
  tried_ = position.step;
  outcome_ = write(position);
  // The others meet whether or not this rank could write.
  if (!outcome_.ok() && !isOfFiles(outcome_))
    return outcome_;
  MTC_RETURN_IF_ERROR(meet_());
  if (rank_.rank() == 0)
    if (Status committed = commitWork()(); outcome_.ok())
      outcome_ = committed;
  return outcome_;
}

Status CheckpointFiles::finishEarlier() {
  return phase_ == Phase::none ? Status::okay() : warn(finish());
}

Status CheckpointFiles::write(const RunPosition &position) {
  return writeRank(job_.checkpoints.place, position.step, rank_.rank(),
                   &rank_.stream(), trainState(rank_));
}

Status CheckpointFiles::saveAndGoOn(const RunPosition &position) {
  if (!job_.checkpoints.async)
    return warn(save(position));
  return begin(position);
}

Status CheckpointFiles::begin(const RunPosition &position) {
  Clock::time_point asked = Clock::now();
  MTC_RETURN_IF_ERROR(finishEarlier());
  began_ = asked;
  position_ = position;
  tried_ = position.step;
  outcome_ = Status::okay();
  MTC_RETURN_IF_ERROR(snapshot_->take(rank_.stream(), trainState(rank_)));
  phase_ = Phase::writing;
  writer_.start([snapshot = snapshot_, place = job_.checkpoints.place,
                 step = position.step, rank = rank_.rank()] {
    return writeRank(place, step, rank, nullptr, snapshot->pieces());
  });
  waited_ = secondsSince(asked);
  return Status::okay();
}

Status CheckpointFiles::look() {
  if (phase_ == Phase::none)
    return Status::okay();
  if (phase_ == Phase::writing) {
    written_ = writer_.done() ? 1 : 0;
    MTC_RETURN_IF_ERROR(
        rank_.comm().allReduce(MTC_GROUP_ALL, MTC_SUM, MTC_F32, &written_, 1));
    MTC_RETURN_IF_ERROR(rank_.complete());
    if (static_cast<int64_t>(written_) < rank_.mesh().worldSize())
      return Status::okay();
    outcome_ = writer_.wait();
    phase_ = Phase::none;
    beginCommit();
    return warn(outcome_);
  }
  if (!writer_.done())
    return Status::okay();
  bool known = !outcome_.ok();
  Status status = finish();
  return known ? Status::okay() : warn(status);
}

void CheckpointFiles::beginCommit() {
  if (rank_.rank() != 0)
    return;
  phase_ = Phase::committing;
  writer_.start(commitWork());
}

Status CheckpointFiles::finish() {
  if (phase_ == Phase::writing) {
    outcome_ = writer_.wait();
    phase_ = Phase::none;
    MTC_RETURN_IF_ERROR(meet_());
    beginCommit();
  }
  if (phase_ == Phase::committing) {
    phase_ = Phase::none;
    if (Status committed = writer_.wait(); outcome_.ok())
      outcome_ = committed;
  }
  return outcome_;
}

Status CheckpointFiles::warn(const Status &status) const {
  if (status.ok() || !isOfFiles(status))
    return status;
  std::fprintf(stderr,
               "warning: no checkpoint of step %lld, training goes on: %s\n",
               static_cast<long long>(tried_), status.message().c_str());
  return Status::okay();
}

std::function<Status()> CheckpointFiles::commitWork() const {
  const CheckpointOrder &order = job_.checkpoints;
  const Descriptor &program = rank_.descriptor();
  Manifest manifest;
  manifest.position = position_;
  manifest.model = program.model;
  manifest.planHash = program.planHash;
  manifest.optimizer = program.optimizer;
  manifest.mesh = meshText(rank_.mesh());
  manifest.orders = orders_;
  for (const SourceFiles &source : job_.sources)
    manifest.orders[std::to_string(source.seq)] = source.order;
  for (const RecipeField &field : recipeFields())
    manifest.recipe[field.key] = textOf(field, job_.recipe);
  return Commit{order.place,  static_cast<int>(rank_.mesh().worldSize()),
                order.keep,   std::move(manifest),
                Teller(job_), began_,
                waited_};
}

} // namespace mtc::runtime
