//===- stage_layout_test.cpp - stages as a string -------------------------===//

#include "models/stage_layout.h"

#include <gtest/gtest.h>

namespace mtc::models {
namespace {

using Layers = std::vector<int64_t>;

Layers layersOf(std::string_view text) {
  Layers layers;
  ReadText result = parseStageLayout(text, layers);
  EXPECT_TRUE(result.ok) << text << result.advice;
  return layers;
}

TEST(StageLayout, CountsLayersOfStages) {
  EXPECT_EQ(layersOf("EttL"), (Layers{2}));
  EXPECT_EQ(layersOf("E|t|t|L"), (Layers{0, 1, 1, 0}));
  EXPECT_EQ(layersOf("Et*2|(ttt|)*2tL"), (Layers{2, 3, 3, 1}));
  EXPECT_EQ(layersOf("Et*3|(tt|)*3,t,|L"), (Layers{3, 2, 2, 2, 1, 0}));
  EXPECT_EQ(layersOf("E((t*2|)*2t|)*2L"), (Layers{2, 2, 1, 2, 2, 1, 0}));
  EXPECT_EQ(layersOf("E|*2tL"), (Layers{0, 0, 1}));
  EXPECT_EQ(layersOf("Et*65534L"), (Layers{65534}));
}

TEST(StageLayout, SaysWhereItIsWrong) {
  auto wrong = [](std::string_view text) {
    Layers layers = {7};
    ReadText result = parseStageLayout(text, layers);
    EXPECT_FALSE(result.ok) << text;
    EXPECT_EQ(layers, Layers{7});
    return result.advice;
  };
  EXPECT_EQ(wrong(""), "");
  EXPECT_EQ(wrong("Etm|L"), ", with 'm' at position 3");
  EXPECT_EQ(wrong("E(tt|L"),
            ", with a parenthesis that is not closed at position 2");
  EXPECT_EQ(wrong("Ett)L"),
            ", with a parenthesis that is not open at position 4");
  for (std::string_view text : {"*2tL", "Et*L", "Et*0L", "E(*2)tL", "Et*2*2L",
                                "Et,*2L", "Et*-1L", "Et*L"})
    EXPECT_NE(wrong(text).find("a '*' without a part"), std::string::npos)
        << text;
  for (std::string_view text :
       {"Et*65536L", "Et*99999999999999999999L", "E((((t*64)*64)*64)*64)*64L"})
    EXPECT_NE(wrong(text), "") << text;
  for (std::string_view text : {"ttL", "tEL", "EtE|L"})
    EXPECT_EQ(wrong(text),
              ", where the first part is not the one embedding (E)")
        << text;
  for (std::string_view text : {"Ett", "EtL|", "EtL|tL"})
    EXPECT_EQ(wrong(text), ", where the last part is not the one head (L)")
        << text;
}

} // namespace
} // namespace mtc::models
