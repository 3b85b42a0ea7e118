//===- tuned_products.cpp - what tables of `mtc tune` share ---------------===//

#include "runtime/device/tuned_products.h"

#include "runtime/base/choices.h"

#include <algorithm>

#include <fmt/format.h>

namespace mtc::runtime {

double median(std::vector<double> times) {
  auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

void readProduct(FieldReader &row, GemmInfo &out) {
  out.m = row.integer("m", 1, kMany);
  out.n = row.integer("n", 1, kMany);
  out.k = row.integer("k", 1, kMany);
  out.ta = row.boolean("a_transposed");
  out.tb = row.boolean("b_transposed");
  out.beta = row.boolean("adds");
  readChoice(row, "type", out.ab, kDtypes);
  readChoice(row, "result", out.c, kDtypes);
}

Json productJson(const GemmInfo &product) {
  return {{"m", product.m},
          {"n", product.n},
          {"k", product.k},
          {"a_transposed", product.ta},
          {"b_transposed", product.tb},
          {"adds", product.beta},
          {"type", dtypeName(product.ab)},
          {"result", dtypeName(product.c)}};
}

Status checkTableForm(const std::string &file, int64_t expected,
                      int64_t found) {
  if (found == expected)
    return Status::okay();
  return {StatusCode::inputRejected,
          fmt::format("{}: expected a table of form {}, which this version of "
                      "mtc reads, found form {}; make it again by `mtc tune`",
                      file, expected, found)};
}

} // namespace mtc::runtime
