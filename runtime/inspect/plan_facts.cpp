//===- plan_facts.cpp - what a bundle says of its plan, as rows -----------===//

#include "runtime/inspect/plan_facts.h"

#include "mtc/runtime/descriptor_fields.h"
#include "runtime/base/file.h"
#include "runtime/inspect/config_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace mtc::runtime {
namespace {

/// Rows of what is in an object, by paths; traffic (calls and bytes) is one
/// value.
void flatten(const std::string &part, const std::string &path,
             const Json &value, std::vector<PlanFact> &facts) {
  bool isTraffic = value.is_object() && value.contains("calls");
  if (isTraffic && value.contains("kinds"))
    for (const auto &[kind, traffic] : value["kinds"].items())
      facts.push_back({part, path + "." + kind, traffic});
  else if (!value.is_object() || isTraffic)
    facts.push_back({part, path, value});
  else
    for (const auto &[key, inner] : value.items())
      flatten(part, path.empty() ? key : path + "." + key, inner, facts);
}

Status readJson(const std::string &path, Json &json) {
  std::string text;
  MTC_RETURN_IF_ERROR(readWholeFile(path, text));
  return parseJson(text, "'" + path + "'", json);
}

Status readConfiguration(const std::string &folder,
                         std::vector<PlanFact> &facts) {
  std::string path = folder + "/manifest.json";
  Json manifest;
  MTC_RETURN_IF_ERROR(readJson(path, manifest));
  Problems problems;
  std::string text = FieldReader(manifest, "", problems).text("config");
  MTC_RETURN_IF_ERROR(problems.status("'" + path + "'"));
  std::vector<ConfigValue> values;
  MTC_RETURN_IF_ERROR(readConfigValues(text, values));
  for (const auto &[path, value] : values)
    facts.push_back({"configuration", path, value});
  return Status::okay();
}

/// Other lists are of what the configuration says.
bool areNumbers(const Json &list) {
  return list.is_array() && !list.empty() &&
         std::ranges::all_of(list,
                             [](const Json &each) { return each.is_number(); });
}

Status readReport(const std::string &folder, std::vector<PlanFact> &facts) {
  std::string path = folder + "/report.json";
  Json report;
  MTC_RETURN_IF_ERROR(readJson(path, report));
  if (!report.is_object() || !report.contains("stages") ||
      !report["stages"].is_array())
    return {StatusCode::inputRejected,
            fmt::format("'{}': expected an object with an array 'stages', "
                        "found none; compile the bundle again",
                        path)};
  for (const auto &[key, value] : report.items())
    if ((value.is_primitive() || areNumbers(value)) && key != "plan_hash")
      facts.push_back({"plan", key, value});
  for (size_t stage = 0; stage < report["stages"].size(); ++stage) {
    Json said = report["stages"][stage];
    if (said.is_object())
      said.erase("stage"); // the part's own name
    flatten(fmt::format("stage {}", stage), "", said, facts);
  }
  return Status::okay();
}

Json describeShard(const Descriptor &d, const ParamInfo &p) {
  const BucketInfo &bucket = d.buckets[p.bucket];
  Json json = {{"shape", p.shape}, {"of a rank", p.localShape}};
  if (p.split.dim)
    json["split"] =
        fmt::format("dimension {} over {}{}", *p.split.dim,
                    axisName(p.split.axis), repeatsText(p.split.repeats));
  if (p.slice)
    json["slice"] = indicesText(*p.slice); // of its own layer's tensor
  json["dtype"] = dtypeName(bucket.dtype);
  json["gradient dtype"] = dtypeName(bucket.gradDtype);
  json["stages"] = Json::array({d.stage});
  json["optimizer"] = bucket.zero ? "split over dp" : "whole";
  if (bucket.shardedGradients)
    json["gradients"] = "split over dp";
  return json;
}

/// A parameter that several stages have is one row.
void readParameters(const Bundle &bundle, std::vector<PlanFact> &facts) {
  std::map<std::string, size_t> rows;
  for (const BundleProgram &program : bundle.stages)
    for (const ParamInfo &p : program.descriptor.params) {
      auto [at, isNew] = rows.emplace(p.name, facts.size());
      if (isNew)
        facts.push_back(
            {"parameters", p.name, describeShard(program.descriptor, p)});
      else
        facts[at->second].value["stages"].push_back(program.descriptor.stage);
    }
}

} // namespace

Status readPlanFacts(const std::string &folder, const Bundle &bundle,
                     std::vector<PlanFact> &facts) {
  MTC_RETURN_IF_ERROR(readConfiguration(folder, facts));
  MTC_RETURN_IF_ERROR(readReport(folder, facts));
  readParameters(bundle, facts);
  return Status::okay();
}

} // namespace mtc::runtime
