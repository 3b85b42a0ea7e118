//===- index_form_test.cpp - forms are the numbers that they stand for ----===//
#include "passes/verify/index_form.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

using namespace mtc;
using namespace mtc::passes::verify;

namespace {

constexpr int64_t kRows = 24, kCols = 16, kRanks = 4;

IndexForms formsOfTest() {
  IndexForms forms;
  forms.setExtent(kRowIndex, kRows);
  forms.setExtent(kColIndex, kCols);
  forms.setExtent(MTC_AXIS_TP, kRanks);
  forms.setExtent(MTC_AXIS_CP, 1);
  return forms;
}

/// What `compute` gives once no digit is cut any more.
IndexForm settled(IndexForms &forms,
                  const std::function<IndexForm()> &compute) {
  IndexForm form = compute();
  while (forms.isCut())
    form = compute();
  return form;
}

TEST(IndexForm, TwoWaysToOneNumberAreEqual) {
  IndexForms forms = formsOfTest();
  IndexForm difference = settled(forms, [&] {
    IndexForm element = forms.add(forms.mul(forms.variable(kRowIndex), kCols),
                                  forms.variable(kColIndex));
    // By row: of 3 samples of 8 rows; by element: of 3 samples of 128.
    IndexForm inSample = forms.rem(forms.variable(kRowIndex), 8);
    IndexForm byRow =
        forms.add(forms.mul(inSample, kCols), forms.variable(kColIndex));
    return forms.sub(byRow, forms.rem(element, 8 * kCols));
  });
  ASSERT_TRUE(difference);
  EXPECT_TRUE(difference->empty()) << forms.textOf(difference);
}

TEST(IndexForm, DigitsOfACoordinateAreCut) {
  IndexForms forms = formsOfTest();
  // Parts of 4 of pieces of 8: ranks 0 and 1 are in the first.
  IndexForm piece = settled(forms, [&] {
    IndexForm at = forms.add(forms.rem(forms.variable(kRowIndex), 4),
                             forms.mul(forms.variable(MTC_AXIS_TP), 4));
    return forms.div(at, 8);
  });
  EXPECT_EQ(forms.textOf(piece), "tp/2");
}

TEST(IndexForm, QuotientsThatDigitsDoNotGiveAreEqualIfTheirNumbersAre) {
  IndexForms forms = formsOfTest();
  auto quotient = [&](int64_t unit) {
    // Parts of 4 in pieces of 6, in units of one or of 16 elements.
    IndexForm at =
        forms.add(forms.mul(forms.variable(MTC_AXIS_TP), 4 * unit),
                  forms.mul(forms.rem(forms.variable(kRowIndex), 4), unit));
    if (unit > 1)
      at = forms.add(at, forms.variable(kColIndex));
    return forms.div(at, 6 * unit);
  };
  IndexForm difference =
      settled(forms, [&] { return forms.sub(quotient(1), quotient(kCols)); });
  ASSERT_TRUE(difference);
  EXPECT_TRUE(difference->empty()) << forms.textOf(difference);
}

TEST(IndexForm, ACarryIsNoDigit) {
  IndexForms forms = formsOfTest();
  IndexForm carry = settled(forms, [&] {
    return forms.div(forms.add(forms.rem(forms.variable(kRowIndex), 8),
                               IndexForms::constant(1)),
                     8);
  });
  EXPECT_NE(carry, IndexForms::constant(0)); // 1 where the row is 7 of 8
}

TEST(IndexForm, OnlyZeroAndOneAreTheirSquares) {
  IndexForms forms = formsOfTest();
  IndexForm half = settled(
      forms, [&] { return forms.div(forms.variable(kColIndex), kCols / 2); });
  EXPECT_EQ(forms.mul(half, half), half);
  IndexForm rank = forms.variable(MTC_AXIS_TP);
  EXPECT_FALSE(forms.mul(rank, rank));
}

TEST(IndexForm, WhatDoesNotExistIsZero) {
  IndexForms forms = formsOfTest();
  EXPECT_EQ(forms.variable(MTC_AXIS_CP), IndexForms::constant(0));
}

TEST(IndexForm, OfNegativeNumbersNoQuotientIsKnown) {
  IndexForms forms = formsOfTest();
  IndexForm below =
      forms.sub(forms.variable(kRowIndex), forms.variable(MTC_AXIS_TP));
  EXPECT_FALSE(forms.div(below, 2));
  EXPECT_FALSE(forms.rem(below, 2));
  EXPECT_FALSE(forms.div(forms.variable(kRowIndex), 0));
}

TEST(IndexForm, WhatIsTooLargeIsNotKnown) {
  IndexForm most = IndexForms::constant(INT64_MAX);
  EXPECT_FALSE(IndexForms::add(most, IndexForms::constant(1)));
  EXPECT_FALSE(IndexForms::mul(most, 2));
}

/// A random expression as a form and as a function of row, column and rank.
struct Expression {
  std::function<IndexForm()> form;
  std::function<int64_t(int64_t, int64_t, int64_t)> number;
};

class RandomExpressions {
public:
  RandomExpressions(IndexForms &forms, unsigned seed)
      : forms(forms), random(seed) {}

  Expression make(int depth) {
    int64_t kind = depth == 0 ? draw(4) : draw(8);
    if (kind == 0)
      return {[&] { return forms.variable(kRowIndex); },
              [](int64_t row, int64_t, int64_t) { return row; }};
    if (kind == 1)
      return {[&] { return forms.variable(kColIndex); },
              [](int64_t, int64_t col, int64_t) { return col; }};
    if (kind == 2)
      return {[&] { return forms.variable(MTC_AXIS_TP); },
              [](int64_t, int64_t, int64_t rank) { return rank; }};
    int64_t n = int64_t(1) << (1 + draw(4));
    if (draw(4) == 0)
      n = n * 3 / 2;
    if (kind == 3)
      return {[n] { return IndexForms::constant(n); },
              [n](int64_t, int64_t, int64_t) { return n; }};
    Expression a = make(depth - 1);
    if (kind == 4 || kind == 5) {
      Expression b = make(depth - 1);
      return {[=] { return IndexForms::add(a.form(), b.form()); },
              [=](int64_t r, int64_t c, int64_t t) {
                return a.number(r, c, t) + b.number(r, c, t);
              }};
    }
    if (kind == 6)
      return {[=, this] { return forms.div(a.form(), n); },
              [=](int64_t r, int64_t c, int64_t t) {
                return a.number(r, c, t) / n;
              }};
    return {[=, this] { return forms.rem(forms.mul(a.form(), 3), n); },
            [=](int64_t r, int64_t c, int64_t t) {
              return 3 * a.number(r, c, t) % n;
            }};
  }

private:
  int64_t draw(int64_t below) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(below));
  }

  IndexForms &forms;
  std::mt19937_64 random;
};

bool areEqual(const Expression &a, const Expression &b) {
  for (int64_t row = 0; row < kRows; ++row)
    for (int64_t col = 0; col < kCols; ++col)
      for (int64_t rank = 0; rank < kRanks; ++rank)
        if (a.number(row, col, rank) != b.number(row, col, rank))
          return false;
  return true;
}

/// Of pairs of small expressions many are equal, and most equal forms are of
/// different ways to one number.
TEST(IndexForm, EqualFormsAreEqualNumbers) {
  int64_t equal = 0, known = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    IndexForms forms = formsOfTest();
    RandomExpressions random(forms, seed);
    Expression a = random.make(3), b = random.make(2);
    IndexForm first, second;
    settled(forms, [&] {
      first = a.form();
      second = b.form();
      return first;
    });
    bool same = first && second && first == second;
    known += first && second;
    equal += same;
    if (same) {
      EXPECT_TRUE(areEqual(a, b)) << seed << ": " << forms.textOf(first);
    }
  }
  EXPECT_GT(known, 3000);
  EXPECT_GT(equal, 40);
}

} // namespace
