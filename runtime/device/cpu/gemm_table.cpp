//===- gemm_table.cpp - which kernels of products are fastest -------------===//

#include "mtc/runtime/cpu_gemm_table.h"

#include "mtc/runtime/descriptor_fields.h"
#include "mtc/runtime/isa.h"
#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "runtime/base/messages.h"
#include "runtime/kernels/cpu/gemm_own.h"

#include <cmath>

#include <fmt/format.h>

namespace mtc::runtime {
namespace {

constexpr int64_t kFormat = 1;
constexpr const char *kFormatKey = "cpu_gemm_table";
constexpr Choice<GemmKernel> kKernels[] = {{GemmKernel::own, "own"},
                                           {GemmKernel::library, "onednn"}};

std::string_view nameOf(GemmKernel kernel) {
  return kernel == GemmKernel::library ? "onednn" : "own";
}

template <typename T, size_t N>
T readChoice(FieldReader &row, const char *key, const Choice<T> (&choices)[N]) {
  std::string name = row.line(key), names;
  for (const Choice<T> &choice : choices) {
    if (name == choice.name)
      return choice.value;
    names += (names.empty() ? "" : ", ") + std::string(choice.name);
  }
  row.problem(fmt::format("{}: expected one of {}, found '{}'", key, names,
                          printable(name)));
  return choices[0].value;
}

std::optional<double> readLibraryTime(FieldReader &row) {
  std::optional<double> time = row.numberOrNull("onednn_us");
  if (time && !(std::isfinite(*time) && *time >= 0))
    row.problem(fmt::format("onednn_us: expected microseconds or null, found "
                            "{}",
                            *time));
  return time;
}

constexpr std::string_view kTableKeys[] = {
    kFormatKey, "processor", "isa", "onednn", "own_kernels", "products"};
constexpr std::string_view kRowKeys[] = {
    "m",    "n",      "k",       "a_transposed", "b_transposed", "adds",
    "type", "result", "threads", "kernel",       "own_us",       "onednn_us"};

void readRow(FieldReader &row, CpuGemmTable &out) {
  row.rejectOthers(kRowKeys);
  CpuProduct product;
  product.m = row.integer("m", 1, kMany);
  product.n = row.integer("n", 1, kMany);
  product.k = row.integer("k", 1, kMany);
  product.ta = row.boolean("a_transposed");
  product.tb = row.boolean("b_transposed");
  product.adds = row.boolean("adds");
  product.ab = readChoice(row, "type", kDtypes);
  product.c = readChoice(row, "result", kDtypes);
  product.threads = row.integer("threads", 1, 1 << 16);
  TunedProduct tuned;
  tuned.kernel = readChoice(row, "kernel", kKernels);
  tuned.ownMicroseconds = row.amount("own_us");
  tuned.libraryMicroseconds = readLibraryTime(row);
  if (tuned.kernel == GemmKernel::library && !tuned.libraryMicroseconds)
    row.problem("kernel: expected own where oneDNN has no such product "
                "(onednn_us), found onednn");
  if (!out.rows.try_emplace(product, tuned).second)
    row.problem("expected each product once, found one again");
}

Json jsonOf(const CpuProduct &product, const TunedProduct &tuned) {
  Json library;
  if (tuned.libraryMicroseconds)
    library = *tuned.libraryMicroseconds;
  return {{"m", product.m},
          {"n", product.n},
          {"k", product.k},
          {"a_transposed", product.ta},
          {"b_transposed", product.tb},
          {"adds", product.adds},
          {"type", dtypeName(product.ab)},
          {"result", dtypeName(product.c)},
          {"threads", product.threads},
          {"kernel", nameOf(tuned.kernel)},
          {"own_us", tuned.ownMicroseconds},
          {"onednn_us", library}};
}

Status checkForm(const Json &json, const std::string &file) {
  if (json.is_object() && json.contains("gemm_table"))
    return {StatusCode::inputRejected,
            fmt::format("{}: expected a table of products of CPUs, found one "
                        "of GPUs, which `mtc run --gemm-table` reads",
                        file)};
  Problems problems;
  FieldReader reader(json, "", problems);
  int64_t format = reader.integer(kFormatKey, 0, INT64_MAX);
  if (!problems.empty())
    return problems.status(file +
                           ": expected a table of products of CPUs, as `mtc "
                           "tune` writes it");
  if (format == kFormat)
    return Status::okay();
  return {StatusCode::inputRejected,
          fmt::format("{}: expected a table of form {}, which this version of "
                      "mtc reads, found form {}; make it again by `mtc tune`",
                      file, kFormat, format)};
}

} // namespace

CpuProduct productOf(const GemmInfo &row, int64_t threads) {
  return {row.m,    row.n,  row.k, row.ta, row.tb,
          row.beta, row.ab, row.c, threads};
}

std::string describe(const CpuProduct &p) {
  std::string text = fmt::format("{} x {} x {}", p.m, p.n, p.k);
  if (p.ta)
    text += ", a transposed";
  if (p.tb)
    text += ", b transposed";
  if (p.adds)
    text += ", added";
  text += fmt::format(", {}", dtypeName(p.ab));
  if (p.c != p.ab)
    text += fmt::format(" into {}", dtypeName(p.c));
  return text +
         fmt::format(", {} thread{}", p.threads, p.threads == 1 ? "" : "s");
}

Status CpuGemmTable::check(const std::string &file, std::string_view thisIsa,
                           std::string_view thisLibrary) const {
  if (isa == thisIsa && library == thisLibrary && own == kOwnGemmVersion)
    return Status::okay();
  return {StatusCode::usage,
          fmt::format("{}: expected a table for {}, oneDNN {} and our kernels' "
                      "version {}, found one for {}, oneDNN {} and version {}; "
                      "make one by `mtc tune` of a bundle for {}",
                      file, thisIsa, thisLibrary, kOwnGemmVersion,
                      printable(isa), printable(library), own, thisIsa)};
}

Status readCpuGemmTable(const std::string &file, CpuGemmTable &out) {
  std::string text;
  Json json;
  MTC_RETURN_IF_ERROR(readWholeFile(file, text));
  MTC_RETURN_IF_ERROR(parseJson(text, file, json));
  MTC_RETURN_IF_ERROR(checkForm(json, file));
  Problems problems;
  FieldReader reader(json, "", problems);
  reader.rejectOthers(kTableKeys);
  out = {};
  out.processor = reader.line("processor");
  out.isa = reader.line("isa");
  out.library = reader.line("onednn");
  out.own = reader.integer("own_kernels", 0, INT64_MAX);
  for (FieldReader &row : reader.objects("products"))
    readRow(row, out);
  return problems.status(file);
}

std::string cpuGemmTableText(const CpuGemmTable &table) {
  Json products = Json::array();
  for (const auto &[product, tuned] : table.rows)
    products.push_back(jsonOf(product, tuned));
  Json json = {{kFormatKey, kFormat},      {"processor", table.processor},
               {"isa", table.isa},         {"onednn", table.library},
               {"own_kernels", table.own}, {"products", products}};
  return json.dump(1) + "\n";
}

} // namespace mtc::runtime
