//===- change.h - one key of a strategy with another value ------*- C++ -*-===//
//
// What a search for other strategies is made of. Keys and what they may be are
// those of the table of fields: a new key needs nothing here, but in its row
// values that are worth trying if it is no number and has no list of choices.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_MODELS_CHANGE_H
#define MTC_MODELS_CHANGE_H

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "models/spec.h"
#include "models/strategy.h"
#include "models/strategy_fields.h"

namespace mtc::models {

/// A key and its value, both as in a file.
struct Change {
  std::string key;
  nlohmann::ordered_json value;
  bool operator==(const Change &) const = default;
};
using Changes = std::vector<Change>;

/// As options of `mtc compile`: "--tp 4 --recompute full".
std::string toOptions(const Changes &changes);

/// {"tp": 4, "recompute": "full"}.
nlohmann::ordered_json toJson(const Changes &changes);

/// The keys of strategies but tables, and what they may be changed to.
class StrategyKeys {
public:
  explicit StrategyKeys(const ScheduleNames &schedules)
      : fields_(strategyFields(schedules)) {}

  const std::vector<Field<Strategy>> &fields() const { return fields_; }

  /// Gives a key its value, through the reader of files. False, and the
  /// strategy as it was, if there is no such key or it may not be that.
  bool apply(const Change &change, Strategy &strategy) const;

  /// Calls `visit` with values of a key next to that of `strategy`, without its
  /// own: of a number those below and then those above, at most `reach` on each
  /// side, nearest first; of others all that it may be, and of a list of
  /// integers those with one other entry, nearest first, which share the
  /// reach. `visit` returns whether it wants more of this side.
  void walk(
      const Field<Strategy> &field, const ModelSpec &spec,
      const Strategy &strategy, int64_t reach,
      const std::function<bool(const Change &, const Strategy &)> &visit) const;

  /// Whether a value is a list of integers, and not empty.
  static bool hasEntries(const nlohmann::ordered_json &value);

private:
  std::vector<Field<Strategy>> fields_;
};

} // namespace mtc::models
#endif // MTC_MODELS_CHANGE_H
