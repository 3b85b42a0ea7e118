//===- check_data.cpp - the data of a run, before it starts ---------------===//

#include "runtime/control/check_data.h"

#include "runtime/train/progress.h"
#include "runtime/train/step_batches.h"
#include "runtime/train/step_lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace mtc::runtime {
namespace {

bool dumpsLogits(const Job &job) {
  return std::ranges::any_of(
      job.dumps, [](const DumpOrder &dump) { return dump.what == "logits"; });
}

int64_t saturatingProduct(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

int64_t saturatingSum(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/// Samples of one length that a run reads one after the other.
struct Reading {
  int64_t seq = 0;
  int64_t first = 0, samples = 0;
};

std::vector<Reading> readBy(const Job &job, const StepLengths &lengths,
                            const StepBatches &batches) {
  int64_t own = batches.ofEvaluation();
  if (job.evaluates())
    return {{lengths.ofEvaluation(), job.evalFirst,
             saturatingProduct(job.passes(), own)}};
  std::vector<Reading> all;
  if (dumpsLogits(job))
    all.push_back({lengths.ofEvaluation(),
                   batches.firstSample(job.startStep() + 1), own});
  int64_t before = 0;
  for (const LengthPart &part : lengths.parts()) {
    int64_t end = before + std::min(part.steps, job.passes() - before);
    int64_t first = std::max(before, job.startStep());
    if (end > first) {
      int64_t sample = batches.firstSample(first + 1);
      int64_t behind = saturatingSum(batches.firstSample(end), batches.of(end));
      all.push_back({part.seq, sample, behind - sample});
    }
    before = end;
  }
  return all;
}

/// What reads an evaluation.
struct Evaluated {
  const char *option;
  int64_t batches, firstSample;
};

class DataCheck {
public:
  DataCheck(Job &job, int64_t vocab, bool knowsDocuments,
            const StepBatches &batches, const std::atomic<bool> &stop)
      : job_(job), vocab_(vocab), knowsDocuments_(knowsDocuments),
        batches_(batches), stop_(stop),
        progress_(job.progressFd, job.progressRewrites,
                  std::chrono::seconds(1)) {}

  Status run(const StepLengths &lengths) {
    std::vector<Reading> readings = readBy(job_, lengths, batches_);
    for (const Reading &reading : readings)
      if (!job_.source(reading.seq))
        MTC_RETURN_IF_ERROR(prepareSteps(reading.seq, readings));
    for (const Reading &reading : readings)
      MTC_RETURN_IF_ERROR(checkSteps(reading));
    if (job_.evaluation.interval > 0)
      MTC_RETURN_IF_ERROR(prepareHeldOut(lengths.ofEvaluation()));
    return Status::okay();
  }

private:
  SourceRequest request(int64_t seq) const {
    SourceRequest r;
    const Recipe &recipe = job_.recipe;
    r.data = recipe.data;
    r.option = "--data";
    if (const TokenTypeInfo *type = tokenTypeNamed(recipe.data_dtype))
      r.rawType = type->type; // others the recipe does not take
    r.split = recipe.split;
    r.sequential = recipe.order == "sequential";
    r.seq = seq;
    r.seed = recipe.seed;
    r.eod = recipe.eod;
    r.cache = recipe.data_cache_path;
    return r;
  }

  /// The same for data that are read in order from their start.
  SourceRequest heldOutRequest(int64_t seq) const {
    SourceRequest r = request(seq);
    r.data = job_.recipe.eval_data;
    r.option = "--eval-data";
    r.split = "";
    r.sequential = true;
    r.once = true;
    return r;
  }

  Status prepare(const SourceRequest &request, SourceFiles &out) {
    if (request.data.empty())
      return {StatusCode::usage,
              "no token file given; set --data, or 'data' in the recipe"};
    std::vector<std::string> notes;
    Status status =
        prepareSource(request, telling("preparing data"), notes, out);
    for (const std::string &note : notes)
      std::fprintf(stderr, "%s\n", note.c_str());
    return status.ok() ? checkDocuments(request, out) : status;
  }

  /// That documents are known where the program wants them.
  Status checkDocuments(const SourceRequest &request,
                        const SourceFiles &found) const {
    if (found.eod >= vocab_)
      return {StatusCode::usage,
              fmt::format("--eod {}: expected a token, 0 to {}, or -1",
                          found.eod, vocab_ - 1)};
    if (!knowsDocuments_ || found.eod >= 0 || found.flat.path.empty())
      return Status::okay();
    return {StatusCode::usage,
            fmt::format("{} '{}': expected --eod TOKEN with a flat file, which "
                        "does not say where documents end: the program was "
                        "compiled to know",
                        request.option, request.data)};
  }

  /// The samples of steps of one length, or of an evaluation without training.
  Status prepareSteps(int64_t seq, const std::vector<Reading> &readings) {
    bool heldOut = job_.evaluates() && !job_.recipe.eval_data.empty();
    SourceRequest r = heldOut ? heldOutRequest(seq) : request(seq);
    for (const Reading &reading : readings)
      if (reading.seq == seq)
        r.samples =
            std::max(r.samples, saturatingSum(reading.first, reading.samples));
    if (!heldOut && job_.recipe.data_samples > 0) {
      if (r.samples > job_.recipe.data_samples)
        return {StatusCode::usage,
                fmt::format("--data-samples {}: expected at least {}, which "
                            "the run reads up to its last step",
                            job_.recipe.data_samples, r.samples)};
      r.samples = job_.recipe.data_samples;
    }
    SourceFiles files;
    MTC_RETURN_IF_ERROR(prepare(r, files));
    job_.sources.push_back(std::move(files));
    return Status::okay();
  }

  Status checkSteps(const Reading &reading) {
    std::unique_ptr<SampleSource> samples;
    MTC_RETURN_IF_ERROR(openSource(*job_.source(reading.seq), vocab_, samples));
    if (job_.evaluates())
      MTC_RETURN_IF_ERROR(checkEvaluation(
          {"--eval", job_.evalBatches, job_.evalFirst}, reading.seq,
          job_.recipe.eval_data.empty() ? job_.recipe.data
                                        : job_.recipe.eval_data,
          *samples));
    return samples->check(reading.first, reading.samples,
                          telling("checking tokens"));
  }

  /// A mean over samples that come again would not be what it seems.
  Status checkEvaluation(const Evaluated &e, int64_t seq,
                         const std::string &file,
                         const SampleSource &samples) const {
    int64_t left = std::max<int64_t>(0, samples.samples() - e.firstSample);
    int64_t own = batches_.ofEvaluation(), most = left / own;
    if (e.batches <= most)
      return Status::okay();
    return {StatusCode::usage,
            fmt::format("{} {}: expected at most {} batches of {} samples, "
                        "found {} samples of {} tokens from sample {} on in "
                        "'{}'",
                        e.option, e.batches, most, own, left, seq,
                        e.firstSample, file)};
  }

  /// What is evaluated while the run trains.
  Status prepareHeldOut(int64_t seq) {
    EvaluationOrder &order = job_.evaluation;
    bool named = !job_.recipe.eval_data.empty();
    if (!named && job_.recipe.split.empty())
      return {StatusCode::usage,
              "--eval-interval: expected --eval-data FILE with it, or --split "
              "with a second part, such as 969,30,1"};
    order.goesOn = !named;
    SourceRequest r = named ? heldOutRequest(seq) : request(seq);
    if (!named)
      r.part = SplitPart::valid;
    r.samples = saturatingProduct(
        saturatingProduct(order.most(job_.recipe.steps), order.batches),
        batches_.ofEvaluation());
    MTC_RETURN_IF_ERROR(prepare(r, order.source));
    std::unique_ptr<SampleSource> samples;
    MTC_RETURN_IF_ERROR(openSource(order.source, vocab_, samples));
    if (named)
      MTC_RETURN_IF_ERROR(checkEvaluation({"--eval-steps", order.batches, 0},
                                          seq, job_.recipe.eval_data,
                                          *samples));
    return samples->check(0, r.samples, telling("checking tokens"));
  }

  DataProgress telling(const char *what) {
    return [this, what](double done) {
      if (progress_.due())
        progress_.print(fmt::format("{}: {:.0f} %", what, 100 * done));
      return !stop_.load(std::memory_order_relaxed);
    };
  }

  Job &job_;
  int64_t vocab_;
  bool knowsDocuments_;
  const StepBatches &batches_;
  const std::atomic<bool> &stop_;
  ProgressLine progress_;
};

/// Whether a program does.
bool knowsDocuments(const Bundle &bundle) {
  return std::ranges::any_of(bundle.stages, [](const auto &program) {
    return program.descriptor.knowsDocuments();
  });
}

} // namespace

Status checkData(Job &job, const Bundle &bundle,
                 const std::atomic<bool> &stop) {
  bool reads = std::ranges::any_of(bundle.stages, [](const auto &program) {
    return !program.descriptor.inputs.empty();
  });
  const Descriptor &first = bundle.stages[0].descriptor;
  StepLengths lengths;
  MTC_RETURN_IF_ERROR(StepLengths::parse(job.recipe.seq, first, lengths));
  StepBatches batches;
  MTC_RETURN_IF_ERROR(job.planBatches(first, batches));
  return reads ? DataCheck(job, first.batch.vocab, knowsDocuments(bundle),
                           batches, stop)
                     .run(lengths)
               : Status::okay();
}

} // namespace mtc::runtime
