//===- run_position.cpp - where a run is ----------------------------------===//

#include "runtime/checkpoint/run_position.h"

#include <cmath>

namespace mtc::runtime {

void writePosition(const RunPosition &p, Json &object) {
  object["step"] = p.step;
  object["samples"] = p.samples;
  object["tokens"] = p.tokens;
  if (p.skippedSteps > 0) {
    object["skipped_steps"] = p.skippedSteps;
    object["skipped_samples"] = p.skippedSamples;
  }
  if (p.scaler)
    object["loss_scaler"] = {
        {"scale", p.scaler->scale},
        {"growth_tracker", p.scaler->growthTracker},
        {"hysteresis_tracker", p.scaler->hysteresisTracker}};
}

static ScalerState readScaler(FieldReader reader) {
  ScalerState state{reader.number("scale"),
                    reader.integer("growth_tracker", 0, INT64_MAX),
                    reader.integer("hysteresis_tracker", INT64_MIN, INT64_MAX)};
  if (!(state.scale > 0) || !std::isfinite(state.scale))
    reader.problem("expected a scale above 0");
  return state;
}

RunPosition readPosition(FieldReader &reader) {
  RunPosition p;
  p.step = reader.integer("step", 0, INT64_MAX);
  p.samples = reader.integer("samples", 0, INT64_MAX);
  p.tokens = reader.integer("tokens", 0, INT64_MAX);
  if (reader.has("skipped_steps")) {
    p.skippedSteps = reader.integer("skipped_steps", 0, p.step);
    p.skippedSamples = reader.integer("skipped_samples", 0, p.samples);
  }
  if (reader.has("loss_scaler"))
    p.scaler = readScaler(reader.object("loss_scaler"));
  return p;
}

} // namespace mtc::runtime
