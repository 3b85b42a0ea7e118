//===- descriptor.cpp - what a program says about itself ------------------===//

#include "compiler/descriptor.h"

#include "compiler/model_flops.h"

#include "mtc/runtime/descriptor_fields.h"

#include <fmt/format.h>

namespace mtc::compiler {
namespace {

using Json = nlohmann::ordered_json;

/// The lists of descriptor_fields.h, written as JSON. Bounds are the reader's.
class WriteFields {
public:
  void integer(const char *key, int64_t value, int64_t, int64_t) {
    json[key] = value;
  }
  void optional(const char *key, std::optional<int64_t> value, int64_t,
                int64_t) {
    if (value)
      json[key] = *value;
  }
  void number(const char *key, double value) { json[key] = value; }
  void boolean(const char *key, bool value) { json[key] = value; }
  void text(const char *key, const std::string &value) { json[key] = value; }
  void integers(const char *key, const std::vector<int64_t> &value, int64_t) {
    json[key] = value;
  }
  void texts(const char *key, const std::vector<std::string> &value) {
    json[key] = value;
  }
  template <size_t n>
  void sizes(const char *key, const std::array<int64_t, n> &value, int64_t) {
    json[key] = value;
  }
  template <typename T, typename Names>
  void choice(const char *key, T value, const Names &names) {
    for (const runtime::Choice<T> &each : names)
      if (each.value == value)
        json[key] = each.name;
  }
  template <typename T, typename Names>
  void choiceUnless(const char *key, T value, const Names &names, T usual) {
    if (value != usual)
      choice(key, value, names);
  }
  void unlessOne(const char *key, int64_t value, int64_t) {
    if (value != 1)
      json[key] = value;
  }
  void unlessFalse(const char *key, bool value) {
    if (value)
      json[key] = value;
  }
  void order(const char *key, const Mesh &mesh) {
    if (!mesh.order().isDefault())
      json[key] = mesh.order().text();
  }
  template <typename T> void record(const char *key, T &value) {
    json[key] = written(value);
  }
  template <typename T> void record(const char *key, std::optional<T> &value) {
    if (value)
      record(key, *value);
  }
  template <typename T> void records(const char *key, std::vector<T> &values) {
    json[key] = Json::array();
    for (T &value : values)
      json[key].push_back(written(value));
  }
  template <typename T> static Json written(T &value) {
    WriteFields f;
    runtime::fields(f, value);
    return std::move(f.json);
  }

  Json json = Json::object();
};

} // namespace

Json describeMesh(Mesh mesh) { return WriteFields::written(mesh); }

static runtime::BatchInfo batchOf(const PlanConfig &c) {
  return {c.microBatch, c.microbatches, c.globalBatch, c.seq, c.vocab};
}

Json describe(const BundlePlan &plan, const ProgramPlan &program) {
  const PlanConfig &c = plan.config;
  runtime::Descriptor d = program.descriptor;
  d.planHash = plan.hash;
  d.model = c.model;
  d.device = c.device;
  d.isa = c.isa;
  d.threads = c.threads;
  d.streams = c.streams;
  d.dtype = c.dtype;
  d.optimizer = c.optimizer;
  d.groups = c.groups;
  d.mesh = c.mesh;
  d.batch = batchOf(c);
  Json json = {{"abi", MTC_ABI_VERSION}};
  json.update(WriteFields::written(d));
  json["config"] = c.text;
  return json;
}

Json describeBundle(const BundlePlan &plan) {
  Json programs = Json::array();
  for (const ProgramPlan &program : plan.programs) {
    std::string file = programFile(program.stage());
    programs.push_back({{"stage", program.stage()},
                        {"executable", file},
                        {"shared", file + ".so"}});
  }
  runtime::BatchInfo batch = batchOf(plan.config);
  Json flops = Json::array();
  for (const runtime::ModelFlops &of : modelFlops(plan))
    flops.push_back({{"seq", of.seq}, {"per_token", of.perToken}});
  return {{"abi", MTC_ABI_VERSION},
          {"plan_hash", plan.hash},
          {"model", plan.config.model},
          {"mesh", describeMesh(plan.config.mesh)},
          {"batch", WriteFields::written(batch)},
          {"programs", programs},
          {"model_flops", flops},
          {"config", plan.config.text}};
}

std::string programFile(int64_t stage) {
  return fmt::format("programs/stage{}", stage);
}

} // namespace mtc::compiler
