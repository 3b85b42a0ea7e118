//===- shard_rules.cpp - logical axis to mesh axis ------------------------===//

#include "models/shard_rules.h"

namespace mtc::models {

namespace {
struct AxisWords {
  std::string_view name, meaning;
};
} // namespace

/// By LogicalAxis.
static constexpr AxisWords axisWords[logicalAxisCount] = {
    {"batch", "samples of a microbatch"},
    {"seq", "positions of a sample"},
    {"embed", "the residual stream: hidden of the spec"},
    {"heads", "attention heads"},
    {"kv_heads", "heads of keys and values; as heads"},
    {"head_dim", "elements of a head"},
    {"ffn", "elements of the MLP between its projections"},
    {"vocab", "rows of the token embedding, logits"},
    {"expert", "experts of a mixture"},
    {"qkv", "query, key and value of a fused projection"},
    {"gate_up", "gate and input of an MLP with a gate"}};

std::string_view toString(LogicalAxis axis) {
  return axisWords[static_cast<size_t>(axis)].name;
}

std::string_view meaningOf(LogicalAxis axis) {
  return axisWords[static_cast<size_t>(axis)].meaning;
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
  set(LogicalAxis::seq, MeshAxis::cp);
  set(LogicalAxis::batch, MeshAxis::dp);
}

bool ShardRules::buildableOfParameters(LogicalAxis axis, MeshAxis mesh) {
  if (mesh == MeshAxis::none)
    return true;
  // No model has these dimensions yet.
  bool isBuilt = axis != LogicalAxis::expert && axis != LogicalAxis::gateUp;
  // Over an axis of the data the residual stream and the loss have samples of
  // their own, so that nothing else of them can be split.
  bool isOfStream = axis == LogicalAxis::batch || axis == LogicalAxis::seq ||
                    axis == LogicalAxis::embed || axis == LogicalAxis::vocab;
  const AxisInfo &over = kAxes[static_cast<int>(mesh)];
  // Shards of a parameter are equal parts.
  return isBuilt && !over.headAndTail && !(isOfStream && over.data);
}

bool ShardRules::buildable(LogicalAxis axis, MeshAxis mesh) {
  // A replicated batch would count every sample dp times, whole samples every
  // token cp times.
  bool isOfInputs = axis == LogicalAxis::batch || axis == LogicalAxis::seq;
  return isOfInputs ? mesh == ShardRules().meshAxis(axis)
                    : buildableOfParameters(axis, mesh);
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
