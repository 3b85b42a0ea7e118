//===- tokenizer_test.cpp - texts to tokens, against other tokenizers -----===//

#include "tools/data/tokenizer.h"

#include "runtime/base/file.h"
#include "tools/data/byte_alphabet.h"
#include "tools/data/split_words.h"
#include "tools/data/unicode.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <random>

using namespace mtc::data;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;
using Json = nlohmann::json;

namespace {

const std::string kVocabFile = GOLDEN_DIR "/vocab.json";
const std::string kMergeFile = GOLDEN_DIR "/merges.txt";

std::unique_ptr<Tokenizer> smallTokenizer() {
  std::unique_ptr<Tokenizer> tokenizer;
  Status status = makeTokenizer({"gpt2", kVocabFile, kMergeFile}, tokenizer);
  EXPECT_TRUE(status.ok()) << status.message();
  return tokenizer;
}

std::vector<int32_t> encode(const Tokenizer &tokenizer, std::string_view text) {
  EncodeScratch scratch;
  std::vector<int32_t> out;
  tokenizer.encode(text, scratch, out);
  return out;
}

std::vector<std::string> wordsOf(std::string_view text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    size_t end = wordEnd(text, at);
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

/// The bytes as symbols, then `more`, with ids from 0 on.
std::string vocabOf(const std::vector<std::string> &more) {
  Json vocab;
  for (int byte = 0; byte < 256; ++byte) {
    std::string symbol;
    appendCodePoint(characterOf(byte), symbol);
    vocab[symbol] = byte;
  }
  for (size_t i = 0; i < more.size(); ++i)
    vocab[more[i]] = 256 + i;
  return vocab.dump();
}

std::string errorOf(const std::string &vocab) {
  Vocabulary tokens;
  Status status = Vocabulary::parse(vocab, "v", tokens);
  EXPECT_TRUE(status.ok() || status.code() == StatusCode::inputRejected);
  return status.message();
}

std::string mergeError(const std::string &merges,
                       const std::vector<std::string> &more) {
  Vocabulary tokens;
  EXPECT_EQ(Vocabulary::parse(vocabOf(more), "v", tokens).message(), "");
  std::vector<Merge> read;
  Status status = parseMerges(merges, "m", tokens, read);
  EXPECT_TRUE(status.ok() || status.code() == StatusCode::inputRejected);
  return status.message();
}

} // namespace

/// Tokens by Hugging Face's tokenizers and by tiktoken (generate.py).
TEST(Tokenizer, GivesTheTokensOfOthers) {
  std::unique_ptr<Tokenizer> tokenizer = smallTokenizer();
  std::string lines;
  ASSERT_TRUE(
      mtc::runtime::readWholeFile(GOLDEN_DIR "/golden.jsonl", lines).ok());
  std::istringstream in(lines);
  EncodeScratch scratch; // words of one text are found again in the next
  int count = 0;
  for (std::string line; std::getline(in, line); ++count) {
    Json golden = Json::parse(line);
    auto text = golden["text"].get<std::string>();
    std::vector<int32_t> ids;
    tokenizer->encode(text, scratch, ids);
    EXPECT_EQ(ids, golden["ids"].get<std::vector<int32_t>>()) << line;
    std::string back;
    for (int32_t id : ids)
      back += tokenizer->bytes(id);
    EXPECT_EQ(back, text);
  }
  EXPECT_EQ(count, 603);
}

TEST(Tokenizer, TakesAnyBytesAndGivesThemBack) {
  std::unique_ptr<Tokenizer> gpt2 = smallTokenizer(), bytes;
  ASSERT_TRUE(makeTokenizer({"bytes", "", ""}, bytes).ok());
  std::mt19937 rng(3);
  for (int i = 0; i < 2'000; ++i) {
    std::string text;
    for (int length = rng() % 100; length > 0; --length)
      text += static_cast<char>(rng() % 3 ? rng() : "the end "[rng() % 8]);
    for (const Tokenizer *tokenizer : {gpt2.get(), bytes.get()}) {
      std::string back;
      for (int32_t id : encode(*tokenizer, text)) {
        EXPECT_NE(id, tokenizer->endOfDocument());
        back += tokenizer->bytes(id);
      }
      EXPECT_EQ(back, text);
    }
  }
  EXPECT_EQ(bytes->endOfDocument(), 256);
  EXPECT_EQ(bytes->vocabSize(), 257);
}

TEST(Tokenizer, EndsDocumentsWithNoText) {
  std::unique_ptr<Tokenizer> tokenizer = smallTokenizer();
  EXPECT_EQ(tokenizer->endOfDocument(), tokenizer->vocabSize() - 1);
  for (int32_t id : encode(*tokenizer, "<|endoftext|>"))
    EXPECT_NE(id, tokenizer->endOfDocument());
  // A vocabulary whose merges make it.
  Vocabulary tokens;
  std::vector<std::string> made;
  std::string merges, name = "<|endoftext|>";
  for (size_t i = 2; i <= name.size(); ++i) {
    made.push_back(name.substr(0, i));
    merges += name.substr(0, i - 1) + " " + name.substr(i - 1, 1) + "\n";
  }
  EXPECT_EQ(mergeError(merges, made),
            "m: 1 problem\n  line 12: '<|endoftext|>' ends documents, and no "
            "merge makes it");
}

TEST(SplitWords, ByTheRegularExpression) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(wordsOf("Hello  world's 12th"),
            (Words{"Hello", " ", " world", "'s", " 12", "th"}));
  EXPECT_EQ(wordsOf(" 's 'S''s'"),
            (Words{" '", "s", " '", "S", "''", "s", "'"}));
  EXPECT_EQ(wordsOf("a \n b\n\n"), (Words{"a", " \n", " b", "\n\n"}));
  EXPECT_EQ(wordsOf("\u00a0\u3000x \t"),
            (Words{"\u00a0", "\u3000", "x", " \t"}));
  EXPECT_EQ(wordsOf("\xff\xc3z"), (Words{"\xff\xc3", "z"}));
}

TEST(BytePairs, BothWaysGiveTheSame) {
  Vocabulary tokens;
  std::vector<Merge> merges;
  ASSERT_TRUE(Vocabulary::read(kVocabFile, tokens).ok());
  ASSERT_TRUE(readMerges(kMergeFile, tokens, merges).ok());
  BytePairs pairs(tokens, merges);
  std::mt19937 rng(4);
  MergeScratch scratch;
  for (int i = 0; i < 5'000; ++i) {
    std::string word;
    for (int length = 1 + rng() % 90; length > 0; --length)
      word += "the dogndr "[rng() % 11];
    std::vector<int32_t> brief, lasting;
    pairs.mergeShort(word, scratch, brief);
    pairs.mergeLong(word, scratch, lasting);
    ASSERT_EQ(brief, lasting) << word;
  }
}

/// Each place begins a pair once, each merge makes two, and each of these is
/// looked at again when it is the first of the heap; nothing else is. So there
/// are n·log n steps of the heap.
TEST(BytePairs, LongWordsTakeAFewLooksAByte) {
  Vocabulary tokens;
  std::vector<Merge> merges;
  ASSERT_TRUE(Vocabulary::read(kVocabFile, tokens).ok());
  ASSERT_TRUE(readMerges(kMergeFile, tokens, merges).ok());
  BytePairs pairs(tokens, merges);
  std::mt19937 rng(5);
  std::string random, alike;
  for (int i = 0; i < 100'000; ++i) {
    random += "the dogndr "[rng() % 11];
    alike += "the "[i % 4];
  }
  MergeScratch scratch;
  for (const std::string &word : {random, alike}) {
    std::vector<int32_t> ids;
    pairs.merge(word, scratch, ids);
    size_t n = word.size(), merged = n - ids.size();
    EXPECT_GT(merged, n / 8);
    EXPECT_GE(scratch.looks, n - 1 + 2 * merged);
    EXPECT_LE(scratch.looks, 2 * (n + 2 * merged));
    EXPECT_LE(scratch.heap.capacity(), 2 * n);
  }
}

/// Merges whose result two pairs make, where a later merge may yield a pair
/// that an earlier one is of.
TEST(BytePairs, MergeTheLowestRankThatThereIs) {
  Vocabulary tokens;
  ASSERT_TRUE(
      Vocabulary::parse(vocabOf({"bc", "abc", "abcd", "ab"}), "v", tokens)
          .ok());
  std::vector<Merge> merges;
  ASSERT_TRUE(
      parseMerges("a b\nb c\na bc\nabc d\nab c\n", "m", tokens, merges).ok());
  BytePairs pairs(tokens, merges);
  MergeScratch scratch;
  for (auto way : {&BytePairs::mergeShort, &BytePairs::mergeLong}) {
    std::vector<int32_t> ids;
    (pairs.*way)("abcdbcabcd", scratch, ids);
    EXPECT_EQ(ids, (std::vector<int32_t>{258, 256, 258}));
  }
}

TEST(Vocabulary, Errors) {
  EXPECT_EQ(errorOf(vocabOf({})), "");
  EXPECT_NE(errorOf("").find("byte 1: expected '{'"), std::string::npos);
  auto edited = [](const std::string &member) {
    std::string text = vocabOf({});
    return errorOf(text.insert(text.size() - 1, "," + member));
  };
  EXPECT_EQ(edited(R"("x y":256)"), ""); // a token that no text yields
  EXPECT_EQ(edited(R"("":256)"), "v: 1 problem\n  an empty token");
  EXPECT_EQ(edited(R"("xy":257)"), "v: 1 problem\n  expected ids 0 to 256, "
                                   "each once, found none that is 256");
  EXPECT_EQ(edited(R"("xy":0)"), "v: 1 problem\n  expected ids 0 to 256, each "
                                 "once, found none that is 256");
  for (const char *id : {"2147483648", "-1", "1.0", "\"7\"", "null", "1e3",
                         "1048576", "99999999999999999999"})
    EXPECT_EQ(edited(std::string("\"xy\":") + id),
              std::string("v: 1 problem\n  \"xy\": expected an id from 0 to "
                          "1048575, found ") +
                  id);
  EXPECT_EQ(edited(R"("A":256)"), "v: 1 problem\n  \"A\": is there twice");
  EXPECT_EQ(edited(R"("\ud800":256)"),
            "v: 1 problem\n  \"\\ud800\": half of a surrogate pair");
  EXPECT_EQ(edited("\"" + std::string(8193, 'x') + "\":256"),
            "v: 1 problem\n  a token of 8193 bytes, more than 4096");
  std::string without = vocabOf({});
  without.replace(without.find("\"A\""), 3, "\"AA\"");
  EXPECT_EQ(
      errorOf(without),
      "v: 1 problem\n  expected a token for each byte, found none for 0x41");
}

TEST(Merges, Errors) {
  std::vector<std::string> more = {"th", "the", "er"};
  EXPECT_EQ(mergeError("#version: 0.2\nt h\nth e\ne r\n", more), "");
  EXPECT_EQ(mergeError("t h\r\nth e", more), "");
  EXPECT_EQ(mergeError("", more), "");
  const std::pair<const char *, const char *> cases[] = {
      {"th\n", "expected two symbols with a space between them, found 'th'"},
      {"t h e\n",
       "expected two symbols with a space between them, found 't h e'"},
      {"t \n", "expected two symbols with a space between them, found 't '"},
      {" t\n", "expected two symbols with a space between them, found ' t'"},
      {"\nt h\n", "expected two symbols with a space between them, found ''"},
      {"t\u4e16 h\n", "'t\u4e16' is no token"},
      {"t x\n", "'tx' is no token"},
      {"th e\n", "'th' is made by no earlier line"}};
  for (auto [text, problem] : cases)
    EXPECT_EQ(mergeError(text, more),
              std::string("m: 1 problem\n  line 1: ") + problem);
  EXPECT_EQ(mergeError("t h\ne r\nt h\n", more),
            "m: 1 problem\n  line 3: 't h' is there twice");
  EXPECT_EQ(mergeError("t x\n#version: 0.2\n", more),
            "m: 3 problems\n  line 1: 'tx' is no token\n"
            "  line 2: '#version:' is no token\n  line 2: '0.2' is no token");
}

TEST(Unicode, CodePointsByTheLongestBeginning) {
  struct Case {
    std::string text;
    uint32_t value;
    int bytes;
    bool valid;
  };
  const Case cases[] = {{"A", 'A', 1, true},
                        {"\u00e9", 0xE9, 2, true},
                        {"\u4e16", 0x4E16, 3, true},
                        {"\U0010FFFF", 0x10FFFF, 4, true},
                        {"\x80", 0, 1, false},             // no first byte
                        {"\xC0\x80", 0, 1, false},         // too long a form
                        {"\xE0\x9F\xBF", 0, 1, false},     // too long a form
                        {"\xED\xA0\x80", 0, 1, false},     // a surrogate
                        {"\xF4\x90\x80\x80", 0, 1, false}, // too large
                        {"\xE4\xB8", 0, 2, false},         // cut
                        {"\xF0\x9F\x98z", 0, 3, false},
                        {"\xFF", 0, 1, false}};
  for (const Case &c : cases) {
    CodePoint point = codePointAt(c.text, 0);
    EXPECT_EQ(point.value, c.value);
    EXPECT_EQ(point.bytes, c.bytes);
    EXPECT_EQ(point.valid, c.valid);
    std::string back;
    if (point.valid) {
      appendCodePoint(point.value, back);
      EXPECT_EQ(back, c.text);
    }
  }
}

TEST(ByteAlphabet, IsOneToOne) {
  std::string all, back;
  for (int byte = 0; byte < 256; ++byte)
    appendCodePoint(characterOf(byte), all);
  ASSERT_TRUE(bytesOf(all, back));
  for (int byte = 0; byte < 256; ++byte)
    EXPECT_EQ(static_cast<uint8_t>(back[byte]), byte);
  EXPECT_EQ(characterOf(' '), 0x120u);
  EXPECT_EQ(characterOf('\n'), 0x10Au);
  EXPECT_FALSE(bytesOf("a b", back));
  EXPECT_FALSE(bytesOf("\u4e16", back));
}
