//===- checkpoint.cpp - one checkpoint, as it lies on disk ----------------===//

#include "runtime/checkpoint/checkpoint.h"

#include "runtime/base/checkpoint_names.h"
#include "runtime/base/digest.h"
#include "runtime/base/file.h"
#include "runtime/base/file_sums.h"
#include "runtime/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

namespace fs = std::filesystem;

namespace mtc::runtime {
namespace {

std::string in(const std::string &folder, const std::string &name) {
  return folder + "/" + name;
}

Status readSums(const Checkpoint &checkpoint, int rank, FileSums &out) {
  std::string path = in(checkpoint.folder, sumsFile(rank)), text;
  MTC_RETURN_IF_ERROR(readWholeFile(path, text));
  if (digestOf(text) != checkpoint.manifest.sums[static_cast<size_t>(rank)])
    return {
        StatusCode::inputRejected,
        fmt::format("'{}': it is not what was written (another digest)", path)};
  return parseSums(text, path, out);
}

/// The files have the manifest's tensors, all of each.
Status checkTensors(const Checkpoint &c) {
  Problems problems;
  for (const auto &[name, shape] : c.manifest.tensors) {
    TensorReader reader;
    Status status = TensorReader::open(c.pieces, name, reader);
    if (!status.ok())
      problems.add(status.message());
    else if (c.pieces.tensors().at(name).shape != shape)
      problems.add(
          fmt::format("'{}': expected the shape [{}], found [{}]", name,
                      fmt::join(shape, ", "),
                      fmt::join(c.pieces.tensors().at(name).shape, ", ")));
  }
  for (const auto &[name, tensor] : c.pieces.tensors())
    if (!c.manifest.tensors.contains(name))
      problems.add(
          fmt::format("'{}' is in a file, and not in the manifest", name));
  return problems.status("'" + c.folder + "'");
}

/// The step that a folder is called by, or, where its name says none, as that
/// of a link does, the folder behind it.
std::optional<int64_t> stepOfName(const std::string &folder) {
  auto stepOf = [](fs::path path) {
    if (!path.has_filename())
      path = path.parent_path(); // "a/" is "a"
    return stepOfFolder(path.filename().string());
  };
  std::optional<int64_t> step = stepOf(folder);
  return step ? step : stepOf(behindLinks(folder));
}

/// Who orders checkpoints goes by their names.
Status checkName(const Checkpoint &c) {
  std::optional<int64_t> named = stepOfName(c.folder);
  int64_t step = c.manifest.position.step;
  if (!named || *named == step)
    return Status::okay();
  return {StatusCode::inputRejected,
          fmt::format("'{}': expected step {}, as its name says, and it is of "
                      "step {}; give it a name of that step",
                      c.folder, *named, step)};
}

} // namespace

Status Checkpoint::open(const std::string &folder, Checkpoint &out) {
  Checkpoint made;
  made.folder = folder;
  made.hold = CheckpointHold::take(folder);
  std::string path = in(folder, kManifestFile), text;
  MTC_RETURN_IF_ERROR(readWholeFile(path, text));
  MTC_RETURN_IF_ERROR(parseManifest(text, path, made.manifest));
  MTC_RETURN_IF_ERROR(checkName(made));
  std::vector<std::string> paths;
  for (int rank = 0; rank < made.ranks(); ++rank)
    paths.push_back(in(folder, rankFile(rank)));
  MTC_RETURN_IF_ERROR(StoredPieces::open(paths, made.pieces));
  MTC_RETURN_IF_ERROR(checkTensors(made));
  out = std::move(made);
  return Status::okay();
}

Status Checkpoint::verify() const {
  for (int rank = 0; rank < ranks(); ++rank) {
    FileSums sums;
    MTC_RETURN_IF_ERROR(readSums(*this, rank, sums));
    MTC_RETURN_IF_ERROR(checkSums(in(folder, rankFile(rank)), sums));
  }
  return Status::okay();
}

Status listSteps(const std::string &root, std::vector<int64_t> &out) {
  std::vector<int64_t> steps;
  std::error_code error;
  for (fs::directory_iterator at(root, error), end; !error && at != end;
       at.increment(error))
    if (auto step = stepOfFolder(at->path().filename().string()))
      steps.push_back(*step);
  if (error && error != std::errc::no_such_file_or_directory)
    return {
        StatusCode::inputRejected,
        fmt::format("cannot read the folder '{}': {}", root, error.message())};
  std::ranges::sort(steps);
  out = std::move(steps);
  return Status::okay();
}

bool isGone(const std::string &folder) {
  std::error_code error;
  return !fs::exists(fs::status(folder, error)) &&
         (!error || error == std::errc::no_such_file_or_directory);
}

/// Opens it, with all its bytes.
static Status openWhole(const std::string &folder, Checkpoint &out) {
  MTC_RETURN_IF_ERROR(Checkpoint::open(folder, out));
  return out.verify();
}

/// Whether none was removed meanwhile.
static bool lookForWhole(const std::string &root,
                         const std::vector<int64_t> &steps, NewestWhole &out) {
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    std::string folder = in(root, stepFolder(*step));
    Checkpoint checkpoint;
    Status status = openWhole(folder, checkpoint);
    if (status.ok()) {
      out.checkpoint = std::move(checkpoint);
      return true;
    }
    if (isGone(folder))
      return false;
    out.rejected.push_back(status.message());
  }
  return true;
}

Status findNewestWhole(const std::string &root, NewestWhole &out) {
  constexpr int kLooks = 100;
  for (int look = 0; look < kLooks; ++look) {
    std::vector<int64_t> steps;
    MTC_RETURN_IF_ERROR(listSteps(root, steps));
    NewestWhole found;
    if (!lookForWhole(root, steps, found))
      continue;
    out = std::move(found);
    return Status::okay();
  }
  return {StatusCode::inputRejected,
          fmt::format("'{}': each of {} checkpoints was removed while it was "
                      "read; have its run keep more (--keep)",
                      root, kLooks)};
}

} // namespace mtc::runtime
