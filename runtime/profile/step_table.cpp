//===- step_table.cpp - the ops of a step beside their limits -------------===//

#include "runtime/profile/step_table.h"

#include "runtime/profile/stage_table.h"

#include <string_view>

namespace mtc::runtime {
namespace {

/// Over all ranks, which have the same number in every stage.
Json familyJson(const char *family, const std::vector<StageTable> &stages) {
  double calls = 0, flops = 0, bytes = 0, linkBytes = 0, floor = 0;
  OfRanks seconds;
  auto share = 1 / static_cast<double>(stages.size());
  bool isThere = false;
  for (const StageTable &stage : stages) {
    OfRanks here(stage.ranks());
    for (const ProfiledRow &row : stage.rows()) {
      if (std::string_view(row.family) != family)
        continue;
      isThere = true;
      calls += share * row.calls;
      flops += share * row.flops;
      bytes += share * row.bytes;
      linkBytes += share * row.linkBytes;
      floor += share * row.floor;
      add(here, row.seconds);
    }
    seconds.insert(seconds.end(), here.begin(), here.end());
  }
  if (!isThere)
    return nullptr;
  return {{"family", family},
          {"calls", calls},
          {"flops", flops},
          {"bytes", bytes},
          {"link_bytes", linkBytes},
          {"floor_seconds", floor},
          {"seconds", spread(seconds)}};
}

/// Of each step the mean of the ranks.
OfRanks stepsOf(const std::vector<RankProfile> &ranks) {
  OfRanks steps(ranks.front().seconds.size());
  for (const RankProfile &rank : ranks)
    for (size_t i = 0; i < steps.size(); ++i)
      steps[i] += rank.seconds[i] / static_cast<double>(ranks.size());
  return steps;
}

} // namespace

Status profileTable(const ProfileParts &parts, Json &answer) {
  std::vector<StageTable> stages;
  for (size_t i = 0; i < parts.stages.size(); ++i) {
    stages.emplace_back(parts, static_cast<int64_t>(i));
    MTC_RETURN_IF_ERROR(stages.back().fill());
  }
  const Descriptor &program = parts.bundle.stages.front().descriptor;
  OfRanks steps = stepsOf(parts.ranks);
  double floor = 0;
  for (const StageTable &stage : stages)
    floor += stage.floor() / static_cast<double>(stages.size());
  answer = {{"model", program.model},
            {"plan_hash", parts.bundle.planHash},
            {"dtype", program.dtype},
            {"ranks", parts.ranks.size()},
            {"threads", program.threads},
            {"limits",
             {{"f32_flops", parts.limits.f32},
              {"bf16_flops", parts.limits.bf16},
              {"copy_bytes", parts.limits.copy}}},
            {"warm_up", parts.warmUp},
            {"steps", steps},
            {"step_seconds", spread(steps)},
            {"floor_seconds", floor},
            {"step_over_floor", nullptr},
            {"families", Json::array()},
            {"stages", Json::array()}};
  if (floor > 0)
    answer["step_over_floor"] = meanOf(steps) / floor;
  for (const char *family : profileFamilies())
    if (Json json = familyJson(family, stages); !json.is_null())
      answer["families"].push_back(std::move(json));
  for (const StageTable &stage : stages)
    answer["stages"].push_back(stage.toJson());
  return Status::okay();
}

} // namespace mtc::runtime
