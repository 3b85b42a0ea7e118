//===- inspect_bundle.cpp - a bundle as text for people -------------------===//

#include "mtc/runtime/inspect.h"
#include "runtime/base/file.h"
#include "runtime/control/bundle.h"
#include "runtime/inspect/requirements.h"

#include <fmt/format.h>

#include <filesystem>
#include <numeric>

namespace mtc::runtime {
namespace {

std::string programText(const BundleProgram &program) {
  const Descriptor &d = program.descriptor;
  int64_t memory = std::accumulate(d.arenas.begin(), d.arenas.end(), int64_t{});
  std::filesystem::path path(program.path);
  return fmt::format(
      "  stage {}: {} parameters, {} bytes of memory a rank: "
      "{}\n",
      d.stage, d.params.size(), memory,
      (path.parent_path().filename() / path.filename()).string());
}

} // namespace

bool isBundle(const std::string &path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

Status inspectBundle(const std::string &folder, std::string &text) {
  Bundle bundle;
  MTC_RETURN_IF_ERROR(openBundle(folder, ProgramForm::executable, bundle));
  const Descriptor &first = bundle.stages.front().descriptor;
  text = fmt::format("model {}  plan {}\n"
                     "mesh {}: {} ranks  device {}  isa {}  dtype {}\n"
                     "programs: {}\n",
                     first.model, bundle.planHash, bundle.mesh.text(" "),
                     bundle.mesh.worldSize(), first.device, first.isa,
                     first.dtype, bundle.stages.size());
  for (const BundleProgram &program : bundle.stages)
    text += programText(program);
  return Status::okay();
}

Status readManifestText(const std::string &folder, std::string &text) {
  // Only of a bundle that is one.
  Bundle bundle;
  MTC_RETURN_IF_ERROR(openBundle(folder, ProgramForm::executable, bundle));
  return readWholeFile(folder + "/manifest.json", text);
}

Status inspectRequirements(const std::string &path, bool json,
                           std::string &text) {
  Requirements requirements;
  MTC_RETURN_IF_ERROR(readRequirements(path, requirements));
  text = json ? requirementsJson(requirements).dump(2) + "\n"
              : requirementsText(requirements);
  return Status::okay();
}

} // namespace mtc::runtime
