//===- strategy_reader.h - shared by files and options ----------*- C++ -*-===//
#ifndef MTC_MODELS_STRATEGY_READER_H
#define MTC_MODELS_STRATEGY_READER_H

#include "models/strategy.h"
#include "models/toml_reader.h"

namespace mtc::models {

struct StrategyInteger {
  std::string_view key;
  int64_t Strategy::*member; ///< null: an extent of the mesh
  IntegerRange range;
  int64_t &of(Strategy &strategy) const {
    return member ? strategy.*member : strategy.mesh[*axisNamed(key)];
  }
  int64_t of(const Strategy &strategy) const {
    return member ? strategy.*member : strategy.mesh[*axisNamed(key)];
  }
};
struct StrategyChoice {
  std::string_view key;
  std::string Strategy::*member;
  std::vector<std::string_view> values; ///< of `schedule`: ScheduleNames
};

const std::vector<StrategyInteger> &strategyIntegers();
const std::vector<StrategyChoice> &strategyChoices();

/// Reads all keys that the table has into `strategy` and reports the rest.
void readStrategy(TomlReader &root, Strategy &strategy,
                  const ScheduleNames &schedules);

} // namespace mtc::models
#endif // MTC_MODELS_STRATEGY_READER_H
