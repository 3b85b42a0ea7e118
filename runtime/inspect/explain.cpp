//===- explain.cpp - the answers of mtc explain ---------------------------===//

#include "runtime/inspect/explain.h"

#include "mtc/runtime/inspect.h"
#include "runtime/base/file.h"
#include "runtime/base/number_text.h"

#include <fmt/format.h>

#include <numeric>

namespace mtc::runtime {
namespace {

/// What can be asked, with figures that help to ask it.
Json overview(const Bundle &bundle, const std::vector<ExplainedStage> &stages) {
  Json json = {{"plan_hash", bundle.planHash},
               {"model", bundle.stages.front().descriptor.model},
               {"ranks", bundle.mesh.worldSize()},
               {"mesh", bundle.mesh.text()},
               {"stages", Json::array()}};
  for (size_t s = 0; s < stages.size(); ++s) {
    const Descriptor &d = bundle.stages[s].descriptor;
    Json groups = Json::object();
    for (const ExplainedCollective &c : stages[s].collectives)
      groups[c.group] = groups.value(c.group, int64_t{0}) + c.times;
    json["stages"].push_back(
        {{"stage", d.stage},
         {"parameters", d.params.size()},
         {"example", d.params.empty() ? "" : d.params.front().name},
         {"bytes",
          std::accumulate(d.arenas.begin(), d.arenas.end(), int64_t{0})},
         {"collectives", groups}});
  }
  return json;
}

std::string overviewText(const Json &answer) {
  std::string text = fmt::format(
      "model {}  plan {}  {} ranks ({})\n", answer["model"].get<std::string>(),
      answer["plan_hash"].get<std::string>(), answer["ranks"].get<int64_t>(),
      answer["mesh"].get<std::string>());
  for (const Json &stage : answer["stages"]) {
    std::string groups;
    for (const auto &[group, times] : stage["collectives"].items())
      groups += fmt::format(", {} {}", times.get<int64_t>(), group);
    text += fmt::format(
        "  stage {}: {} parameters such as {}, {} a rank, collectives a step: "
        "{}\n",
        stage["stage"].get<int64_t>(), stage["parameters"].get<int64_t>(),
        stage["example"].get<std::string>(), sized(stage["bytes"]),
        groups.empty() ? "none" : groups.substr(2));
  }
  return text +
         "ask\n"
         "  --parameter NAME       where it lies on every rank, and "
         "whose optimizer states are where\n"
         "  --collective [GROUP|N] the collectives of a step, and why "
         "they are there\n"
         "  --rank N [--svg FILE]  what lives on a rank, and when most "
         "does\n"
         "  --kernels [CARD]       of a bundle for GPUs: what each "
         "kernel and call computes and moves,\n"
         "                         and the least time of that on a card\n";
}

Status answerMemory(const ExplainRequest &request, const Bundle &bundle,
                    const std::vector<ExplainedStage> &stages, Json &answer,
                    std::string &text) {
  MTC_RETURN_IF_ERROR(explainMemory(bundle, stages, *request.rank, answer));
  text = memoryText(answer);
  return request.svg.empty() ? Status::okay()
                             : writeTextFile(request.svg, memorySvg(answer));
}

} // namespace

Status explainBundle(const ExplainRequest &request, std::string &text) {
  if (!isBundle(request.folder))
    return {StatusCode::inputRejected,
            fmt::format("'{}': expected a bundle, the folder that mtc compile "
                        "writes",
                        request.folder)};
  Bundle bundle;
  MTC_RETURN_IF_ERROR(
      openBundle(request.folder, ProgramForm::executable, bundle));
  Json answer;
  if (request.kernels) {
    MTC_RETURN_IF_ERROR(explainKernels(bundle, *request.kernels, request.stage,
                                       request.registers, answer));
    text = kernelsText(answer);
  } else if (request.parameter) {
    MTC_RETURN_IF_ERROR(explainParameter(bundle, *request.parameter, answer));
    text = parameterText(answer);
  } else {
    std::vector<ExplainedStage> stages;
    MTC_RETURN_IF_ERROR(readExplanation(request.folder, bundle, stages));
    if (request.collective) {
      MTC_RETURN_IF_ERROR(
          explainCollectives(bundle, stages, *request.collective, answer));
      text = collectivesText(answer);
    } else if (request.rank) {
      MTC_RETURN_IF_ERROR(answerMemory(request, bundle, stages, answer, text));
    } else {
      answer = overview(bundle, stages);
      text = overviewText(answer);
    }
  }
  if (request.json)
    text = answer.dump(2) + "\n";
  return Status::okay();
}

} // namespace mtc::runtime
