//===- stored_pieces.cpp - reads tensors from files of pieces -------------===//

#include "runtime/pieces/stored_pieces.h"

#include "runtime/base/json.h"
#include "runtime/base/safetensors.h"
#include "runtime/pieces/piece_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtc::runtime {

Status StoredPieces::open(const std::vector<std::string> &paths,
                          StoredPieces &out) {
  StoredPieces made;
  made.paths_ = paths;
  for (size_t file = 0; file < paths.size(); ++file)
    MTC_RETURN_IF_ERROR(made.readFile(file));
  out = std::move(made);
  return Status::okay();
}

Status StoredPieces::readFile(size_t index) {
  const std::string &path = paths_[index];
  SafetensorsFile file;
  MTC_RETURN_IF_ERROR(SafetensorsFile::open(path, file));
  std::vector<Piece> list;
  MTC_RETURN_IF_ERROR(readPieces(file.metadata(), path, list));
  std::vector<std::string> names = namesInFile(list);
  Problems problems;
  for (size_t i = 0; i < list.size(); ++i) {
    Piece &piece = list[i];
    const TensorInfo *data = file.find(names[i]);
    auto problem = [&](const char *text) {
      problems.add(fmt::format("piece {} of '{}': {}", i, piece.name, text));
    };
    if (!data || data->dtype != "F32" || data->bytes / 4 != piece.count) {
      problem("expected its elements, in F32, found others or none");
      continue;
    }
    auto [tensor, isNew] = tensors_.try_emplace(targetName(piece));
    if (isNew)
      tensor->second.shape = targetShape(piece);
    if (tensor->second.shape != targetShape(piece)) {
      problem("two ranks disagree about the shape");
      continue;
    }
    tensor->second.pieces.push_back(pieces_.size());
    pieces_.push_back({std::move(piece), index, file.offsetOf(*data)});
  }
  return problems.status("'" + path + "'");
}

Status StoredPieces::read(size_t index, int64_t first, int64_t count,
                          float *out) const {
  const Stored &from = pieces_[index];
  if (openFile_ != from.file) {
    MTC_RETURN_IF_ERROR(InputFile::open(paths_[from.file], open_));
    openFile_ = from.file;
  }
  return open_.read(from.offset + 4 * first, out, 4 * count);
}

Status TensorReader::open(const StoredPieces &from, const std::string &name,
                          TensorReader &out) {
  auto tensor = from.tensors().find(name);
  if (tensor == from.tensors().end())
    return {StatusCode::inputRejected,
            fmt::format("expected '{}', found no tensor of that name", name)};
  TensorReader made;
  made.from_ = &from;
  made.elements_ = elementCount(tensor->second.shape);
  for (size_t index : tensor->second.pieces) {
    const Piece &piece = from.piece(index);
    visitRuns(
        piece.shape, piece.box, piece.slice, piece.start, piece.count,
        [&](int64_t global, int64_t local, int64_t count) {
          made.runs_.push_back({global, count, index, local - piece.start});
        });
  }
  std::ranges::sort(made.runs_, {}, &Run::global);
  MTC_RETURN_IF_ERROR(made.checkRuns(name));
  out = std::move(made);
  return Status::okay();
}

Status TensorReader::checkRuns(const std::string &name) const {
  int64_t end = 0, written = 0;
  for (const Run &run : runs_) {
    if (run.global < end)
      return {StatusCode::inputRejected,
              fmt::format("elements of '{}' were written by two ranks", name)};
    end = run.global + run.count;
    written += run.count;
  }
  if (written == elements_)
    return Status::okay();
  return {StatusCode::inputRejected,
          fmt::format("{} elements of '{}' were written by no rank",
                      elements_ - written, name)};
}

Status TensorReader::visit(
    int64_t global, int64_t count,
    const std::function<Status(size_t, int64_t, int64_t)> &visit) const {
  // The last run that begins at or before the first element.
  auto run = std::ranges::upper_bound(runs_, global, {}, &Run::global);
  for (; count > 0; ++run) {
    const Run &of = *(run - 1);
    int64_t inside = global - of.global;
    int64_t n = std::min(count, of.count - inside);
    MTC_RETURN_IF_ERROR(visit(of.piece, of.first + inside, n));
    global += n;
    count -= n;
  }
  return Status::okay();
}

Status TensorReader::read(int64_t global, int64_t count, float *out) const {
  return visit(global, count, [&](size_t piece, int64_t first, int64_t n) {
    float *to = out;
    out += n;
    return from_->read(piece, first, n, to);
  });
}

Status copyTensor(const StoredPieces &from, const std::string &name,
                  const std::string &as, SafetensorsWriter &writer) {
  constexpr int64_t kAtATime = int64_t{1} << 20; // elements in memory
  TensorReader reader;
  MTC_RETURN_IF_ERROR(TensorReader::open(from, name, reader));
  std::vector<float> chunk;
  for (int64_t at = 0; at < reader.elements(); at += kAtATime) {
    int64_t count = std::min(kAtATime, reader.elements() - at);
    chunk.resize(static_cast<size_t>(count));
    MTC_RETURN_IF_ERROR(reader.read(at, count, chunk.data()));
    MTC_RETURN_IF_ERROR(writer.write(as, 4 * at, chunk.data(), 4 * count));
  }
  return Status::okay();
}

} // namespace mtc::runtime
