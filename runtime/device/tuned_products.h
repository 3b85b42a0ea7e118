//===- tuned_products.h - what tables of `mtc tune` share -------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_TUNED_PRODUCTS_H
#define MTC_RUNTIME_DEVICE_TUNED_PRODUCTS_H

#include "mtc/runtime/descriptor.h"
#include "runtime/base/json.h"
#include "runtime/base/status.h"

#include <string>
#include <vector>

namespace mtc::runtime {

/// What is taken in place of the usual choice takes less than this part of its
/// time: two runs of one differ by one or two hundredths.
inline constexpr double kClearlyFaster = 0.98;

/// The middle one; of an even number the upper one of the two. `times` has one
/// at least.
double median(std::vector<double> times);

/// Extents, transposes, types and whether it is added: of a product in a row of
/// a table. Other members of `out` stay.
void readProduct(FieldReader &row, GemmInfo &out);
/// The same, written.
Json productJson(const GemmInfo &product);

/// Errors: inputRejected, for a table of another form than is read.
Status checkTableForm(const std::string &file, int64_t expected, int64_t found);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DEVICE_TUNED_PRODUCTS_H
