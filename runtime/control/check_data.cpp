//===- check_data.cpp - the tokens of a run, before it starts -------------===//

#include "runtime/control/check_data.h"

#include "runtime/train/data.h"
#include "runtime/train/progress.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtc::runtime {
namespace {

/// Samples that a run reads, from job.firstSample() on.
int64_t samplesOf(const Job &job, int64_t globalBatch) {
  int64_t batches = job.passes();
  for (const DumpOrder &dump : job.dumps)
    if (dump.what == "logits")
      batches = std::max<int64_t>(batches, 1);
  int64_t samples;
  return __builtin_mul_overflow(batches, globalBatch, &samples) ? INT64_MAX
                                                                : samples;
}

/// A mean over samples that come again would not be what it seems.
Status checkEvaluation(const Job &job, const BatchInfo &batch,
                       const TokenFile &tokens) {
  int64_t left = std::max<int64_t>(0, tokens.windows() - job.firstSample());
  int64_t most = left / batch.globalBatch;
  if (!job.evaluates() || job.evalBatches <= most)
    return Status::okay();
  return {StatusCode::usage,
          fmt::format("--eval {}: expected at most {} batches of {} samples, "
                      "found {} samples of {} tokens from sample {} on in '{}'",
                      job.evalBatches, most, batch.globalBatch, left, batch.seq,
                      job.firstSample(), job.tokenFile())};
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

} // namespace

Status checkData(Job &job, const Bundle &bundle,
                 const std::atomic<bool> &stop) {
  const BatchInfo &batch = bundle.stages[0].descriptor.batch;
  bool reads = std::ranges::any_of(bundle.stages, [](const auto &program) {
    return !program.descriptor.inputs.empty();
  });
  int64_t samples = samplesOf(job, batch.globalBatch);
  if (!reads || samples == 0)
    return Status::okay();
  TokenFile tokens;
  MTC_RETURN_IF_ERROR(TokenFile::open(job, batch, tokens));
  job.tokenBytes = tokens.bytes();
  MTC_RETURN_IF_ERROR(checkEvaluation(job, batch, tokens));
  Scan scan(tokens, job, stop);
  if (samples >= tokens.windows())
    return scan.range(0, tokens.windows() * batch.seq + 1);
  int64_t first = job.firstSample();
  if (job.readsInOrder())
    return scan.range(tokens.firstToken(first), samples * batch.seq + 1);
  return scan.samples(first, samples);
}

} // namespace mtc::runtime
