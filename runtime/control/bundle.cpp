//===- bundle.cpp - the folder that `mtc compile` writes ------------------===//

#include "runtime/control/bundle.h"

#include "mtc/runtime/run.h"
#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "runtime/control/bundle_files.h"
#include "runtime/control/seat.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace mtc::runtime {
namespace {

void readPrograms(FieldReader &reader, const std::string &folder,
                  ProgramForm form, Bundle &bundle) {
  const char *key = form == ProgramForm::shared ? "shared" : "executable";
  bundle.stages.resize(static_cast<size_t>(bundle.mesh.stages()));
  FieldReader files = reader.object("files");
  for (FieldReader &item : reader.objects("programs")) {
    int64_t stage = item.integer("stage", 0, bundle.mesh.stages() - 1);
    std::string name = item.text(key);
    if (!staysInside(name))
      item.problem(fmt::format("'{}': '{}' leaves the bundle", key, name));
    else if (!bundle.stages[stage].path.empty())
      item.problem(fmt::format("stage {} is listed twice", stage));
    else if (!files.has(name.c_str()))
      item.problem(
          fmt::format("'{}': '{}' has no digest in 'files'", key, name));
    else
      bundle.stages[stage].path = folder + "/" + name;
  }
  for (size_t stage = 0; stage < bundle.stages.size(); ++stage)
    if (bundle.stages[stage].path.empty())
      reader.problem(fmt::format("stage {} has no program", stage));
}

/// An older mtc did not count them.
void readFlops(FieldReader &reader, Bundle &bundle) {
  if (!reader.has("model_flops"))
    return;
  for (FieldReader &of : reader.objects("model_flops")) {
    bundle.flops.push_back(
        {of.integer("seq", 1, kHuge), of.number("per_token")});
    if (bundle.flops.back().perToken < 0)
      of.problem("'per_token': expected a number >= 0");
  }
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
  auto complain = [&](const std::string &what) {
    problems.add(fmt::format("program of stage {}: its {} is not the "
                             "manifest's; compile the bundle again",
                             stage, what));
  };
  if (d.planHash != bundle.planHash)
    complain(
        fmt::format("plan hash {} (expected {})", d.planHash, bundle.planHash));
  if (d.mesh != bundle.mesh)
    complain(fmt::format("mesh {} (expected {})", d.mesh.text(),
                         bundle.mesh.text()));
  if (d.stage != static_cast<int64_t>(stage))
    complain(fmt::format("stage {}", d.stage));
  if (a.microBatch != b.microBatch || a.microbatches != b.microbatches ||
      a.seq != b.seq || a.vocab != b.vocab)
    complain("batch");
}

Status readManifest(const std::string &path, std::string &text) {
  Status status = readWholeFile(path, text);
  if (status.ok())
    return status;
  return {status.code(),
          status.message() + "; expected a folder that `mtc compile` wrote"};
}

/// An older mtc wrote no version into manifests.
void checkVersion(FieldReader &reader, Problems &problems) {
  int64_t abi = reader.has("abi") ? reader.integer("abi", 0, INT32_MAX)
                                  : int64_t{MTC_ABI_VERSION};
  if (abi != MTC_ABI_VERSION)
    problems.add(fmt::format("expected abi {}, found {}; compile the bundle "
                             "again with this version of mtc",
                             MTC_ABI_VERSION, abi));
}

Status checkExecutable(const BundleProgram &program) {
  if (access(program.path.c_str(), X_OK) == 0)
    return Status::okay();
  return {StatusCode::inputRejected,
          fmt::format("cannot execute '{}': {}; chmod +x it, or compile the "
                      "bundle again",
                      program.path, std::strerror(errno))};
}

} // namespace

Status openBundle(const std::string &folder, ProgramForm form, Bundle &out) {
  std::string path = folder + "/manifest.json";
  std::string text;
  MTC_RETURN_IF_ERROR(readManifest(path, text));
  Json json;
  MTC_RETURN_IF_ERROR(parseJson(text, "'" + path + "'", json));
  Problems problems;
  FieldReader reader(json, "", problems);
  checkVersion(reader, problems);
  MTC_RETURN_IF_ERROR(problems.status("'" + path + "'"));
  MTC_RETURN_IF_ERROR(checkBundleFiles(folder, json));
  Bundle bundle;
  bundle.folder = folder;
  bundle.planHash = reader.text("plan_hash");
  bundle.mesh = readMesh(reader.object("mesh"));
  readFlops(reader, bundle);
  readPrograms(reader, folder, form, bundle);
  MTC_RETURN_IF_ERROR(problems.status("'" + path + "'"));
  for (BundleProgram &program : bundle.stages)
    MTC_RETURN_IF_ERROR(readDescriptor(program));
  if (form == ProgramForm::executable)
    for (const BundleProgram &program : bundle.stages)
      MTC_RETURN_IF_ERROR(checkExecutable(program));
  for (size_t stage = 0; stage < bundle.stages.size(); ++stage)
    checkProgram(bundle, stage, problems);
  MTC_RETURN_IF_ERROR(problems.status("'" + path + "'"));
  out = std::move(bundle);
  return Status::okay();
}

Status checkBundle(const std::string &folder, const std::string &begun) {
  Bundle bundle;
  MTC_RETURN_IF_ERROR(openBundle(folder, ProgramForm::executable, bundle));
  return checkPlan(bundle.planHash, begun);
}

} // namespace mtc::runtime
