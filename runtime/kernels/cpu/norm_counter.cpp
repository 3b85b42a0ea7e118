//===- norm_counter.cpp - the norm of values as they are made -------------===//
#include "runtime/kernels/cpu/norm_counter.h"

#include "mtc/runtime/isa.h"
#include "runtime/kernels/cpu/kernel_table.h"
#include "runtime/kernels/cpu/norm_sum.h"

#include <algorithm>
#include <cmath>

namespace mtc::runtime {

namespace {

/// A window's values are below 2^52 units. Its unit is at least that of the
/// smallest fp32 value, and at most such that the largest is in the window.
constexpr int kWindowBits = 52, kLeastUnit = -149,
              kMostUnit = 128 - kWindowBits;
/// Of fp32.
constexpr int kFractionBits = 23, kBias = 127;
/// What is not usual is less than 2^23 units: 2^51 of the smaller ones.
constexpr int kSmaller = 28;
/// Exponents that values of the next piece may be above those of the last one,
/// and twice as many that they may be below without another window.
constexpr int kRoom = 2;
/// Values that are put side by side, as addFloats takes many at once.
constexpr int64_t kSideBySide = 8 * kNormChunk;

/// The bits of 2^exponent, of an exponent of normal values or the one above.
uint32_t bitsOfPower(int exponent) {
  return uint32_t(exponent + kBias) << kFractionBits;
}

/// From where on values are multiples of a unit. Nothing is less than the
/// smallest unit.
uint32_t leastOf(int unit) {
  return unit == kLeastUnit ? 0 : bitsOfPower(unit + kFractionBits);
}

int smallerUnit(int unit) { return std::max(unit - kSmaller, kLeastUnit); }

/// Sums of lanes, each below 2^63.
template <size_t N>
void addLanes(NormSum &sum, const uint64_t (&lanes)[N], int position) {
  unsigned __int128 all = 0;
  for (uint64_t lane : lanes)
    all += lane;
  addDigit(sum, int64_t(all & 0xffffffffu), position);
  addDigit(sum, int64_t(all >> 32), position + 32);
}

void addHalves(NormSum &sum, const NormHalves &of, int unit) {
  int position = 2 * unit - kNormUnit;
  addLanes(sum, of.low, position);
  addLanes(sum, of.high, position + kWindowBits);
}

} // namespace

NormCounter::NormCounter() { place(0); }

bool NormCounter::hasWindows() {
  static const bool has = processorHasIfma();
  return has;
}

/// A window of values below 2^exponent.
void NormCounter::place(int exponent) {
  unit = std::clamp(exponent - kWindowBits, kLeastUnit, kMostUnit);
  window.usualMagnet = std::ldexp(1.0, kWindowBits + unit);
  window.smallMagnet = std::ldexp(1.0, kWindowBits + smallerUnit(unit));
  window.end = bitsOfPower(unit + kWindowBits);
  window.leastUsual = leastOf(unit);
  window.leastSmall = leastOf(smallerUnit(unit));
}

NormWindow &NormCounter::begin() {
  window.usual = window.small = {};
  std::ranges::fill(window.largest, 0);
  window.isOut = false;
  return window;
}

bool NormCounter::end() {
  // Nothing changes a sum that is not finite, nor may its last limb grow.
  if (!window.isOut && sum.finite()) {
    addHalves(sum, window.usual, unit);
    addHalves(sum, window.small, smallerUnit(unit));
    settle(sum);
  }
  uint32_t largest = *std::ranges::max_element(window.largest);
  // Above all values.
  int exponent = int(largest >> kFractionBits) - kBias + 1,
      room = unit + kWindowBits - exponent;
  if (largest > 0 && (room < 0 || room > 2 * kRoom))
    place(exponent + kRoom);
  return !window.isOut;
}

void NormCounter::add(const float *at, int64_t stride, int64_t rows,
                      int64_t columns) {
  alignas(64) float some[kSideBySide];
  for (int64_t filled = 0, row = 0; row < rows; ++row)
    for (int64_t from = 0, count; from < columns; from += count) {
      count = std::min(columns - from, kSideBySide - filled);
      std::copy_n(at + row * stride + from, count, some + filled);
      filled += count;
      bool isEnd = row + 1 == rows && from + count == columns;
      if (filled < kSideBySide && !isEnd)
        continue;
      addFloats(sum, some, {0, filled});
      filled = 0;
    }
}

void NormCounter::count(const float *g, int64_t values) {
  for (int64_t at = 0, some; at < values; at += some) {
    some = std::min(values - at, kWindowValues);
    int64_t vectors = hasWindows() ? some / kWindowVector : 0,
            whole = vectors * kWindowVector;
    if (vectors > 0) {
      fillWindow(begin(), g + at, vectors);
      whole = end() ? whole : 0;
    }
    add(g + at + whole, 0, 1, some - whole);
  }
}

void NormCounter::addTo(NormSum &to) const { addSum(to, sum); }

} // namespace mtc::runtime
