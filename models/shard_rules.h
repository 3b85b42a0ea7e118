//===- shard_rules.h - logical axis to mesh axis ----------------*- C++ -*-===//
#ifndef MTC_MODELS_SHARD_RULES_H
#define MTC_MODELS_SHARD_RULES_H

#include "mtc/runtime/mesh.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mtc::models {

/// The names of dimensions; qkv and gateUp are stack axes.
enum class LogicalAxis {
  batch,
  seq,
  embed,
  heads,
  kvHeads,
  headDim,
  ffn,
  vocab,
  expert,
  qkv,
  gateUp
};
inline constexpr size_t logicalAxisCount = 11;

/// What a dimension may be split over: an axis of mesh.h, of which those that
/// code here names have an enumerator. none: replicated.
enum class MeshAxis {
  none = -1,
  tp = MTC_AXIS_TP,
  cp = MTC_AXIS_CP,
  dp = MTC_AXIS_DP
};

/// As in files: "kv_heads", "tp".
std::string_view toString(LogicalAxis axis);
std::string_view toString(MeshAxis axis);
/// What elements along it are, for people.
std::string_view meaningOf(LogicalAxis axis);
const std::array<LogicalAxis, logicalAxisCount> &allLogicalAxes();

/// The strategy's table. Starts with heads, kv_heads, ffn, vocab over tp, seq
/// over cp and batch over dp; all else replicated.
class ShardRules {
public:
  ShardRules();
  MeshAxis meshAxis(LogicalAxis axis) const {
    return table[static_cast<size_t>(axis)];
  }
  void set(LogicalAxis axis, MeshAxis mesh) {
    table[static_cast<size_t>(axis)] = mesh;
  }
  /// Whether the compiler can build this rule of the table. Inputs are split as
  /// by default: over the axes whose ranks have different samples.
  static bool buildable(LogicalAxis axis, MeshAxis mesh);
  /// The same of a rule for parameters alone, as overrides have.
  static bool buildableOfParameters(LogicalAxis axis, MeshAxis mesh);

private:
  std::array<MeshAxis, logicalAxisCount> table;
};

/// What holds for the parameters whose name matches `pattern`, where `*` stands
/// for any characters: another table, in which axes that are not named keep the
/// general rule, another type, and how they are updated.
struct ShardOverride {
  std::string pattern;
  std::vector<std::pair<LogicalAxis, MeshAxis>> axes;
  /// What these weights make, with its bias, is gathered: no mesh axis splits
  /// it along their dimensions.
  bool gatherOutput = false;
  /// In which they are stored; empty: in that of the strategy.
  std::string dtype = {};
  /// Whose learning rate and decay hold; empty: those of all.
  std::string group = {};
  /// Whether they are subject to weight decay; none: by the rule for all.
  std::optional<bool> decay = {};
};

/// Whether `name` matches `pattern` as a whole.
bool matches(std::string_view pattern, std::string_view name);

} // namespace mtc::models
#endif // MTC_MODELS_SHARD_RULES_H
