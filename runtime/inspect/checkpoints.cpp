//===- checkpoints.cpp - what checkpoints say of themselves ---------------===//

#include "mtc/runtime/checkpoints.h"

#include "runtime/base/checkpoint_names.h"
#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "runtime/base/output_files.h"
#include "runtime/base/safetensors.h"
#include "runtime/checkpoint/commit.h"
#include "runtime/control/file_lock.h"
#include "runtime/control/newest_checkpoint.h"
#include "runtime/inspect/checkpoint_folders.h"

#include <fmt/format.h>

#include <chrono>

namespace mtc::runtime {
namespace {

Json describe(const CheckpointFolder &each) {
  Json json = {{"folder", each.path}, {"whole", each.status.ok()}};
  if (!each.status.ok()) {
    json["why"] = each.status.message();
    return json;
  }
  const Manifest &m = each.checkpoint.manifest;
  writePosition(m.position, json);
  json["model"] = m.model;
  json["plan_hash"] = m.planHash;
  json["optimizer"] = m.optimizer;
  json["mesh"] = m.mesh;
  json["ranks"] = each.checkpoint.ranks();
  json["tensors"] = m.tensors.size();
  json["elements"] = each.checkpoint.elements();
  json["bytes"] = 4 * each.checkpoint.elements();
  json["recipe"] = m.recipe;
  return json;
}

/// For people; empty where no step was skipped.
std::string skippedOf(const RunPosition &p) {
  return p.skippedSteps == 0
             ? ""
             : fmt::format(" ({} of them skipped)", p.skippedSteps);
}

std::string scalerText(const RunPosition &p) {
  if (!p.scaler)
    return "";
  return fmt::format(
      "scaler   loss scale {}, {} finite steps since it changed, "
      "hysteresis {}\n",
      p.scaler->scale, p.scaler->growthTracker, p.scaler->hysteresisTracker);
}

std::string lineOf(const CheckpointFolder &each) {
  if (!each.status.ok())
    return fmt::format("{}: not whole: {}\n", each.path, each.status.message());
  const Manifest &m = each.checkpoint.manifest;
  return fmt::format(
      "{}: {} behind step {}{}, {} samples, {} tokens; {:.1f} MB "
      "of {} ranks ({})\n",
      each.path, m.model, m.position.step, skippedOf(m.position),
      m.position.samples, m.position.tokens,
      4e-6 * static_cast<double>(each.checkpoint.elements()),
      each.checkpoint.ranks(), m.mesh);
}

std::string detailsOf(const Checkpoint &c) {
  const Manifest &m = c.manifest;
  std::string text = fmt::format("plan     {}\nstates   {}\ntensors  {}, {} "
                                 "elements in {} pieces\nrecipe  ",
                                 m.planHash, m.optimizer, m.tensors.size(),
                                 c.elements(), c.pieces.pieceCount());
  for (const auto &[key, value] : m.recipe)
    text += fmt::format(" {}={}", key, value);
  return text + "\n" + scalerText(m.position);
}

Json listOf(const std::vector<CheckpointFolder> &folders) {
  Json list = Json::array();
  for (const CheckpointFolder &each : folders)
    list.push_back(describe(each));
  return list;
}

Status notWhole(size_t bad, size_t all) {
  if (bad == 0)
    return Status::okay();
  return {StatusCode::inputRejected,
          fmt::format("{} of {} checkpoints are not whole", bad, all)};
}

} // namespace

Status describeCheckpoints(const std::string &path, bool json,
                           std::string &text) {
  std::vector<CheckpointFolder> folders;
  MTC_RETURN_IF_ERROR(openCheckpoints(path, /*reads=*/false, folders));
  text.clear();
  if (json)
    text = listOf(folders).dump(1) + "\n";
  else
    for (const CheckpointFolder &each : folders)
      text += lineOf(each);
  bool isOne = folders.size() == 1 && folders.front().path == path;
  if (isOne && folders.front().status.ok() && !json)
    text += detailsOf(folders.front().checkpoint);
  return isOne ? folders.front().status : Status::okay();
}

Status verifyCheckpoints(const std::string &path, bool json,
                         std::string &text) {
  std::vector<CheckpointFolder> folders;
  MTC_RETURN_IF_ERROR(openCheckpoints(path, /*reads=*/true, folders));
  size_t bad = 0;
  text.clear();
  for (const CheckpointFolder &each : folders) {
    bad += !each.status.ok();
    if (!json)
      text += each.status.ok() ? fmt::format("{}: whole\n", each.path)
                               : lineOf(each);
  }
  if (json)
    text = listOf(folders).dump(1) + "\n";
  return notWhole(bad, folders.size());
}

Status pruneFolder(const std::string &folder, int64_t keep, std::string &text) {
  FileLock lock;
  std::string root = behindLinks(folder);
  MTC_RETURN_IF_ERROR(FileLock::take(root + ".lock", root, lock));
  MTC_RETURN_IF_ERROR(lock.holdEmpty());
  std::vector<CheckpointFolder> folders;
  MTC_RETURN_IF_ERROR(openCheckpoints(root, /*reads=*/false, folders));
  text.clear();
  int64_t whole = 0;
  for (auto each = folders.rbegin(); each != folders.rend(); ++each) {
    if (whole >= keep) {
      bool stays = false;
      MTC_RETURN_IF_ERROR(discardUnread({root, "prune"}, each->step, stays));
      text += fmt::format("{}: {}\n", each->path,
                          stays ? "kept, as it is being read" : "removed");
      continue;
    }
    if (each->status.ok())
      each->status = each->checkpoint.verify();
    whole += each->status.ok();
    text += each->status.ok() ? fmt::format("{}: kept\n", each->path)
                              : lineOf(*each);
  }
  return Status::okay();
}

/// The file to write is no part of any checkpoint, or of this one by a link.
static Status checkTarget(const std::string &path, const std::string &file,
                          const Checkpoint &from) {
  CommandFiles files;
  for (int rank = 0; rank < from.ranks(); ++rank)
    files.inputs.push_back({"a rank", from.folder + "/" + rankFile(rank)});
  files.outputs = {{"checkpoint export", file}};
  files.checkpoints = {path};
  return checkFiles(files);
}

Status exportParameters(const std::string &path, const std::string &file) {
  Checkpoint from;
  MTC_RETURN_IF_ERROR(checkTarget(path, file, from)); // before it is read
  MTC_RETURN_IF_ERROR(openNewest(path, from));
  MTC_RETURN_IF_ERROR(checkTarget(path, file, from));
  constexpr std::string_view prefix = "param/";
  std::vector<TensorInfo> tensors;
  for (const auto &[name, shape] : from.manifest.tensors)
    if (name.starts_with(prefix)) {
      tensors.emplace_back();
      tensors.back().name = name.substr(prefix.size());
      tensors.back().shape = shape;
    }
  SafetensorsWriter writer;
  MTC_RETURN_IF_ERROR(SafetensorsWriter::create(
      file, tensors,
      {{"format", "mtc"},
       {"model", from.manifest.model},
       {"plan_hash", from.manifest.planHash},
       {"step", std::to_string(from.manifest.position.step)}},
      writer));
  for (const TensorInfo &tensor : tensors)
    MTC_RETURN_IF_ERROR(copyTensor(
        from.pieces, std::string(prefix) + tensor.name, tensor.name, writer));
  return writer.commit();
}

} // namespace mtc::runtime
