//===- checkpoint_folders.cpp - checkpoints that a path names -------------===//

#include "runtime/inspect/checkpoint_folders.h"

#include "runtime/checkpoint/names.h"

#include <fmt/format.h>

#include <filesystem>

namespace fs = std::filesystem;

namespace mtc::runtime {

Status openCheckpoints(const std::string &path,
                       std::vector<CheckpointFolder> &out) {
  std::vector<CheckpointFolder> found;
  std::string name = fs::path(path).filename().string();
  std::error_code error;
  if (stepOfFolder(name) || fs::exists(path + "/" + kManifestFile, error)) {
    found.push_back({path, stepOfFolder(name).value_or(-1), {}, {}});
  } else {
    std::vector<int64_t> steps;
    MTC_RETURN_IF_ERROR(listSteps(path, steps));
    for (int64_t step : steps)
      found.push_back({path + "/" + stepFolder(step), step, {}, {}});
  }
  if (found.empty())
    return {StatusCode::inputRejected,
            fmt::format("'{}': expected a checkpoint or a folder of some, "
                        "found none",
                        path)};
  for (CheckpointFolder &each : found)
    each.status = Checkpoint::open(each.path, each.checkpoint);
  out = std::move(found);
  return Status::okay();
}

Status openNewest(const std::string &path, Checkpoint &out) {
  std::vector<CheckpointFolder> found;
  MTC_RETURN_IF_ERROR(openCheckpoints(path, found));
  MTC_RETURN_IF_ERROR(found.back().status);
  MTC_RETURN_IF_ERROR(found.back().checkpoint.verify());
  out = std::move(found.back().checkpoint);
  return Status::okay();
}

} // namespace mtc::runtime
