//===- recipes_test.cpp - the recipes that come with mtc, and rules -------===//

#include "mtc/runtime/recipe_fields.h"
#include "mtc/runtime/run.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

namespace mtc::runtime::test {
namespace {

using Numbers = std::map<std::string, std::string>;

/// Written from the papers, not from the files: 300k iterations of 512 samples
/// at 1.5e-4, 3k of warm-up and 297k of cosine to 1e-5, decay 0.01, norm
/// clipped at 1 (arXiv:1909.08053, 4.1); 300 billion tokens in samples of
/// 2,048, batches of 16 to 1,536 that grow over the first 12 billion,
/// warm-up over 375 million, decay over 260 billion (the script beside the
/// paper of SC 2021).
const std::map<std::string, Numbers> kPublished = {
    {"megatron-gpt2",
     {{"global_batch_size", "512"},
      {"steps", "300000"},
      {"lr", "0.00015"},
      {"min_lr", "1e-05"},
      {"warmup_steps", "3000"},
      {"decay", "cosine"},
      {"decay_steps", std::to_string(3000 + 297000)},
      {"beta1", "0.9"},
      {"beta2", "0.999"},
      {"weight_decay", "0.01"},
      {"clip", "1"}}},
    {"sc21-gpt3-175b",
     {{"global_batch_size", "1536"},
      {"rampup_batch_size", "16 16 " + std::to_string(12'000'000'000 / 2048)},
      {"samples", std::to_string(300'000'000'000 / 2048)},
      {"lr", "6e-05"},
      {"min_lr", "6e-06"},
      {"warmup_samples", std::to_string(375'000'000 / 2048)},
      {"decay", "cosine"},
      {"decay_samples", std::to_string(260'000'000'000 / 2048)},
      {"lr_at", "start"},
      {"beta1", "0.9"},
      {"beta2", "0.95"},
      {"weight_decay", "0.1"},
      {"clip", "1"}}}};

TEST(Recipes, HaveThePublishedNumbers) {
  for (const auto &[name, numbers] : kPublished) {
    Recipe recipe;
    Status status =
        readRecipe(MTC_MODELS_DIR "/recipes/" + name + ".toml", recipe);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(checkRecipe(recipe).ok()) << checkRecipe(recipe).message();
    for (const RecipeField &field : recipeFields()) {
      auto published = numbers.find(field.key);
      EXPECT_EQ(textOf(field, recipe), published == numbers.end()
                                           ? textOf(field, Recipe())
                                           : published->second)
          << name << ": " << field.key;
    }
  }
}

TEST(RecipeFields, NamesAreUnique) {
  std::set<std::string> names;
  for (const RecipeField &field : recipeFields()) {
    std::istringstream all(std::string(field.option) + " " + field.aliases);
    for (std::string name; all >> name;)
      EXPECT_TRUE(names.insert(name).second) << name;
  }
}

TEST(RecipeFields, CapitalsOfWordsDoNotCount) {
  Recipe recipe;
  for (const RecipeField &field : recipeFields())
    if (std::string_view(field.key) == "decay") {
      EXPECT_TRUE(setField(field, "WSD", recipe));
    }
  EXPECT_EQ(recipe.decay, "wsd");
}

/// A recipe that is changed, and what is said about it.
struct BadRecipe {
  void (*change)(Recipe &);
  const char *part;
};

TEST(RecipeFields, PhasesFitEachOther) {
  const BadRecipe cases[] = {
      {[](Recipe &r) { r.warmup_samples = 5, r.decay_steps = 7; },
       "as warmup_samples is given, found decay_steps 7"},
      {[](Recipe &r) { r.samples = 5, r.warmup_steps = 7; },
       "as samples is given, found warmup_steps 7"},
      {[](Recipe &r) { r.warmup_fraction = 0.1, r.warmup_steps = 7; },
       "warmup_fraction: expected no warmup_steps"},
      {[](Recipe &r) { r.decay = "wsd"; }, "decay wsd: expected how long"},
      {[](Recipe &r) { r.wsd_decay_steps = 3; },
       "decay cosine: expected decay wsd"},
      {[](Recipe &r) { r.decay = "wsd", r.wsd_decay_steps = 101; },
       "wsd_decay_steps: expected at most the 100 steps"},
      {[](Recipe &r) { r.init_lr = 1; }, "init_lr: expected at most lr"},
      {[](Recipe &r) { r.start_weight_decay = 0.01; },
       "start_weight_decay: expected weight_decay_ramp linear or cosine"},
      {[](Recipe &r) { r.groups = "a: lr 1e-6"; },
       "groups: expected a min_lr of at most lr 1e-06 for 'a'"},
      {[](Recipe &r) { r.groups = "a"; }, "groups: expected groups like"}};
  for (const BadRecipe &bad : cases) {
    Recipe recipe;
    bad.change(recipe);
    Status status = checkRecipe(recipe);
    EXPECT_EQ(status.code(), StatusCode::usage) << bad.part;
    EXPECT_NE(status.message().find(bad.part), std::string::npos)
        << status.message();
  }
}

} // namespace
} // namespace mtc::runtime::test
