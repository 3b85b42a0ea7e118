//===- gemm_table.cpp - which kernels of products are fastest -------------===//

#include "mtc/runtime/cpu_gemm_table.h"

#include "mtc/runtime/isa.h"
#include "runtime/base/choices.h"
#include "runtime/base/file.h"
#include "runtime/base/messages.h"
#include "runtime/device/tuned_products.h"
#include "runtime/kernels/cpu/gemm_own.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtc::runtime {
namespace {

constexpr int64_t kFormat = 1;
constexpr const char *kFormatKey = "cpu_gemm_table";
constexpr Choice<GemmKernel> kKernels[] = {
    {GemmKernel::own, "own"},
    {GemmKernel::library, "onednn"},
    {GemmKernel::innerProduct, "inner_product"}};

/// Null or no such key where it was not measured, which older tables lack.
std::optional<double> amountIfAny(FieldReader &row, const char *key) {
  return row.has(key) ? row.amountOrNull(key) : std::nullopt;
}

std::optional<PackedTimes> readPacked(FieldReader &row) {
  auto product = amountIfAny(row, "packed_us");
  auto pack = amountIfAny(row, "pack_us");
  if (product && pack)
    return PackedTimes{*product, *pack};
  if (product || pack)
    row.problem(fmt::format(
        "expected packed_us and pack_us, or neither, found {} alone; give both "
        "a time, or make the table again by `mtc tune`",
        product ? "packed_us" : "pack_us"));
  return std::nullopt;
}

void readRow(FieldReader &row, CpuGemmTable &out) {
  GemmInfo info;
  readProduct(row, info);
  CpuProduct product = productOf(info, row.integer("threads", 1, 1 << 16));
  TunedProduct tuned;
  readChoice(row, "kernel", tuned.kernel, kKernels);
  tuned.ownMicroseconds = row.amount("own_us");
  tuned.libraryMicroseconds = row.amountOrNull("onednn_us");
  tuned.innerMicroseconds = amountIfAny(row, "inner_product_us");
  tuned.packed = readPacked(row);
  row.rejectUnread();
  if (!tuned.microseconds(tuned.kernel))
    row.problem(fmt::format("kernel: expected own where oneDNN has no such "
                            "product ({0}_us), found {0}",
                            nameOf(tuned.kernel)));
  if (!out.rows.try_emplace(product, tuned).second)
    row.problem("expected each product once, found one again");
}

Json orNull(const std::optional<double> &amount) {
  return amount ? Json(*amount) : Json();
}

Json jsonOf(const CpuProduct &p, const TunedProduct &tuned) {
  Json json = productJson({p.m, p.n, p.k, p.ta, p.tb, p.adds, p.ab, p.c});
  json["threads"] = p.threads;
  json["kernel"] = nameOf(tuned.kernel);
  json["own_us"] = tuned.ownMicroseconds;
  json["onednn_us"] = orNull(tuned.libraryMicroseconds);
  json["inner_product_us"] = orNull(tuned.innerMicroseconds);
  json["packed_us"] = tuned.packed ? Json(tuned.packed->product) : Json();
  json["pack_us"] = tuned.packed ? Json(tuned.packed->pack) : Json();
  return json;
}

/// Whether it is a table of this kind and form at all.
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
  return checkTableForm(file, kFormat, format);
}

} // namespace

std::string_view nameOf(GemmKernel kernel) {
  return std::ranges::find(kKernels, kernel, &Choice<GemmKernel>::value)->name;
}

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

std::optional<double> TunedProduct::microseconds(GemmKernel by) const {
  switch (by) {
  case GemmKernel::library:
    return libraryMicroseconds;
  case GemmKernel::innerProduct:
    return innerMicroseconds;
  default:
    return ownMicroseconds;
  }
}

std::optional<bool> TunedProduct::packingPays(int64_t calls,
                                              GemmKernel otherwise) const {
  if (!packed)
    return std::nullopt;
  const double other = microseconds(otherwise).value_or(ownMicroseconds);
  return packed->pack + double(calls) * packed->product <
         kClearlyFaster * double(calls) * other;
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
  out = {};
  (void)reader.integer(kFormatKey, 0, INT64_MAX); // checkForm has looked
  out.processor = reader.line("processor");
  out.isa = reader.line("isa");
  out.library = reader.line("onednn");
  out.own = reader.integer("own_kernels", 0, INT64_MAX);
  for (FieldReader &row : reader.objects("products"))
    readRow(row, out);
  reader.rejectUnread();
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
