//===- samples_test.cpp - what data are named, parted and read ------------===//

#include "runtime/data/data_path.h"
#include "runtime/data/flat_file.h"
#include "runtime/data/sources.h"
#include "test/unit/data/indexed_files.h"
#include "test/unit/runtime/temporary_folder.h"

using namespace mtc::runtime;
using namespace mtc::runtime::test;

namespace {

// A token ends documents, in a corpus as in a flat file.
TEST(TokenDocuments, BeginBehindTheToken) {
  TemporaryFolder folder;
  // Windows of four: 7 at the end of the first is at the start of the second.
  std::vector<uint8_t> tokens = {7, 1, 7, 7, 7, 2, 3, 4, 7, 7, 5, 6, 1};
  writeFile(folder.path("flat"), std::string(tokens.begin(), tokens.end()));
  SourceRequest request;
  request.data = folder.path("flat");
  request.rawType = TokenType::u8;
  request.sequential = true;
  request.seq = 4;
  std::vector<std::string> notes;
  std::vector<std::vector<int32_t>> expected = {{1, 3, 4}, {1}, {1, 2}};
  for (int64_t eod : {7, -1}) {
    request.eod = eod;
    SourceFiles files;
    ASSERT_TRUE(prepareSource(request, {}, notes, files).ok());
    std::unique_ptr<SampleSource> source;
    ASSERT_TRUE(openSource(files, 10, source).ok());
    for (int64_t k = 0; k < 3; ++k) {
      std::vector<int32_t> found = {42}, read(5);
      ASSERT_TRUE(source->documentStarts(k, found).ok());
      EXPECT_EQ(found, eod < 0 ? std::vector<int32_t>() : expected[size_t(k)]);
      ASSERT_TRUE(source->read(k, read.data()).ok());
      EXPECT_EQ(read[0], tokens[size_t(4 * k)]);
    }
  }
}

TEST(Split, PartsSequences) {
  Split split;
  auto part = [&](SplitPart which, int64_t sequences) {
    SequenceRange range = split.of(which, sequences);
    return std::pair(range.first, range.end);
  };
  ASSERT_TRUE(Split::parse("969, 30,1", split).ok());
  EXPECT_EQ(part(SplitPart::train, 1000), std::pair(int64_t{0}, int64_t{969}));
  EXPECT_EQ(part(SplitPart::valid, 1000),
            std::pair(int64_t{969}, int64_t{999}));
  EXPECT_EQ(part(SplitPart::test, 1000),
            std::pair(int64_t{999}, int64_t{1000}));
  ASSERT_TRUE(Split::parse("1,1", split).ok());
  // 2.5 is rounded to the even 2.
  EXPECT_EQ(part(SplitPart::valid, 5), std::pair(int64_t{2}, int64_t{5}));
  EXPECT_TRUE(split.of(SplitPart::test, 5).empty());
  ASSERT_TRUE(Split::parse("", split).ok());
  EXPECT_EQ(part(SplitPart::train, 7), std::pair(int64_t{0}, int64_t{7}));
  for (const char *text : {"0", "1,-1", "1,,1", "1,1,1,1", "x", "nan", "inf,1",
                           "1e308,1e308,1e308", ",", "1;1"})
    EXPECT_EQ(Split::parse(text, split).code(), StatusCode::usage) << text;
}

TEST(DataPath, IsAFileCorporaOrABlend) {
  TemporaryFolder folder;
  std::string a = folder.path("a"), b = folder.path("b");
  writeCorpus(a, smallCorpus());
  writeCorpus(b, smallCorpus());
  writeFile(folder.path("0.5 a"), "x"); // a name with a space
  auto parsed = [&](const std::string &text) {
    DataPath path;
    Status status = parseDataPath(text, "--data", path);
    EXPECT_TRUE(status.ok()) << text << ": " << status.message();
    return path;
  };
  for (const char *end : {"", ".bin", ".idx"}) {
    EXPECT_EQ(parsed(a + end).prefixes, std::vector<std::string>{a});
    EXPECT_EQ(parsed(a + end).flat, "");
  }
  EXPECT_EQ(parsed(folder.path("0.5 a")).flat, folder.path("0.5 a"));
  EXPECT_EQ(parsed("nowhere").flat, "nowhere");
  DataPath blend = parsed("0.5 " + a + "\t 2 " + b);
  EXPECT_EQ(blend.prefixes, (std::vector<std::string>{a, b}));
  EXPECT_EQ(blend.weights, (std::vector<double>{0.5, 2}));
  EXPECT_EQ(parsed(a + " " + b + " " + a).prefixes.size(), 3u);
  EXPECT_TRUE(parsed(a + " " + b).weights.empty());
  DataPath path;
  for (const std::string weight : {"0", "-1", "nan", "inf", "x"})
    EXPECT_FALSE(
        parseDataPath("1 " + a + " " + weight + " " + b, "--data", path).ok())
        << weight;
  Status large =
      parseDataPath("1e308 " + a + " 1e308 " + b, "--eval-data", path);
  EXPECT_EQ(large.code(), StatusCode::usage);
  EXPECT_NE(large.message().find("--eval-data: expected weights with a finite "
                                 "sum"),
            std::string::npos)
      << large.message();
  EXPECT_EQ(parsed("8e307 " + a + " 9e307 " + b).weights[1], 9e307);
  Status missing = parseDataPath("1 " + a + " 2 c", "--eval-data", path);
  EXPECT_EQ(missing.code(), StatusCode::inputRejected);
  EXPECT_NE(missing.message().find("--eval-data"), std::string::npos);
  EXPECT_NE(missing.message().find("found none of 'c'"), std::string::npos);
}

TEST(FlatFile, ReadsLlmcsHeader) {
  TemporaryFolder folder;
  auto look = [&](int32_t magic, int32_t version, int32_t count, size_t bytes,
                  FlatTokens &out) {
    std::vector<int32_t> header(256);
    header[0] = magic;
    header[1] = version;
    header[2] = count;
    writeValues(folder.path("f"), header);
    std::filesystem::resize_file(folder.path("f"), 1024 + bytes);
    return lookAtFlatFile(folder.path("f"), TokenType::u8, out);
  };
  FlatTokens tokens;
  ASSERT_TRUE(look(20240520, 1, 7, 14, tokens).ok());
  EXPECT_EQ(tokens.type, TokenType::u16);
  EXPECT_EQ(tokens.firstByte, 1024);
  EXPECT_EQ(tokens.count, 7);
  ASSERT_TRUE(look(20240801, 7, 7, 28, tokens).ok());
  EXPECT_EQ(tokens.type, TokenType::u32);
  EXPECT_NE(look(20240520, 2, 7, 14, tokens).message().find("version"),
            std::string::npos);
  for (int32_t count : {0, -1, INT32_MIN, 6, 8, INT32_MAX})
    EXPECT_EQ(look(20240520, 1, count, 14, tokens).code(),
              StatusCode::inputRejected)
        << count;
  EXPECT_EQ(look(20240520, 1, 7, 28, tokens).code(), StatusCode::inputRejected)
      << "tokens of four bytes";
  for (int32_t magic : {20240522, 20240326})
    EXPECT_NE(look(magic, 1, 7, 14, tokens).message().find("llm.c"),
              std::string::npos);
  ASSERT_TRUE(look(20240521, 1, 7, 14, tokens).ok()) << "raw";
  EXPECT_EQ(tokens.count, 1038);
}

/// Sequences [1 2 3], [], [4 5] and [6], in order: samples of two tokens are
/// 1 2 3, 3 4 5 with a sequence at 4.
TEST(SampleSource, KnowsWhereDocumentsBegin) {
  TemporaryFolder folder;
  writeCorpus(folder.path("set"), smallCorpus());
  SourceRequest request;
  request.data = folder.path("set");
  request.seq = 2;
  request.sequential = request.once = true;
  request.seed = UINT64_MAX; // of no use here
  SourceFiles files;
  std::vector<std::string> notes;
  Status status = prepareSource(request, {}, notes, files);
  ASSERT_TRUE(status.ok()) << status.message();
  std::unique_ptr<SampleSource> source;
  ASSERT_TRUE(openSource(files, 7, source).ok());
  ASSERT_EQ(source->samples(), 2);
  const std::vector<int32_t> expected[] = {{1, 2, 3}, {3, 4, 5}};
  const std::vector<int32_t> starts[] = {{0}, {1}};
  for (int64_t k = 0; k < 2; ++k) {
    std::vector<int32_t> tokens(3), found;
    ASSERT_TRUE(source->read(k, tokens.data()).ok());
    ASSERT_TRUE(source->documentStarts(k, found).ok());
    EXPECT_EQ(tokens, expected[k]);
    EXPECT_EQ(found, starts[k]);
  }
  ASSERT_TRUE(openSource(files, 5, source).ok());
  int32_t tokens[3];
  EXPECT_TRUE(source->read(0, tokens).ok());
  for (const Status &bad : {source->read(1, tokens), source->check(0, 2, {}),
                            source->check(1, 1, {})})
    EXPECT_NE(bad.message().find("found 5 at position 4"), std::string::npos)
        << bad.message();
}

/// An index may be changed by others: what it says is held to the corpus.
TEST(SampleSource, AnIndexOfNonsenseIsRejected) {
  TemporaryFolder folder;
  writeCorpus(folder.path("set"), smallCorpus());
  const std::string key(32, 'k');
  auto read = [&](std::vector<int64_t> documents, std::vector<int64_t> starts,
                  int64_t sample) {
    IndexFileWriter out;
    EXPECT_TRUE(
        IndexFileWriter::create(folder.path("i"), key,
                                {{static_cast<int64_t>(documents.size()), 8},
                                 {static_cast<int64_t>(starts.size()), 8},
                                 {1, 8}},
                                out)
            .ok());
    for (const auto &values : {documents, starts, {sample}})
      EXPECT_TRUE(out.append(std::span<const int64_t>(values)).ok());
    EXPECT_TRUE(out.commit().ok());
    GptSamples samples;
    Status status = GptSamples::open(
        {folder.path("set"), folder.path("i"), key, 4, 6, {0, 4}}, 2, 100,
        samples);
    int32_t tokens[3];
    return status.ok() ? samples.read(0, tokens) : status;
  };
  EXPECT_TRUE(read({0, 2}, {0, 0, 0, 2}, 0).ok());
  EXPECT_FALSE(read({0, 2}, {0, 0, 0, 2}, 1).ok()) << "no such sample";
  EXPECT_FALSE(read({0, 9}, {0, 0, 1, 0}, 0).ok()) << "no such sequence";
  EXPECT_FALSE(read({0, -1}, {0, 2, 1, 1}, 0).ok()) << "below 0";
  EXPECT_FALSE(read({0, 2}, {0, 0, 0, 3}, 0).ok()) << "beyond a sequence";
  EXPECT_FALSE(read({0, 2}, {0, 0, 5, 0}, 0).ok()) << "beyond documents";
  EXPECT_FALSE(read({0, 2}, {0, 1, 0, 2}, 0).ok()) << "too short";
  EXPECT_FALSE(read({0, 2}, {0, 0, 1, 1}, 0).ok()) << "too long";
  EXPECT_FALSE(read({0, 2}, {0, -1, 0, 1}, 0).ok()) << "before a sequence";
  EXPECT_FALSE(read({0, 2}, {0, INT64_MIN, 0, INT64_MAX}, 0).ok());
  EXPECT_FALSE(read({0, 2}, {INT64_MIN, 0, INT64_MAX, 0}, 0).ok());
}

} // namespace
