//===- events.cpp - what TensorBoard's files say of a run -----------------===//

#include "tools/plot/events.h"

#include "mtc/runtime/log_fields.h"
#include "tools/plot/event_records.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

using mtc::runtime::LogField;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::plot {
namespace {

using Keys = std::map<std::string, std::string, std::less<>>;

template <typename Record>
void addKeys(std::span<const LogField<Record>> fields, Keys &keys) {
  for (const LogField<Record> &field : fields)
    if (field.tag)
      keys.emplace(field.tag, field.key);
}

/// The keys of a log by their tags, ours and those that Megatron-LM's training
/// loop (training_log in megatron/training/training.py) has for the same.
Keys makeKeys() {
  Keys keys = {{"lm loss", "loss"},
               {"grad-norm", "grad_norm"},
               {"learning-rate", "lr"},
               {"loss-scale", "loss_scale"},
               {"batch-size", "global_batch"}};
  addKeys(runtime::stepFields(), keys);
  addKeys(runtime::evaluationFields(), keys);
  return keys;
}

/// A tag that is another one's key does not replace it.
void addScalar(const Event::Scalar &scalar, Sample &sample) {
  static const Keys keys = makeKeys();
  // What is not finite is a gap, as null is in a log.
  double value = std::isfinite(scalar.value)
                     ? scalar.value
                     : std::numeric_limits<double>::quiet_NaN();
  auto key = keys.find(scalar.tag);
  if (key != keys.end())
    sample.values[key->second] = value;
  sample.values.try_emplace(scalar.tag, value);
}

} // namespace

Status EventRun::add(std::string_view bytes, const std::string &name) {
  return readEventRecords(bytes, name, [&](Event &&event) {
    auto step = static_cast<double>(event.step);
    if (event.isStart)
      samples_.erase(samples_.lower_bound(step), samples_.end());
    if (event.scalars.empty())
      return;
    Sample &sample = samples_[step];
    for (const Event::Scalar &scalar : event.scalars)
      addScalar(scalar, sample);
    sample.step = sample.values["step"] = step;
    sample.values["time"] = event.time;
  });
}

Status EventRun::finish(const std::string &name, std::vector<Run> &runs) {
  if (samples_.empty())
    return {StatusCode::inputRejected,
            fmt::format("'{}': expected events of TensorBoard with scalars, "
                        "found none",
                        name)};
  Run &run = runs.emplace_back(Run{name, {}, false});
  for (auto &[step, sample] : samples_)
    run.samples.push_back(std::move(sample));
  samples_.clear();
  return Status::okay();
}

} // namespace mtc::plot
