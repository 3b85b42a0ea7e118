//===- run_outputs.cpp - the files that a run writes ----------------------===//

#include "runtime/control/run_outputs.h"

#include "runtime/base/file.h"
#include "runtime/control/run_files.h"
#include "runtime/train/pieces.h"

#include <algorithm>
#include <filesystem>

namespace mtc::runtime {
namespace {

/// The files that ranks write together.
std::vector<NamedFile> sharedFiles(const Job &job) {
  std::vector<NamedFile> files;
  if (!job.saveTo.empty())
    files.push_back({"--save", job.saveTo});
  for (const DumpOrder &dump : job.dumps)
    files.push_back({"--dump " + dump.what, dump.file});
  return files;
}

/// Whether ranks will write a file of this name.
bool isShared(const std::string &name, const Job &job) {
  return std::ranges::any_of(sharedFiles(job), [&](const NamedFile &file) {
    return sameFile(name, file.path);
  });
}

std::string lockOf(const NamedFile &file) { return file.path + ".lock"; }

void addIf(std::vector<NamedFile> &files, const char *option,
           const std::string &path) {
  if (!path.empty())
    files.push_back({option, path});
}

} // namespace

Status RunOutputs::check(const RunOptions &options, const Job &job,
                         int64_t ranks) {
  RunFiles files;
  files.bundle = options.bundle;
  addIf(files.inputs, "--data", job.recipe.data);
  addIf(files.inputs, "--eval-data", job.evalData);
  addIf(files.inputs, "--init-from", job.initFrom);
  addIf(files.inputs, "--recipe", options.recipeFile);
  std::vector<NamedFile> shared = sharedFiles(job);
  files.outputs = shared;
  addIf(files.outputs, "--log", job.logFile);
  for (const NamedFile &file : shared) {
    files.outputs.push_back({"the lock of " + file.option, lockOf(file)});
    for (int rank = 0; rank < ranks; ++rank)
      files.outputs.push_back(
          {"a part of " + file.option, partPath(file.path, rank)});
  }
  MTC_RETURN_IF_ERROR(checkFiles(files));
  for (const DumpOrder &dump : job.dumps)
    MTC_RETURN_IF_ERROR(
        makeFolders(std::filesystem::path(dump.file).parent_path().string()));
  for (const NamedFile &file : shared)
    MTC_RETURN_IF_ERROR(checkWritable(file.path));
  return Status::okay();
}

Status RunOutputs::open(const RunOptions &options, Job &job) {
  for (const NamedFile &file : sharedFiles(job)) {
    FileLock lock;
    MTC_RETURN_IF_ERROR(FileLock::take(lockOf(file), file.path, lock));
    MTC_RETURN_IF_ERROR(lock.holdEmpty());
    locks_.push_back(std::move(lock));
    // It may be the log of another run, which locks the file itself.
    MTC_RETURN_IF_ERROR(FileLock::checkFree(file.path, file.path));
  }
  if (job.logFile.empty())
    return Status::okay();
  NamedFile log{"--log", job.logFile};
  MTC_RETURN_IF_ERROR(FileLock::checkFree(lockOf(log), log.path));
  MTC_RETURN_IF_ERROR(
      log_.open(log.path, options.appendLog,
                [&](const std::string &name) { return isShared(name, job); }));
  job.logFd = log_.fd();
  return Status::okay();
}

void removeLeftovers(const Job &job) {
  for (const NamedFile &file : sharedFiles(job))
    removeParts(file.path);
}

} // namespace mtc::runtime
