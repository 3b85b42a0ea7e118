//===- mesh_fields.cpp - keys of the mesh of ranks ------------------------===//

#include "models/mesh_fields.h"

namespace mtc::models {

/// What ranks along an axis have of their own.
static std::string_view meaningOf(const AxisInfo &axis) {
  if (axis.headAndTail)
    return "ranks along this axis: each has a piece of the head and one of the "
           "tail of every sample, and the same parameters";
  if (axis.data)
    return "ranks along this axis: each has samples of its own, and the same "
           "parameters but for what [shard] splits over it";
  if (axis.splits)
    return "ranks along this axis: each has a part of every tensor that "
           "[shard] splits";
  return "ranks along this axis, the stages of the pipeline: each has some of "
         "the layers";
}

static Kind<Strategy> rankOrder() {
  std::string type = RankOrder::description();
  auto read = [=](TomlReader &in, std::string_view key, Strategy &out,
                  Need need) {
    std::optional<std::string> text = in.text(key, need);
    if (!text)
      return;
    if (std::optional<RankOrder> order = RankOrder::of(*text))
      out.mesh.setOrder(*order);
    else
      in.wrong(key, type);
  };
  return {type, read, [](const Strategy &s) -> nlohmann::ordered_json {
            return s.mesh.order().text();
          }};
}

/// Megatron-LM's, which has none for dp: it follows from the others.
static std::string_view aliasOf(int axis) {
  switch (axis) {
  case MTC_AXIS_TP:
    return "tensor-model-parallel-size";
  case MTC_AXIS_CP:
    return "context-parallel-size";
  case MTC_AXIS_PP:
    return "pipeline-model-parallel-size";
  default:
    return "";
  }
}

std::vector<Field<Strategy>> meshFields() {
  std::vector<Field<Strategy>> rows;
  for (const AxisInfo &axis : kAxes) {
    auto extent = [id = axis.id](auto &strategy) -> decltype(auto) {
      return strategy.mesh[id];
    };
    rows.push_back(
        {"", axis.name,
         Kind<Strategy>::integer(IntegerRange{1, Mesh::kMaxExtent}, extent),
         meaningOf(axis), "2", Need::optional, "", aliasOf(axis.id)});
  }
  rows.push_back({"", "rank_order", rankOrder(),
                  "through which axes ranks count first: those along the first "
                  "are next to each other, those along the last far apart",
                  "\"tp-cp-pp-dp\"", Need::optional, "",
                  "use-tp-pp-dp-mapping=tp-cp-pp-dp"});
  rows.push_back(
      {"", "ranks_per_host",
       Kind<Strategy>::integer({1, 1 << 20}, &Strategy::ranksPerHost),
       "ranks of one host, in the order of their numbers; the "
       "report says which groups cross hosts, and what they move",
       "8", Need::optional, "not said"});
  return rows;
}

} // namespace mtc::models
