//===- matrix_moves.cpp - ldmatrix, stmatrix, movmatrix -------------------===//
//
// A matrix of 8 times 8 elements of 16 bits: lane l has elements 2·(l % 4) and
// the next one of row l / 4. In memory its rows are 16 bytes each, where lanes
// 8m to 8m + 7 say for matrix m.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/families/families.h"
#include "test/cuda/ptx/machine/quick.h"

#include <array>

namespace mtc::ptx {
namespace {

using Matrix = std::array<std::array<uint16_t, 8>, 8>;

/// The two elements of a lane, in a word.
uint32_t wordOf(const Matrix &matrix, int lane, bool transposed) {
  int row = lane / 4, column = 2 * (lane % 4);
  if (transposed)
    return uint32_t(matrix[column + 1][row]) << 16 | matrix[column][row];
  return uint32_t(matrix[row][column + 1]) << 16 | matrix[row][column];
}

void setWord(Matrix &matrix, int lane, bool transposed, uint32_t word) {
  int row = lane / 4, column = 2 * (lane % 4);
  (transposed ? matrix[column][row] : matrix[row][column]) = uint16_t(word);
  (transposed ? matrix[column + 1][row] : matrix[row][column + 1]) =
      uint16_t(word >> 16);
}

/// Lane 8m + r has the address of row r.
std::byte *rowOf(Warp &warp, const Instruction &i, Quick &quick, int lane,
                 Access kind, const void *value) {
  uint64_t address = addressOf(warp, i.from[0], i.base, i.immediate, lane);
  std::byte *at = kind == Access::read ? quick.read<16>(address, lane)
                                       : quick.write<16>(address, lane);
  return at ? at : access(warp, i, i.space, address, 16, kind, lane, value);
}

bool ldmatrix(Warp &warp, const Instruction &i) {
  uint32_t words[4][kLanes];
  Quick quick(warp, i, i.space,
              someAddress(warp, i.from[0], i.base, i.immediate), 16,
              /*writes=*/false);
  for (int m = 0; m < i.vector; ++m) {
    Matrix matrix;
    for (int r = 0; r < 8; ++r) {
      std::byte *at = rowOf(warp, i, quick, 8 * m + r, Access::read, nullptr);
      if (!at)
        return false;
      std::memcpy(matrix[size_t(r)].data(), at, 16);
    }
    for (int l = 0; l < kLanes; ++l)
      words[m][l] = wordOf(matrix, l, i.flag);
  }
  for (int m = 0; m < i.vector; ++m)
    if (i.to[size_t(m)] != kNowhere)
      std::memcpy(warp.slots<uint32_t>(i.to[size_t(m)]), words[m],
                  sizeof words[m]);
  return true;
}

bool stmatrix(Warp &warp, const Instruction &i) {
  Quick quick(warp, i, i.space,
              someAddress(warp, i.from[0], i.base, i.immediate), 16,
              /*writes=*/true);
  for (int m = 0; m < i.vector; ++m) {
    Matrix matrix;
    for (int l = 0; l < kLanes; ++l)
      setWord(matrix, l, i.flag,
              warp.slots<uint32_t>(i.from[size_t(m) + 1])[l]);
    for (int r = 0; r < 8; ++r) {
      const auto &row = matrix[size_t(r)];
      std::byte *at =
          rowOf(warp, i, quick, 8 * m + r, Access::write, row.data());
      if (!at)
        return false;
      std::memcpy(at, row.data(), 16);
    }
  }
  return true;
}

bool movmatrix(Warp &warp, const Instruction &i) {
  Matrix matrix;
  for (int l = 0; l < kLanes; ++l)
    setWord(matrix, l, false, warp.slots<uint32_t>(i.from[0])[l]);
  for (int l = 0; l < kLanes; ++l)
    warp.slots<uint32_t>(i.to[0])[l] = wordOf(matrix, l, true);
  return true;
}

/// .sync.aligned.m8n8.x4.trans.shared.b16
void takeShape(Builder &b) {
  b.expectOneOf({"sync"});
  b.expectOneOf({"aligned"});
  b.expectOneOf({"m8n8"});
  b.out.vector = uint8_t(1 << b.expectOneOf({"x1", "x2", "x4"}));
  b.out.flag = b.take("trans");
  bool shared = b.takeOneOf({"shared", "shared::cta"}).has_value();
  b.out.space = shared ? Space::shared : Space::generic;
  b.expectType({Type::b16});
  b.endModifiers();
  b.out.gather = Gather::warp;
}

} // namespace

void decodeLdmatrix(Builder &b) {
  takeShape(b);
  b.needs(75, 65);
  b.toVector(Type::b32, b.out.vector);
  b.address(b.out.space);
  b.endOperands();
  b.out.run = ldmatrix;
}

void decodeStmatrix(Builder &b) {
  takeShape(b);
  b.needs(90, 78);
  b.address(b.out.space);
  b.fromVector(Type::b32, b.out.vector);
  b.endOperands();
  b.out.run = stmatrix;
}

void decodeMovmatrix(Builder &b) {
  b.expectOneOf({"sync"});
  b.expectOneOf({"aligned"});
  b.expectOneOf({"m8n8"});
  b.expectOneOf({"trans"});
  b.needs(75, 78);
  b.out.gather = Gather::warp;
  b.out.run = movmatrix;
  b.expectType({Type::b16});
  b.plain(Type::b32, 1);
}

} // namespace mtc::ptx
