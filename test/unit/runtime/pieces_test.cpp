//===- pieces_test.cpp - tensors that ranks write together ----------------===//

#include "runtime/base/safetensors.h"
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/pieces/pieces.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

namespace mtc::runtime::test {
namespace {

/// Elements of a box of a tensor whose element i is i.
std::vector<float> valuesOf(const std::vector<int64_t> &shape, const Box &box,
                            int64_t start, int64_t count) {
  std::vector<float> out;
  visitRuns(shape, box, start, count,
            [&](int64_t global, int64_t local, int64_t n) {
              EXPECT_EQ(local, start + static_cast<int64_t>(out.size()));
              for (int64_t i = 0; i < n; ++i)
                out.push_back(static_cast<float>(global + i));
            });
  return out;
}

/// A rank's piece of the [3, 4] tensor "t": half of its columns, flat range.
struct Part {
  std::vector<float> data;
  Piece piece;
  Part(int half, int64_t start, int64_t count) {
    Box box{{0, 2 * half}, {3, 2}};
    data = valuesOf({3, 4}, box, start, count);
    piece = {"t", {3, 4}, {}, box, start, count, data.data(), {}};
  }
};

/// For pieces of which nothing is on a device.
Stream &onHost() {
  static CpuStream stream{ArenaViews{}};
  return stream;
}

TEST(VisitRuns, JoinsWholeRows) {
  int runs = 0;
  auto count = [&](int64_t, int64_t, int64_t) { ++runs; };
  visitRuns({6, 4}, {{2, 0}, {3, 4}}, 0, 12, count);
  EXPECT_EQ(runs, 1);
  runs = 0;
  visitRuns({6, 4}, {{0, 2}, {6, 2}}, 1, 9, count);
  EXPECT_EQ(runs, 5);
  runs = 0;
  visitRuns({}, {{}, {}}, 0, 1, count);
  EXPECT_EQ(runs, 1) << "a scalar";
}

TEST(VisitRuns, FindsGlobalIndices) {
  EXPECT_EQ(valuesOf({3, 4}, {{0, 2}, {3, 2}}, 1, 4),
            (std::vector<float>{3, 6, 7, 10}));
}

TEST(VisitRuns, FindsSlicesInTheirTensor) {
  // Of [2, 3, 2] the middle index of dimension 1, and the first two.
  SliceInfo middle{"t", {2, 3, 2}, 1, 1, 1}, front{"t", {2, 3, 2}, 1, 0, 2};
  auto globals = [](const std::vector<int64_t> &shape, const Box &box,
                    const SliceInfo &slice, int64_t start, int64_t count) {
    std::vector<int64_t> out;
    visitRuns(shape, box, slice, start, count,
              [&](int64_t global, int64_t local, int64_t n) {
                EXPECT_EQ(local, start + static_cast<int64_t>(out.size()));
                for (int64_t i = 0; i < n; ++i)
                  out.push_back(global + i);
              });
    return out;
  };
  using Indices = std::vector<int64_t>;
  EXPECT_EQ(globals({2, 2}, {{0, 0}, {2, 2}}, middle, 0, 4),
            (Indices{2, 3, 8, 9}));
  // Dimensions 0 and 1 joined: rows 1 and 2 of 4, from their second element on.
  EXPECT_EQ(globals({4, 2}, {{1, 0}, {2, 2}}, front, 1, 3), (Indices{3, 6, 7}));
}

TEST(SliceInfo, FitsAsManyElements) {
  SliceInfo slice{"t", {2, 3, 2}, 1, 1, 2};
  EXPECT_TRUE(slice.fits({4, 2}));
  EXPECT_FALSE(slice.fits({4, 3}));
  for (auto [dim, first, size] : {std::array<int64_t, 3>{3, 0, 2},
                                  {-1, 0, 2},
                                  {1, 2, 2},
                                  {1, -1, 2},
                                  {1, 0, 0},
                                  {1, INT64_MAX, 2}}) {
    SliceInfo other{"t", {2, 3, 2}, dim, first, size};
    EXPECT_FALSE(other.fits({4, 2})) << dim << " " << first << " " << size;
  }
}

SharedFile inFolder(const TemporaryFolder &folder) {
  SharedFile file{folder.path("t.safetensors"), folder.path("parts")};
  std::filesystem::create_directory(file.parts);
  return file;
}

TEST(Pieces, MergeToTheGlobalTensor) {
  TemporaryFolder folder;
  SharedFile target = inFolder(folder);
  // Left columns by rank 0; right ones in two flat ranges by ranks 1 and 2.
  Part a(0, 0, 6), b(1, 0, 4), c(1, 4, 2);
  ASSERT_TRUE(writePart(target, 0, onHost(), {a.piece}).ok());
  ASSERT_TRUE(writePart(target, 1, onHost(), {b.piece}).ok());
  ASSERT_TRUE(writePart(target, 2, onHost(), {c.piece}).ok());
  Status status = mergeParts(target, 3, {});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(std::filesystem::is_empty(target.parts)) << "parts must be gone";
  SafetensorsFile file;
  ASSERT_TRUE(SafetensorsFile::open(target.path, file).ok());
  float values[12];
  ASSERT_TRUE(file.read(*file.find("t"), 0, values, sizeof values).ok());
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(values[i], i);
}

TEST(Pieces, SlicesMergeToTheirTensor) {
  TemporaryFolder folder;
  SharedFile target = inFolder(folder);
  // Of [2, 3]: columns 0 and 1 as one parameter, column 2 as another.
  std::vector<float> front = {0, 1, 3, 4}, back = {2, 5};
  auto piece = [](const char *name, int64_t first, std::vector<float> &data) {
    auto count = static_cast<int64_t>(data.size());
    SliceInfo slice{"t", {2, 3}, 1, first, count / 2};
    return Piece{name, {count}, slice, {{0}, {count}}, 0, count, data.data()};
  };
  ASSERT_TRUE(writePart(target, 0, onHost(), {piece("front", 0, front)}).ok());
  EXPECT_NE(mergeParts(target, 1, {}).message().find("2 elements of 't'"),
            std::string::npos);
  ASSERT_TRUE(writePart(target, 0, onHost(), {piece("front", 0, front)}).ok());
  ASSERT_TRUE(writePart(target, 1, onHost(), {piece("back", 2, back)}).ok());
  Status status = mergeParts(target, 2, {});
  ASSERT_TRUE(status.ok()) << status.message();
  SafetensorsFile file;
  ASSERT_TRUE(SafetensorsFile::open(target.path, file).ok());
  ASSERT_EQ(file.tensors().size(), 1u);
  EXPECT_EQ(file.find("t")->shape, (std::vector<int64_t>{2, 3}));
  float values[6];
  ASSERT_TRUE(file.read(*file.find("t"), 0, values, sizeof values).ok());
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(values[i], i);

  ASSERT_TRUE(writePart(target, 0, onHost(), {piece("back", 3, back)}).ok());
  EXPECT_EQ(mergeParts(target, 1, {}).code(), StatusCode::inputRejected)
      << "the slice leaves its tensor";
}

TEST(Pieces, RejectsGapsAndDuplicates) {
  TemporaryFolder folder;
  SharedFile target = inFolder(folder);
  Part a(0, 0, 6), b(1, 0, 4), again(1, 3, 3);
  ASSERT_TRUE(writePart(target, 0, onHost(), {a.piece}).ok());
  ASSERT_TRUE(writePart(target, 1, onHost(), {b.piece}).ok());
  Status gap = mergeParts(target, 2, {});
  EXPECT_EQ(gap.code(), StatusCode::inputRejected);
  EXPECT_NE(gap.message().find("2 elements of 't'"), std::string::npos)
      << gap.message();
  EXPECT_FALSE(std::filesystem::exists(target.path))
      << "nothing may look whole";

  ASSERT_TRUE(writePart(target, 0, onHost(), {a.piece, b.piece}).ok());
  ASSERT_TRUE(writePart(target, 1, onHost(), {again.piece}).ok());
  Status twice = mergeParts(target, 2, {});
  EXPECT_NE(twice.message().find("by two ranks"), std::string::npos);

  ASSERT_TRUE(writePart(target, 0, onHost(), {a.piece}).ok());
  EXPECT_EQ(mergeParts(target, 2, {}).code(), StatusCode::inputRejected);
  EXPECT_FALSE(std::filesystem::exists(target.path));
}

} // namespace
} // namespace mtc::runtime::test
