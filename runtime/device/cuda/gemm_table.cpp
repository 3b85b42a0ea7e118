//===- gemm_table.cpp - algorithms that `mtc tune` chose ------------------===//

#include "runtime/device/cuda/gemm_table.h"

#include "runtime/base/file.h"
#include "runtime/base/messages.h"
#include "runtime/device/cuda/version.h"
#include "runtime/device/tuned_products.h"

#include <optional>

#include <fmt/format.h>

using mtc::runtime::EpilogueInfo;
using mtc::runtime::FieldReader;
using mtc::runtime::GemmInfo;
using mtc::runtime::Json;
using mtc::runtime::Problems;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::cuda {
namespace {

/// 2: rows say what is done to sums before they are rounded.
constexpr int64_t kFormat = 2;
constexpr int64_t kMost = INT64_MAX;

std::string hexOf(const MatmulAlgo &algorithm) {
  std::string text;
  for (uint64_t word : algorithm.data)
    text += fmt::format("{:016x}", word);
  return text;
}

/// Empty: no such text.
std::optional<MatmulAlgo> algorithmOf(const std::string &hex) {
  MatmulAlgo out{};
  if (hex.size() != 16 * std::size(out.data) ||
      hex.find_first_not_of("0123456789abcdef") != std::string::npos)
    return std::nullopt;
  for (size_t i = 0; i < std::size(out.data); ++i)
    out.data[i] = std::stoull(hex.substr(16 * i, 16), nullptr, 16);
  return out;
}

void readRow(FieldReader &row, GemmTable &out) {
  GemmInfo key;
  runtime::readProduct(row, key);
  key.scratch = row.integer("scratch", 0, kMost);
  const EpilogueInfo epilogue = {row.boolean("bias"), row.boolean("gelu"),
                                 row.boolean("aux")};
  if (epilogue != EpilogueInfo())
    key.epilogue = epilogue;
  TunedGemm tuned;
  tuned.microseconds = row.amount("us");
  tuned.firstMicroseconds = row.amount("first_us");
  std::optional<MatmulAlgo> algorithm = algorithmOf(row.line("algorithm"));
  if (!algorithm)
    row.problem("algorithm: expected 128 digits of base 16");
  else
    tuned.algorithm = *algorithm;
  if (!out.rows.try_emplace(key, tuned).second)
    row.problem("expected each product once, found one again");
}

Json jsonOf(const GemmInfo &row, const TunedGemm &tuned) {
  const EpilogueInfo epilogue = row.epilogue.value_or(EpilogueInfo());
  Json json = runtime::productJson(row);
  json["scratch"] = row.scratch;
  json["bias"] = epilogue.bias;
  json["gelu"] = epilogue.gelu;
  json["aux"] = epilogue.aux;
  json["us"] = tuned.microseconds;
  json["first_us"] = tuned.firstMicroseconds;
  json["algorithm"] = hexOf(tuned.algorithm);
  return json;
}

} // namespace

Status GemmTable::check(const std::string &file, const std::string &thisGpu,
                        int64_t thisLibrary) const {
  if (gpu == thisGpu && library == thisLibrary)
    return Status::okay();
  return {StatusCode::usage,
          fmt::format("{}: expected a table for {} and cuBLASLt {}, found one "
                      "for {} and {}; make one here by `mtc tune`",
                      file, thisGpu, versionName(thisLibrary),
                      runtime::printable(gpu), versionName(library))};
}

Status readGemmTable(const std::string &file, GemmTable &out) {
  std::string text;
  Json json;
  MTC_RETURN_IF_ERROR(runtime::readWholeFile(file, text));
  MTC_RETURN_IF_ERROR(runtime::parseJson(text, file, json));
  Problems problems;
  FieldReader reader(json, "", problems);
  out = {};
  const int64_t format = reader.integer("gemm_table", 0, kMost);
  if (problems.empty())
    MTC_RETURN_IF_ERROR(runtime::checkTableForm(file, kFormat, format));
  out.gpu = reader.line("gpu");
  out.library = reader.integer("cublaslt", 0, kMost);
  for (FieldReader &row : reader.objects("products"))
    readRow(row, out);
  return problems.status(file);
}

Json gemmTableJson(const GemmTable &table) {
  Json products = Json::array();
  for (const auto &[row, tuned] : table.rows)
    products.push_back(jsonOf(row, tuned));
  return {{"gemm_table", kFormat},
          {"gpu", table.gpu},
          {"cublaslt", table.library},
          {"products", products}};
}

std::string gemmTableText(const GemmTable &table) {
  return gemmTableJson(table).dump(1) + "\n";
}

} // namespace mtc::cuda
