//===- rules.h - all rules of a strategy, before it is planned --*- C++ -*-===//
#ifndef MTC_COMPILER_LINT_RULES_H
#define MTC_COMPILER_LINT_RULES_H

#include "compiler/schedule/file.h"
#include "models/repair.h"

#include <optional>

namespace mtc::compiler {

/// A strategy and the ranks that it is for, which may give it its replicas.
class StrategyRules {
public:
  StrategyRules(const models::ModelSpec &spec, std::optional<int64_t> ranks)
      : spec(spec), ranks(ranks) {}

  /// What the strategy is on so many ranks.
  models::Strategy onRanks(const models::Strategy &strategy) const;

  /// In layers, see RepairSearch: those of ranks, model and strategy, then of
  /// the schedule. They live as long as this.
  std::vector<models::Rules> layers() const;

  /// Why its file of slots cannot be read; empty if it can, or if it has none.
  models::Diagnostics unreadable(const models::Strategy &strategy) const;

  /// Whether all of them hold.
  bool hold(const models::Strategy &strategy) const;

  /// With every default filled in and its schedule read; all rules must hold.
  models::Strategy resolved(const models::Strategy &strategy) const;

private:
  mutable ScheduleFiles files; ///< what a lint reads of them, once
  const models::ModelSpec &spec;
  std::optional<int64_t> ranks;
};

} // namespace mtc::compiler
#endif // MTC_COMPILER_LINT_RULES_H
