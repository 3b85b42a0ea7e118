//===- loss_scaler_test.cpp - the rule of the loss scale ------------------===//

#include "runtime/train/loss_scaler.h"

#include "temporary_folder.h"

#include <gtest/gtest.h>

namespace mtc::runtime::test {
namespace {

Recipe recipeOf(double first, double least, int64_t window,
                int64_t hysteresis) {
  Recipe recipe;
  recipe.initial_loss_scale = first;
  recipe.min_loss_scale = least;
  recipe.loss_scale_window = window;
  recipe.hysteresis = hysteresis;
  return recipe;
}

/// By hand: x, an overflow, or a step without one, and the scale behind it.
struct Event {
  char step;
  double scale;
};

void expectEvents(LossScaler scaler, std::initializer_list<Event> events) {
  for (int at = 1; const Event &event : events) {
    scaler.update(event.step != 'x');
    EXPECT_EQ(scaler.scale(), event.scale) << "step " << at;
    ++at;
  }
}

TEST(LossScaler, FollowsEventsByHand) {
  // Hysteresis 2: the first overflow costs nothing, each further one a half.
  // Window 3: three in a row double, and only then two are free again.
  expectEvents(LossScaler(recipeOf(64, 1, 3, 2), true), {{'x', 64},
                                                         {'x', 32},
                                                         {'x', 16},
                                                         {'.', 16},
                                                         {'.', 16},
                                                         {'x', 8},
                                                         {'.', 8},
                                                         {'.', 8},
                                                         {'.', 16},
                                                         {'x', 16},
                                                         {'.', 16},
                                                         {'x', 8},
                                                         {'.', 8}});
  // Never below the least one.
  expectEvents(LossScaler(recipeOf(4, 3, 3, 1), true), {{'x', 3}, {'x', 3}});
}

TEST(LossScaler, CountsOverflowsThatNoLowerScaleCanFollow) {
  LossScaler scaler(recipeOf(4, 1, 3, 1), true);
  for (int64_t stuck : {0, 0, 1, 2, 3}) { // from 4, from 2, then from 1
    scaler.update(false);
    EXPECT_EQ(scaler.stuck(), stuck);
  }
  EXPECT_EQ(
      scaler.stuckText(5, 2),
      "step 5: the last 3 steps were skipped, and the loss scale 1 is the "
      "least one: nothing is trained until a step is finite; give a lower "
      "--min-loss-scale, or compile with --dtype bf16");
  scaler.update(true);
  EXPECT_EQ(scaler.stuck(), 0);
  Recipe recipe;
  recipe.loss_scale = 8;
  LossScaler constant(recipe, true);
  constant.update(false);
  EXPECT_EQ(constant.stuck(), 1);
}

TEST(LossScaler, DefaultsAreMegatrons) {
  LossScaler scaler(Recipe(), true);
  EXPECT_EQ(scaler.scale(), 4294967296.0f);
  EXPECT_EQ(scaler.state()->hysteresisTracker, 2);
  for (int step = 0; step < 999; ++step)
    scaler.update(true);
  EXPECT_EQ(scaler.scale(), 4294967296.0f);
  scaler.update(true);
  EXPECT_EQ(scaler.scale(), 8589934592.0f);
}

TEST(LossScaler, IsMegatronCores) {
  Json cases = Json::parse(readFile(MTC_GOLDEN_DIR "/loss_scale/scales.json"));
  ASSERT_EQ(cases.size(), 40u);
  for (const Json &each : cases) {
    LossScaler scaler(recipeOf(each["initial_loss_scale"],
                               each["min_loss_scale"],
                               each["loss_scale_window"], each["hysteresis"]),
                      true);
    std::string steps = each["steps"];
    auto scales = each["scales"].get<std::vector<double>>();
    ASSERT_EQ(scales.size(), steps.size() + 1);
    for (size_t i = 0; i < steps.size(); ++i) {
      ASSERT_EQ(scaler.scale(), scales[i]) << each.dump() << " step " << i;
      // Whoever goes on in the middle goes on with the same.
      LossScaler other(Recipe(), true);
      other.resume(*scaler.state());
      ASSERT_EQ(other.state(), scaler.state());
      scaler.update(steps[i] == '.');
    }
    EXPECT_EQ(scaler.scale(), scales.back());
  }
}

TEST(LossScaler, AConstantOneStays) {
  Recipe recipe;
  recipe.loss_scale = 1024;
  LossScaler scaler(recipe, true);
  scaler.resume({64, 1, 1});
  for (bool finite : {true, false, false, false})
    scaler.update(finite);
  EXPECT_EQ(scaler.scale(), 1024);
  EXPECT_FALSE(scaler.state());
}

TEST(LossScaler, IsOneWhereTheProgramDoesNotScale) {
  LossScaler scaler(Recipe(), false);
  scaler.resume({64, 1, 1});
  EXPECT_EQ(scaler.scale(), 1);
  EXPECT_FALSE(scaler.state());
  MtcStepOrder order{};
  scaler.fill(order);
  EXPECT_EQ(order.block.loss_scale, 1);
  EXPECT_EQ(order.block.inv_loss_scale, 1);
  EXPECT_EQ(order.scale_rule.scales, 0);
}

TEST(LossScaler, StaysInsideFp32) {
  LossScaler scaler(recipeOf(0x1p126, 1, 1, 1), true);
  scaler.update(true);
  EXPECT_EQ(scaler.scale(), 0x1p127f);
  scaler.update(true);
  EXPECT_EQ(scaler.scale(), 0x1p127f);
}

} // namespace
} // namespace mtc::runtime::test
