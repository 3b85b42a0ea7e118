//===- commit.cpp - makes what ranks wrote a checkpoint -------------------===//

#include "runtime/checkpoint/commit.h"

#include "runtime/base/checkpoint_names.h"
#include "runtime/base/digest.h"
#include "runtime/base/file.h"
#include "runtime/base/file_sums.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/hold.h"
#include "runtime/pieces/stored_pieces.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <system_error>

namespace fs = std::filesystem;

namespace mtc::runtime {
namespace {

Status failed(const char *what, const std::string &path, int error) {
  return {StatusCode::writeFailed,
          fmt::format("cannot {} '{}': {}", what, path, std::strerror(error))};
}

Status renameFolder(const std::string &from, const std::string &to) {
  return rename(from.c_str(), to.c_str()) == 0 ? Status::okay()
                                               : failed("make", to, errno);
}

Status removeFolder(const std::string &path) {
  std::error_code error;
  fs::remove_all(path, error);
  return error ? failed("remove", path, error.value()) : Status::okay();
}

/// Adds what the ranks wrote. Each wrote all that it has, or its file is not
/// there.
Status complete(const std::string &folder, int ranks, Manifest &manifest) {
  std::vector<std::string> paths;
  for (int rank = 0; rank < ranks; ++rank) {
    std::string text;
    MTC_RETURN_IF_ERROR(readWholeFile(folder + "/" + sumsFile(rank), text));
    manifest.sums.push_back(digestOf(text));
    paths.push_back(folder + "/" + rankFile(rank));
  }
  StoredPieces pieces;
  MTC_RETURN_IF_ERROR(StoredPieces::open(paths, pieces));
  for (const auto &[name, tensor] : pieces.tensors()) {
    TensorReader reader;
    MTC_RETURN_IF_ERROR(TensorReader::open(pieces, name, reader));
    manifest.tensors[name] = tensor.shape;
  }
  return Status::okay();
}

} // namespace

std::string CheckpointPlace::meanwhile(int64_t step) const {
  return root + "/" + temporaryFolder(step, nonce);
}

std::string CheckpointPlace::folder(int64_t step) const {
  return root + "/" + stepFolder(step);
}

/// Bytes on disk of the files in a folder; 0 if it is not there.
static int64_t bytesIn(const std::string &folder) {
  int64_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    struct stat info;
    if (stat(at->path().c_str(), &info) == 0)
      bytes += 512 * static_cast<int64_t>(info.st_blocks);
  }
  return bytes;
}

Status checkRoom(const CheckpointPlace &place, int64_t step) {
  struct statvfs disk;
  if (place.bytes == 0 || statvfs(place.root.c_str(), &disk) != 0)
    return Status::okay();
  // In this order: what another rank takes meanwhile counts twice, not never.
  int64_t free = static_cast<int64_t>(disk.f_bavail * disk.f_frsize);
  int64_t taken = bytesIn(place.meanwhile(step));
  int64_t needed = place.bytes + place.bytes / 20;
  if (free + taken >= needed)
    return Status::okay();
  return {StatusCode::writeFailed,
          fmt::format("'{}' has room for {:.1f} MB, a checkpoint takes {:.1f}: "
                      "nothing is written; make room, or keep fewer (--keep)",
                      place.root, 1e-6 * static_cast<double>(free + taken),
                      1e-6 * static_cast<double>(needed))};
}

Status writeRank(const CheckpointPlace &place, int64_t step, int rank,
                 Stream *stream, const std::vector<Piece> &pieces) {
  MTC_RETURN_IF_ERROR(checkRoom(place, step));
  std::string folder = place.meanwhile(step);
  // Whoever comes first makes it.
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    return failed("make", folder, errno);
  FileSums sums;
  MTC_RETURN_IF_ERROR(
      writePieces(folder + "/" + rankFile(rank), stream, pieces, &sums));
  // The names last by the sync behind the manifest, which comes after all.
  return writeTextFile(folder + "/" + sumsFile(rank), textOf(sums),
                       NameSync::byCaller);
}

/// Takes its name away; `out` is the other one.
static Status retire(const CheckpointPlace &place, int64_t step,
                     std::string &out) {
  out = place.root + "/" + temporaryFolder(step, place.nonce + "-old");
  return renameFolder(place.folder(step), out);
}

Status discardCheckpoint(const CheckpointPlace &place, int64_t step) {
  std::string out;
  MTC_RETURN_IF_ERROR(retire(place, step, out));
  return removeFolder(out);
}

Status discardUnread(const CheckpointPlace &place, int64_t step, bool &stays) {
  std::string out;
  {
    CheckpointHold alone;
    stays = !CheckpointHold::takeAlone(place.folder(step), alone);
    if (stays)
      return Status::okay();
    MTC_RETURN_IF_ERROR(retire(place, step, out));
  }
  return removeFolder(out);
}

/// Until the folder has its name.
static Status finish(const CheckpointPlace &place, int ranks,
                     Manifest &manifest) {
  int64_t step = manifest.position.step;
  std::string meanwhile = place.meanwhile(step);
  if (Status status = complete(meanwhile, ranks, manifest); !status.ok())
    return {StatusCode::writeFailed, status.message()};
  MTC_RETURN_IF_ERROR(
      writeTextFile(meanwhile + "/" + kManifestFile, textOf(manifest)));
  std::error_code error; // if nobody knows, the next call says why
  if (fs::exists(place.folder(step), error) || error)
    MTC_RETURN_IF_ERROR(discardCheckpoint(place, step));
  return renameFolder(meanwhile, place.folder(step));
}

Status commitCheckpoint(const CheckpointPlace &place, int ranks,
                        Manifest &manifest) {
  int64_t step = manifest.position.step;
  Status status = finish(place, ranks, manifest);
  if (status.ok())
    return syncFolder(place.root);
  // It takes room that the next one may need; a run that resumes removes it,
  // too.
  (void)removeFolder(place.meanwhile(step));
  return status;
}

Status pruneCheckpoints(const CheckpointPlace &place, int64_t newest,
                        int64_t keep) {
  std::vector<int64_t> steps;
  MTC_RETURN_IF_ERROR(listSteps(place.root, steps));
  std::erase_if(steps, [&](int64_t step) { return step > newest; });
  for (size_t i = 0; i + static_cast<size_t>(keep) < steps.size(); ++i) {
    bool stays = false;
    MTC_RETURN_IF_ERROR(discardUnread(place, steps[i], stays));
  }
  return Status::okay();
}

Status removeTemporaries(const std::string &root) {
  std::error_code error;
  std::vector<std::string> found;
  for (fs::directory_iterator at(root, error), end; !error && at != end;
       at.increment(error))
    if (isTemporaryFolder(at->path().filename().string()))
      found.push_back(at->path().string());
  if (error)
    return failed("read", root, error.value());
  for (const std::string &path : found)
    MTC_RETURN_IF_ERROR(removeFolder(path));
  return Status::okay();
}

} // namespace mtc::runtime
