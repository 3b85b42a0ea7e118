//===- shard_rules.cpp - logical axis to mesh axis ------------------------===//

#include "models/shard_rules.h"

namespace mtc::models {

std::string_view toString(LogicalAxis axis) {
  static constexpr std::string_view names[logicalAxisCount] = {
      "batch", "seq",   "embed",  "heads", "kv_heads", "head_dim",
      "ffn",   "vocab", "expert", "qkv",   "gate_up"};
  return names[static_cast<size_t>(axis)];
}

std::string_view toString(MeshAxis axis) {
  return axis == MeshAxis::none ? "none" : axisName(static_cast<MtcAxis>(axis));
}

const std::array<LogicalAxis, logicalAxisCount> &allLogicalAxes() {
  static constexpr std::array<LogicalAxis, logicalAxisCount> axes = {
      LogicalAxis::batch, LogicalAxis::seq,     LogicalAxis::embed,
      LogicalAxis::heads, LogicalAxis::kvHeads, LogicalAxis::headDim,
      LogicalAxis::ffn,   LogicalAxis::vocab,   LogicalAxis::expert,
      LogicalAxis::qkv,   LogicalAxis::gateUp};
  return axes;
}

ShardRules::ShardRules() {
  table.fill(MeshAxis::none);
  set(LogicalAxis::heads, MeshAxis::tp);
  set(LogicalAxis::kvHeads, MeshAxis::tp);
  set(LogicalAxis::ffn, MeshAxis::tp);
  set(LogicalAxis::vocab, MeshAxis::tp);
  set(LogicalAxis::batch, MeshAxis::dp);
}

bool ShardRules::buildable(LogicalAxis axis, MeshAxis mesh) {
  MeshAxis standard = ShardRules().meshAxis(axis);
  // A replicated batch would count every sample dp times.
  bool data =
      standard != MeshAxis::none && kAxes[static_cast<int>(standard)].data;
  return mesh == standard || (mesh == MeshAxis::none && !data);
}

bool matches(std::string_view pattern, std::string_view name) {
  // On a mismatch the last star takes one character more.
  size_t p = 0, n = 0, star = std::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

} // namespace mtc::models
