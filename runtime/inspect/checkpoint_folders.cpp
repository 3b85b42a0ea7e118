//===- checkpoint_folders.cpp - checkpoints that a path names -------------===//

#include "runtime/inspect/checkpoint_folders.h"

#include "runtime/base/checkpoint_names.h"
#include "runtime/control/newest_checkpoint.h"

#include <filesystem>

namespace fs = std::filesystem;

namespace mtc::runtime {

/// Those in a folder, as they are now.
static Status listFolders(const std::string &path,
                          std::vector<CheckpointFolder> &out) {
  std::vector<int64_t> steps;
  MTC_RETURN_IF_ERROR(listSteps(path, steps));
  for (int64_t step : steps)
    out.push_back({path + "/" + stepFolder(step), step, {}, {}});
  return Status::okay();
}

static void open(CheckpointFolder &each, bool reads) {
  each.status = Checkpoint::open(each.path, each.checkpoint);
  if (reads && each.status.ok())
    each.status = each.checkpoint.verify();
  each.checkpoint.hold.letGo(); // of many it would be many open files
}

Status openCheckpoints(const std::string &path, bool reads,
                       std::vector<CheckpointFolder> &out) {
  out.clear();
  if (isOneCheckpoint(path)) {
    std::string name = fs::path(path).filename().string();
    out.push_back({path, stepOfFolder(name).value_or(-1), {}, {}});
    open(out.back(), reads);
    return Status::okay();
  }
  constexpr int kLooks = 100; // at a folder whose checkpoints come and go
  bool some = true;
  for (int look = 0; some && out.empty() && look < kLooks; ++look) {
    MTC_RETURN_IF_ERROR(listFolders(path, out));
    some = !out.empty();
    for (CheckpointFolder &each : out)
      open(each, reads);
    std::erase_if(out, [](const CheckpointFolder &each) {
      return !each.status.ok() && isGone(each.path);
    });
  }
  return out.empty() ? noCheckpoint(path) : Status::okay();
}

} // namespace mtc::runtime
