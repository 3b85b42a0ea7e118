//===- strategy_fields.h - every key of a strategy --------------*- C++ -*-===//
#ifndef MTC_MODELS_STRATEGY_FIELDS_H
#define MTC_MODELS_STRATEGY_FIELDS_H

#include "models/fields.h"
#include "models/strategy.h"

namespace mtc::models {

/// What a table of dimensions names.
using ShardAxes = std::vector<std::pair<LogicalAxis, MeshAxis>>;

/// The keys at the top level, but the tables `shard` and `override`.
std::vector<Field<Strategy>> strategyFields(const ScheduleNames &schedules);

/// The keys of `[shard]`, and of `shard` in an override.
const std::vector<Field<ShardAxes>> &shardFields();

/// The keys of `[[override]]`.
const std::vector<Field<ShardOverride>> &overrideFields();

/// The option that replaces a key: "micro-batch-size", "shard.kv-heads".
template <typename T> std::string optionOf(const Field<T> &field) {
  std::string name(field.table);
  name += (name.empty() ? "" : ".") + std::string(field.key);
  for (char &c : name)
    c = c == '_' ? '-' : c;
  return name;
}

/// Reads all keys that the table has into `strategy` and reports the rest.
void readStrategy(TomlReader &root, Strategy &strategy,
                  const ScheduleNames &schedules);

} // namespace mtc::models
#endif // MTC_MODELS_STRATEGY_FIELDS_H
