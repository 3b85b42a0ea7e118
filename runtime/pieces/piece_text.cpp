//===- piece_text.cpp - what a file says of its pieces --------------------===//

#include "runtime/pieces/piece_text.h"

#include "runtime/base/json.h"
#include "runtime/program/descriptor.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

namespace mtc::runtime {
namespace {

constexpr const char *kPieces = "pieces";

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

/// Elements of a shape, or -1 if they are more than a file could have.
int64_t countOf(const std::vector<int64_t> &shape) {
  constexpr int64_t kMost = int64_t{1} << 58; // of four bytes each
  int64_t n = 1;
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(n, size, &n) || n > kMost)
      return -1;
  return n;
}

/// Sizes and sums are of a file, which may say anything.
bool isInside(const Piece &p) {
  const Box &box = p.box;
  if (box.begin.size() != p.shape.size() || box.size.size() != p.shape.size())
    return false;
  for (size_t d = 0; d < p.shape.size(); ++d)
    if (box.size[d] < 1 || box.size[d] > p.shape[d] ||
        box.begin[d] > p.shape[d] - box.size[d])
      return false;
  int64_t elements = countOf(box.size);
  return countOf(p.shape) >= 0 && elements >= 0 && p.count >= 1 &&
         p.count <= elements && p.start <= elements - p.count;
}

Piece readPiece(FieldReader reader) {
  Piece p;
  p.name = reader.line("name");
  p.shape = reader.integers("shape", 1);
  p.box.begin = reader.integers("begin", 0);
  p.box.size = reader.integers("size", 1);
  p.start = reader.integer("start", 0, INT64_MAX);
  p.count = reader.integer("count", 1, INT64_MAX);
  if (reader.has("slice"))
    p.slice = readSlice(reader.object("slice"));
  if (!isInside(p) ||
      (p.slice && (countOf(p.slice->shape) < 0 || !p.slice->fits(p.shape))))
    reader.problem("expected a piece inside its tensor, found one outside");
  return p;
}

} // namespace

const std::string &targetName(const Piece &piece) {
  return piece.slice ? piece.slice->of : piece.name;
}

const std::vector<int64_t> &targetShape(const Piece &piece) {
  return piece.slice ? piece.slice->shape : piece.shape;
}

std::vector<std::string> namesInFile(const std::vector<Piece> &pieces) {
  std::vector<std::string> names;
  std::set<std::string_view> taken; // of the pieces
  for (const Piece &piece : pieces)
    names.push_back(taken.insert(piece.name).second
                        ? piece.name
                        : fmt::format("{} [{}]", piece.name, names.size()));
  return names;
}

std::map<std::string, std::string>
metadataOf(const std::vector<Piece> &pieces) {
  Json list = Json::array();
  for (const Piece &piece : pieces)
    list.push_back(describe(piece));
  return {{kPieces, list.dump()}};
}

Status readPieces(const std::map<std::string, std::string> &metadata,
                  const std::string &path, std::vector<Piece> &out) {
  auto text = metadata.find(kPieces);
  if (text == metadata.end())
    return {StatusCode::inputRejected,
            fmt::format("'{}': expected the metadata of a file of pieces, "
                        "found none",
                        path)};
  Json list;
  MTC_RETURN_IF_ERROR(parseJson(text->second, path, list));
  if (!list.is_array())
    return {StatusCode::inputRejected,
            fmt::format("'{}': expected a list of pieces, found {}", path,
                        list.type_name())};
  Problems problems;
  std::vector<Piece> pieces;
  for (size_t i = 0; i < list.size(); ++i)
    pieces.push_back(
        readPiece(FieldReader(list[i], fmt::format("piece {}", i), problems)));
  MTC_RETURN_IF_ERROR(problems.status("'" + path + "'"));
  out = std::move(pieces);
  return Status::okay();
}

} // namespace mtc::runtime
