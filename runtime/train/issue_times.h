//===- issue_times.h - what the host has of a step on a device --*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_ISSUE_TIMES_H
#define MTC_RUNTIME_TRAIN_ISSUE_TIMES_H

#include "runtime/base/json.h"
#include "runtime/program/host_issue.h"

#include <array>
#include <string>

namespace mtc::runtime {

/// How long the host issues a step that a device keeps, beside how long such a
/// step takes: medians of the latest ones. Of one rank.
class IssueTimes {
public:
  /// `seconds`: of the step, from one result to the next.
  void add(const HostIssue &issue, double seconds);

  /// `steps` that are counted, and, unless there is none, of a step `graphs`
  /// and `copies` that are issued, seconds of all that, of its parts
  /// and of the step, and the share of the step.
  Json toJson(int rank) const;

private:
  static constexpr size_t kMost = 64;
  struct Step {
    HostIssue issue;
    double seconds = 0;
  };
  std::array<Step, kMost> steps_{};
  size_t added_ = 0;
};

/// What IssueTimes::toJson has as a line for people, without its end.
std::string issueText(const Json &host);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_ISSUE_TIMES_H
