//===- inputs.cpp - reads spec and strategy, all errors together ----------===//

#include "compiler/front.h"

#include "compiler/install.h"
#include "compiler/schedules.h"
#include "models/nearest.h"
#include "models/resolve.h"
#include "models/spec.h"
#include "models/validate.h"

#include <filesystem>

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

void append(models::Diagnostics &all, models::Diagnostics more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()),
             std::make_move_iterator(more.end()));
}

/// `kind`: spec or strategy; `names`: those that come with mtc.
models::Diagnostic unknownFile(const std::string &kind,
                               const std::string &input,
                               const std::vector<std::string> &names) {
  std::vector<std::string_view> views(names.begin(), names.end());
  std::string list;
  for (const std::string &name : names)
    list += (list.empty() ? "" : ", ") + name;
  if (std::string other = models::specialKind(input); !other.empty())
    return {models::ErrorClass::inputRejected, input, 0,
            "expected a regular file, found " + other};
  std::string near = models::nearestName(input, views);
  return {models::ErrorClass::inputRejected, input, 0,
          fmt::format("expected a {} file or one of: {}{}", kind,
                      list.empty() ? "(none is installed)" : list,
                      near.empty() ? "" : "; did you mean '" + near + "'?")};
}

/// Who sets a key: an option --set, else the file.
std::string placeOf(const models::Settings &settings, std::string_view head,
                    const std::string &key, const std::string &file) {
  std::string text = settings.sourceOf(fmt::format("{}.{}", head, key));
  return text.empty() ? file : models::settingName(text);
}

models::Diagnostics readSpec(const std::string &input,
                             const models::Settings &settings,
                             models::ModelSpec &spec) {
  std::string path = findSpec(input);
  if (path.empty())
    return {unknownFile("spec", input, specNames())};
  auto parsed = models::loadModelSpec(path, settings);
  spec = parsed.value;
  if (parsed.ok())
    for (const models::Unbuilt &each : models::unsupported(spec))
      parsed.diagnostics.push_back(
          {models::ErrorClass::usage,
           placeOf(settings, models::Settings::kModel, each.key, path), 0,
           each.what});
  return parsed.diagnostics;
}

/// A file that a strategy names lies where the strategy does, unless its path
/// begins at the root.
std::string besideFile(const std::string &strategy, const std::string &file) {
  return (std::filesystem::path(strategy).parent_path() / file).string();
}

/// A table of products that a strategy names: beside it, or one of mtc's own.
std::string besideOrShipped(const std::string &strategy,
                            const std::string &table) {
  std::string beside = besideFile(strategy, table);
  std::error_code error;
  std::string shipped = shippedGemmTable(table);
  return std::filesystem::is_regular_file(beside, error) || shipped.empty()
             ? beside
             : shipped;
}

/// Puts a path in place of a table's name.
models::Diagnostics resolveGemmTable(models::Strategy &strategy) {
  if (strategy.gemmTable.empty())
    return {};
  std::string path = findGemmTable(strategy.gemmTable);
  if (path.empty())
    return {unknownFile("gemm_table", strategy.gemmTable, gemmTableNames())};
  strategy.gemmTable = path;
  return {};
}

/// The file, or none, with what is set.
models::Diagnostics readStrategyFile(const CompileOptions &options,
                                     const models::Settings &settings,
                                     models::Strategy &strategy) {
  models::ScheduleNames names = scheduleNames();
  if (options.strategyFile.empty()) {
    auto parsed = models::parseStrategy("", "strategy", names, settings);
    strategy = parsed.value;
    return parsed.diagnostics;
  }
  std::string path = findStrategy(options.strategyFile);
  if (path.empty())
    return {unknownFile("strategy", options.strategyFile, strategyNames())};
  auto parsed = models::loadStrategy(path, names, settings);
  strategy = parsed.value;
  if (settings.sourceOf("strategy.schedule").empty() &&
      models::isScheduleFile(strategy.schedule))
    strategy.schedule = besideFile(path, strategy.schedule);
  if (settings.sourceOf("strategy.gemm_table").empty() &&
      !strategy.gemmTable.empty())
    strategy.gemmTable = besideOrShipped(path, strategy.gemmTable);
  return parsed.diagnostics;
}

models::Diagnostics readStrategy(const CompileOptions &options,
                                 const models::Settings &settings,
                                 models::Strategy &strategy) {
  models::ScheduleNames names = scheduleNames();
  models::Diagnostics found = readStrategyFile(options, settings, strategy);
  append(found, models::applyOptions(strategy, options.strategy, names));
  append(found, resolveGemmTable(strategy));
  std::string notTrained = resolveSchedule(strategy);
  if (!found.empty())
    return found;
  std::vector<models::Unbuilt> rejections = models::unsupported(strategy);
  if (!notTrained.empty())
    rejections.push_back({"schedule", notTrained});
  for (const models::Unbuilt &each : rejections)
    found.push_back(
        {models::ErrorClass::usage,
         placeOf(settings, models::Settings::kStrategy, each.key, "strategy"),
         0, each.what});
  return found;
}

std::string withoutLastNewline(std::string text) {
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text;
}

} // namespace

models::Diagnostics readFiles(const CompileOptions &options,
                              models::ModelSpec &spec,
                              models::Strategy &strategy) {
  auto settings =
      models::Settings::parse(options.settings, {models::Settings::kModel,
                                                 models::Settings::kStrategy});
  models::Diagnostics all = settings.diagnostics;
  append(all, readSpec(options.input, settings.value, spec));
  append(all, readStrategy(options, settings.value, strategy));
  append(all, models::checkContradictions(options.strategy, settings.value));
  return all;
}

Status toStatus(const models::Diagnostics &diagnostics) {
  if (diagnostics.empty())
    return Status::okay();
  return {static_cast<StatusCode>(models::exitCode(diagnostics)),
          withoutLastNewline(models::render(diagnostics))};
}

Status readInputs(const CompileOptions &options, models::ModelSpec &spec,
                  models::Strategy &strategy) {
  models::Diagnostics all = readFiles(options, spec, strategy);
  if (all.empty())
    append(all, models::toDiagnostics(models::validate(spec, strategy)));
  if (all.empty()) {
    strategy = models::resolve(spec, strategy);
    append(all, readSchedule(strategy));
  }
  return toStatus(all);
}

} // namespace mtc::compiler
