//===- newest_checkpoint.cpp - which checkpoint a path means --------------===//

#include "runtime/control/newest_checkpoint.h"

#include "runtime/base/checkpoint_names.h"
#include "runtime/base/file.h"
#include "runtime/control/say.h"

#include <fmt/format.h>

#include <filesystem>

namespace fs = std::filesystem;

namespace mtc::runtime {

bool isOneCheckpoint(const std::string &path) {
  std::error_code error; // if nobody knows, it is opened, which says why
  return stepOfFolder(fs::path(behindLinks(path)).filename().string()) ||
         fs::exists(path + "/" + kManifestFile, error) || error;
}

Status noCheckpoint(const std::string &path) {
  return {StatusCode::inputRejected,
          fmt::format("'{}': expected a checkpoint or a folder of some, found "
                      "none",
                      path)};
}

Status openNewestIn(const std::string &root, Checkpoint &out) {
  NewestWhole newest;
  MTC_RETURN_IF_ERROR(findNewestWhole(root, newest));
  for (const std::string &rejected : newest.rejected)
    say("warning: a checkpoint is not whole: " + rejected);
  out = std::move(newest.checkpoint);
  if (!out.folder.empty() || newest.rejected.empty())
    return Status::okay();
  return {StatusCode::noneWhole,
          fmt::format("'{}' has {} checkpoints, and none of them is whole",
                      root, newest.rejected.size())};
}

Status openNewest(const std::string &path, Checkpoint &out) {
  if (isOneCheckpoint(path)) {
    MTC_RETURN_IF_ERROR(Checkpoint::open(path, out));
    return out.verify();
  }
  MTC_RETURN_IF_ERROR(openNewestIn(path, out));
  return out.folder.empty() ? noCheckpoint(path) : Status::okay();
}

} // namespace mtc::runtime
