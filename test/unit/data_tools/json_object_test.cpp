//===- json_object_test.cpp - lines of JSON -------------------------------===//

#include "tools/data/json_object.h"
#include "tools/data/records.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <random>

using namespace mtc::data;
using Json = nlohmann::json;

namespace {

struct Read {
  std::vector<std::pair<std::string, std::string>> members;
  std::string error;
};

Read readAll(std::string_view text) {
  Read read;
  JsonObject object(text);
  for (JsonMember member; object.next(member);)
    read.members.emplace_back(member.key, member.value);
  read.error = object.error();
  return read;
}

std::string nested(int depth) {
  return "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
}

/// A value with all that JSON has, in some spelling of `rng`.
std::string drawnValue(std::mt19937 &rng, int depth) {
  auto pick = [&](int n) { return static_cast<int>(rng() % n); };
  static const char *scalars[] = {
      "0",     "-1.5e+3", "12",          "true",        "null",
      "\"\"",  "\"x\"",   "\"\\n\\\"\"", "\"\\u00e9\"", "\"\\ud83d\\ude00\"",
      "\"é😀\""};
  int kind = depth == 0 ? 0 : pick(3);
  if (kind == 0)
    return scalars[pick(std::size(scalars))];
  std::string text = kind == 1 ? "[" : "{";
  int count = pick(4);
  for (int i = 0; i < count; ++i) {
    text += i ? (pick(2) ? "," : " ,\t") : (pick(2) ? "" : " ");
    if (kind == 2)
      text += "\"k" + std::to_string(i) + (pick(2) ? "\":" : "\" : ");
    text += drawnValue(rng, depth - 1);
  }
  return text + (kind == 1 ? "]" : "}");
}

} // namespace

TEST(JsonObject, GivesMembersAsTheyStand) {
  Read read =
      readAll(" { \"a\" : [1, {\"b\": \"}\"}] ,\"c\\n\":\"x\\u0041\" } ");
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.members, (decltype(read.members){{"a", "[1, {\"b\": \"}\"}]"},
                                                  {"c\\n", "\"x\\u0041\""}}));
}

TEST(JsonObject, NamesTheByteThatIsWrong) {
  const std::pair<const char *, const char *> cases[] = {
      {"", "byte 1: expected '{', found the end"},
      {"[1]", "byte 1: expected '{', found '['"},
      {"\xEF\xBB\xBF{}", "byte 1: expected '{', found byte 0xEF"},
      {"{\"a\":1,}", "byte 8: expected a string, found '}'"},
      {"{\"a\" 1}", "byte 6: expected ':' behind a key, found '1'"},
      {"{\"a\":01}", "byte 7: expected ',' or '}', found '1'"},
      {"{\"a\":.5}", "byte 6: expected a value, found '.'"},
      {"{\"a\":1.}", "byte 8: expected a digit, found '}'"},
      {"{\"a\":NaN}", "byte 6: expected a value, found 'N'"},
      {"{\"a\":\"\t\"}", "byte 7: expected an escape in place of a control "
                         "character, found byte 0x09"},
      {"{\"a\":\"\\x\"}", "byte 8: expected one of \\\" \\\\ \\/ \\b \\f \\n "
                          "\\r \\t \\uXXXX, found 'x'"},
      {"{\"a\":\"\\u12g4\"}",
       "byte 11: expected four hexadecimal digits behind \\u, found 'g'"},
      {"{\"a\":\"\xC3(\"}", "byte 7: expected UTF-8, found byte 0xC3"},
      {"{\"a\":[1 2]}", "byte 9: expected ',' or ']', found '2'"},
      {"{\"a\":{1:2}}", "byte 7: expected a string, found '1'"},
      {"{\"a\":\"x", "byte 8: expected '\"' behind a string, found the end"},
      {"{} x", "byte 4: expected the end behind '}', found 'x'"}};
  for (auto [text, error] : cases)
    EXPECT_EQ(readAll(text).error, error) << text;
}

TEST(JsonObject, IsAtMost64Deep) {
  EXPECT_EQ(readAll(nested(63)).error, "");
  EXPECT_EQ(readAll(nested(64)).error,
            "byte 69: expected values at most 64 deep");
  EXPECT_NE(readAll(nested(100'000)).error, "");
}

/// Against another parser: what is JSON, and what its values are.
TEST(JsonObject, AgreesWithAParserOnEditedTexts) {
  std::mt19937 rng(1);
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = "{\"k\":" + drawnValue(rng, 3) + "}";
    for (int edits = rng() % 3; edits > 0; --edits) {
      static const char bytes[] = "{}[]\",:\\u0e.-t \x01\xC3\xA9";
      size_t at = rng() % text.size();
      if (rng() % 2)
        text[at] = bytes[rng() % (sizeof bytes - 1)];
      else
        text.erase(at, 1);
      if (text.empty())
        text = "{";
    }
    Json parsed = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    Read read = readAll(text);
    std::string decoded; // of surrogates the other parser says it at once
    bool halves = false;
    for (size_t at = text.find("\\ud"); at != text.npos;
         at = text.find("\\ud", at + 1))
      halves |= !Json::accept("\"" + text.substr(at, 12) + "\"");
    if (halves)
      continue;
    ASSERT_EQ(parsed.is_object(), read.error.empty()) << text << read.error;
    accepted += read.error.empty();
    for (const auto &[key, value] : read.members)
      if (read.error.empty() && decodeJsonText(key, decoded) &&
          read.members.size() == parsed.size()) {
        EXPECT_EQ(parsed.at(decoded), Json::parse(value)) << text;
      }
  }
  EXPECT_GT(accepted, 5'000);
}

TEST(JsonText, DecodesAndEncodes) {
  std::string out;
  EXPECT_TRUE(
      decodeJsonText("a\\/\\b\\f\\n\\r\\t\\\\\\\"\\u00E9\\ud83D\\ude00", out));
  EXPECT_EQ(out, "a/\b\f\n\r\t\\\"é😀");
  for (const char *half :
       {"\\ud800", "\\ud800x", "\\udc00", "\\ud800\\u0041", "\\ud800\\ud800"}) {
    EXPECT_FALSE(decodeJsonText(half, out)) << half;
    EXPECT_TRUE(decodeJsonText(half, out, /*replaces=*/true)) << half;
    EXPECT_TRUE(out.starts_with("\uFFFD")) << half;
  }
  std::string all;
  for (int c = 1; c < 0x80; ++c)
    all += static_cast<char>(c);
  all += std::string(1, '\0') + "é😀";
  std::string quoted;
  appendJsonText(all, quoted);
  EXPECT_EQ(Json::parse(quoted).get<std::string>(), all);
}

TEST(Records, AreTheTextsOfKeysInTheirOrder) {
  std::vector<std::string> keys = {"text", "title"};
  std::vector<RecordText> texts;
  std::string line = R"({"title":"a\nb","n":{"text":1},"t\u0065xt":"c"})";
  EXPECT_EQ(readRecord(line, keys, texts), "");
  EXPECT_EQ(texts[0].text, "c");
  EXPECT_EQ(texts[1].text, "a\nb");
  EXPECT_EQ(line.substr(texts[1].begin, texts[1].end - texts[1].begin),
            R"("a\nb")");
}

TEST(Records, SayWhatIsWrong) {
  std::vector<std::string> keys = {"text"};
  std::vector<RecordText> texts;
  const std::pair<const char *, const char *> cases[] = {
      {"{}", "expected a member \"text\", found none"},
      {R"({"text":1})", "\"text\": expected a string, found 1"},
      {R"({"text":"a","text":"b"})", "\"text\": is there twice"},
      {R"({"text":"\ud800"})", "\"text\": expected characters, found an escape "
                               "that is half of a surrogate pair"},
      {"text", "expected a JSON object on a line, byte 1: expected '{', found "
               "'t'"}};
  for (auto [line, problem] : cases)
    EXPECT_EQ(readRecord(line, keys, texts), problem) << line;
}
