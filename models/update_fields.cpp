//===- update_fields.cpp - how some parameters are updated ----------------===//

#include "models/update_fields.h"

#include <algorithm>
#include <cctype>

namespace mtc::models {

static Kind<ShardOverride> groupName() {
  static constexpr std::string_view type =
      "a name of letters, digits, '_' and '-'";
  auto read = [](TomlReader &in, std::string_view key, ShardOverride &out,
                 Need need) {
    in.string(key, out.group, need);
    auto isPlain = [](unsigned char c) {
      return std::isalnum(c) || c == '_' || c == '-';
    };
    if (in.has(key) && in.good(key) &&
        (out.group.empty() || !std::ranges::all_of(out.group, isPlain)))
      in.wrong(key, std::string(type));
  };
  return {std::string(type), read,
          [](const ShardOverride &override) -> nlohmann::ordered_json {
            return override.group;
          }};
}

static Kind<ShardOverride> ownDecay() {
  auto read = [](TomlReader &in, std::string_view key, ShardOverride &out,
                 Need need) {
    bool decays = false;
    in.boolean(key, decays, need);
    if (in.has(key) && in.good(key))
      out.decay = decays;
  };
  return {"true or false", read,
          [](const ShardOverride &override) -> nlohmann::ordered_json {
            if (override.decay)
              return *override.decay;
            return nullptr;
          }};
}

Field<ShardOverride> groupField() {
  return {"override",
          "group",
          groupName(),
          "the group of parameters that these are in, which a recipe may give "
          "a learning rate and a weight decay of its own (key groups)",
          "\"embeddings\"",
          Need::optional,
          "none"};
}

Field<ShardOverride> decayField() {
  return {"override",
          "decay",
          ownDecay(),
          "whether these are subject to weight decay",
          "false",
          Need::optional,
          "not biases, nor parameters of one dimension"};
}

} // namespace mtc::models
