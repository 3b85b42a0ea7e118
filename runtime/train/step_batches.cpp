//===- step_batches.cpp - how many samples a step has ---------------------===//

#include "runtime/train/step_batches.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace mtc::runtime {
namespace {

/// Batches, and samples that a double counts exactly.
constexpr int64_t kMostBatch = int64_t(1) << 30;
constexpr int64_t kMostSamples = int64_t(1) << 53;

/// Of batches that a bundle lacks: more are not listed.
constexpr size_t kMostListed = 64;

/// The next number of a text of numbers between blanks.
bool takeNumber(std::string_view &text, int64_t most, int64_t &out) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || out < 1 || out > most)
    return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return text.empty() || text.front() == ' ';
}

/// What a program has entries for.
std::set<int64_t> batchesOf(const Descriptor &program) {
  std::set<int64_t> batches = {program.batch.globalBatch};
  for (const EntryInfo &entry : program.entries)
    batches.insert(program.globalBatchOf(entry));
  return batches;
}

Status lacks(const char *key, const std::set<int64_t> &known,
             const std::set<int64_t> &lacking) {
  std::set<int64_t> all = known;
  all.insert(lacking.begin(), lacking.end());
  bool more = lacking.size() == kMostListed;
  return {
      StatusCode::usage,
      fmt::format("{}: expected global batches that the bundle was compiled "
                  "for ({}), found {}{}; compile it with --gbs {}{}",
                  key, fmt::join(known, ", "), fmt::join(lacking, ", "),
                  more ? " and more" : "", fmt::join(all, ","),
                  more ? " and these" : "")};
}

/// The global batch of the end.
int64_t lastOf(const Recipe &recipe, const Descriptor &program) {
  return recipe.global_batch_size > 0 ? recipe.global_batch_size
                                      : program.batch.globalBatch;
}

/// The recipe's, towards this batch. Errors: usage.
Status readRamp(const Recipe &recipe, int64_t last, BatchRamp &ramp) {
  MTC_RETURN_IF_ERROR(BatchRamp::parse(recipe.rampup_batch_size, ramp));
  if (ramp.isNone() ||
      (ramp.start < last && (last - ramp.start) % ramp.increment == 0))
    return Status::okay();
  return {StatusCode::usage,
          fmt::format("rampup_batch_size: expected a start below the global "
                      "batch of the end, {}, and an increment that divides "
                      "their difference, found {} and {}",
                      last, ramp.start, ramp.increment)};
}

/// How many steps, from one behind `consumed` samples on, have its batch; the
/// ramp is not over.
int64_t stepsAlike(const BatchRamp &ramp, int64_t consumed, int64_t last) {
  int64_t batch = ramp.batchAt(consumed, last);
  int64_t alike = 1, other = (ramp.samples - consumed) / batch + 2;
  while (other - alike > 1) {
    int64_t middle = alike + (other - alike) / 2;
    // The batch of the step that `middle` steps precede.
    bool same = ramp.batchAt(consumed + (middle - 1) * batch, last) == batch;
    (same ? alike : other) = middle;
  }
  return alike;
}

} // namespace

Status BatchRamp::parse(std::string_view text, BatchRamp &out) {
  std::string_view rest = text;
  BatchRamp ramp;
  if (rest.find_first_not_of(' ') == rest.npos) {
    out = {};
    return Status::okay();
  }
  bool good = takeNumber(rest, kMostBatch, ramp.start) &&
              takeNumber(rest, kMostBatch, ramp.increment) &&
              takeNumber(rest, kMostSamples, ramp.samples) &&
              rest.find_first_not_of(' ') == rest.npos;
  if (!good)
    return {StatusCode::usage,
            fmt::format("rampup_batch_size: expected START INCREMENT SAMPLES "
                        "like \"16 16 100000\" (16 samples a step, and 16 more "
                        "each time, up to the global batch once 100,000 were "
                        "read), found '{}'",
                        text)};
  out = ramp;
  return Status::okay();
}

int64_t BatchRamp::batchAt(int64_t consumed, int64_t last) const {
  if (isNone() || consumed > samples)
    return last;
  int64_t increments = (last - start) / increment;
  double each = static_cast<double>(samples) / static_cast<double>(increments);
  return start +
         static_cast<int64_t>(static_cast<double>(consumed) / each) * increment;
}

Status StepBatches::plan(const Recipe &recipe, const Descriptor &program,
                         const StepRange &range, bool ramps, StepBatches &out) {
  BatchRamp ramp;
  std::set<int64_t> known = batchesOf(program), lacking;
  StepBatches plan;
  plan.last_ = lastOf(recipe, program);
  if (!known.contains(plan.last_))
    return lacks("global_batch_size", known, {plan.last_});
  MTC_RETURN_IF_ERROR(readRamp(recipe, plan.last_, ramp));
  if (!ramps)
    ramp = {};
  BatchPart part{0, range.done + 1, range.first};
  do {
    part.batch = ramp.batchAt(part.firstSample, plan.last_);
    if (part.firstStep <= range.last && !known.contains(part.batch))
      lacking.insert(part.batch);
    plan.parts_.push_back(part);
    if (part.batch == plan.last_)
      break;
    int64_t steps = stepsAlike(ramp, part.firstSample, plan.last_);
    part.firstStep += steps;
    part.firstSample += steps * part.batch;
  } while (part.firstStep <= range.last && lacking.size() < kMostListed);
  if (!lacking.empty())
    return lacks("rampup_batch_size", known, lacking);
  out = std::move(plan);
  return Status::okay();
}

Status StepBatches::countSteps(const Recipe &recipe, const Descriptor &program,
                               int64_t samples, StepCount &out) {
  BatchRamp ramp;
  int64_t last = lastOf(recipe, program);
  MTC_RETURN_IF_ERROR(readRamp(recipe, last, ramp));
  StepCount count;
  for (bool isWhole = true; isWhole;) {
    int64_t batch = ramp.batchAt(count.samples, last);
    int64_t fit = (samples - count.samples) / batch;
    int64_t alike =
        batch < last ? stepsAlike(ramp, count.samples, last) : INT64_MAX;
    isWhole = alike <= fit; // and so a part behind it
    count.steps += std::min(alike, fit);
    count.samples += std::min(alike, fit) * batch;
  }
  out = count;
  return Status::okay();
}

const BatchPart &StepBatches::partOf(int64_t step) const {
  auto behind =
      std::ranges::upper_bound(parts_, step, {}, &BatchPart::firstStep);
  return behind == parts_.begin() ? *behind : *(behind - 1);
}

int64_t StepBatches::firstSample(int64_t step) const {
  const BatchPart &part = partOf(step);
  int64_t samples, first;
  bool over =
      __builtin_mul_overflow(step - part.firstStep, part.batch, &samples) ||
      __builtin_add_overflow(samples, part.firstSample, &first);
  return over ? INT64_MAX : first;
}

} // namespace mtc::runtime
