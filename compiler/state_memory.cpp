//===- state_memory.cpp - what a rank keeps per parameter -----------------===//
#include "compiler/state_memory.h"
#include "mtc/runtime/descriptor_fields.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace mtc::compiler {

using Json = nlohmann::ordered_json;

constexpr int64_t kStages = 3; ///< of ZeRO: 0 to 2
constexpr int64_t kF32 = 4;    ///< bytes

StateBytes stateBytes(int64_t zero, int64_t dp, int64_t paramBytes,
                      int64_t gradBytes, int64_t states) {
  auto split = [&](int64_t bytes, bool overDp) {
    return static_cast<double>(bytes) / static_cast<double>(overDp ? dp : 1);
  };
  return {static_cast<double>(paramBytes), split(gradBytes, zero >= 2),
          split(kF32 * states, zero >= 1)};
}

namespace {

int64_t gradientBytes(const runtime::BucketInfo &bucket) {
  return bucket.gradBytes() * bucket.gradElements();
}

int64_t optimizerBytes(const runtime::BucketInfo &bucket) {
  return kF32 * bucket.shardElements *
         static_cast<int64_t>(bucket.states.size());
}

/// Of the rank of a stage, in the fragment that needs most.
int64_t mostOf(int64_t PlanFragment::*bytes, const ProgramPlan &program) {
  int64_t most = 0;
  for (const PlanFragment &fragment : program.fragments)
    most = std::max(most, fragment.*bytes);
  return most;
}

int64_t stagingBytes(const ProgramPlan &program) {
  return mostOf(&PlanFragment::stagingBytes, program);
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

/// A type in which some parameters are stored.
struct StoredType {
  std::string name;
  int64_t paramBytes = kF32, gradBytes = kF32;
  int64_t states = 0; ///< of an element
};

/// Those of a plan, first the one that it computes in.
std::vector<StoredType> storedTypes(const BundlePlan &plan) {
  std::vector<StoredType> types;
  for (const ProgramPlan &program : plan.programs)
    for (const runtime::BucketInfo &bucket : program.descriptor.buckets) {
      std::string name(runtime::dtypeName(bucket.dtype));
      auto isSame = [&](const StoredType &type) { return type.name == name; };
      if (!bucket.secondUseOf &&
          std::none_of(types.begin(), types.end(), isSame))
        types.push_back({name, bucket.paramBytes(), bucket.gradBytes(),
                         static_cast<int64_t>(bucket.states.size())});
    }
  std::stable_partition(
      types.begin(), types.end(),
      [&](const StoredType &type) { return type.name == plan.config.dtype; });
  return types;
}

} // namespace

Json stateMemory(const ProgramPlan &program) {
  int64_t params = 0, gradients = 0, optimizer = 0, second = 0;
  const int64_t staging = stagingBytes(program);
  const int64_t gathers = mostOf(&PlanFragment::gatherBytes, program);
  for (const runtime::BucketInfo &bucket : program.descriptor.buckets) {
    if (bucket.secondUseOf) {
      second += gradientBytes(bucket);
      continue;
    }
    params += bucket.paramBytes() * bucket.elements;
    gradients += gradientBytes(bucket);
    optimizer += optimizerBytes(bucket);
  }
  return {
      {"parameters", params},
      {"gradients", gradients},
      {"optimizer", optimizer},
      {"second_gradients", second},
      {"staging", staging},
      {"gathers", gathers},
      {"total", params + gradients + optimizer + second + staging + gathers}};
}

Json paddingMemory(const ProgramPlan &program) {
  const std::vector<runtime::BucketInfo> &buckets = program.descriptor.buckets;
  std::vector<int64_t> used(buckets.size());
  for (const runtime::ParamInfo &p : program.descriptor.params)
    used[p.bucket] += p.localElements();
  int64_t elements = 0;
  double bytes = 0;
  for (size_t i = 0; i < buckets.size(); ++i) {
    const runtime::BucketInfo &bucket = buckets[i];
    const bool isSecond = bucket.secondUseOf.has_value();
    int64_t padding =
        bucket.elements - used[isSecond ? *bucket.secondUseOf : int64_t(i)];
    int64_t kept = gradientBytes(bucket);
    if (!isSecond) {
      elements += padding;
      kept += bucket.paramBytes() * bucket.elements + optimizerBytes(bucket);
    }
    if (bucket.elements > 0)
      bytes += static_cast<double>(kept) * static_cast<double>(padding) /
               static_cast<double>(bucket.elements);
  }
  return {{"elements", elements}, {"bytes", std::llround(bytes)}};
}

Json bytesPerParameter(const BundlePlan &plan) {
  const PlanConfig &config = plan.config;
  Json rows = Json::array();
  for (const StoredType &type : storedTypes(plan))
    for (int64_t zero = 0; zero < kStages; ++zero) {
      StateBytes bytes =
          stateBytes(zero, config.mesh[MTC_AXIS_DP], type.paramBytes,
                     type.gradBytes, type.states);
      bool isFirst = rows.size() < kStages;
      rows.push_back(
          {{"zero", zero},
           {"dtype", type.name},
           {"parameters", bytes.parameters},
           {"gradients", bytes.gradients},
           {"optimizer", bytes.optimizer},
           {"total", bytes.total()},
           {"staging_bytes", isFirst ? stagingOf(zero, plan) : Json(0)}});
    }
  return rows;
}

} // namespace mtc::compiler
