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

using Keys = std::map<std::string, std::string>;

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

} // namespace

Status EventRun::add(std::string_view bytes, const std::string &name) {
  return readEventRecords(bytes, name, [&](Event &&event) {
    auto step = static_cast<double>(event.step);
    if (event.isStart)
      samples_.erase(samples_.lower_bound(step), samples_.end());
    if (event.scalars.empty())
      return;
    Sample &sample = samples_[step];
    for (Event::Scalar &scalar : event.scalars)
      sample.values[std::move(scalar.tag)] =
          std::isfinite(scalar.value)
              ? scalar.value // otherwise a gap, as null is in a log
              : std::numeric_limits<double>::quiet_NaN();
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
  const Keys keys = makeKeys();
  for (auto &[step, sample] : samples_) {
    // At the end, so that a tag with the name of a key does not replace it.
    for (const auto &[tag, key] : keys)
      if (auto value = sample.values.find(tag); value != sample.values.end())
        sample.values[key] = value->second;
    run.samples.push_back(std::move(sample));
  }
  samples_.clear();
  return Status::okay();
}

} // namespace mtc::plot
