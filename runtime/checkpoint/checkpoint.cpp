//===- checkpoint.cpp - one checkpoint, as it lies on disk ----------------===//

#include "runtime/checkpoint/checkpoint.h"

#include "runtime/base/digest.h"
#include "runtime/base/file.h"
#include "runtime/base/file_sums.h"
#include "runtime/base/json.h"
#include "runtime/checkpoint/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
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

} // namespace

Status Checkpoint::open(const std::string &folder, Checkpoint &out) {
  Checkpoint made;
  made.folder = folder;
  std::string path = in(folder, kManifestFile), text;
  MTC_RETURN_IF_ERROR(readWholeFile(path, text));
  MTC_RETURN_IF_ERROR(parseManifest(text, path, made.manifest));
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

Status findNewestWhole(const std::string &root, NewestWhole &out) {
  std::vector<int64_t> steps;
  MTC_RETURN_IF_ERROR(listSteps(root, steps));
  NewestWhole found;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    std::string folder = in(root, stepFolder(*step));
    Checkpoint checkpoint;
    Status status = Checkpoint::open(folder, checkpoint);
    if (status.ok())
      status = checkpoint.verify();
    if (status.ok() && checkpoint.manifest.position.step != *step)
      status = {StatusCode::inputRejected,
                fmt::format("'{}': it is of step {}", folder,
                            checkpoint.manifest.position.step)};
    if (status.ok()) {
      found.folder = folder;
      break;
    }
    found.rejected.push_back(status.message());
  }
  out = std::move(found);
  return Status::okay();
}

} // namespace mtc::runtime
