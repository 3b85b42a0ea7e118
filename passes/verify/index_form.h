//===- index_form.h - integers as polynomials in digits ---------*- C++ -*-===//
//
// What a kernel computes of rows, columns and coordinates, in a form in which
// two ways to compute one number are equal. A variable is cut into digits of a
// mixed radix where a division needs it: with v < 32 and
//
//   v = 16·v2 + 2·v1 + v0, of which v0 < 2, v1 < 8, v2 < 2,
//
// v / 16 is v2 and v % 16 is 2·v1 + v0. A number is a sum of products of
// digits. A quotient that digits do not give is a digit of its own, the same
// for the same numbers: equal forms are always equal numbers, and different
// ones are different where no such digit is among them.
//
// Cuts are found on the way: compute everything, and again while `isCut` says
// that one was added.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_VERIFY_INDEX_FORM_H
#define MTC_PASSES_VERIFY_INDEX_FORM_H

#include "dialects/rt/Affine.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mtc::passes::verify {

/// What numbers are made of: those of rt.affine by their own numbers, the row
/// and the column of a kernel, and what it loads, by operand; and quotients,
/// which IndexForms numbers.
enum IndexVariable : unsigned {
  kRowIndex = rt::kVariables,
  kColIndex,
  kFirstLoaded,
  kFirstQuotient = 1u << 16,
};

/// A digit: a variable, or a quotient, and the number of
/// its cut, from the lowest on.
struct Digit {
  unsigned variable = 0, cut = 0;
  auto operator<=>(const Digit &) const = default;
};

/// Σ coefficient · Π digits. Without terms it is 0; no coefficient is.
using Polynomial = std::map<std::vector<Digit>, int64_t>;

/// Empty: nothing is known of the number, such as that it is too large.
using IndexForm = std::optional<Polynomial>;

class IndexForms {
public:
  /// Variable v is in [0, extent); 0 or none: anything from 0 on.
  void setExtent(unsigned variable, int64_t extent) {
    extents[variable] = extent;
  }

  /// Forgets what was computed, and keeps cuts; true if there are new ones
  /// since the last call.
  bool isCut();

  static IndexForm constant(int64_t n);
  IndexForm variable(unsigned v) const;
  IndexForm of(const rt::Affine &affine) const;
  static IndexForm add(const IndexForm &a, const IndexForm &b);
  static IndexForm sub(const IndexForm &a, const IndexForm &b);
  IndexForm mul(const IndexForm &a, const IndexForm &b) const;
  static IndexForm mul(const IndexForm &a, int64_t n);
  /// Of numbers that may be negative nothing is known; n > 0.
  IndexForm div(const IndexForm &a, int64_t n);
  IndexForm rem(const IndexForm &a, int64_t n);

  /// For people: "row/8 + 8·tp"; "a number that is not followed".
  std::string textOf(const IndexForm &form) const;

private:
  int64_t extentOf(const Digit &digit) const;
  /// The largest value of a product of digits.
  int64_t largest(const std::vector<Digit> &digits) const;
  std::optional<std::pair<Polynomial, Polynomial>> split(const Polynomial &a,
                                                         int64_t n);
  bool cut(const Digit &digit, int64_t at);
  IndexForm quotient(const Polynomial &a, int64_t n);
  std::string textOf(const Digit &digit) const;

  std::map<unsigned, int64_t> extents;
  std::map<unsigned, std::vector<int64_t>> cuts; ///< ascending weights above 1
  std::map<std::pair<Polynomial, int64_t>, unsigned> quotients;
  bool cutSince = false;
};

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_INDEX_FORM_H
