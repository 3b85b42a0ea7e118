//===- indexed_dataset_test.cpp - corpora are read and rejected -----------===//

#include "runtime/data/indexed_dataset.h"
#include "test/unit/data/indexed_files.h"
#include "test/unit/data/write_byte.h"
#include "test/unit/runtime/temporary_folder.h"

#include <cstring>

using namespace mtc::runtime;
using namespace mtc::runtime::test;

namespace {

/// The little-endian bytes of a value.
template <typename T> std::string raw(T value) {
  return {reinterpret_cast<const char *>(&value), sizeof(T)};
}

/// An .idx of smallCorpus(), field by field, from the format's description.
struct Fields {
  std::string magic{"MMIDIDX\0\0", 9};
  uint64_t version = 1;
  uint8_t code = 8;
  uint64_t sequences = 4, starts = 4;
  std::vector<int32_t> lengths{3, 0, 2, 1};
  std::vector<int64_t> pointers{0, 6, 6, 10};
  std::vector<int64_t> documents{0, 2, 2, 4};
  std::string modes, trailing;
  std::string bin;

  Fields() {
    for (uint16_t token = 1; token <= 6; ++token)
      bin += raw(token);
  }
  std::string bytes() const {
    std::string out =
        magic + raw(version) + raw(code) + raw(sequences) + raw(starts);
    for (int32_t length : lengths)
      out += raw(length);
    for (int64_t pointer : pointers)
      out += raw(pointer);
    for (int64_t document : documents)
      out += raw(document);
    return out + modes + trailing;
  }
};

class IndexedDatasetTest : public ::testing::Test {
protected:
  Status open(const Fields &fields, IndexedSummary *out = nullptr) {
    std::string prefix = folder_.path("set");
    writeFile(prefix + ".idx", fields.bytes());
    writeFile(prefix + ".bin", fields.bin);
    MTC_RETURN_IF_ERROR(IndexedDataset::open(prefix, set_));
    IndexedSummary summary;
    return set_.check(out ? *out : summary, /*wantsLengths=*/true);
  }
  /// Opens what `change` made of a good corpus, and expects words of the error.
  void expectRejected(void (*change)(Fields &), const char *words) {
    Fields fields;
    change(fields);
    Status status = open(fields);
    EXPECT_EQ(status.code(), StatusCode::inputRejected) << words;
    EXPECT_NE(status.message().find(words), std::string::npos)
        << "expected '" << words << "' in: " << status.message();
    EXPECT_NE(status.message().find(folder_.path("set")), std::string::npos);
  }

  TemporaryFolder folder_;
  IndexedDataset set_;
};

TEST_F(IndexedDatasetTest, ReadsWhatTheFormatSays) {
  IndexedSummary summary;
  Status status = open(Fields(), &summary);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(set_.type(), TokenType::u16);
  EXPECT_EQ(set_.sequences(), 4);
  EXPECT_EQ(set_.documents(), 3);
  EXPECT_FALSE(set_.hasModes());
  EXPECT_EQ(summary.tokens, 6);
  EXPECT_EQ(summary.longest, 3);
  EXPECT_EQ(summary.lengths, (std::vector<int32_t>{3, 0, 2, 1}));
  uint16_t tokens[2];
  ASSERT_TRUE(
      set_.tokenBytes(3, 2, reinterpret_cast<std::byte *>(tokens)).ok());
  EXPECT_EQ(tokens[0], 4);
  EXPECT_EQ(tokens[1], 5);
}

TEST_F(IndexedDatasetTest, ReadsModes) {
  Fields fields;
  fields.modes = std::string("\1\0\1\0", 4);
  ASSERT_TRUE(open(fields).ok());
  ASSERT_TRUE(set_.hasModes());
  int8_t modes[2];
  ASSERT_TRUE(set_.modes(1, 2, modes).ok());
  EXPECT_EQ(modes[0], 0);
  EXPECT_EQ(modes[1], 1);
}

TEST_F(IndexedDatasetTest, TheWriterWritesWhatTheFormatSays) {
  std::string prefix = folder_.path("set");
  writeCorpus(prefix, smallCorpus());
  EXPECT_EQ(readFile(prefix + ".idx"), Fields().bytes());
  EXPECT_EQ(readFile(prefix + ".bin"), Fields().bin);
  EXPECT_EQ(folder_.files(), 2u);
}

TEST_F(IndexedDatasetTest, EveryFieldIsChecked) {
  expectRejected([](Fields &f) { f.magic[0] = 'N'; }, "MMIDIDX");
  expectRejected([](Fields &f) { f.version = 2; }, "version at byte 9");
  for (uint8_t code : {0, 9, 255}) {
    Fields fields;
    fields.code = code;
    EXPECT_NE(open(fields).message().find("type code at byte 17"),
              std::string::npos);
  }
  expectRejected([](Fields &f) { f.code = 7; }, "a type of real numbers");
  expectRejected([](Fields &f) { f.sequences = uint64_t{1} << 63; },
                 "sequences at byte 18");
  expectRejected([](Fields &f) { f.sequences = UINT64_MAX; },
                 "sequences at byte 18");
  expectRejected([](Fields &f) { f.starts = uint64_t{1} << 63; },
                 "document indices at byte 26");
  expectRejected([](Fields &f) { f.starts = 0; }, "found 0");
  expectRejected([](Fields &f) { f.starts = 3; }, "with modes");
  expectRejected([](Fields &f) { f.trailing += 'x'; }, "with modes");
  expectRejected([](Fields &f) { f.lengths[2] = -2; },
                 "length of sequence 2: expected 0 or more, found -2");
  expectRejected([](Fields &f) { f.pointers[1] = 0; }, "pointer of sequence 1");
  expectRejected([](Fields &f) { f.pointers[3] = -1; }, "found -1");
  expectRejected([](Fields &f) { f.pointers[3] = 12; },
                 "pointer of sequence 3: expected byte 10");
  expectRejected([](Fields &f) { f.documents[0] = 1; }, "document index 0");
  expectRejected([](Fields &f) { f.documents[1] = 3; }, "document index 2");
  expectRejected([](Fields &f) { f.documents[2] = 5; }, "document index 2");
  expectRejected([](Fields &f) { f.documents[3] = 3; }, "the last");
  expectRejected([](Fields &f) { f.bin.pop_back(); }, "multiple of the 2");
  expectRejected([](Fields &f) { f.bin.resize(10); }, "expected 12 bytes");
  expectRejected([](Fields &f) { f.bin += "xy"; }, "found 14 bytes");
  expectRejected([](Fields &f) { f.lengths[0] = INT32_MAX; }, "(and 2 more)");
}

/// Each length of the file but its own, and the one without modes.
TEST_F(IndexedDatasetTest, ACutIndexIsRejected) {
  Fields fields;
  fields.modes = std::string(4, '\0');
  std::string whole = fields.bytes();
  std::string prefix = folder_.path("set");
  writeFile(prefix + ".bin", fields.bin);
  writeFile(prefix + ".idx", whole);
  for (size_t size = whole.size() + 1; size-- > 0;) {
    std::filesystem::resize_file(prefix + ".idx", size);
    bool good = size == whole.size() || size == whole.size() - 4;
    Status status = IndexedDataset::open(prefix, set_);
    EXPECT_EQ(status.ok(), good) << size << ": " << status.message();
  }
}

/// Each bit of an .idx counts, but those of a type of the same size.
TEST_F(IndexedDatasetTest, AFlippedBitIsFound) {
  Fields fields;
  std::string whole = fields.bytes(), prefix = folder_.path("set");
  IndexedSummary first, summary;
  ASSERT_TRUE(open(fields, &first).ok());
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    char byte = whole[bit / 8];
    writeByte(prefix + ".idx", bit / 8,
              static_cast<char>(byte ^ (1 << bit % 8)));
    Status status = IndexedDataset::open(prefix, set_);
    if (status.ok())
      status = set_.check(summary);
    // What another corpus could have as well has another digest.
    EXPECT_TRUE(!status.ok() || summary.digest != first.digest) << bit;
    writeByte(prefix + ".idx", bit / 8, byte);
  }
}

TEST_F(IndexedDatasetTest, AnEmptyCorpusIsOne) {
  writeCorpus(folder_.path("none"), {});
  IndexedSummary summary;
  ASSERT_TRUE(IndexedDataset::open(folder_.path("none"), set_).ok());
  ASSERT_TRUE(set_.check(summary).ok());
  EXPECT_EQ(set_.documents(), 0);
  EXPECT_EQ(summary.tokens, 0);
}

TEST_F(IndexedDatasetTest, ACorpusIsAppended) {
  std::string small = folder_.path("small"), twice = folder_.path("twice");
  writeCorpus(small, smallCorpus());
  ASSERT_TRUE(IndexedDataset::open(small, set_).ok());
  IndexedWriter writer;
  ASSERT_TRUE(IndexedWriter::create(twice, TokenType::u16, writer).ok());
  ASSERT_TRUE(writer.append(set_).ok());
  ASSERT_TRUE(writer.append(set_).ok());
  ASSERT_TRUE(writer.commit().ok());
  Documents both = smallCorpus();
  for (const auto &document : smallCorpus())
    both.push_back(document);
  writeCorpus(folder_.path("expected"), both);
  for (const char *end : {".idx", ".bin"})
    EXPECT_EQ(readFile(twice + end), readFile(folder_.path("expected") + end));
  IndexedWriter wider;
  ASSERT_TRUE(
      IndexedWriter::create(folder_.path("wide"), TokenType::i32, wider).ok());
  EXPECT_EQ(wider.append(set_).code(), StatusCode::inputRejected);
}

TEST_F(IndexedDatasetTest, TokensThatDoNotFitAreRejected) {
  IndexedWriter writer;
  ASSERT_TRUE(
      IndexedWriter::create(folder_.path("set"), TokenType::u16, writer).ok());
  EXPECT_EQ(writer.add(std::vector<int32_t>{1, 65536}).code(),
            StatusCode::inputRejected);
  EXPECT_EQ(writer.add(std::vector<int32_t>{-1}).code(),
            StatusCode::inputRejected);
  EXPECT_TRUE(writer.add(std::vector<int32_t>{0, 65535}).ok());
  EXPECT_EQ(
      IndexedWriter::create(folder_.path("x"), TokenType::u32, writer).code(),
      StatusCode::usage);
}

TEST_F(IndexedDatasetTest, NothingHasANameBeforeItIsWhole) {
  {
    IndexedWriter writer;
    ASSERT_TRUE(
        IndexedWriter::create(folder_.path("set"), TokenType::u8, writer).ok());
    ASSERT_TRUE(writer.add(std::vector<int32_t>{1, 2}).ok());
    EXPECT_FALSE(IndexedDataset::isThere(folder_.path("set")));
  }
  EXPECT_EQ(folder_.files(), 0u);
}

TEST(TokenTypes, AreThoseOfMegatron) {
  // DType in megatron/core/datasets/indexed_dataset.py; 6 and 7 are floats.
  const std::pair<int, const char *> codes[] = {
      {1, "u8"}, {2, "i8"}, {3, "i16"}, {4, "i32"}, {5, "i64"}, {8, "u16"}};
  for (auto [code, name] : codes)
    EXPECT_STREQ(tokenTypeOfCode(code)->name, name);
  EXPECT_EQ(tokenTypeFor(65499), TokenType::u16);
  EXPECT_EQ(tokenTypeFor(65500), TokenType::i32);
  for (const TokenTypeInfo &info : tokenTypes())
    EXPECT_EQ(&infoOf(info.type), &info);
}

} // namespace
