//===- other_data_test.cpp - sets of data of a case -----------------------===//
#include "other_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

using namespace mtc::test;

namespace {

/// Floats 1 to 64 and one NaN, rows of a table, and three arguments.
KernelCase someCase() {
  KernelCase c;
  c.args = {11, 12, 13, 1003};
  c.fields = 3;
  CaseOperand floats, rows;
  floats.element = "f32", rows.element = "i32";
  floats.count = rows.count = 65;
  for (int i = 0; i < 65; ++i) {
    float x = i == 7 ? NAN : static_cast<float>(i);
    int32_t row = 1;
    floats.before.resize(floats.before.size() + 4);
    std::memcpy(floats.before.data() + 4 * i, &x, 4);
    rows.before.resize(rows.before.size() + 4);
    std::memcpy(rows.before.data() + 4 * i, &row, 4);
  }
  floats.expected.assign(65, 0), floats.tolerance.assign(65, 0);
  c.operands = {floats, rows};
  return c;
}

/// What `often` sets of a kind have of an operand.
std::set<double> valuesOf(DataKind kind, size_t operand, int often) {
  std::mt19937 rng(3);
  std::set<double> values;
  for (int k = 0; k < often; ++k) {
    KernelCase c = withOtherData(someCase(), kind, rng);
    const CaseOperand &o = c.operands[operand];
    for (uint64_t i = 0; i < o.count; ++i)
      if (double x = valueAt(o.element, o.before, i); !std::isnan(x))
        values.insert(x);
  }
  return values;
}

} // namespace

TEST(OtherData, KeepsShapesAndWhatIsUnset) {
  for (int kind = 0; kind < kDataKinds; ++kind) {
    std::mt19937 rng(1);
    KernelCase c = withOtherData(someCase(), static_cast<DataKind>(kind), rng);
    int unset = 0;
    for (uint64_t i = 0; i < 65; ++i)
      unset += std::isnan(valueAt("f32", c.operands[0].before, i));
    EXPECT_GE(unset, 1) << kind;
    EXPECT_EQ(c.operands[0].before.size(), 4u * 65) << kind;
    EXPECT_TRUE(c.operands[0].expected.empty()) << kind;
    EXPECT_EQ(c.args[3], 1003) << "the columns, kind " << kind;
  }
}

TEST(OtherData, HasFractionsTiesRowsAndArgumentsWithoutMemory) {
  // Numbers of 8 bits are a small part of those of 24.
  int long_ = 0;
  auto precise = valuesOf(DataKind::precise, 0, 1);
  for (double x : precise)
    long_ += std::ldexp(x, 8) != std::floor(std::ldexp(x, 8));
  EXPECT_GT(long_, 50);
  EXPECT_LE(valuesOf(DataKind::few, 0, 1).size(), 4u);
  auto rows = valuesOf(DataKind::precise, 1, 20);
  for (double row :
       {-1.0, 0.0, 1.0, 2.0, 8.0, double(std::numeric_limits<int32_t>::min())})
    EXPECT_TRUE(rows.contains(row)) << row;
  std::mt19937 rng(5);
  int bare = 0;
  for (int k = 0; k < 100; ++k) {
    KernelCase c = withOtherData(someCase(), DataKind::wide, rng);
    bare += c.bare;
    EXPECT_EQ(fieldOf(c, 0), c.bare ? 0 : 1000);
  }
  EXPECT_GT(bare, 5);
  EXPECT_LT(bare, 60);
}
