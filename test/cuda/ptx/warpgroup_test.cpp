//===- warpgroup_test.cpp - wgmma: products of tiles ----------------------===//
//
// Against products in double of matrices of small integers, for which all
// orders of addition give the same. Tiles are laid out by tile_layout.h.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/harness.h"
#include "test/cuda/ptx/tile_layout.h"

#include "runtime/base/bf16.h"
#include "runtime/base/f16.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <random>

namespace mtc::ptx {
namespace {

constexpr unsigned kRows = 64, kThreads = 128;
constexpr uint32_t kBase = 1024; ///< of shared memory, a null pointer's KiB on

/// One wgmma, or several along K.
struct Case {
  TileLayout left, right;
  bool half = false; ///< f16, not bf16
  bool leftInRegisters = false;
  std::string scale = "1"; ///< of D: 0, 1 or a predicate
  int leftScale = 1, rightScale = 1;
  unsigned firstK = 0, steps = 1;

  unsigned columns() const { return right.extent; }
};

using Matrix = std::vector<std::vector<double>>;

Matrix randomMatrix(unsigned rows, unsigned columns, std::mt19937 &random) {
  Matrix made(rows, std::vector<double>(columns));
  for (auto &row : made)
    for (double &each : row)
      each = double(int(random() % 17) - 8);
  return made;
}

uint16_t narrow(double value, bool half) {
  return half ? runtime::roundToF16(float(value))
              : runtime::roundToBf16(float(value));
}

/// Bytes of both tiles, the right one at a multiple of 1024 behind the left.
uint32_t rightAt(const Case &c) {
  return (c.left.bytes() + 1023) / 1024 * 1024;
}

std::vector<uint32_t> imageOf(const Case &c, const Matrix &left,
                              const Matrix &right) {
  std::vector<uint32_t> words((rightAt(c) + c.right.bytes() + 511) / 512 * 128);
  auto *bytes = reinterpret_cast<char *>(words.data());
  auto put = [&](const TileLayout &tile, uint32_t base, const Matrix &values) {
    for (unsigned r = 0; r < tile.extent; ++r)
      for (unsigned k = 0; k < tile.depth; ++k) {
        uint16_t bits = narrow(values[r][k], c.half);
        std::memcpy(bytes + base + tile.at(r, k), &bits, 2);
      }
  };
  put(c.left, 0, left);
  put(c.right, rightAt(c), right);
  return words;
}

/// A of registers: words that each thread loads, behind the image.
void addFragments(const Case &c, const Matrix &left,
                  std::vector<uint32_t> &words) {
  for (unsigned step = 0; step < c.steps; ++step)
    for (unsigned t = 0; t < kThreads; ++t)
      for (unsigned r = 0; r < 4; ++r) {
        unsigned row = t / 32 * 16 + t % 32 / 4 + r % 2 * 8;
        unsigned k = c.firstK + 16 * step + t % 4 * 2 + r / 2 * 8;
        words.push_back(uint32_t(narrow(left[row][k + 1], c.half)) << 16 |
                        narrow(left[row][k], c.half));
      }
}

std::string sumsOf(unsigned count) {
  std::vector<std::string> names;
  for (unsigned k = 0; k < count; ++k)
    names.push_back(fmt::format("%s{}", k));
  return fmt::format("{{{}}}", fmt::join(names, ", "));
}

std::string bodyOf(const Case &c, size_t imageWords) {
  unsigned count = c.columns() / 2;
  std::string body = fmt::format(R"(
  .reg .f32 %s<128>; setp.ne.u32 %p1, %n, 0; setp.eq.u32 %p2, %n, 0;
  mov.u32 %r1, open; mad.lo.u32 %r2, %t, 4, %r1; mov.u32 %r3, 0;
  mov.u64 %d1, %arg;
L: ld.global.b32 %r4, [%d1]; st.shared.b32 [%r2], %r4;
  add.u32 %r2, %r2, 512; add.u64 %d1, %d1, 512; add.u32 %r3, %r3, 128;
  setp.lt.u32 %p3, %r3, {}; @%p3 bra L;
  mad.wide.u32 %d1, %t, 16, %in; add.u64 %d1, %d1, {};
  fence.proxy.async; bar.sync 0;)",
                                 imageWords, 4 * imageWords);
  for (unsigned k = 0; k < count; ++k)
    body += fmt::format("mov.f32 %s{}, 0f40400000;\n", k); // 3
  for (unsigned step = 0; c.leftInRegisters && step < c.steps; ++step)
    body += fmt::format("ld.global.v4.b32 {{%r{},%r{},%r{},%r{}}}, [%d1+{}];\n",
                        10 + 4 * step, 11 + 4 * step, 12 + 4 * step,
                        13 + 4 * step, step * 16 * kThreads);
  body += "wgmma.fence.sync.aligned;\n";
  for (unsigned step = 0; step < c.steps; ++step) {
    unsigned k = c.firstK + 16 * step, r = 10 + 4 * step;
    std::string left = fmt::format("{}", c.left.descriptor(kBase, k));
    if (c.leftInRegisters)
      left = fmt::format("{{%r{},%r{},%r{},%r{}}}", r, r + 1, r + 2, r + 3);
    std::string type = c.half ? "f16" : "bf16";
    body += fmt::format(
        "wgmma.mma_async.sync.aligned.m64n{}k16.f32.{}.{} {}, {}, {}, {}, {}, "
        "{}{}, {};\n",
        c.columns(), type, type, sumsOf(count), left,
        c.right.descriptor(kBase + rightAt(c), k), step ? "1" : c.scale,
        c.leftScale, c.rightScale,
        c.leftInRegisters   ? ""
        : c.left.transposed ? ", 1"
                            : ", 0",
        int(c.right.transposed));
  }
  body += fmt::format("wgmma.commit_group.sync.aligned;\n"
                      "wgmma.wait_group.sync.aligned 0;\n"
                      "mad.wide.u32 %d1, %t, {}, %out;\n",
                      4 * count);
  for (unsigned k = 0; k < count; ++k)
    body += fmt::format("st.global.f32 [%d1+{}], %s{};\n", 4 * k, k);
  return body;
}

double expected(const Case &c, const Matrix &left, const Matrix &right,
                unsigned row, unsigned column) {
  double sum = c.scale == "0" || c.scale == "%p2" || c.scale == "!%p1" ? 0 : 3;
  for (unsigned k = c.firstK; k < c.firstK + 16 * c.steps; ++k)
    sum += c.leftScale * c.rightScale * left[row][k] * right[column][k];
  return sum;
}

void check(const Case &c) {
  std::mt19937 random(c.columns() + c.left.swizzle);
  Matrix left = randomMatrix(kRows, c.left.depth, random);
  Matrix right = randomMatrix(c.columns(), c.right.depth, random);
  Trial trial;
  trial.target = "sm_90a";
  trial.module = ".extern .shared .align 1024 .b8 open[];";
  trial.block.x = kThreads;
  trial.in = imageOf(c, left, right);
  size_t imageWords = trial.in.size();
  trial.dynamicShared = uint32_t(4 * imageWords);
  if (c.leftInRegisters)
    addFragments(c, left, trial.in);
  trial.outWords = kRows * c.columns();
  auto out = wordsOf(bodyOf(c, imageWords), trial);
  unsigned count = c.columns() / 2;
  for (unsigned t = 0; t < kThreads; ++t)
    for (unsigned s = 0; s < count; ++s) {
      unsigned row = t / 32 * 16 + t % 32 / 4 + s / 2 % 2 * 8;
      unsigned column = s / 4 * 8 + t % 4 * 2 + s % 2;
      ASSERT_EQ(__builtin_bit_cast(float, out[t * count + s]),
                expected(c, left, right, row, column))
          << "row " << row << ", column " << column << ", swizzles "
          << c.left.swizzle << " and " << c.right.swizzle << ", transposed "
          << c.left.transposed << " and " << c.right.transposed << ", columns "
          << c.columns() << ", half " << c.half << ", K from " << c.firstK;
    }
}

constexpr unsigned kSwizzles[] = {0, 32, 64, 128};

TEST(Warpgroup, LayoutsOfBothTiles) {
  for (unsigned left : kSwizzles)
    for (unsigned right : kSwizzles)
      for (int transposed = 0; transposed < 4; ++transposed) {
        Case c{{left, bool(transposed & 1), kRows, 64},
               {right, bool(transposed & 2), 64, 64}};
        c.steps = 4;
        check(c);
      }
}

TEST(Warpgroup, DistancesBetweenAtoms) {
  for (unsigned swizzle : kSwizzles)
    for (bool transposed : {false, true})
      check({{swizzle, transposed, kRows, 64, 1},
             {swizzle, transposed, 128, 32, 2}});
}

TEST(Warpgroup, NumbersOfColumns) {
  for (unsigned columns = 8; columns <= 256; columns += columns < 128 ? 8 : 64)
    for (bool transposed : {false, true}) {
      Case c{{128, false, kRows, 64}, {128, transposed, columns, 64}};
      c.firstK = 16;
      check(c);
    }
}

TEST(Warpgroup, LeftFactorInRegisters) {
  for (bool half : {false, true})
    for (unsigned columns : {32u, 64u, 128u}) {
      Case c{{128, false, kRows, 64}, {128, columns != 32, columns, 64}};
      c.leftInRegisters = true;
      c.half = half;
      c.steps = 3;
      check(c);
    }
}

TEST(Warpgroup, ScalesAndTypes) {
  for (bool half : {false, true})
    for (const char *scale : {"0", "1", "%p1", "%p2", "!%p1"})
      for (int signs = 0; signs < 4; ++signs) {
        Case c{{64, false, kRows, 32}, {64, true, 16, 32}};
        c.half = half;
        c.scale = scale;
        c.leftScale = signs & 1 ? -1 : 1;
        c.rightScale = signs & 2 ? -1 : 1;
        c.leftInRegisters = signs == 3;
        check(c);
      }
}

} // namespace
} // namespace mtc::ptx
