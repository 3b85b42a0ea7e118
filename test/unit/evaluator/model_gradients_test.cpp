//===- model_gradients_test.cpp - differentiate on whole models -----------===//
#include "test/unit/evaluator/model.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;

namespace {

/// Central differences along unit directions: truncation kModelStep^2 times the
/// third derivative (measured below 1e2 here), cancellation
/// 2e-16·loss/kModelStep = 5e-11. Together below 1e-7; gradients along random
/// directions are 1e-3 to 1, so a lost or doubled term is off by 1e4 times the
/// tolerance.
constexpr double kModelStep = 1e-5, kModelTolerance = 1e-7;
constexpr int kDirections = 3;

eval::Tensor direction(Inputs &random, const eval::Shape &shape) {
  eval::Tensor d = random.reals(shape, -1.0, 1.0);
  double norm = 0;
  for (double v : d.reals)
    norm += v * v;
  for (double &v : d.reals)
    v /= std::sqrt(norm);
  return d;
}

double dot(const eval::Tensor &x, const eval::Tensor &y) {
  double sum = 0;
  for (size_t i = 0; i < x.reals.size(); ++i)
    sum += x.reals[i] * y.reals[i];
  return sum;
}

class ModelGradient : public testing::TestWithParam<Variant> {
protected:
  double loss(std::vector<eval::Tensor> inputs, unsigned i,
              const eval::Tensor &d, double step) {
    for (size_t k = 0; k < d.reals.size(); ++k)
      inputs[i].reals[k] += step * d.reals[k];
    auto results = eval::evaluateUnsharded(forward, inputs, stepBlock());
    return succeeded(results) ? (*results)[0].reals[0] : NAN;
  }
  func::FuncOp forward;
};

TEST_P(ModelGradient, OfEveryParameterEqualsCentralDifferences) {
  OwningOpRef<ModuleOp> plain = import(GetParam(), tinyStrategy());
  OwningOpRef<ModuleOp> trained = import(GetParam(), tinyStrategy());
  ASSERT_TRUE(differentiate(*trained));
  forward = microbatch(*plain);
  func::FuncOp both = microbatch(*trained);
  std::vector<eval::Tensor> inputs = modelInputs(forward, GetParam().spec);
  auto results = eval::evaluateUnsharded(both, inputs, stepBlock());
  ASSERT_TRUE(succeeded(results));
  EXPECT_EQ((*results)[0].reals[0],
            loss(inputs, 0, eval::Tensor(), 0)); // the forward is untouched
  auto gradients = gradientsByName(both, *results);
  Inputs random(17);
  for (unsigned i = 0; i < forward.getNumArguments(); ++i) {
    std::string name = parameterName(forward, i);
    if (name.empty())
      continue;
    ASSERT_TRUE(gradients.count(name)) << name;
    double largest = 0;
    for (int k = 0; k < kDirections; ++k) {
      eval::Tensor d = direction(random, inputs[i].shape);
      double numeric =
          (loss(inputs, i, d, kModelStep) - loss(inputs, i, d, -kModelStep)) /
          (2 * kModelStep);
      double analytic = dot(gradients[name], d);
      EXPECT_NEAR(analytic, numeric, kModelTolerance) << name;
      largest = std::max(largest, std::abs(analytic));
    }
    // Softmax does not see a constant added to all scores of a row: the key
    // bias has no gradient. All others must be visible.
    if (!StringRef(name).ends_with(".k.bias")) {
      EXPECT_GT(largest, 1e3 * kModelTolerance) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ModelGradient, testing::ValuesIn(variants()),
                         [](auto &info) { return info.param.name; });

/// Padded vocabulary entries take no probability (contract N7): their rows of
/// the table get no gradient, and their logits are -inf.
TEST(Padding, TakesNoGradient) {
  Variant tied = variants().front();
  OwningOpRef<ModuleOp> module = import(tied, tinyStrategy());
  ASSERT_TRUE(differentiate(*module));
  func::FuncOp fn = microbatch(*module);
  auto inputs = modelInputs(fn, tied.spec);
  auto results = eval::evaluateUnsharded(fn, inputs, stepBlock());
  ASSERT_TRUE(succeeded(results));
  eval::Tensor table = gradientsByName(fn, *results)["embed.tokens"];
  double real = 0;
  for (int64_t e = 0; e < tied.spec.hidden; ++e) {
    real += std::abs(table.at({0, e}));
    for (int64_t row = tied.spec.vocab; row < tied.spec.paddedVocab; ++row)
      EXPECT_EQ(table.at({row, e}), 0.0) << row;
  }
  EXPECT_GT(real, 0.0);
}

} // namespace
