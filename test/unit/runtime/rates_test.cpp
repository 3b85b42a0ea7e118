//===- rates_test.cpp - learning rates and decays, against Megatron-Core's ===//

#include "mtc/runtime/recipe_fields.h"
#include "mtc/runtime/run.h"
#include "runtime/train/curves.h"
#include "runtime/train/param_groups.h"
#include "runtime/train/rates.h"
#include "runtime/train/schedule.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>

namespace mtc::runtime::test {
namespace {

using Json = nlohmann::json;

TEST(Curves, AreThoseOfTheCLibrary) {
  // The bound of the header; libm's are exact to less than 1e-16 here.
  for (int i = 0; i <= 1000; ++i) {
    EXPECT_NEAR(cosPi(i / 1000.0), std::cos(M_PI * (i / 1000.0)), 1e-15);
    EXPECT_NEAR(halfToThe(i / 1000.0), std::exp2(-i / 1000.0), 1e-15);
  }
  EXPECT_EQ(cosPi(0), 1);
  EXPECT_EQ(cosPi(1), -1);
  EXPECT_EQ(halfToThe(0), 1);
}

const RecipeField &fieldOf(const std::string &key) {
  for (const RecipeField &field : recipeFields())
    if (field.key == key)
      return field;
  ADD_FAILURE() << "no key " << key;
  return recipeFields().front();
}

void set(Recipe &recipe, const std::string &key, const Json &value) {
  std::string text =
      value.is_string() ? value.get<std::string>() : value.dump();
  EXPECT_TRUE(setField(fieldOf(key), text, recipe)) << key << " " << text;
}

Json readGolden() {
  std::ifstream file(MTC_GOLDEN_DIR "/optimizers/rates.json");
  return Json::parse(file);
}

/// The recipe of a golden, with its phases in samples of `batch` if that is not
/// 0.
Recipe recipeOf(const Json &golden, int64_t batch) {
  Recipe recipe;
  for (auto &[key, value] : golden["recipe"].items()) {
    size_t steps = key.find("_steps");
    if (batch == 0 || (steps == key.npos && key != "steps"))
      set(recipe, key, value);
    else
      set(recipe,
          steps == key.npos ? "samples" : key.substr(0, steps) + "_samples",
          value.get<int64_t>() * batch);
  }
  return recipe;
}

/// All steps of a golden, whose values are of n = 0, 1, ... steps.
void check(const Json &golden, const Recipe &recipe, int64_t batch) {
  ASSERT_TRUE(checkRecipe(recipe).ok()) << checkRecipe(recipe).message();
  int64_t steps = golden["recipe"]["steps"];
  Rates rates(recipe, steps * batch);
  for (int64_t step = 1; step <= steps; ++step) {
    int64_t of = recipe.lr_at == "end" ? step : step - 1;
    double n = rates.at({step, (step - 1) * batch, batch});
    double lr = golden["lr"][of], decay = golden["weight_decay"][of];
    // A few roundings of doubles, of values that subtractions may have made.
    EXPECT_NEAR(rates.learningRate(n), lr, 1e-14 * recipe.lr)
        << "step " << step;
    EXPECT_NEAR(rates.weightDecay(n), decay, 1e-14) << "step " << step;
  }
}

TEST(Rates, AreThoseOfMegatronCore) {
  Json goldens = readGolden();
  int64_t batch = goldens["batch"];
  EXPECT_EQ(goldens["recipes"].size(), 13u);
  for (auto &[name, golden] : goldens["recipes"].items())
    for (bool inSamples : {false, true})
      for (const char *at : {"end", "start"}) {
        SCOPED_TRACE(name + (inSamples ? " in samples, " : " in steps, ") + at);
        Recipe recipe = recipeOf(golden, inSamples ? batch : 0);
        recipe.lr_at = at;
        EXPECT_EQ(recipe.countsSamples(), inSamples);
        check(golden, recipe, batch);
      }
}

TEST(Rates, StayBehindTheLastStep) {
  Recipe r;
  r.steps = 110;
  r.warmup_steps = 10;
  r.lr = 1;
  r.min_lr = 0.1;
  Rates rates(r, 0);
  EXPECT_DOUBLE_EQ(rates.learningRate(10), 1);
  EXPECT_DOUBLE_EQ(rates.learningRate(110), 0.1);
  EXPECT_DOUBLE_EQ(rates.learningRate(5000), 0.1);
  r.weight_decay_ramp = "linear";
  EXPECT_DOUBLE_EQ(Rates(r, 0).weightDecay(55), 0.05);
  EXPECT_DOUBLE_EQ(Rates(r, 0).weightDecay(5000), 0.1);
}

/// A step counts with the samples that it has, large or small.
TEST(Rates, CountTheSamplesOfAStep) {
  Recipe r;
  r.warmup_samples = 100;
  r.lr = 1;
  Rates rates(r, 1000);
  EXPECT_EQ(rates.at({3, 20, 10}), 30);
  EXPECT_EQ(rates.at({3, 20, 80}), 100);
  EXPECT_DOUBLE_EQ(rates.learningRate(rates.at({3, 20, 10})), 0.3);
  r.lr_at = "start";
  EXPECT_EQ(Rates(r, 1000).at({3, 20, 80}), 20);
  r.warmup_samples = 0;
  EXPECT_EQ(Rates(r, 1000).at({3, 20, 80}), 2);
}

TEST(ParamGroups, HaveRatesAndDecaysOfTheirOwn) {
  Recipe r;
  r.steps = 10;
  r.lr = 1;
  r.min_lr = 0.5;
  r.decay = "linear";
  std::vector<ParamGroup> groups;
  Status status = parseGroups("b: lr 0.2, min_lr 0.1 , weight_decay 0.3; a: "
                              "lr_scale 0.25,weight_decay_scale 2; c: frozen",
                              {"a", "b", "c"}, groups);
  ASSERT_TRUE(status.ok()) << status.message();
  MtcStepBlock block{};
  StepSchedule(r, 0, groups).fill({5, 0, 1}, block);
  // Half of the way from the highest to the lowest rate.
  const float lr[] = {0.75f, 0.1875f, 0.15f, 0, 0.75f};
  const float decay[] = {0.1f, 0.2f, 0.3f, 0, 0.1f};
  for (int i = 0; i < 5; ++i) {
    EXPECT_FLOAT_EQ(block.lr[i], lr[i]) << i;
    EXPECT_FLOAT_EQ(block.weight_decay[i], decay[i]) << i;
  }
  EXPECT_EQ(block.lr[MTC_PARAM_GROUPS - 1], 0.75f);
}

TEST(ParamGroups, SayWhatIsWrong) {
  const std::pair<const char *, const char *> cases[] = {
      {"a", "expected groups like"},
      {"a: ", "frozen, or each of lr_scale, lr, min_lr, weight_decay_scale, "
              "weight_decay at most once"},
      {"a: lr_scale", "expected a number >= 0 and < 1000000 of lr_scale"},
      {"a: lr_scale -1", "expected a number"},
      {"a: lr nan", "expected a number"},
      {"a: lr 1, lr 2", "at most once"},
      {"a: speed 1", "found 'speed 1'"},
      {"a: lr 1; a: lr 2", "each group once, found 'a'"},
      {"a: lr 1, lr_scale 2", "lr_scale, or lr with or without min_lr"},
      {"a: min_lr 1", "min_lr beside an lr that is not less"},
      {"a: lr 1, min_lr 2", "min_lr beside an lr that is not less"},
      {"a: weight_decay 1, weight_decay_scale 1",
       "weight_decay_scale or weight_decay"},
      {"z: lr 1", "compiled with (a), found z"}};
  for (auto [text, part] : cases) {
    std::vector<ParamGroup> groups;
    Status status = parseGroups(text, {"a"}, groups);
    EXPECT_EQ(status.code(), StatusCode::usage) << text;
    EXPECT_NE(status.message().find(part), std::string::npos)
        << text << ": " << status.message();
  }
}

} // namespace
} // namespace mtc::runtime::test
