//===- pieces.cpp - tensors that ranks write together ---------------------===//

#include "runtime/pieces/pieces.h"

#include "runtime/base/half.h"
#include "runtime/base/safetensors.h"
#include "runtime/pieces/piece_text.h"
#include "runtime/pieces/stored_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <unistd.h>

namespace mtc::runtime {
namespace {

/// Elements that are in the host's memory at a time.
constexpr int64_t kChunk = int64_t{1} << 20;

std::string partPath(const SharedFile &file, int rank) {
  return fmt::format("{}/{}", file.parts, rank);
}

Status merge(const SharedFile &file, const StoredPieces &parts,
             const std::map<std::string, std::string> &metadata) {
  std::vector<TensorInfo> tensors;
  for (const auto &[name, tensor] : parts.tensors()) {
    TensorInfo info;
    info.name = name;
    info.shape = tensor.shape;
    tensors.push_back(std::move(info));
  }
  SafetensorsWriter writer;
  MTC_RETURN_IF_ERROR(SafetensorsWriter::create(file.path, tensors, metadata,
                                                writer, file.parts));
  for (const auto &[name, tensor] : parts.tensors())
    MTC_RETURN_IF_ERROR(copyTensor(parts, name, name, writer));
  return writer.commit();
}

} // namespace

Status readElements(Stream &stream, const Piece &piece, int64_t first,
                    std::span<float> out) {
  auto count = static_cast<int64_t>(out.size());
  int64_t width = floatBytes(piece.dtype);
  // What has 16 bits lies in the back half, where each is read before it is
  // overwritten.
  auto *to = reinterpret_cast<std::byte *>(out.data()) + (4 - width) * count;
  ArenaOffset from{piece.source.arena, piece.source.offset + width * first};
  MTC_RETURN_IF_ERROR(stream.copyOut(from, to, width * count));
  MTC_RETURN_IF_ERROR(stream.wait(stream.record()));
  if (piece.dtype != MTC_F32)
    for (int64_t i = 0; i < count; ++i) {
      uint16_t bits;
      std::memcpy(&bits, to + width * i, sizeof bits);
      out[i] = widenHalf(piece.dtype, bits);
    }
  if (piece.factor != 1)
    for (float &value : out)
      value *= piece.factor;
  return Status::okay();
}

static Status writeData(const std::string &name, const Piece &piece,
                        Stream *stream, std::vector<float> &chunk,
                        SafetensorsWriter &writer) {
  if (piece.data)
    return writer.write(name, 0, piece.data, piece.count * 4);
  for (int64_t at = 0; at < piece.count; at += kChunk) {
    int64_t count = std::min(kChunk, piece.count - at);
    chunk.resize(static_cast<size_t>(count));
    MTC_RETURN_IF_ERROR(readElements(*stream, piece, at, chunk));
    MTC_RETURN_IF_ERROR(writer.write(name, 4 * at, chunk.data(), 4 * count));
  }
  return Status::okay();
}

/// The order in which a file has tensors of these names, all of one type.
static std::vector<size_t> orderOf(const std::vector<std::string> &names) {
  std::vector<size_t> order(names.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return names[i]; });
  return order;
}

Status writePieces(const std::string &path, Stream *stream,
                   const std::vector<Piece> &pieces, FileSums *sums) {
  std::vector<std::string> names = namesInFile(pieces);
  std::vector<TensorInfo> tensors(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    tensors[i].name = names[i];
    tensors[i].shape = {pieces[i].count};
  }
  SafetensorsWriter writer;
  MTC_RETURN_IF_ERROR(
      SafetensorsWriter::create(path, tensors, metadataOf(pieces), writer));
  SumsOfWrites running;
  writer.sumUp(running);
  std::vector<float> chunk;
  for (size_t i : orderOf(names))
    MTC_RETURN_IF_ERROR(writeData(names[i], pieces[i], stream, chunk, writer));
  if (sums)
    *sums = running.finish();
  return writer.commit(NameSync::byCaller);
}

Status writePart(const SharedFile &file, int rank, Stream &stream,
                 const std::vector<Piece> &pieces) {
  return writePieces(partPath(file, rank), &stream, pieces);
}

Status mergeParts(const SharedFile &file, int ranks,
                  const std::map<std::string, std::string> &metadata) {
  std::vector<std::string> paths;
  for (int rank = 0; rank < ranks; ++rank)
    paths.push_back(partPath(file, rank));
  StoredPieces parts;
  Status status = StoredPieces::open(paths, parts);
  if (status.ok())
    status = merge(file, parts, metadata);
  for (const std::string &path : paths)
    unlink(path.c_str());
  return status;
}

Status writeTogether(const SharedFile &file, const Writers &writers,
                     const std::vector<Piece> &pieces,
                     const std::map<std::string, std::string> &metadata) {
  Status part = writePart(file, writers.rank, writers.stream, pieces);
  if (!part.ok() && part.code() != StatusCode::writeFailed)
    return part;
  // The others meet whether or not this rank could write.
  MTC_RETURN_IF_ERROR(writers.meet());
  if (writers.rank != 0)
    return part;
  // Without a part there is no file; then the parts of others go.
  Status merged = mergeParts(file, writers.ranks, metadata);
  return part.ok() ? merged : part;
}

} // namespace mtc::runtime
