//===- config_values_test.cpp - what a bundle was compiled for ------------===//

#include "runtime/inspect/config_values.h"

#include <gtest/gtest.h>

namespace mtc::runtime {
namespace {

std::string valuesOf(std::string_view text) {
  std::vector<ConfigValue> values;
  Status status = readConfigValues(text, values);
  if (!status.ok())
    return "error: " + status.message();
  std::string found;
  for (const auto &[path, value] : values)
    found += path + "=" + value + ";";
  return found;
}

TEST(ConfigValues, HaveTheirPaths) {
  EXPECT_EQ(valuesOf("#mtc.config<mesh = <tp = 2, dp = 1>, precision = f32, "
                     "schedule = <name = \"1f1b\", layers = [2, 1]>, sp>"),
            "mesh.tp=2;mesh.dp=1;precision=f32;schedule.name=1f1b;"
            "schedule.layers=[2, 1];sp=true;");
}

TEST(ConfigValues, SignsInStringsAreText) {
  EXPECT_EQ(valuesOf("#mtc.config<name = \"a>, b\\\" = <\", x = {y = 1, z}>"),
            "name=a>, b\\\" = <;x={y = 1, z};");
}

TEST(ConfigValues, SayWhereTheyEnd) {
  for (const char *text :
       {"", "#mtc.batch<a = 1>", "#mtc.config<", "#mtc.config<>",
        "#mtc.config<a = 1", "#mtc.config<a = 1>>", "#mtc.config<a = >",
        "#mtc.config<a = \"b>", "#mtc.config<a = [1>", "#mtc.config<a = 1,>"})
    EXPECT_TRUE(valuesOf(text).starts_with("error: config: expected "))
        << text << ": " << valuesOf(text);
  std::string deep = "#mtc.config";
  for (int i = 0; i < 100000; ++i)
    deep += "<a = ";
  EXPECT_TRUE(valuesOf(deep).starts_with("error: "));
}

} // namespace
} // namespace mtc::runtime
