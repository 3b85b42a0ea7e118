//===- state_memory.cpp - what a rank keeps per parameter -----------------===//
#include "compiler/state_memory.h"

#include <algorithm>

namespace mtc::compiler {

using Json = nlohmann::ordered_json;

constexpr int64_t kStages = 3; ///< of ZeRO: 0 to 2
constexpr int64_t kF32 = 4;    ///< bytes

StateBytes stateBytes(int64_t zero, int64_t dp, int64_t paramBytes,
                      int64_t states) {
  auto split = [&](int64_t bytes, bool overDp) {
    return static_cast<double>(bytes) / static_cast<double>(overDp ? dp : 1);
  };
  return {static_cast<double>(paramBytes), split(kF32, zero >= 2),
          split(kF32 * states, zero >= 1)};
}

namespace {

int64_t gradientBytes(const runtime::BucketInfo &bucket) {
  return kF32 * bucket.gradElements();
}

int64_t paramBytes(const PlanConfig &config) {
  return config.dtype == "bf16" ? 2 : kF32;
}

/// Of the rank of a stage.
int64_t stagingBytes(const ProgramPlan &program) {
  int64_t bytes = 0;
  for (const PlanFragment &fragment : program.fragments)
    bytes = std::max(bytes, fragment.stagingBytes);
  return bytes;
}

/// See bytesPerParameter.
Json stagingOf(int64_t zero, const BundlePlan &plan) {
  if (zero < 2 || plan.config.mesh[MTC_AXIS_DP] == 1)
    return 0;
  if (plan.config.zeroStage != zero)
    return nullptr;
  int64_t most = 0;
  for (const ProgramPlan &program : plan.programs)
    most = std::max(most, stagingBytes(program));
  return most;
}

} // namespace

Json stateMemory(const ProgramPlan &program, const PlanConfig &config) {
  int64_t params = 0, gradients = 0, optimizer = 0, second = 0;
  const int64_t staging = stagingBytes(program);
  for (const runtime::BucketInfo &bucket : program.descriptor.buckets) {
    if (bucket.secondUseOf) {
      second += gradientBytes(bucket);
      continue;
    }
    params += paramBytes(config) * bucket.elements;
    gradients += gradientBytes(bucket);
    optimizer += kF32 * bucket.shardElements *
                 static_cast<int64_t>(bucket.states.size());
  }
  return {{"parameters", params},
          {"gradients", gradients},
          {"optimizer", optimizer},
          {"second_gradients", second},
          {"staging", staging},
          {"total", params + gradients + optimizer + second + staging}};
}

Json bytesPerParameter(const BundlePlan &plan) {
  const PlanConfig &config = plan.config;
  int64_t states = 0;
  for (const ProgramPlan &program : plan.programs)
    for (const runtime::BucketInfo &bucket : program.descriptor.buckets)
      states = std::max<int64_t>(states, bucket.states.size());
  Json rows = Json::array();
  for (int64_t zero = 0; zero < kStages; ++zero) {
    StateBytes bytes =
        stateBytes(zero, config.mesh[MTC_AXIS_DP], paramBytes(config), states);
    rows.push_back({{"zero", zero},
                    {"parameters", bytes.parameters},
                    {"gradients", bytes.gradients},
                    {"optimizer", bytes.optimizer},
                    {"total", bytes.total()},
                    {"staging_bytes", stagingOf(zero, plan)}});
  }
  return rows;
}

} // namespace mtc::compiler
