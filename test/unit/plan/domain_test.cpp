//===- domain_test.cpp - how ops lie in a cluster's iteration space -------===//
#include "passes/plan/Domain.h"

#include "dialects/tfm/Tfm.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mtc;
using namespace mtc::passes;

namespace {

class DomainTest : public ::testing::Test {
protected:
  DomainTest() : b(&context) {
    DialectRegistry registry;
    families::registerFamilies(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<tfm::TfmDialect>();
    module = ModuleOp::create(b.getUnknownLoc());
    b.setInsertionPointToEnd(module->getBody());
  }
  Value value(ArrayRef<int64_t> shape) {
    return tfm::FillOp::create(b, loc,
                               RankedTensorType::get(shape, b.getF32Type()),
                               b.getF64FloatAttr(0));
  }
  bool place(Value result) {
    Operation *op = result.getDefiningOp();
    placement = {};
    auto rule = cast<families::FamilyOpInterface>(op).getShardingRule();
    if (!domain.place(op, rule, known, placement))
      return false;
    for (auto [v, map] : llvm::zip(op->getOperands(), placement.operands))
      known.try_emplace(v, map);
    for (auto [v, map] : llvm::zip(op->getResults(), placement.results))
      known[v] = map;
    return true;
  }
  Value broadcast(Value x, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
    return tfm::BroadcastOp::create(
        b, loc, RankedTensorType::get(shape, b.getF32Type()), x, dims);
  }
  Value reduce(Value x, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
    return tfm::ReduceOp::create(b, loc,
                                 RankedTensorType::get(shape, b.getF32Type()),
                                 tfm::ReduceKind::Sum, x, dims);
  }

  MLIRContext context;
  OpBuilder b;
  Location loc = UnknownLoc::get(&context);
  OwningOpRef<ModuleOp> module;
  Domain domain;
  llvm::DenseMap<Value, DimMap> known;
  Placement placement;
  int64_t extent = 0;
};

TEST_F(DomainTest, BiasIsAColumnOperand) {
  Value x = broadcast(value({6}), {2, 3, 6}, {2});
  ASSERT_TRUE(place(x));
  EXPECT_EQ(domain.rows(), 6);
  EXPECT_EQ(domain.cols(), 6);
  EXPECT_EQ(domain.mode(placement.operands[0], extent), rt::Mode::Col);
}

TEST_F(DomainTest, PositionsArePeriodicBesideARowReduction) {
  Value x = broadcast(value({3, 6}), {2, 3, 6}, {1, 2});
  ASSERT_TRUE(place(x));
  DimMap positions = placement.operands[0];
  ASSERT_TRUE(place(reduce(x, {2, 3}, {2})));
  EXPECT_EQ(domain.mode(positions, extent), rt::Mode::Periodic);
  EXPECT_EQ(extent, 3);
  EXPECT_FALSE(placement.accumulates);
}

TEST_F(DomainTest, SumOverRowsAccumulates) {
  Value x = value({2, 3, 6});
  Value sum = reduce(tfm::AddOp::create(b, loc, x.getType(), ValueRange{x, x}),
                     {6}, {0, 1});
  ASSERT_TRUE(place(sum.getDefiningOp()->getOperand(0)));
  ASSERT_TRUE(place(sum));
  EXPECT_TRUE(placement.accumulates);
  EXPECT_EQ(domain.mode(placement.results[0], extent), rt::Mode::Col);
}

TEST_F(DomainTest, TwoRowSplitsDoNotFitOneLoopNest) {
  Value x = value({2, 3, 6});
  ASSERT_TRUE(place(reduce(x, {2, 3}, {2})));
  EXPECT_FALSE(place(reduce(x, {2}, {1, 2})));
}

// [b, s] grows to [b, s, v] only as rows: a value of the small shape is then
// addressed by row, and a column operand of it could not be addressed at all.
TEST_F(DomainTest, GrowthMakesRowsOfWhatWasThere) {
  Value x = value({2, 3});
  Value e = tfm::ExpOp::create(b, loc, x.getType(), x);
  ASSERT_TRUE(place(e));
  DimMap small = placement.operands[0];
  Value z = value({2, 3, 4});
  ASSERT_TRUE(place(tfm::ExpOp::create(b, loc, z.getType(), z)));
  EXPECT_EQ(domain.rows(), 6);
  EXPECT_EQ(domain.mode(small, extent), rt::Mode::Row);
}

TEST_F(DomainTest, ColumnsForbidGrowth) {
  ASSERT_TRUE(place(broadcast(value({3}), {2, 3}, {1})));
  Value z = value({2, 3, 4});
  EXPECT_FALSE(place(tfm::ExpOp::create(b, loc, z.getType(), z)));
}

// All rows would write it.
TEST_F(DomainTest, AColumnOfManyRowsIsNoResult) {
  Value bias = value({6});
  ASSERT_TRUE(place(broadcast(bias, {2, 3, 6}, {2})));
  EXPECT_FALSE(place(tfm::ExpOp::create(b, loc, bias.getType(), bias)));
}

TEST_F(DomainTest, TheMaximumOfAllIsTheValueOfOneRow) {
  Value x = value({2, 3});
  Value max =
      tfm::ReduceOp::create(b, loc, RankedTensorType::get({}, b.getF32Type()),
                            tfm::ReduceKind::Max, x, ArrayRef<int64_t>{0, 1});
  ASSERT_TRUE(place(max));
  EXPECT_FALSE(placement.accumulates);
  EXPECT_EQ(domain.rows(), 1);
  EXPECT_EQ(domain.resultMode(placement.results[0], extent), rt::Mode::Row);
}

// Elements are numbered by the domain's rows and columns.
TEST_F(DomainTest, DropoutWantsTheDomainForItself) {
  Value small = value({2, 3}), large = value({2, 3, 4});
  Value at = value({});
  auto drop = [&](Value x) -> Value {
    return tfm::DropoutOp::create(
        b, loc, x.getType(), x, at, b.getF64FloatAttr(0.1),
        b.getI64IntegerAttr(0), b.getI64IntegerAttr(0));
  };
  ASSERT_TRUE(place(drop(small)));
  EXPECT_FALSE(place(tfm::ExpOp::create(b, loc, large.getType(), large)));
  domain = Domain();
  ASSERT_TRUE(place(broadcast(small, {2, 3, 4}, {0, 1})));
  EXPECT_FALSE(place(drop(small)));
}

// [s] is the end of [b, s], but neither end of [b, s, v].
TEST_F(DomainTest, ASumOverRowsForbidsGrowth) {
  ASSERT_TRUE(place(reduce(value({2, 3}), {3}, {0})));
  Value z = value({2, 3, 4});
  EXPECT_FALSE(place(tfm::ExpOp::create(b, loc, z.getType(), z)));
}

TEST_F(DomainTest, ASumOverSomeOfTheRowsDoesNotFit) {
  Value x = value({2, 3});
  ASSERT_TRUE(place(broadcast(x, {2, 3, 6}, {0, 1})));
  EXPECT_FALSE(place(reduce(x, {3}, {0})));
}

TEST_F(DomainTest, OtherShapesDoNotFit) {
  Value x = value({2, 3, 6}), y = value({2, 4, 6});
  ASSERT_TRUE(place(tfm::ExpOp::create(b, loc, x.getType(), x)));
  EXPECT_FALSE(place(tfm::ExpOp::create(b, loc, y.getType(), y)));
}

} // namespace
