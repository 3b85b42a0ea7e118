//===- trainer.cpp - what a rank does from start to end -------------------===//

#include "runtime/train/trainer.h"

#include "runtime/train/logits.h"
#include "runtime/train/progress.h"
#include "runtime/train/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

namespace mtc::runtime {
namespace {

Status noEntry(const char *name, const char *use) {
  return {
      StatusCode::usage,
      fmt::format("the program has no entry '{}', which {} needs", name, use)};
}

} // namespace

Trainer::Trainer(RankState &rank, const Job &job, TrainerSignals signals)
    : rank_(rank), job_(job), signals_(signals), schedule_(job.recipe),
      scaler_(job.recipe, rank.descriptor().scalesLoss()),
      checkpoints_(rank, job, [this] { return meet(); }),
      began_(std::chrono::steady_clock::now()), evaluation_(rank, job.recipe),
      report_(job, rank.mesh().worldSize()), done_(job.startStep()),
      tokens_(job.checkpoints.start.tokens),
      skipped_(job.checkpoints.start.skippedSteps),
      skippedSamples_(job.checkpoints.start.skippedSamples) {
  spans_.products = job.report.timing > 1; // level 1 does not tell them apart
  rank.keepWalks(job.graphs);
  if (job.checkpoints.start.scaler)
    scaler_.resume(*job.checkpoints.start.scaler);
}

Status Trainer::run() {
  Status status = runUnguarded();
  // A lost output, and why training ended early, are told when all are done: a
  // rank's failure ends the others.
  if (status.ok())
    status = meet();
  if (status.ok())
    return ending();
  // Whatever went wrong here, the others must not wait for this rank.
  rank_.accept(status);
  return status;
}

Status Trainer::ending() const {
  Status lost = lost_.ok() ? report_.status() : lost_;
  if (end_.ok() || lost.ok())
    return end_.ok() ? lost : end_;
  bool asked = end_.code() == StatusCode::interrupted ||
               end_.code() == StatusCode::stoppedSaved;
  if (!lost_.ok() && asked)
    return {lost_.code(), lost_.message() + "; " + end_.message()};
  return {end_.code(), end_.message() + "; " + lost.message()};
}

Status Trainer::noteLost(const Status &written) {
  // Rank 0 rejects what others could not write.
  if (written.code() != StatusCode::writeFailed &&
      written.code() != StatusCode::inputRejected)
    return written;
  if (lost_.ok())
    lost_ = {StatusCode::writeFailed, written.message()};
  return Status::okay();
}

Status Trainer::goOnWithout(const Status &written) {
  MTC_RETURN_IF_ERROR(noteLost(written));
  if (!written.ok())
    std::fprintf(stderr, "warning: the run goes on: %s\n",
                 written.message().c_str());
  return Status::okay();
}

Status Trainer::meet() {
  MTC_RETURN_IF_ERROR(rank_.comm().barrier());
  return rank_.complete();
}

Status Trainer::meet(bool failed, bool &anyFailed) {
  float most = failed ? 1 : 0;
  MTC_RETURN_IF_ERROR(
      rank_.comm().allReduce(MTC_GROUP_ALL, MTC_MAX, MTC_F32, &most, 1));
  MTC_RETURN_IF_ERROR(rank_.complete());
  anyFailed = most > 0;
  return Status::okay();
}

Status Trainer::runUnguarded() {
  MTC_RETURN_IF_ERROR(prepare());
  if (!job_.evaluates() && job_.startStep() < job_.passes())
    populate();
  MTC_RETURN_IF_ERROR(fillParams());
  MTC_RETURN_IF_ERROR(dump("init", 0));
  for (const DumpOrder &order : job_.dumps)
    if (order.what == "logits")
      MTC_RETURN_IF_ERROR(dumpLogits(order));
  MTC_RETURN_IF_ERROR(dump("params", done_));
  MTC_RETURN_IF_ERROR(job_.evaluates() ? evaluate() : train());
  if (!job_.evaluates())
    MTC_RETURN_IF_ERROR(lastCheckpoint());
  return job_.saveTo.empty() ? Status::okay() : save();
}

Status Trainer::save() {
  Status written = write({job_.saveTo, job_.saveParts}, paramPieces(rank_));
  MTC_RETURN_IF_ERROR(noteLost(written));
  // Who ends with an error has the others ended soon: not before the file is
  // whole.
  bool lost = false;
  MTC_RETURN_IF_ERROR(meet(!written.ok(), lost));
  if (end_.ok() || lost)
    return Status::okay();
  std::string whose = job_.evaluates() ? "that were evaluated"
                                       : fmt::format("of step {}", done_);
  end_ = {end_.code(), fmt::format("{}; '{}' has the parameters {}",
                                   end_.message(), job_.saveTo, whose)};
  return Status::okay();
}

Status Trainer::lastCheckpoint() {
  if (!checkpoints_.enabled())
    return Status::okay();
  Status written = checkpoints_.tried() == done_
                       ? checkpoints_.finish()
                       : checkpoints_.save(position());
  MTC_RETURN_IF_ERROR(noteLost(written));
  bool lost = false; // as in save()
  MTC_RETURN_IF_ERROR(meet(!written.ok(), lost));
  if (end_.ok() || lost)
    return Status::okay();
  end_ = {end_.code() == StatusCode::interrupted ? StatusCode::stoppedSaved
                                                 : end_.code(),
          fmt::format("{}; '{}' has all of step {}: --resume goes on from it",
                      end_.message(), job_.checkpoints.place.folder(done_),
                      done_)};
  return Status::okay();
}

RunPosition Trainer::position() const {
  return {done_,           batches_.firstSample(done_ + 1),
          tokens_,         skipped_,
          skippedSamples_, scaler_.state()};
}

Status Trainer::prepare() {
  std::vector<ParamGroup> groups;
  MTC_RETURN_IF_ERROR(
      parseGroups(job_.recipe.groups, rank_.descriptor().groups, groups));
  MTC_RETURN_IF_ERROR(openLengths());
  schedule_ =
      StepSchedule(job_.recipe, batches_.firstSample(job_.recipe.steps + 1),
                   std::move(groups));
  if (int64_t first = job_.startStep() + 1; first <= job_.passes())
    MTC_RETURN_IF_ERROR(of(first).loader.fetch(batchOf(first)));
  if (rank_.logs())
    MTC_RETURN_IF_ERROR(report_.open(rank_.device().chosen()));
  return job_.evaluates() ? Status::okay() : checkpoints_.prepare();
}

Status Trainer::openLengths() {
  MTC_RETURN_IF_ERROR(
      StepLengths::parse(job_.recipe.seq, rank_.descriptor(), lengths_));
  MTC_RETURN_IF_ERROR(job_.planBatches(rank_.descriptor(), batches_));
  for (const LengthPart &part : lengths_.parts())
    if (auto [own, isNew] = ofLengths_.try_emplace(part.seq); isNew)
      MTC_RETURN_IF_ERROR(openLength(part.seq, own->second));
  if (job_.evaluation.interval == 0)
    return Status::okay();
  if (!evaluationEntry())
    return noEntry("eval", "--eval-interval");
  return heldOut_.open(&job_.evaluation.source, rank_, lengths_.ofEvaluation());
}

Status Trainer::openLength(int64_t seq, OfLength &own) {
  const Descriptor &program = rank_.descriptor();
  own.eval = program.entry("eval", {seq, batches_.ofEvaluation()});
  for (const BatchPart &part : batches_.parts()) {
    const EntryInfo *train = program.entry("train", {seq, part.batch});
    if (!train && !job_.evaluates() && part.firstStep <= job_.passes())
      return noEntry("train", "training");
    own.train[part.batch] = train;
  }
  return own.loader.open(job_.source(seq), rank_, seq);
}

void Trainer::populate() {
  ProgressLine progress(rank_.logs() ? job_.progressFd : -1,
                        job_.progressRewrites, std::chrono::seconds(1));
  rank_.device().populate([&](int64_t done, int64_t all) {
    if (progress.due())
      progress.print(
          fmt::format("memory: {} of {} MiB", done >> 20, all >> 20));
  });
}

Status Trainer::fillParams() {
  if (!job_.checkpoints.resume.empty())
    return load();
  if (!job_.initFrom.empty())
    return loadParams(rank_, job_.initFrom);
  return initParams(rank_, job_.recipe.seed);
}

Status Trainer::load() {
  MTC_RETURN_IF_ERROR(checkpoints_.load());
  MTC_RETURN_IF_ERROR(meet());
  if (signals_.loaded)
    signals_.loaded();
  return Status::okay();
}

Status Trainer::begin(int64_t step, bool &runs) {
  MTC_RETURN_IF_ERROR(checkpoints_.look());
  hearOfSaves();
  if (signals_.stop.load(std::memory_order_relaxed) || endsEarly(step - 1))
    signals_.gate.close();
  if (end_.ok())
    lookAhead(step);
  bool saves = checkpoints_.enabled() && !job_.evaluates();
  auto turn = [&] {
    return signals_.gate.turn(step, saves ? checkpoints_.tried() : step - 1);
  };
  StepTurn next = turn();
  if (next == StepTurn::save) {
    MTC_RETURN_IF_ERROR(await());
    if (done_ < step - 1)
      return Status::okay();
    MTC_RETURN_IF_ERROR(checkpoints_.saveAndGoOn(position()));
    next = turn();
  }
  runs = next == StepTurn::run;
  if (runs && signals_.step)
    signals_.step->store(step, std::memory_order_relaxed);
  if (runs)
    return Status::okay();
  if (end_.ok())
    end_ = {StatusCode::interrupted,
            job_.evaluates()
                ? fmt::format("ended after batch {} of {} of the evaluation",
                              step - 1, job_.evalBatches)
                : fmt::format("ended after step {}", step - 1)};
  return Status::okay();
}

void Trainer::hearOfSaves() {
  if (!signals_.saves || signals_.saves->load() == savesHeard_)
    return;
  savesHeard_ = signals_.saves->load();
  signals_.gate.askToSave();
}

bool Trainer::endsEarly(int64_t done) const {
  if (job_.evaluates() || done <= job_.startStep())
    return false;
  const EarlyEnd &early = job_.early;
  if (early.interval > 0 && done % early.interval == 0)
    return true;
  std::chrono::duration<double> time =
      std::chrono::steady_clock::now() - began_;
  return early.seconds > 0 && time.count() >= early.seconds;
}

void Trainer::lookAhead(int64_t step) {
  end_ = of(step).loader.turnTo(batchOf(step));
  if (end_.ok() && step < job_.passes())
    end_ = of(step + 1).loader.fetch(batchOf(step + 1));
  if (!end_.ok())
    signals_.gate.close();
}

Status Trainer::evaluateBatch(int64_t index, Observer *observer, float &loss) {
  TokenLoader &loader = ofLengths_.at(lengths_.ofEvaluation()).loader;
  GlobalBatch batch = batchOf(index + 1);
  batch.samples = batches_.ofEvaluation(); // also within a ramp
  MTC_RETURN_IF_ERROR(loader.turnTo(batch));
  return evaluation_.batch(*evaluationEntry(), loader, batch, observer, loss);
}

/// Of the mean over batches.
static EvaluationRecord recordOf(int64_t step, double mean, int64_t batches,
                                 int64_t first) {
  return {step,    mean,  std::exp(mean),
          batches, first, std::isfinite(mean) ? "" : "loss"};
}

Status Trainer::evaluate() {
  if (!evaluationEntry())
    return noEntry("eval", "evaluation");
  double sum = 0;
  for (int64_t i = 0; i < job_.evalBatches; ++i) {
    float loss = 0;
    bool runs = false;
    MTC_RETURN_IF_ERROR(begin(i + 1, runs));
    if (!runs)
      return Status::okay();
    MTC_RETURN_IF_ERROR(evaluateBatch(i, nullptr, loss));
    sum += loss;
  }
  if (!rank_.logs())
    return Status::okay();
  double mean = sum / static_cast<double>(job_.evalBatches);
  EvaluationRecord record = recordOf(job_.checkpoints.start.step, mean,
                                     job_.evalBatches, job_.evalFirst);
  char buffer[kLongestLine];
  std::string_view line = formatEvaluation(record, buffer);
  report_.evaluation(record);
  if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size() ||
      std::fflush(stdout) != 0)
    return {StatusCode::writeFailed,
            fmt::format("cannot write the result to standard output: {}",
                        std::strerror(errno))};
  // Said by the rank that knows; the others have nothing to add.
  if (!std::isfinite(mean))
    end_ = {StatusCode::nonFinite, "the evaluation loss is not finite"};
  return Status::okay();
}

Status Trainer::evaluateBehind(int64_t step) {
  const EvaluationOrder &order = job_.evaluation;
  int64_t samples = batches_.ofEvaluation();
  int64_t first = order.firstSample(step, samples);
  double sum = 0;
  for (int64_t i = 0; i < order.batches; ++i) {
    GlobalBatch batch{i + 1, first + i * samples, samples};
    MTC_RETURN_IF_ERROR(heldOut_.turnTo(batch));
    float loss = 0;
    MTC_RETURN_IF_ERROR(
        evaluation_.batch(*evaluationEntry(), heldOut_, batch, nullptr, loss));
    sum += loss;
    if (signals_.beats)
      signals_.beats->fetch_add(1, std::memory_order_relaxed);
  }
  if (!rank_.logs())
    return Status::okay();
  report_.evaluation(recordOf(step, sum / static_cast<double>(order.batches),
                              order.batches, first));
  return Status::okay();
}

Status Trainer::dumpLogits(const DumpOrder &order) {
  const EntryInfo *entry = evaluationEntry();
  if (!entry)
    return noEntry("eval", "a dump of logits");
  LogitsCapture capture(rank_, *entry);
  MTC_RETURN_IF_ERROR(capture.check());
  float loss = 0;
  int64_t before = job_.startStep();
  bool runs = false;
  MTC_RETURN_IF_ERROR(begin(before + 1, runs));
  if (!runs)
    return Status::okay();
  MTC_RETURN_IF_ERROR(evaluateBatch(before, &capture, loss));
  return goOnWithout(write({order.file, order.parts}, capture.takePieces()));
}

bool Trainer::dumps(std::string_view what, int64_t step) const {
  return std::ranges::any_of(job_.dumps, [&](const DumpOrder &order) {
    return order.what == what && order.step == step;
  });
}

Status Trainer::dump(std::string_view what, int64_t step) {
  for (const DumpOrder &order : job_.dumps)
    if (order.what == what && order.step == step)
      MTC_RETURN_IF_ERROR(goOnWithout(write(
          {order.file, order.parts},
          what == "grads" ? gradPieces(rank_, static_cast<float>(
                                                  result_.block.inv_loss_scale))
                          : paramPieces(rank_))));
  return Status::okay();
}

Status Trainer::write(const SharedFile &file,
                      const std::vector<Piece> &pieces) {
  Writers writers{rank_.rank(), static_cast<int>(rank_.mesh().worldSize()),
                  rank_.stream(), [this] { return meet(); }};
  return writeTogether(file, writers, pieces,
                       {{"format", "mtc"},
                        {"model", rank_.descriptor().model},
                        {"plan_hash", rank_.descriptor().planHash},
                        {"step", std::to_string(done_)}});
}

} // namespace mtc::runtime
