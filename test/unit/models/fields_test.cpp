//===- fields_test.cpp - what tables of keys say is so --------------------===//

#include "support.h"

#include "models/spec_fields.h"
#include "models/strategy_fields.h"

#include <fmt/format.h>

#include <map>

namespace mtc::models {
namespace {

/// A file with one key, of a table or of none.
std::string with(std::string_view table, std::string_view key,
                 std::string_view value) {
  return fmt::format("{}{} = {}\n", table, key, value);
}

std::string heading(std::string_view table) {
  return table.empty() ? "" : fmt::format("[{}]\n", table);
}

/// What has no default, from the examples.
std::string shortest() {
  std::string text;
  for (const Field<ModelSpec> &field : specFields())
    if (field.need == Need::required)
      text += with("", field.key, field.example);
  return text;
}

TEST(Fields, ExamplesOfSpecsAreRead) {
  auto standard = parseModelSpec(shortest(), "f");
  EXPECT_EQ(render(standard.diagnostics), "");
  for (const Field<ModelSpec> &field : specFields()) {
    EXPECT_FALSE(field.meaning.empty() || field.example.empty()) << field.key;
    if (field.need == Need::required)
      continue;
    auto parsed = parseModelSpec(
        shortest() + with(heading(field.table), field.key, field.example), "f");
    EXPECT_EQ(render(parsed.diagnostics), "") << field.key;
  }
}

TEST(Fields, ChoicesAreAllThatIsRead) {
  for (const Field<ModelSpec> &field : specFields()) {
    for (const std::string &choice : field.kind.choices) {
      auto parsed = parseModelSpec(
          shortest() + with(heading(field.table), field.key, choice), "f");
      EXPECT_EQ(render(parsed.diagnostics), "");
      EXPECT_EQ(field.kind.valueOf(parsed.value).dump(), choice);
    }
    std::string other = with(heading(field.table), field.key, "\"another\"");
    bool good = parseModelSpec(shortest() + other, "f").ok();
    EXPECT_FALSE(good && !field.kind.choices.empty()) << field.key;
  }
}

/// A value that is read is there afterwards, and was not before.
template <typename T>
void expectOwn(const Field<T> &field, const T &standard, const T &read) {
  EXPECT_FALSE(field.key.empty() || field.meaning.empty() ||
               field.example.empty());
  EXPECT_TRUE(field.kind.valueOf(read) != field.kind.valueOf(standard) ||
              field.kind.valueOf(read).dump() == field.example)
      << field.key;
}

TEST(Fields, ExamplesOfStrategiesAreRead) {
  for (const Field<Strategy> &field : strategyFields(test::kSchedules)) {
    auto parsed = parseStrategy(with("", field.key, field.example), "f",
                                test::kSchedules);
    EXPECT_EQ(render(parsed.diagnostics), "") << field.key;
    expectOwn(field, Strategy(), parsed.value);
  }
  for (const Field<ShardAxes> &field : shardFields())
    EXPECT_TRUE(parseStrategy(with("[shard]\n", field.key, field.example), "f",
                              test::kSchedules)
                    .ok())
        << field.key;
  std::string text = "[[override]]\n";
  for (const Field<ShardOverride> &field : overrideFields())
    text += with("", field.key, field.example);
  auto parsed = parseStrategy(text, "f", test::kSchedules);
  EXPECT_EQ(render(parsed.diagnostics), "");
  ASSERT_EQ(parsed.value.overrides.size(), 1u);
  for (const Field<ShardOverride> &field : overrideFields())
    expectOwn(field, ShardOverride(), parsed.value.overrides[0]);
}

TEST(Fields, OptionsSayTypeAndDefault) {
  Strategy standard;
  standard.schedule = "gpipe";
  std::map<std::string, std::string> what;
  for (const StrategyOptionInfo &option :
       strategyOptions(test::kSchedules, standard))
    what[option.name] = option.what;
  EXPECT_EQ(what["schedule"],
            "the order of forwards and backwards (mtc help schedules; of a "
            "file: docs/schedules.md): one of 1f1b, gpipe, or the path of a "
            "file (default \"gpipe\")");
  EXPECT_EQ(what["micro-batch-size"],
            "samples of a replica that go through the pipeline together: an "
            "integer in [1, 1048576] (default 1)");
  EXPECT_EQ(what["shard.batch"],
            "samples of a microbatch: one of tp, cp, dp, none "
            "(default \"dp\")");
}

} // namespace
} // namespace mtc::models
