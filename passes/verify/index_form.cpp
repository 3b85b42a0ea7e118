//===- index_form.cpp - integers as polynomials in digits -----------------===//
#include "passes/verify/index_form.h"

#include "passes/verify/model.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

namespace mtc::passes::verify {

/// What no number of digits reaches.
static constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();
/// Terms of a form; those of plans have a handful.
static constexpr size_t kMostTerms = 256;

bool IndexForms::isCut() {
  if (!std::exchange(cutSince, false))
    return false;
  quotients.clear(); // of numbers in other digits
  return true;
}

IndexForm IndexForms::constant(int64_t n) {
  Polynomial form;
  if (n != 0)
    form[{}] = n;
  return form;
}

IndexForm IndexForms::variable(unsigned v) const {
  Polynomial form;
  auto known = cuts.find(v);
  size_t digits = known == cuts.end() ? 1 : known->second.size() + 1;
  for (unsigned i = 0; i < digits; ++i)
    if (extentOf({v, i}) != 1) // else it is zero
      form[{Digit{v, i}}] = i == 0 ? 1 : known->second[i - 1];
  return form;
}

IndexForm IndexForms::of(const rt::Affine &affine) const {
  IndexForm sum = constant(affine.constant);
  for (unsigned v = 0; v < rt::kVariables; ++v)
    sum = add(sum, mul(variable(v), affine[v]));
  return sum;
}

IndexForm IndexForms::add(const IndexForm &a, const IndexForm &b) {
  if (!a || !b)
    return {};
  Polynomial sum = *a;
  for (const auto &[digits, factor] : *b) {
    int64_t &of = sum[digits];
    if (llvm::AddOverflow(of, factor, of))
      return {};
    if (of == 0)
      sum.erase(digits);
  }
  if (sum.size() > kMostTerms)
    return {};
  return sum;
}

IndexForm IndexForms::sub(const IndexForm &a, const IndexForm &b) {
  return add(a, mul(b, -1));
}

IndexForm IndexForms::mul(const IndexForm &a, int64_t n) {
  if (!a)
    return {};
  Polynomial product;
  for (const auto &[digits, factor] : *a)
    if (n != 0 && llvm::MulOverflow(factor, n, product[digits]))
      return {};
  return product;
}

IndexForm IndexForms::mul(const IndexForm &a, const IndexForm &b) const {
  if (!a || !b)
    return {};
  IndexForm sum = Polynomial();
  for (const auto &[digits, factor] : *a)
    for (const auto &[others, by] : *b) {
      std::vector<Digit> both = digits;
      both.insert(both.end(), others.begin(), others.end());
      std::sort(both.begin(), both.end());
      // A square is no sum of digits, but that of 0 or 1: forms would not be
      // unique any more.
      for (auto it = both.begin();
           (it = std::adjacent_find(it, both.end())) != both.end();) {
        if (extentOf(*it) != 2)
          return {};
        it = both.erase(it);
      }
      int64_t product;
      if (llvm::MulOverflow(factor, by, product))
        return {};
      sum = add(sum, Polynomial{{both, product}});
    }
  return sum;
}

int64_t IndexForms::extentOf(const Digit &digit) const {
  auto known = extents.find(digit.variable);
  int64_t all =
      known == extents.end() || known->second <= 0 ? kUnbounded : known->second;
  auto of = cuts.find(digit.variable);
  if (of == cuts.end())
    return all;
  int64_t below = digit.cut == 0 ? 1 : of->second[digit.cut - 1];
  if (digit.cut < of->second.size())
    return of->second[digit.cut] / below;
  return all == kUnbounded ? all : (all - 1) / below + 1;
}

int64_t IndexForms::largest(const std::vector<Digit> &digits) const {
  int64_t most = 1;
  for (const Digit &digit : digits) {
    int64_t extent = extentOf(digit);
    most = saturatingMul(most, extent == kUnbounded ? extent : extent - 1);
  }
  return most;
}

/// Cuts a variable where its digit reaches `at`; false if that fits no cut.
bool IndexForms::cut(const Digit &digit, int64_t at) {
  if (at <= 1 || at >= extentOf(digit))
    return false;
  std::vector<int64_t> &of = cuts[digit.variable];
  int64_t below = digit.cut == 0 ? 1 : of[digit.cut - 1];
  if (at > kUnbounded / below)
    return false;
  if (digit.cut < of.size() && of[digit.cut] % (below * at) != 0)
    return false;
  of.insert(of.begin() + digit.cut, below * at);
  cutSince = true;
  return true;
}

/// a = n·first + second, 0 <= second < n; none if digits do not tell.
std::optional<std::pair<Polynomial, Polynomial>>
IndexForms::split(const Polynomial &a, int64_t n) {
  Polynomial whole, rest;
  int64_t least = 0, most = 0; // of the whole, of the rest
  for (const auto &[digits, factor] : a) {
    int64_t part = factor / n;
    int64_t left = digits.empty() ? factor % n : factor;
    if (factor % n == 0)
      left = 0;
    else if (!digits.empty())
      part = 0;
    if (part != 0)
      whole[digits] = part;
    if (left != 0)
      rest[digits] = left;
    if (left < 0)
      return {};
    if (part < 0)
      least = saturatingAdd(least, saturatingMul(part, largest(digits)));
    else if (digits.empty())
      least = saturatingAdd(least, part);
    most = saturatingAdd(most, saturatingMul(left, largest(digits)));
  }
  if (least < 0)
    return {};
  if (most < n)
    return std::pair(whole, rest);
  for (const auto &[digits, factor] : rest)
    if (digits.size() == 1 && n % factor == 0 && cut(digits[0], n / factor))
      break;
  return {};
}

/// a / n as a digit of its own, of the least numbers that it is a quotient of.
IndexForm IndexForms::quotient(const Polynomial &a, int64_t n) {
  for (auto it = a.rbegin(); it != a.rend(); ++it)
    if (int64_t by = it->second; by > 1 && by < n && n % by == 0)
      if (auto parts = split(a, by))
        return quotient(parts->first, n / by);
  for (const auto &[digits, factor] : a)
    if (factor < 0)
      return {};
  unsigned next = kFirstQuotient + static_cast<unsigned>(quotients.size());
  return variable(quotients.try_emplace({a, n}, next).first->second);
}

IndexForm IndexForms::div(const IndexForm &a, int64_t n) {
  if (!a || n <= 0)
    return {};
  if (auto parts = split(*a, n))
    return parts->first;
  return quotient(*a, n);
}

IndexForm IndexForms::rem(const IndexForm &a, int64_t n) {
  if (!a || n <= 0)
    return {};
  if (auto parts = split(*a, n))
    return parts->second;
  return sub(a, mul(quotient(*a, n), n));
}

static std::string nameOf(unsigned variable) {
  if (variable < rt::kVariables)
    return std::string(rt::variableName(variable));
  if (variable == kRowIndex)
    return "row";
  if (variable == kColIndex)
    return "col";
  return "loaded" + std::to_string(variable - kFirstLoaded);
}

/// row/8%2: of the row over 8 the rest by 2.
std::string IndexForms::textOf(const Digit &digit) const {
  if (digit.variable >= kFirstQuotient) {
    for (const auto &[of, number] : quotients)
      if (number == digit.variable)
        return "((" + textOf(of.first) + ")/" + std::to_string(of.second) + ")";
    return "(a quotient)";
  }
  std::string text = nameOf(digit.variable);
  auto of = cuts.find(digit.variable);
  if (of == cuts.end())
    return text;
  int64_t below = digit.cut == 0 ? 1 : of->second[digit.cut - 1];
  if (below > 1)
    text += "/" + std::to_string(below);
  if (digit.cut < of->second.size())
    text += "%" + std::to_string(of->second[digit.cut] / below);
  return text;
}

std::string IndexForms::textOf(const IndexForm &form) const {
  if (!form)
    return "a number that is not followed";
  std::string text;
  for (const auto &[digits, factor] : *form) {
    bool isNegative = factor < 0;
    std::string number = std::to_string(factor).substr(isNegative);
    std::string term;
    for (const Digit &digit : digits)
      term += (term.empty() ? "" : "·") + textOf(digit);
    if (term.empty())
      term = number;
    else if (number != "1")
      term = number + "·" + term;
    text +=
        text.empty() ? (isNegative ? "-" : "") : (isNegative ? " - " : " + ");
    text += term;
  }
  return text.empty() ? "0" : text;
}

} // namespace mtc::passes::verify
