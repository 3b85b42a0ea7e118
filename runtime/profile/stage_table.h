//===- stage_table.h - the ops of one stage beside their limits -*- C++ -*-===//
#ifndef MTC_RUNTIME_PROFILE_STAGE_TABLE_H
#define MTC_RUNTIME_PROFILE_STAGE_TABLE_H

#include "runtime/profile/step_table.h"

#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace mtc::runtime {

/// Names of kinds of ops and rows, in the order in which they are told.
std::span<const char *const> profileFamilies();

/// Figures of a step, one of each rank that has them.
using OfRanks = std::vector<double>;

double meanOf(const OfRanks &all);
/// Least, mean and largest, of at least one.
Json spread(const OfRanks &all);
void add(OfRanks &to, const OfRanks &more);

/// Calls that do the same; a step of one rank but for `seconds`.
struct ProfiledRow {
  const char *family = "";
  ExplainedWork work; ///< of one call
  std::string part;   ///< of the model
  double calls = 0, flops = 0, bytes = 0, linkBytes = 0;
  double floor = 0;  ///< seconds that the limits allow
  double beside = 0; ///< seconds beside fragments
  OfRanks seconds;
};

/// One op of a fragment.
struct ProfiledOp {
  int64_t fragment = 0, index = 0;
  size_t row = 0; ///< that it is in
  std::string part;
  double calls = 0;
  OfRanks seconds;
};

/// A mean step of the ranks of a stage: its ops, rows of the timeline, and what
/// is left of fragments and of the step, which add up to it.
class StageTable {
public:
  StageTable(const ProfileParts &parts, int64_t stage);

  /// Errors: inputRejected where ranks ran ops that the plan does not have.
  Status fill();

  const std::vector<ProfiledRow> &rows() const { return rows_; }
  size_t ranks() const { return ranks_.size(); }
  double floor() const; ///< seconds, of one rank
  Json toJson() const;

private:
  void addOp(const TimedFragment &fragment, size_t index);
  ProfiledRow &rowOf(const char *family, const ExplainedWork &work,
                     ProfiledOp &op);
  /// Of a rank: as many ops in each fragment as the plan has.
  Status checkOps(const RankProfile &rank) const;
  void addTimelineRow(const char *family, const char *op, MtcStepKind kind);
  void addRests();
  Json fragmentJson(size_t index) const;

  const ProfileParts &parts_;
  int64_t stage_;
  const ExplainedStage &explained_;
  const Descriptor &program_;
  std::vector<const RankProfile *> ranks_;
  std::vector<ProfiledRow> rows_;
  std::vector<ProfiledOp> ops_;
  /// By family, op, name, stream and row of `gemms`.
  std::map<std::tuple<std::string, std::string, std::string, int64_t, int64_t>,
           size_t>
      known_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_PROFILE_STAGE_TABLE_H
