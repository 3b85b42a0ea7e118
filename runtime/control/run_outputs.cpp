//===- run_outputs.cpp - the files that a run writes ----------------------===//

#include "runtime/control/run_outputs.h"

#include "runtime/base/file.h"
#include "runtime/base/output_files.h"
#include "runtime/data/data_path.h"

#include <fmt/format.h>

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
  if (!job.trace.file.empty())
    files.push_back({"--trace", job.trace.file});
  return files;
}

/// Whether ranks will write a file of this name.
bool isShared(const std::string &name, const Job &job) {
  return std::ranges::any_of(sharedFiles(job), [&](const NamedFile &file) {
    return sameFile(name, file.path);
  });
}

/// Whatever links lead to the file.
std::string lockOf(const std::string &file) {
  return behindLinks(file) + ".lock";
}

void addIf(std::vector<NamedFile> &files, const char *option,
           const std::string &path) {
  if (!path.empty())
    files.push_back({option, path});
}

/// The files behind a text; where it names none, that is said when they are
/// opened.
void addData(std::vector<NamedFile> &files, const char *option,
             const std::string &text) {
  DataPath path;
  if (text.empty() || !parseDataPath(text, option, path).ok())
    return;
  addIf(files, option, path.flat);
  for (const std::string &prefix : path.prefixes)
    for (const char *end : {".bin", ".idx"})
      files.push_back({option, prefix + end});
}

} // namespace

Status RunOutputs::check(const RunOptions &options, const Job &job) {
  CommandFiles files;
  files.bundle = options.bundle;
  addData(files.inputs, "--data", job.recipe.data);
  addData(files.inputs, "--eval-data", job.recipe.eval_data);
  addIf(files.inputs, "--init-from", job.initFrom);
  addIf(files.inputs, "--gemm-table", job.gemmTable);
  addIf(files.inputs, "--recipe", options.recipeFile);
  std::vector<NamedFile> shared = sharedFiles(job);
  files.outputs = shared;
  addIf(files.outputs, "--log", job.logFile);
  addIf(files.folders, "--checkpoints", options.checkpoints);
  addIf(files.folders, "--flight", options.flight);
  addIf(files.folders, "--tensorboard-dir", options.tensorboardDir);
  addIf(files.folders, "--data-cache-path", job.recipe.data_cache_path);
  for (const NamedFile &file : shared)
    files.locks.push_back({"the lock of " + file.option, lockOf(file.path)});
  for (const std::string &root : {options.checkpoints, options.load})
    if (!root.empty())
      files.checkpoints.push_back(root);
  for (const std::vector<NamedFile> &names : {files.outputs, files.folders})
    for (const NamedFile &file : names)
      if (file.path == "-")
        return {StatusCode::usage,
                fmt::format("{}: expected a name, found '-'; /dev/stdout is "
                            "standard output, and ./- a file of that name",
                            file.option)};
  MTC_RETURN_IF_ERROR(checkFiles(files));
  for (const DumpOrder &dump : job.dumps)
    MTC_RETURN_IF_ERROR(
        makeFolders(std::filesystem::path(dump.file).parent_path().string()));
  for (const NamedFile &file : shared)
    MTC_RETURN_IF_ERROR(checkWritable(behindLinks(file.path)));
  return Status::okay();
}

Status RunOutputs::prepare(const std::string &file, std::string &parts) {
  FileLock lock;
  MTC_RETURN_IF_ERROR(FileLock::take(lockOf(file), file, lock));
  MTC_RETURN_IF_ERROR(lock.holdEmpty());
  locks_.push_back(std::move(lock));
  // It may be the log of another run, which locks the file itself.
  MTC_RETURN_IF_ERROR(FileLock::checkFree(file, file));
  PartsFolder folder;
  MTC_RETURN_IF_ERROR(PartsFolder::create(file, folder));
  parts = folder.path();
  folders_.push_back(std::move(folder));
  return Status::okay();
}

Status RunOutputs::openShared(Job &job) {
  if (!job.saveTo.empty())
    MTC_RETURN_IF_ERROR(prepare(job.saveTo, job.saveParts));
  for (DumpOrder &dump : job.dumps)
    MTC_RETURN_IF_ERROR(prepare(dump.file, dump.parts));
  if (!job.trace.file.empty())
    MTC_RETURN_IF_ERROR(prepare(job.trace.file, job.trace.parts));
  if (!job.report.events.empty())
    MTC_RETURN_IF_ERROR(makeFolders(job.report.events));
  return Status::okay();
}

Status RunOutputs::openLog(const RunOptions &options, Job &job) {
  if (job.logFile.empty())
    return Status::okay();
  MTC_RETURN_IF_ERROR(FileLock::checkFree(lockOf(job.logFile), job.logFile));
  MTC_RETURN_IF_ERROR(
      log_.open(job.logFile, options.appendLog,
                [&](const std::string &name) { return isShared(name, job); }));
  job.logFd = log_.fd();
  job.logAlone = log_.isLocked();
  return Status::okay();
}

} // namespace mtc::runtime
