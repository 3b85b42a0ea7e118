//===- safetensors.cpp - the safetensors file format ----------------------===//

#include "runtime/base/safetensors.h"

#include "runtime/base/json.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtc::runtime {
namespace {

/// The limit of the reference reader.
constexpr int64_t kMaxHeader = 100'000'000;

Status reject(const std::string &path, const std::string &rule) {
  return {StatusCode::inputRejected,
          fmt::format("'{}' is not a safetensors file that can be read: {}",
                      path, rule)};
}

/// Product of the shape times the element size; false on overflow.
bool byteCount(const TensorInfo &tensor, int64_t &bytes) {
  bytes = safetensorsElementBytes(tensor.dtype);
  for (int64_t n : tensor.shape)
    if (__builtin_mul_overflow(bytes, n, &bytes))
      return false;
  return true;
}

void parseTensor(FieldReader reader, TensorInfo &out) {
  out.dtype = reader.text("dtype");
  out.shape = reader.integers("shape", 0);
  std::vector<int64_t> range = reader.integers("data_offsets", 0);
  if (safetensorsElementBytes(out.dtype) == 0)
    return reader.problem(fmt::format("unknown dtype '{}'", out.dtype));
  if (!byteCount(out, out.bytes))
    return reader.problem("the shape overflows 64 bits");
  if (range.size() != 2 || range[1] < range[0])
    return reader.problem(
        "data_offsets must be [begin, end] with begin <= end");
  out.begin = range[0];
  if (range[1] - range[0] != out.bytes)
    reader.problem(fmt::format("dtype and shape need {} bytes, offsets give {}",
                               out.bytes, range[1] - range[0]));
}

} // namespace

int64_t safetensorsElementBytes(const std::string &dtype) {
  static const std::map<std::string, int64_t> sizes = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1},
      {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},
      {"U32", 4},  {"F32", 4}, {"F64", 8}, {"I64", 8},     {"U64", 8}};
  auto it = sizes.find(dtype);
  return it == sizes.end() ? 0 : it->second;
}

Status SafetensorsFile::open(const std::string &path, SafetensorsFile &out) {
  SafetensorsFile file;
  MTC_RETURN_IF_ERROR(InputFile::open(path, file.file_));
  MTC_RETURN_IF_ERROR(file.parse(path));
  MTC_RETURN_IF_ERROR(file.checkCover(path));
  out = std::move(file);
  return Status::okay();
}

Status SafetensorsFile::parse(const std::string &path) {
  if (file_.size() < 8)
    return reject(path, "expected at least 8 bytes of header length");
  uint64_t length;
  MTC_RETURN_IF_ERROR(file_.read(0, &length, 8));
  if (length > static_cast<uint64_t>(kMaxHeader))
    return reject(path, fmt::format("the header length {} is above {}", length,
                                    kMaxHeader));
  if (static_cast<int64_t>(length) > file_.size() - 8)
    return reject(path, fmt::format("the header of {} bytes is longer than the "
                                    "file",
                                    length));
  std::string text(length, '\0');
  MTC_RETURN_IF_ERROR(file_.read(8, text.data(), text.size()));
  if (text.empty() || text.front() != '{')
    return reject(path, "the header must begin with '{'");
  Json header;
  MTC_RETURN_IF_ERROR(parseJson(text, "'" + path + "'", header));
  dataStart_ = 8 + static_cast<int64_t>(length);
  Problems problems;
  for (const auto &[name, value] : header.items()) {
    if (name == "__metadata__") {
      FieldReader reader(value, name, problems);
      if (value.is_object())
        for (const auto &[key, item] : value.items())
          metadata_[key] = reader.text(key.c_str());
      continue;
    }
    TensorInfo tensor;
    tensor.name = name;
    parseTensor(FieldReader(value, name, problems), tensor);
    tensors_.push_back(std::move(tensor));
  }
  return problems.status("'" + path + "'");
}

Status SafetensorsFile::checkCover(const std::string &path) {
  std::stable_sort(tensors_.begin(), tensors_.end(),
                   [](const TensorInfo &a, const TensorInfo &b) {
                     return std::pair(a.begin, a.bytes) <
                            std::pair(b.begin, b.bytes);
                   });
  int64_t at = 0;
  for (const TensorInfo &tensor : tensors_) {
    if (tensor.begin != at)
      return reject(path, fmt::format("tensor '{}' begins at byte {}, expected "
                                      "{} (no hole, no overlap)",
                                      tensor.name, tensor.begin, at));
    if (__builtin_add_overflow(at, tensor.bytes, &at))
      return reject(path, "the data offsets overflow 64 bits");
    index_[tensor.name] = &tensor - tensors_.data();
  }
  if (at != file_.size() - dataStart_)
    return reject(path, fmt::format("the tensors need {} bytes of data, found "
                                    "{}",
                                    at, file_.size() - dataStart_));
  return Status::okay();
}

const TensorInfo *SafetensorsFile::find(const std::string &name) const {
  auto it = index_.find(name);
  return it == index_.end() ? nullptr : &tensors_[it->second];
}

Status SafetensorsWriter::create(
    const std::string &path, std::vector<TensorInfo> tensors,
    const std::map<std::string, std::string> &metadata, SafetensorsWriter &out,
    const std::string &meanwhile) {
  SafetensorsWriter writer;
  std::sort(tensors.begin(), tensors.end(),
            [](const TensorInfo &a, const TensorInfo &b) {
              return std::pair(-safetensorsElementBytes(a.dtype), a.name) <
                     std::pair(-safetensorsElementBytes(b.dtype), b.name);
            });
  Json header = Json::object();
  if (!metadata.empty())
    header["__metadata__"] = metadata;
  for (TensorInfo &tensor : tensors) {
    if (!byteCount(tensor, tensor.bytes) || header.contains(tensor.name))
      return {StatusCode::internal,
              fmt::format("tensor '{}' is declared twice or too large",
                          tensor.name)};
    tensor.begin = writer.dataBytes_;
    writer.dataBytes_ += tensor.bytes;
    header[tensor.name] = {{"dtype", tensor.dtype},
                           {"shape", tensor.shape},
                           {"data_offsets", {tensor.begin, writer.dataBytes_}}};
    writer.tensors_[tensor.name] = tensor;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  uint64_t length = text.size();
  writer.header_.assign(reinterpret_cast<const char *>(&length), 8);
  writer.header_ += text;
  writer.dataStart_ = static_cast<int64_t>(writer.header_.size());
  MTC_RETURN_IF_ERROR(AtomicFile::create(path, writer.file_, meanwhile));
  MTC_RETURN_IF_ERROR(
      writer.file_.reserve(writer.dataStart_ + writer.dataBytes_));
  MTC_RETURN_IF_ERROR(
      writer.file_.write(0, writer.header_.data(), writer.dataStart_));
  out = std::move(writer);
  return Status::okay();
}

Status SafetensorsWriter::write(const std::string &name, int64_t offset,
                                const void *data, int64_t bytes) {
  auto it = tensors_.find(name);
  if (it == tensors_.end() || offset < 0 || bytes > it->second.bytes - offset)
    return {
        StatusCode::internal,
        fmt::format("write outside tensor '{}' of a safetensors file", name)};
  int64_t at = dataStart_ + it->second.begin + offset;
  MTC_RETURN_IF_ERROR(file_.write(at, data, bytes));
  if (!sums_)
    return Status::okay();
  if (at != summed_)
    return {
        StatusCode::internal,
        fmt::format("tensor '{}' of a safetensors file is out of order", name)};
  summed_ += bytes;
  sums_->add({static_cast<const char *>(data), static_cast<size_t>(bytes)});
  return Status::okay();
}

void SafetensorsWriter::sumUp(SumsOfWrites &sums) {
  sums_ = &sums;
  sums_->add(header_);
  summed_ = dataStart_;
}

Status SafetensorsWriter::commit(NameSync names) { return file_.commit(names); }

} // namespace mtc::runtime
