//===- text.cpp - what lint found, for people -----------------------------===//

#include "compiler/lint/text.h"

#include "mtc/runtime/memory.h"
#include "runtime/base/number_text.h"

#include <fmt/format.h>

namespace mtc::compiler {

using Json = nlohmann::ordered_json;

std::string violationText(const std::vector<models::Violation> &violations,
                          const std::vector<models::Remedies> &remedies,
                          const Json &report) {
  std::string text;
  for (size_t i = 0; i < violations.size(); ++i) {
    const models::Violation &v = violations[i];
    text += i == 0 ? "" : "\n";
    text += v.found.empty()
                ? v.rule
                : fmt::format("expected {}, found {}", v.rule, v.found);
    if (std::string with = toText(remedies[i]); !with.empty())
      text += "; it holds with " + with;
    else if (!v.nearest.empty())
      text += "; nearest: " + v.nearest;
  }
  std::string near;
  for (const Json &each : report["nearest"])
    near += "\n  " + each["options"].get<std::string>();
  text +=
      near.empty()
          ? fmt::format("\nno set of up to {} changes was found after which "
                        "all rules hold",
                        models::RepairSearch::kMostChanges)
          : "\nall rules hold with one of" + near;
  if (report["search"]["ended_early"] == true)
    text += fmt::format("\nthe search for values that hold ended early, after "
                        "{} checks; there may be more",
                        report["search"]["checks"].get<int64_t>());
  return text;
}

static std::string meshText(const Json &mesh) {
  std::string text;
  for (const auto &[axis, ranks] : mesh.items())
    if (ranks.is_number()) // else the order of ranks
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis,
                          ranks.get<int64_t>());
  return text;
}

static std::string memoryTable(const Json &stages) {
  std::string text = "bytes of a rank\nstage";
  for (const ArenaInfo &arena : kArenas)
    text += fmt::format("{:>13}", arena.name);
  text += fmt::format("{:>13}", "total");
  const bool isForGpu = stages.front().contains("beside_plan");
  text += isForGpu ? fmt::format("{:>13}\n", "beside it") : "\n";
  for (const Json &stage : stages) {
    text += fmt::format("{:>5}", stage["stage"].get<int64_t>());
    for (const auto &[name, bytes] : stage["memory"].items())
      text += fmt::format("{:>13}", runtime::sized(bytes.get<int64_t>()));
    if (isForGpu)
      text += fmt::format(
          "{:>13}",
          runtime::sized(stage["beside_plan"]["total"].get<int64_t>()));
    text += "\n";
  }
  if (isForGpu)
    text += "beside it      about what CUDA's context and NCCL hold, which "
            "counts for --device-memory\n";
  return text;
}

static std::string fitText(const Json &report) {
  if (report["device_memory"].is_null())
    return "fits           no --device-memory is given\n";
  std::string limit = runtime::sized(report["device_memory"].get<int64_t>());
  if (report["fits"].get<bool>())
    return fmt::format("fits           yes, {} a rank\n", limit);
  std::string text = fmt::format("fits           no, {} a rank\n", limit);
  int64_t made = report["tries"]["made"], most = report["tries"]["limit"];
  const Json &nearest = report["nearest"];
  if (nearest.empty())
    return text + fmt::format("no strategy that fits was found with one or two "
                              "changes, {} tried of at most {} (--tries)\n",
                              made, most);
  text += fmt::format("nearest that fit, {} tried of at most {} (--tries)\n",
                      made, most);
  for (const Json &each : nearest)
    text += fmt::format("  {:<44} {} ranks ({}), {}\n",
                        each["options"].get<std::string>(),
                        each["ranks"].get<int64_t>(), meshText(each["mesh"]),
                        runtime::sized(each["bytes"].get<int64_t>()));
  return text;
}

static std::string notesText(const Json &notes) {
  std::string text;
  for (const Json &note : notes)
    text += fmt::format("note           {}\n", note.get<std::string>());
  return text;
}

/// What `mtc compile` warns of.
static std::string warningsText(const Json &report) {
  std::string text;
  if (report.contains("hosts"))
    for (const Json &warning : report["hosts"]["warnings"])
      text += fmt::format("warning        {}\n", warning.get<std::string>());
  return text;
}

std::string lintText(const Json &report) {
  if (!report.contains("stages"))
    return "";
  return fmt::format("model          {}\n"
                     "ranks          {} ({})\n"
                     "rules          all hold\n",
                     report["model"].get<std::string>(),
                     report["ranks"].get<int64_t>(), meshText(report["mesh"])) +
         notesText(report["notes"]) + warningsText(report) +
         memoryTable(report["stages"]) + fitText(report);
}

} // namespace mtc::compiler
