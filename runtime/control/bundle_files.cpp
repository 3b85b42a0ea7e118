//===- bundle_files.cpp - is a bundle as it was written -------------------===//

#include "runtime/control/bundle_files.h"

#include "mtc/runtime/inspect.h"
#include "runtime/base/digest.h"
#include "runtime/base/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace fs = std::filesystem;

namespace mtc::runtime {
namespace {

constexpr const char *kAgain = "copy the bundle again, or compile it again";

/// Links followed: whether it is still in the folder.
bool isInside(const fs::path &folder, const std::string &name) {
  std::error_code error;
  fs::path base = fs::canonical(folder, error);
  fs::path file = fs::canonical(folder / name, error);
  return !error &&
         std::mismatch(base.begin(), base.end(), file.begin(), file.end())
                 .first == base.end();
}

/// Empty, or what is wrong with one file.
std::string fileProblem(const std::string &folder, const std::string &name,
                        const std::string &digest) {
  if (!staysInside(name))
    return fmt::format("'{}' leaves the bundle", name);
  std::string path = folder + "/" + name, content;
  if (Status status = readWholeFile(path, content); !status.ok())
    return status.message();
  if (!isInside(folder, name))
    return fmt::format("'{}' is a link that leaves the bundle; copy what it "
                       "points to in its place",
                       name);
  std::string found = digestOf(content);
  return found == digest
             ? ""
             : fmt::format("'{}' is damaged: expected the digest {}, found {}; "
                           "{}",
                           name, digest, found, kAgain);
}

const std::string kManifestKeys[] = {
    "abi",      "plan_hash",   "model",  "mesh",  "batch",
    "programs", "model_flops", "config", "files", "digest"};

void checkManifest(const Json &manifest, FieldReader &reader) {
  reader.rejectOthers(kManifestKeys);
  if (!reader.has("digest"))
    return;
  Json rest = manifest;
  rest.erase("digest");
  std::string expected = reader.text("digest"), found = digestOf(rest.dump());
  if (found != expected)
    reader.problem(fmt::format("the manifest is damaged: expected the digest "
                               "{}, found {}; {} (who edits it removes the key "
                               "'digest')",
                               expected, found, kAgain));
}

} // namespace

bool staysInside(const std::string &name) {
  fs::path path(name);
  return !name.empty() && !path.is_absolute() &&
         std::find(path.begin(), path.end(), "..") == path.end();
}

Status checkBundleFiles(const std::string &folder, const Json &manifest) {
  Problems problems;
  FieldReader reader(manifest, "", problems);
  checkManifest(manifest, reader);
  MTC_RETURN_IF_ERROR(problems.status("'" + folder + "/manifest.json'"));
  if (!isInside(folder, "manifest.json"))
    problems.add("'manifest.json' is a link that leaves the bundle");
  FieldReader files = reader.object("files");
  for (const std::string &name : files.keys())
    if (std::string problem =
            fileProblem(folder, name, files.text(name.c_str()));
        !problem.empty())
      problems.add(std::move(problem));
  return problems.status("'" + folder + "'");
}

Status checkProgramFile(const std::string &path) {
  std::error_code error;
  fs::path program = fs::absolute(path, error).lexically_normal();
  fs::path folder = program.parent_path().parent_path();
  std::string name = program.parent_path().filename() / program.filename(),
              text;
  Json manifest;
  if (!readWholeFile(folder / "manifest.json", text).ok() ||
      !parseJson(text, "manifest", manifest).ok())
    return Status::okay(); // no bundle's
  Problems ignored, problems;
  FieldReader files = FieldReader(manifest, "", ignored).object("files");
  if (!files.has(name.c_str()))
    return Status::okay();
  if (std::string problem = fileProblem(folder, name, files.text(name.c_str()));
      !problem.empty())
    problems.add(std::move(problem));
  return problems.status("'" + folder.string() + "'");
}

} // namespace mtc::runtime
