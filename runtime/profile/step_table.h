//===- step_table.h - the ops of a step beside their limits -----*- C++ -*-===//
#ifndef MTC_RUNTIME_PROFILE_STEP_TABLE_H
#define MTC_RUNTIME_PROFILE_STEP_TABLE_H

#include "runtime/base/json.h"
#include "runtime/control/bundle.h"
#include "runtime/inspect/explain_file.h"
#include "runtime/profile/limits.h"
#include "runtime/program/profile.h"

#include <vector>

namespace mtc::runtime {

/// What a profile is made of.
struct ProfileParts {
  const Bundle &bundle;
  const std::vector<ExplainedStage> &stages;
  const std::vector<RankProfile> &ranks; ///< at least one step of each
  MachineLimits limits;                  ///< of a rank
  int64_t warmUp = 0;                    ///< steps that do not count
};

/// The answer of mtc profile (docs/profile.md). Errors: inputRejected where
/// ranks ran ops that the plan does not have.
Status profileTable(const ProfileParts &parts, Json &answer);

/// The same as text for people.
std::string profileText(const Json &answer);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_PROFILE_STEP_TABLE_H
