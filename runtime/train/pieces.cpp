//===- pieces.cpp - tensors that ranks write together ---------------------===//

#include "runtime/train/pieces.h"

#include "runtime/base/bf16.h"
#include "runtime/base/json.h"
#include "runtime/base/safetensors.h"
#include "runtime/program/descriptor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unistd.h>

namespace mtc::runtime {
namespace {

/// Which elements of one global tensor have been written.
class Coverage {
public:
  explicit Coverage(int64_t elements) : seen_(elements, false) {}
  /// False if one of them was written before.
  bool add(int64_t first, int64_t count) {
    for (int64_t i = first; i < first + count; ++i) {
      if (seen_[i])
        return false;
      seen_[i] = true;
    }
    written_ += count;
    return true;
  }
  int64_t missing() const {
    return static_cast<int64_t>(seen_.size()) - written_;
  }

private:
  std::vector<bool> seen_;
  int64_t written_ = 0;
};

struct Target {
  std::vector<int64_t> shape;
  Coverage coverage;
};

/// Elements that are in the host's memory at a time.
constexpr int64_t kChunk = int64_t{1} << 20;

/// A piece as a part file has it.
struct PartPiece {
  Piece piece;
  const SafetensorsFile *part;
  const TensorInfo *tensor; ///< of the part, with the piece's elements
};

Json describe(const Piece &piece) {
  Json json = {{"name", piece.name},       {"shape", piece.shape},
               {"begin", piece.box.begin}, {"size", piece.box.size},
               {"start", piece.start},     {"count", piece.count}};
  if (const auto &slice = piece.slice)
    json["slice"] = {{"of", slice->of},
                     {"shape", slice->shape},
                     {"dim", slice->dim},
                     {"first", slice->first},
                     {"size", slice->size}};
  return json;
}

/// The tensor of the file.
const std::string &targetName(const Piece &p) {
  return p.slice ? p.slice->of : p.name;
}

bool insideShape(const Piece &p) {
  if (p.box.begin.size() != p.shape.size() ||
      p.box.size.size() != p.shape.size())
    return false;
  for (size_t d = 0; d < p.shape.size(); ++d)
    if (p.box.begin[d] + p.box.size[d] > p.shape[d])
      return false;
  return p.start + p.count <= p.box.elements();
}

std::string partPath(const SharedFile &file, int rank) {
  return fmt::format("{}/{}", file.parts, rank);
}

class Merger {
public:
  Merger(SharedFile file, int ranks) : file_(std::move(file)), parts_(ranks) {}

  Status readParts() {
    for (size_t rank = 0; rank < parts_.size(); ++rank)
      MTC_RETURN_IF_ERROR(readPart(static_cast<int>(rank)));
    return Status::okay();
  }

  Status write(const std::map<std::string, std::string> &metadata) {
    std::vector<TensorInfo> tensors;
    for (const auto &[name, target] : targets_) {
      TensorInfo info;
      info.name = name;
      info.shape = target.shape;
      tensors.push_back(std::move(info));
    }
    SafetensorsWriter writer;
    MTC_RETURN_IF_ERROR(SafetensorsWriter::create(file_.path, tensors, metadata,
                                                  writer, file_.parts));
    for (const PartPiece &piece : pieces_)
      MTC_RETURN_IF_ERROR(writePiece(piece, writer));
    for (const auto &[name, target] : targets_)
      if (target.coverage.missing() > 0)
        return {StatusCode::internal,
                fmt::format("'{}': {} elements of '{}' were written by no rank",
                            file_.path, target.coverage.missing(), name)};
    return writer.commit();
  }

private:
  Status readPart(int rank) {
    std::string path = partPath(file_, rank);
    MTC_RETURN_IF_ERROR(SafetensorsFile::open(path, parts_[rank]));
    auto it = parts_[rank].metadata().find("pieces");
    Json list;
    MTC_RETURN_IF_ERROR(parseJson(
        it == parts_[rank].metadata().end() ? "" : it->second, path, list));
    Problems problems;
    for (size_t i = 0; i < list.size(); ++i)
      readPiece(FieldReader(list[i], fmt::format("piece {}", i), problems),
                parts_[rank], std::to_string(i));
    return problems.status(path);
  }

  void readPiece(FieldReader reader, const SafetensorsFile &part,
                 const std::string &key) {
    Piece p;
    p.name = reader.text("name");
    p.shape = reader.integers("shape", 0);
    p.box.begin = reader.integers("begin", 0);
    p.box.size = reader.integers("size", 0);
    p.start = reader.integer("start", 0, INT64_MAX);
    p.count = reader.integer("count", 0, INT64_MAX);
    const TensorInfo *data = part.find(key);
    if (reader.has("slice"))
      p.slice = readSlice(reader.object("slice"));
    if (!data || data->bytes / 4 != p.count || !insideShape(p) ||
        (p.slice && !p.slice->fits(p.shape)))
      return reader.problem("the piece leaves its tensor or has no data");
    const std::vector<int64_t> &shape = p.slice ? p.slice->shape : p.shape;
    auto [it, added] =
        targets_.try_emplace(targetName(p), Target{shape, Coverage(0)});
    if (added)
      it->second.coverage = Coverage(elementCount(shape));
    if (it->second.shape != shape)
      return reader.problem("two ranks disagree about the shape");
    pieces_.push_back({std::move(p), &part, data});
  }

  Status writePiece(const PartPiece &from, SafetensorsWriter &writer) {
    for (int64_t at = 0; at < from.piece.count; at += kChunk) {
      int64_t count = std::min(kChunk, from.piece.count - at);
      chunk_.resize(static_cast<size_t>(count));
      MTC_RETURN_IF_ERROR(
          from.part->read(*from.tensor, 4 * at, chunk_.data(), 4 * count));
      MTC_RETURN_IF_ERROR(
          writeChunk(from.piece, from.piece.start + at, count, writer));
    }
    return Status::okay();
  }

  /// The elements [start, start + count) of the piece's box, in chunk_.
  Status writeChunk(const Piece &piece, int64_t start, int64_t count,
                    SafetensorsWriter &writer) {
    const std::string &name = targetName(piece);
    Target &target = targets_.at(name);
    Status status;
    visitRuns(piece.shape, piece.box, piece.slice, start, count,
              [&](int64_t global, int64_t local, int64_t run) {
                if (!status.ok())
                  return;
                if (!target.coverage.add(global, run))
                  status = {StatusCode::internal,
                            fmt::format("'{}': elements of '{}' were written "
                                        "by two ranks",
                                        file_.path, name)};
                else
                  status =
                      writer.write(name, global * 4,
                                   chunk_.data() + (local - start), run * 4);
              });
    return status;
  }

  SharedFile file_;
  std::vector<SafetensorsFile> parts_;
  std::vector<PartPiece> pieces_;
  std::vector<float> chunk_;
  std::map<std::string, Target> targets_;
};

} // namespace

Status readElements(Stream &stream, const Piece &piece, int64_t first,
                    std::span<float> out) {
  auto count = static_cast<int64_t>(out.size());
  int64_t width = piece.dtype == MTC_BF16 ? 2 : 4;
  // bf16 lies in the back half, where each is read before it is overwritten.
  auto *to = reinterpret_cast<std::byte *>(out.data()) + (4 - width) * count;
  ArenaOffset from{piece.source.arena, piece.source.offset + width * first};
  MTC_RETURN_IF_ERROR(stream.copyOut(from, to, width * count));
  MTC_RETURN_IF_ERROR(stream.wait(stream.record()));
  if (piece.dtype == MTC_BF16)
    for (int64_t i = 0; i < count; ++i) {
      uint16_t bits;
      std::memcpy(&bits, to + width * i, sizeof bits);
      out[i] = widenBf16(bits);
    }
  return Status::okay();
}

static Status writeData(const std::string &name, const Piece &piece,
                        Stream &stream, std::vector<float> &chunk,
                        SafetensorsWriter &writer) {
  if (piece.data)
    return writer.write(name, 0, piece.data, piece.count * 4);
  for (int64_t at = 0; at < piece.count; at += kChunk) {
    int64_t count = std::min(kChunk, piece.count - at);
    chunk.resize(static_cast<size_t>(count));
    MTC_RETURN_IF_ERROR(readElements(stream, piece, at, chunk));
    MTC_RETURN_IF_ERROR(writer.write(name, 4 * at, chunk.data(), 4 * count));
  }
  return Status::okay();
}

Status writePart(const SharedFile &file, int rank, Stream &stream,
                 const std::vector<Piece> &pieces) {
  std::vector<TensorInfo> tensors;
  Json list = Json::array();
  for (const Piece &piece : pieces) {
    TensorInfo info;
    info.name = std::to_string(tensors.size());
    info.shape = {piece.count};
    tensors.push_back(std::move(info));
    list.push_back(describe(piece));
  }
  SafetensorsWriter writer;
  MTC_RETURN_IF_ERROR(SafetensorsWriter::create(
      partPath(file, rank), tensors, {{"pieces", list.dump()}}, writer));
  std::vector<float> chunk;
  for (size_t i = 0; i < pieces.size(); ++i)
    MTC_RETURN_IF_ERROR(
        writeData(std::to_string(i), pieces[i], stream, chunk, writer));
  return writer.commit();
}

Status mergeParts(const SharedFile &file, int ranks,
                  const std::map<std::string, std::string> &metadata) {
  Merger merger(file, ranks);
  Status status = merger.readParts();
  if (status.ok())
    status = merger.write(metadata);
  for (int rank = 0; rank < ranks; ++rank)
    unlink(partPath(file, rank).c_str());
  return status;
}

Status writeTogether(const SharedFile &file, const Writers &writers,
                     const std::vector<Piece> &pieces,
                     const std::map<std::string, std::string> &metadata) {
  MTC_RETURN_IF_ERROR(writePart(file, writers.rank, writers.stream, pieces));
  MTC_RETURN_IF_ERROR(writers.meet());
  return writers.rank == 0 ? mergeParts(file, writers.ranks, metadata)
                           : Status::okay();
}

} // namespace mtc::runtime
