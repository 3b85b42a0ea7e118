//===- roofline.h - the least time that a plan takes on GPUs ----*- C++ -*-===//
//
// On paper: what calls compute, move and send, over what data sheets promise.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_COMPILER_ROOFLINE_H
#define MTC_COMPILER_ROOFLINE_H

#include "compiler/plan.h"
#include "mtc/runtime/gpu_cards.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mtc::compiler {

/// The least time of calls on a card, in seconds, and what it is that takes so
/// long: "tensor cores", "fp32", "memory" or "link".
struct Floor {
  double seconds = 0;
  const char *bound = "memory";
};
Floor floorOf(const PlanCalls &calls, const GpuCard &card);

/// The least time of all calls of a rank, in seconds: those of one stream one
/// after the other, streams beside each other.
double floorOf(const std::vector<PlanCalls> &calls, const GpuCard &card);

/// The same of a step of all stages with the waits that its schedule has: a
/// stage waits for what it receives, and exchanges take no time. At least as
/// long as the longest stage.
double floorOfStep(const BundlePlan &plan, const GpuCard &card);

/// Of a plan for GPUs: for every stage its calls in a step of training, for
/// every card the floors and the ten calls that take longest (docs/cuda.md).
/// It depends on the plan and the data sheets only.
nlohmann::ordered_json rooflineReport(const BundlePlan &plan);

/// A few lines and a table for people, of the card that the plan is for.
std::string rooflineText(const nlohmann::ordered_json &report);

} // namespace mtc::compiler
#endif // MTC_COMPILER_ROOFLINE_H
