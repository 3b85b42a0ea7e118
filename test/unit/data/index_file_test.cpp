//===- index_file_test.cpp - indices that are kept ------------------------===//

#include "runtime/data/index_file.h"
#include "test/unit/data/write_byte.h"
#include "test/unit/runtime/temporary_folder.h"

#include <gtest/gtest.h>

using namespace mtc::runtime;
using namespace mtc::runtime::test;

namespace {

const std::string kKey(32, 'a');

Status writeIndex(const std::string &path, size_t elements = 3) {
  IndexFileWriter out;
  MTC_RETURN_IF_ERROR(
      IndexFileWriter::create(path, kKey, {{3, 4}, {0, 4}, {2, 8}}, out));
  std::vector<int64_t> narrow{1, 2, UINT32_MAX}, wide{4, INT64_MAX};
  narrow.resize(elements);
  MTC_RETURN_IF_ERROR(out.append(std::span<const int64_t>(narrow)));
  MTC_RETURN_IF_ERROR(out.append(std::span<const int64_t>(wide)));
  return out.commit();
}

TEST(IndexFile, HasWhatWasWritten) {
  TemporaryFolder folder;
  ASSERT_TRUE(writeIndex(folder.path("i")).ok());
  IndexFile index;
  ASSERT_TRUE(IndexFile::open(folder.path("i"), kKey, index).ok());
  ASSERT_TRUE(index.verify().ok());
  int64_t values[3];
  ASSERT_TRUE(index.read(0, 0, 3, values).ok());
  EXPECT_EQ(values[2], UINT32_MAX);
  ASSERT_TRUE(index.read(0, 1, 1, values).ok());
  EXPECT_EQ(values[0], 2);
  ASSERT_TRUE(index.read(2, 1, 1, values).ok());
  EXPECT_EQ(values[0], INT64_MAX);
  EXPECT_EQ(index.count(1), 0);
  for (auto [first, count] :
       {std::pair<int64_t, int64_t>{0, 4}, {3, 1}, {-1, 1}, {INT64_MAX, 2}})
    EXPECT_EQ(index.read(0, first, count, values).code(),
              StatusCode::inputRejected);
  Status other = IndexFile::open(folder.path("i"), std::string(32, 'b'), index);
  EXPECT_NE(other.message().find("it is of other data"), std::string::npos);
}

TEST(IndexFile, EveryBitCounts) {
  TemporaryFolder folder;
  ASSERT_TRUE(writeIndex(folder.path("i")).ok());
  std::string whole = readFile(folder.path("i"));
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    char byte = whole[bit / 8];
    writeByte(folder.path("i"), bit / 8,
              static_cast<char>(byte ^ (1 << bit % 8)));
    IndexFile index;
    Status status = IndexFile::open(folder.path("i"), kKey, index);
    EXPECT_FALSE(status.ok() && index.verify().ok()) << bit;
    writeByte(folder.path("i"), bit / 8, byte);
  }
  for (size_t size = whole.size(); size-- > 0;) {
    std::filesystem::resize_file(folder.path("i"), size);
    IndexFile index;
    EXPECT_FALSE(IndexFile::open(folder.path("i"), kKey, index).ok()) << size;
  }
}

TEST(IndexFile, WithoutAllElementsIsNone) {
  TemporaryFolder folder;
  EXPECT_EQ(writeIndex(folder.path("i"), 2).code(), StatusCode::internal);
  EXPECT_EQ(writeIndex(folder.path("i"), 4).code(), StatusCode::internal);
  EXPECT_EQ(folder.files(), 0u);
}

} // namespace
