//===- check_data.cpp - the tokens of a run, before it starts -------------===//

#include "runtime/control/check_data.h"

#include "runtime/train/data.h"
#include "runtime/train/progress.h"
#include "runtime/train/step_lengths.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtc::runtime {
namespace {

bool dumpsLogits(const Job &job) {
  return std::ranges::any_of(
      job.dumps, [](const DumpOrder &dump) { return dump.what == "logits"; });
}

/// Global batches of one length that a run reads one after the other.
struct Reading {
  int64_t seq = 0;
  int64_t before = 0; ///< batches of the run's steps before them
  int64_t batches = 0;
};

std::vector<Reading> readBy(const Job &job, const StepLengths &lengths) {
  if (job.evaluates())
    return {{lengths.ofEvaluation(), 0, job.passes()}};
  std::vector<Reading> all;
  if (dumpsLogits(job))
    all.push_back({lengths.ofEvaluation(), job.startStep(), 1});
  int64_t before = 0;
  for (const LengthPart &part : lengths.parts()) {
    int64_t end = before + std::min(part.steps, job.passes() - before);
    int64_t first = std::max(before, job.startStep());
    if (end > first)
      all.push_back({part.seq, first, end - first});
    before = end;
  }
  return all;
}

int64_t saturatingProduct(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/// A mean over samples that come again would not be what it seems.
Status checkEvaluation(const Job &job, const BatchInfo &batch, int64_t seq,
                       const TokenFile &tokens) {
  int64_t left = std::max<int64_t>(0, tokens.windows() - job.evalFirst);
  int64_t most = left / batch.globalBatch;
  if (!job.evaluates() || job.evalBatches <= most)
    return Status::okay();
  return {StatusCode::usage,
          fmt::format("--eval {}: expected at most {} batches of {} samples, "
                      "found {} samples of {} tokens from sample {} on in '{}'",
                      job.evalBatches, most, batch.globalBatch, left, seq,
                      job.evalFirst, job.tokenFile())};
}

/// Scans a file part by part, and says how far it is.
class Scan {
public:
  Scan(TokenFile &tokens, const Job &job, const std::atomic<bool> &stop)
      : tokens_(tokens), stop_(stop),
        progress_(job.progressFd, job.progressRewrites,
                  std::chrono::seconds(1)) {}

  /// The tokens [first, first + count) of the file.
  Status range(int64_t first, int64_t count) {
    constexpr int64_t part = int64_t{1} << 22;
    for (int64_t at = 0; at < count; at += part)
      MTC_RETURN_IF_ERROR(
          step(first + at, std::min(part, count - at), at, count));
    return tokens_.rejection(bad_);
  }

  /// The windows of samples [first, first + count).
  Status samples(int64_t first, int64_t count) {
    for (int64_t k = 0; k < count; ++k)
      MTC_RETURN_IF_ERROR(step(tokens_.firstToken(first + k),
                               tokens_.windowTokens(), k, count));
    return tokens_.rejection(bad_);
  }

private:
  Status step(int64_t first, int64_t count, int64_t done, int64_t of) {
    if (stop_.load(std::memory_order_relaxed))
      return {StatusCode::interrupted,
              "stopped by a signal while the tokens were checked"};
    if (progress_.due())
      progress_.print(fmt::format("checking tokens: {:.0f} %",
                                  100.0 * static_cast<double>(done) /
                                      static_cast<double>(of)));
    return tokens_.scan(first, count, bad_);
  }

  TokenFile &tokens_;
  const std::atomic<bool> &stop_;
  ProgressLine progress_;
  BadTokens bad_;
};

Status checkSamples(Job &job, const BatchInfo &batch, const Reading &reading,
                    const std::atomic<bool> &stop) {
  TokenFile tokens;
  MTC_RETURN_IF_ERROR(TokenFile::open(job, batch, reading.seq, tokens));
  job.tokenBytes = tokens.bytes();
  MTC_RETURN_IF_ERROR(checkEvaluation(job, batch, reading.seq, tokens));
  Scan scan(tokens, job, stop);
  int64_t samples = saturatingProduct(reading.batches, batch.globalBatch);
  if (samples >= tokens.windows())
    return scan.range(0, tokens.windows() * reading.seq + 1);
  int64_t first = job.firstSample(reading.before + 1, batch.globalBatch);
  bool wraps = first % tokens.windows() + samples > tokens.windows();
  if (job.readsInOrder() && !wraps)
    return scan.range(tokens.firstToken(first), samples * reading.seq + 1);
  return scan.samples(first, samples);
}

} // namespace

Status checkData(Job &job, const Bundle &bundle,
                 const std::atomic<bool> &stop) {
  const BatchInfo &batch = bundle.stages[0].descriptor.batch;
  bool reads = std::ranges::any_of(bundle.stages, [](const auto &program) {
    return !program.descriptor.inputs.empty();
  });
  StepLengths lengths;
  MTC_RETURN_IF_ERROR(
      StepLengths::parse(job.recipe.seq, bundle.stages[0].descriptor, lengths));
  if (!reads)
    return Status::okay();
  for (const Reading &read : readBy(job, lengths))
    MTC_RETURN_IF_ERROR(checkSamples(job, batch, read, stop));
  return Status::okay();
}

} // namespace mtc::runtime
