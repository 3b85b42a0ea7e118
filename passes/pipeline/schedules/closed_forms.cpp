//===- closed_forms.cpp - what schedules cost, as formulas ----------------===//

#include "passes/pipeline/schedules/closed_forms.h"

#include <algorithm>

namespace mtc::schedules::forms {

int warmupAll(const Params &params, int) { return params.m * params.v; }

int warmupOneForward(const Params &params, int stage) {
  return std::min(params.p - stage - 1, params.m);
}

int warmupEager(const Params &params, int stage) {
  return std::min(2 * (params.p - stage - 1), params.m);
}

int warmupInterleaved(const Params &params, int stage) {
  int w = 2 * (params.p - stage - 1) + (params.v - 1) * params.G;
  return std::min(w, params.m * params.v);
}

int leadAll(const Params &params, int) { return params.m * params.v; }

int leadOneForward(const Params &params, int stage) {
  return std::min(warmupOneForward(params, stage) + 1, params.m);
}

int leadEager(const Params &params, int stage) {
  return std::min(warmupEager(params, stage) + 1, params.m);
}

int leadInterleaved(const Params &params, int stage) {
  return std::min(warmupInterleaved(params, stage) + 1, params.m * params.v);
}

MaybeTime bubbleFill(const Params &params, const Costs &costs) {
  return (params.p - 1) * (costs.F + costs.B);
}

MaybeTime bubbleZeroBubble(const Params &params, const Costs &costs) {
  int64_t hidden = std::min({costs.F, costs.I, costs.W});
  return (params.p - 1) * (costs.F + costs.I) -
         std::min(params.m - 1, params.p - 1) * hidden;
}

MaybeTime bubbleForward(const Params &params, const Costs &costs) {
  bool full = params.G == params.p && params.m % params.p == 0;
  if (params.v > 1 && !full)
    return std::nullopt;
  return (params.p - 1) * costs.F;
}

MaybeTime latencyGpipe(const Params &params) { return 2 * (params.p - 1); }

MaybeTime latencyOneForward(const Params &params) {
  if (params.p < 2 || params.m % params.p != 0)
    return std::nullopt;
  return 2 * (params.p - 1) * (params.m / params.p) + 2 * (params.p - 2);
}

MaybeTime latencyEager(const Params &params) { return 2 * (params.p - 1); }

MaybeTime latencyInterleaved(const Params &params) {
  if (params.G != params.p || params.m % params.p != 0)
    return std::nullopt;
  return 2 * (params.p * params.v - 1);
}

MaybeTime latencyZeroBubble(const Params &params) {
  if (params.m < 2 * params.p)
    return std::nullopt;
  return 4 * (params.p - 1);
}

MaybeTime latencyForward(const Params &params) {
  if (params.v > 1)
    return std::nullopt;
  return params.p - 1;
}

} // namespace mtc::schedules::forms
