//===- sealed_folder.cpp - folders that nothing else goes into ------------===//

#include "runtime/base/sealed_folder.h"

#include "runtime/base/checkpoint_names.h"
#include "runtime/base/file.h"

#include <algorithm>
#include <filesystem>

namespace fs = std::filesystem;

namespace mtc::runtime {
namespace {

bool has(const fs::path &folder, const std::string &name) {
  std::error_code error;
  return fs::exists(folder / name, error);
}

bool isBundle(const fs::path &folder) {
  std::error_code error;
  return has(folder, kManifestFile) &&
         fs::is_directory(folder / "programs", error);
}

/// By its files.
bool isCheckpoint(const fs::path &folder) {
  return (has(folder, rankFile(0)) || has(folder, sumsFile(0))) &&
         (has(folder, kManifestFile) ||
          stepOfFolder(folder.filename().string()));
}

bool hasCheckpoints(const fs::path &folder) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    if (stepOfFolder(at->path().filename().string()) &&
        isCheckpoint(at->path()))
      return true;
  return false;
}

/// What a run makes there, or removes, is a checkpoint.
bool isNamedAsOne(const fs::path &path, const std::vector<fs::path> &roots) {
  std::string name = path.filename().string();
  if (!stepOfFolder(name) && !isTemporaryFolder(name))
    return false;
  fs::path folder = path.parent_path();
  return std::ranges::find(roots, folder) != roots.end() ||
         hasCheckpoints(folder);
}

/// Behind all links, the last one too; it need not be there.
fs::path placeOf(const std::string &path) {
  std::error_code error;
  fs::path absolute = fs::absolute(behindLinks(path), error);
  fs::path place = fs::weakly_canonical(absolute, error);
  return error ? absolute.lexically_normal() : place;
}

std::string shortened(const fs::path &path) {
  std::error_code error;
  fs::path here = fs::current_path(error);
  fs::path relative = error ? path : path.lexically_relative(here);
  bool below = !relative.empty() && *relative.begin() != "..";
  return below ? relative.string() : path.string();
}

} // namespace

std::optional<SealedFolder>
sealedAround(const std::string &path, bool isFolder,
             const std::vector<std::string> &roots) {
  std::vector<fs::path> places;
  for (const std::string &root : roots)
    places.push_back(placeOf(root));
  fs::path place = placeOf(path);
  for (fs::path at = place; at.has_relative_path(); at = at.parent_path()) {
    bool isInside = at != place, mayBe = isInside || isFolder;
    if (isNamedAsOne(at, places) || (mayBe && isCheckpoint(at)))
      return SealedFolder{shortened(at), "checkpoint", isInside};
    if (mayBe && isBundle(at))
      return SealedFolder{shortened(at), "bundle", isInside};
  }
  return std::nullopt;
}

} // namespace mtc::runtime
