//===- closed_forms.h - what schedules cost, as formulas --------*- C++ -*-===//
//
// Each form equals the simulation of asap.h in the cases it names (the tests
// compare them). Users reach them through the registry of generators.h.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_PIPELINE_SCHEDULES_CLOSED_FORMS_H
#define MTC_PASSES_PIPELINE_SCHEDULES_CLOSED_FORMS_H

#include "passes/pipeline/schedules/generators.h"

namespace mtc::schedules::forms {

using MaybeTime = std::optional<int64_t>;

/// Warm-up forwards: all m·v of them (gpipe, forward-only).
int warmupAll(const Params &params, int stage);
/// min(p-r-1, m) (1f1b, zb-h1).
int warmupOneForward(const Params &params, int stage);
/// min(2(p-r-1), m).
int warmupEager(const Params &params, int stage);
/// min(2(p-r-1) + (v-1)G, m·v).
int warmupInterleaved(const Params &params, int stage);

/// m·v.
int leadAll(const Params &params, int stage);
/// min(w+1, m), which is also the number in flight.
int leadOneForward(const Params &params, int stage);
/// min(w+1, m), which is also the number in flight.
int leadEager(const Params &params, int stage);
/// min(w+1, m·v), which is also the number in flight.
int leadInterleaved(const Params &params, int stage);

/// (p-1)(F+B): gpipe, 1f1b, and interleaved in chunk times.
MaybeTime bubbleFill(const Params &params, const Costs &costs);
/// (p-1)(F+I) - min(m-1, p-1)·min(F, I, W).
MaybeTime bubbleZeroBubble(const Params &params, const Costs &costs);
/// (p-1)F when v = 1, or G = p divides m.
MaybeTime bubbleForward(const Params &params, const Costs &costs);

/// 2(p-1).
MaybeTime latencyGpipe(const Params &params);
/// 2(p-1)·m/p + 2(p-2) when p > 1 divides m.
MaybeTime latencyOneForward(const Params &params);
/// 2(p-1): no growth with m.
MaybeTime latencyEager(const Params &params);
/// 2(p·v-1) when G = p divides m.
MaybeTime latencyInterleaved(const Params &params);
/// 4(p-1) when m >= 2p, for equal F, I, W.
MaybeTime latencyZeroBubble(const Params &params);
/// p·v-1: every boundary is passed once on the way to the last output. v = 1.
MaybeTime latencyForward(const Params &params);

} // namespace mtc::schedules::forms
#endif // MTC_PASSES_PIPELINE_SCHEDULES_CLOSED_FORMS_H
