//===- explain_collectives.cpp - the collectives of a step, with reasons --===//

#include "runtime/inspect/explain.h"

#include "runtime/base/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace mtc::runtime {
namespace {

/// What the origins of dist mean for people: the first row that fits. An empty
/// kind, or what it serves, is any. (Origins f and g name Megatron-LM's places,
/// the begin and the end of a block that is split: with sequence parallelism
/// there is a gather at the begin.)
struct OriginText {
  std::string_view origin, kind, serves, why;
};
constexpr OriginText kOrigins[] = {
    {"f", "all_gather", "tfm.restore",
     "ranks along the axis saved the parts that they had of a value; the "
     "backward needs all of it, which is gathered again rather than saved"},
    {"f", "all_gather", "",
     "ranks along the axis have parts of a gradient, and what follows needs "
     "all of it"},
    {"f", "reduce_scatter", "",
     "the backward's counterpart of a gather: each rank along the axis has a "
     "summand of the gradient, and keeps the sum for its part of the value"},
    {"f", "", "",
     "the backward's counterpart: ranks along the axis hold parts of the "
     "gradient of a value that all of them read"},
    {"g", "all_gather", "",
     "ranks along the axis have parts of a value, such as parts of each "
     "sequence, and what follows needs all of it"},
    {"g", "reduce_scatter", "",
     "a product was split along its sum: each rank holds a part of it, and "
     "keeps the sum for its part of the value"},
    {"g", "", "",
     "a product was split along its sum: each rank holds a part of it"},
    {"sp", "", "",
     "ranks along the axis have parts of each sequence, or of the samples: "
     "what needs all of them is gathered, and its gradient is scattered"},
    {"zero1", "", "",
     "each replica updated its part of the bucket, and all need all "
     "parameters"},
    {"embedding", "", "",
     "a table that is split by vocabulary, or shared by the first and the "
     "last stage"},
    {"norm", "", "", "the global norm of all gradients, for clipping"},
    {"loss", "", "",
     "the loss over a vocabulary that is split, or over replicas"},
    {"saved", "", "",
     "each rank along the axis saved a part of a value that all of them had, "
     "and the backward needs all of it"},
    {"gradient", "", "",
     "gradients of ranks that saw different tokens, or parts of them, or that "
     "have different queries of a key head (group kv), are added"},
};

Json toJson(const ExplainedCollective &c, const ExplainedStage &stage,
            const Descriptor &d) {
  Json json = {{"stage", d.stage},
               {"kind", c.kind},
               {"group", c.group},
               {"ranks", d.mesh.groupSize(*groupNamed(c.group))},
               {"bytes", c.bytes},
               {"times", c.times},
               {"fragment", c.fragment},
               {"origin", c.origin},
               {"why", whyOf(c)},
               {"serves", c.serves},
               {"part", c.part},
               {"spec", c.spec},
               {"bucket", nullptr},
               {"parameters", Json::array()}};
  if (!c.bucket)
    return json;
  json["bucket"] = *c.bucket;
  int64_t of = d.buckets[*c.bucket].secondUseOf.value_or(*c.bucket);
  for (const ParamInfo &p : d.params)
    if (p.bucket == of)
      json["parameters"].push_back(
          {{"name", p.name}, {"spec", stage.specOf(p.name)}});
  return json;
}

/// "--collective 12" or "--collective tp".
struct Which {
  std::optional<int64_t> number;
  std::string group;

  bool has(int64_t index, const Json &collective) const {
    return number ? *number == index
                  : group.empty() || collective["group"] == group;
  }
};

std::optional<int64_t> numberIn(const std::string &text) {
  int64_t number = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

std::string whatText(const Json &c) {
  if (!c["bucket"].is_null())
    return fmt::format("bucket {}, in {}", c["bucket"].get<int64_t>(),
                       c["fragment"].get<std::string>());
  auto part = c["part"].get<std::string>(),
       serves = c["serves"].get<std::string>();
  if (part.empty() || serves.empty())
    return part + serves;
  return part == serves ? part : part + ", for " + serves;
}

/// "  embed.tokens  gpt2-nano.toml:3"
std::string lineOf(const Json &parameter) {
  auto name = parameter["name"].get<std::string>(),
       spec = parameter["spec"].get<std::string>();
  return spec.empty() ? "  " + name + "\n" : "  " + name + "  " + spec + "\n";
}

} // namespace

std::string whyOf(const ExplainedCollective &c) {
  for (const OriginText &row : kOrigins)
    if (row.origin == c.origin && (row.kind.empty() || row.kind == c.kind) &&
        (row.serves.empty() || row.serves == c.serves))
      return std::string(row.why);
  return "";
}

bool isOrigin(std::string_view name) {
  return std::ranges::any_of(
      kOrigins, [&](const OriginText &row) { return row.origin == name; });
}

std::string originNames() {
  std::string names;
  std::string_view last;
  for (const OriginText &row : kOrigins)
    if (row.origin != std::exchange(last, row.origin))
      names.append(names.empty() ? "" : ", ").append(row.origin);
  return names;
}

Status explainCollectives(const Bundle &bundle,
                          const std::vector<ExplainedStage> &stages,
                          const std::string &which, Json &answer) {
  Which wanted{numberIn(which), which};
  if (!which.empty() && !wanted.number && !groupNamed(which))
    return {
        StatusCode::usage,
        fmt::format("--collective: expected a number or one of {}, found "
                    "'{}'",
                    namesOf(kGroups, [](const GroupInfo &) { return true; }),
                    which)};
  answer = {{"collectives", Json::array()}};
  int64_t index = 0;
  for (size_t s = 0; s < stages.size(); ++s)
    for (const ExplainedCollective &c : stages[s].collectives) {
      Json json = {{"number", index}};
      json.update(toJson(c, stages[s], bundle.stages[s].descriptor));
      if (wanted.has(index++, json))
        answer["collectives"].push_back(std::move(json));
    }
  answer["total"] = index;
  if (wanted.number && answer["collectives"].empty())
    return {StatusCode::usage,
            fmt::format("--collective: expected a number below {}, found {}",
                        index, *wanted.number)};
  return Status::okay();
}

std::string collectivesText(const Json &answer) {
  const Json &list = answer["collectives"];
  std::string text;
  int64_t stage = -1;
  for (const Json &c : list) {
    if (c["stage"] != stage) {
      stage = c["stage"];
      text += fmt::format("stage {}: number, times a step, kind and group, "
                          "bytes of a rank, origin, what\n",
                          stage);
    }
    text += fmt::format("{:>6} {:>5} x  {:<28} {:>10}  {:<10} {}\n",
                        c["number"].get<int64_t>(), c["times"].get<int64_t>(),
                        fmt::format("{} {}", c["kind"].get<std::string>(),
                                    c["group"].get<std::string>()),
                        sized(c["bytes"].get<int64_t>()),
                        c["origin"].get<std::string>(), whatText(c));
  }
  if (list.empty())
    return "no such collective in a step\n";
  if (list.size() > 1)
    return text;
  const Json &c = list[0];
  text += fmt::format("in {}, of {} ranks\nwhy: {}\n",
                      c["fragment"].get<std::string>(),
                      c["ranks"].get<int64_t>(), c["why"].get<std::string>());
  if (auto line = c["spec"].get<std::string>(); !line.empty())
    text += fmt::format("spec: {}\n", line);
  for (const Json &p : c["parameters"])
    text += lineOf(p);
  return text;
}

} // namespace mtc::runtime
