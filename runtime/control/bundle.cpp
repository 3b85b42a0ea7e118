//===- bundle.cpp - the folder that `mtc compile` writes ------------------===//

#include "runtime/control/bundle.h"

#include "mtc/runtime/run.h"
#include "runtime/base/file.h"
#include "runtime/base/json.h"

#include <fmt/format.h>

#include <filesystem>

namespace mtc::runtime {
namespace {

/// A relative path without "..": a manifest may come from somebody else.
bool staysInside(const std::string &name) {
  std::filesystem::path path(name);
  if (name.empty() || path.is_absolute())
    return false;
  for (const auto &part : path)
    if (part == "..")
      return false;
  return true;
}

void readMesh(FieldReader reader, Mesh &mesh) {
  mesh.tp = static_cast<int>(reader.integer("tp", 1, 1 << 16));
  mesh.dp = static_cast<int>(reader.integer("dp", 1, 1 << 16));
  mesh.pp = static_cast<int>(reader.integer("pp", 1, 1 << 16));
}

void readPrograms(FieldReader &reader, const std::string &folder,
                  ProgramForm form, Bundle &bundle) {
  const char *key = form == ProgramForm::shared ? "shared" : "executable";
  bundle.stages.resize(static_cast<size_t>(bundle.mesh.pp));
  for (FieldReader &item : reader.objects("programs")) {
    int64_t stage = item.integer("stage", 0, bundle.mesh.pp - 1);
    std::string name = item.text(key);
    if (!staysInside(name))
      item.problem(fmt::format("'{}': '{}' leaves the bundle", key, name));
    else if (!bundle.stages[stage].path.empty())
      item.problem(fmt::format("stage {} is listed twice", stage));
    else
      bundle.stages[stage].path = folder + "/" + name;
  }
  for (size_t stage = 0; stage < bundle.stages.size(); ++stage)
    if (bundle.stages[stage].path.empty())
      reader.problem(fmt::format("stage {} has no program", stage));
}

Status readDescriptor(BundleProgram &program) {
  std::string text;
  MTC_RETURN_IF_ERROR(readDescriptorText(program.path, text));
  Status status = parseDescriptor(text, program.descriptor);
  return status.ok()
             ? status
             : Status(status.code(), program.path + ": " + status.message());
}

void checkProgram(const Bundle &bundle, size_t stage, Problems &problems) {
  const Descriptor &d = bundle.stages[stage].descriptor;
  const BatchInfo &a = bundle.stages[0].descriptor.batch, &b = d.batch;
  auto complain = [&](const char *what) {
    problems.add(fmt::format("program of stage {}: its {} is not the "
                             "manifest's; compile the bundle again",
                             stage, what));
  };
  if (d.planHash != bundle.planHash)
    complain("plan hash");
  if (d.tp != bundle.mesh.tp || d.dp != bundle.mesh.dp ||
      d.pp != bundle.mesh.pp)
    complain("mesh");
  if (d.stage != static_cast<int64_t>(stage))
    complain("stage");
  if (a.microBatch != b.microBatch || a.microbatches != b.microbatches ||
      a.seq != b.seq || a.vocab != b.vocab)
    complain("batch");
}

} // namespace

Status openBundle(const std::string &folder, ProgramForm form, Bundle &out) {
  std::string path = folder + "/manifest.json";
  MappedFile file;
  MTC_RETURN_IF_ERROR(MappedFile::open(path, file));
  Json json;
  MTC_RETURN_IF_ERROR(parseJson(file.text(), "'" + path + "'", json));
  Problems problems;
  FieldReader reader(json, "", problems);
  Bundle bundle;
  bundle.planHash = reader.text("plan_hash");
  readMesh(reader.object("mesh"), bundle.mesh);
  readPrograms(reader, folder, form, bundle);
  MTC_RETURN_IF_ERROR(problems.status("'" + path + "'"));
  for (BundleProgram &program : bundle.stages)
    MTC_RETURN_IF_ERROR(readDescriptor(program));
  for (size_t stage = 0; stage < bundle.stages.size(); ++stage)
    checkProgram(bundle, stage, problems);
  MTC_RETURN_IF_ERROR(problems.status("'" + path + "'"));
  out = std::move(bundle);
  return Status::okay();
}

} // namespace mtc::runtime
