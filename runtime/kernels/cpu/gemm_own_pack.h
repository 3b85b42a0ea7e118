//===- gemm_own_pack.h - panels of a product --------------------*- C++ -*-===//
//
// Internal, per instruction set (see simd.h). Rows are packed in groups, whose
// number of units divides a panel's width.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_PACK_H
#define MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_PACK_H

#include "runtime/kernels/cpu/gemm_own_table.h"
#include "runtime/kernels/cpu/gemm_own_units.h"

namespace {

using mtc::runtime::PackCall;

/// Panels of op(b) are packed row by row in any case.
#ifdef __AMX_TILE__
constexpr bool kPacksByRows = true;
#else
constexpr bool kPacksByRows = false;
#endif

/// A group of up to Group::kUnits rows, one unit at a time.
template <typename Units, typename Group>
void packEdge(const typename Units::Element *from, int64_t rowStride,
              int64_t kStride, int64_t rows, int64_t depth, int64_t firstUnit,
              int64_t width, float *to) {
  for (int64_t k = firstUnit * Units::kElements; k < depth;
       k += Units::kElements)
    for (int64_t row = 0; row < Group::kUnits; ++row)
      to[k / Units::kElements * width + row] =
          row < rows ? Units::one(from + row * rowStride + k * kStride, kStride,
                                  depth - k)
                     : 0.0f;
}

/// A group of rows that are stored along k. What is streamed comes from memory,
/// too: behind the end of these rows lines of the next group are fetched.
template <typename Units, typename Group>
MTC_INLINE void packAlong(const typename Units::Element *from, int64_t stride,
                          int64_t depth, int64_t width, float *to) {
  constexpr int64_t kAhead = 256; // bytes
  constexpr int kUnits = Group::kUnits;
  constexpr int64_t kSize = sizeof(typename Units::Element);
  int64_t unit = 0;
  for (; (unit + kUnits) * Units::kElements <= depth; unit += kUnits) {
    const auto *p = from + unit * Units::kElements;
    int64_t ahead = kAhead;
    if (Group::kStreams && unit * Units::kElements + kAhead / kSize >= depth)
      ahead += (kUnits * stride - depth) * kSize;
    typename Group::Vector x[kUnits];
#pragma GCC unroll 16
    for (int i = 0; i < kUnits; ++i) {
      x[i] = Units::template along<Group>(p + i * stride);
      _mm_prefetch((const char *)(p + i * stride) + ahead, _MM_HINT_T0);
    }
    Group::transpose(x);
#pragma GCC unroll 16
    for (int i = 0; i < kUnits; ++i)
      Group::store(to + (unit + i) * width, x[i]);
  }
  packEdge<Units, Group>(from, stride, 1, kUnits, depth, unit, width, to);
}

/// All whole groups of rows that are stored across k: a line of each k, for
/// some units of k, and their panels are done before the next lines. Lines of
/// one row of memory would go to panels as many as a power of two bytes apart,
/// which would drive each other out of the caches half full.
template <typename Units, typename Group>
MTC_INLINE void packAcross(const PackCall &call, int64_t units) {
  using Element = typename Units::Element;
  constexpr int kUnits = Group::kUnits, kLine = 64 / sizeof(Element);
  constexpr int kGroups = kLine / kUnits;
  constexpr int64_t kSome = 32; ///< units, each in a page of its own
  const auto *from = static_cast<const Element *>(call.from);
  int64_t whole = call.rows / kUnits * kUnits;
  int64_t wholeUnits = call.depth / Units::kElements;
  int64_t step = Units::kElements * call.stride;
  for (int64_t first = 0; first < wholeUnits; first += kSome) {
    int64_t end = first + kSome < wholeUnits ? first + kSome : wholeUnits;
    for (int64_t row = 0; row < whole; row += kLine) {
      float *panels[kGroups];
      int groups = 0;
      for (int64_t r = row; groups < kGroups && r < whole; r += kUnits)
        panels[groups++] =
            call.to + r / call.width * call.width * units + r % call.width;
      for (int64_t unit = first; unit < end; ++unit) {
        const auto *p = from + unit * step + row;
        for (int64_t i = 0; i < Units::kElements; ++i)
          _mm_prefetch((const char *)(p + kSome * step + i * call.stride),
                       _MM_HINT_T1);
        for (int i = 0; i < groups; ++i)
          Group::store(
              panels[i] + unit * call.width,
              Units::template across<Group>(p + i * kUnits, call.stride));
      }
    }
  }
}

/// The same of panels of op(b), row by row as memory has them, where no line of
/// a panel waits half full for the next row. A loop over its groups would cost
/// a tenth.
template <typename Units, typename Group>
MTC_INLINE void packByRows(const PackCall &call, int64_t units) {
  using Element = typename Units::Element;
  constexpr int kUnits = Group::kUnits, kLine = 64 / sizeof(Element);
  // What is streamed is memory's on both sides.
  constexpr int64_t kAhead = Group::kStreams ? 1 : 2; ///< units
  constexpr auto kHint = Group::kStreams ? _MM_HINT_T1 : _MM_HINT_T0;
  const auto *from = static_cast<const Element *>(call.from);
  int64_t step = Units::kElements * call.stride;
  for (int64_t unit = 0; unit < call.depth / Units::kElements; ++unit)
    for (int64_t row = 0; row < call.rows; row += kPanelColumns) {
      float *to = call.to + row * units + unit * kPanelColumns;
      const auto *p = from + unit * step + row;
      for (int64_t i = 0; i < Units::kElements; ++i)
        for (int64_t line = 0; line < kPanelColumns; line += kLine)
          _mm_prefetch(
              (const char *)(p + kAhead * step + i * call.stride + line),
              kHint);
      int64_t groups = (call.rows - row) / kUnits;
#pragma GCC unroll 3
      for (int i = 0; i < kVectors; ++i)
        if (i < groups)
          Group::store(to + i * kUnits, Units::template across<Group>(
                                            p + i * kUnits, call.stride));
    }
}

/// The last unit of whole groups, of which memory has a part.
template <typename Units, typename Group>
void packLastAcross(const PackCall &call, int64_t units) {
  const auto *from = static_cast<const typename Units::Element *>(call.from);
  int64_t wholeUnits = call.depth / Units::kElements;
  for (int64_t row = 0; row + Group::kUnits <= call.rows; row += Group::kUnits)
    packEdge<Units, Group>(from + row, 1, call.stride, Group::kUnits,
                           call.depth, wholeUnits, call.width,
                           call.to + row / call.width * call.width * units +
                               row % call.width);
}

template <typename Units, typename Group>
MTC_INLINE void packGroups(const PackCall &call) {
  const auto *from = static_cast<const typename Units::Element *>(call.from);
  int64_t units = call.units;
  int64_t rowStride = call.alongK ? call.stride : 1,
          kStride = call.alongK ? 1 : call.stride;
  if (!call.alongK) {
    if constexpr (Group::kStreams || kPacksByRows)
      packByRows<Units, Group>(call, units);
    else
      packAcross<Units, Group>(call, units);
    if (call.depth % Units::kElements != 0)
      packLastAcross<Units, Group>(call, units);
  }
  int64_t padded = (call.rows + call.width - 1) / call.width * call.width;
  for (int64_t row = 0; row < padded; row += Group::kUnits) {
    float *to =
        call.to + row / call.width * call.width * units + row % call.width;
    if (row + Group::kUnits > call.rows)
      packEdge<Units, Group>(from + row * rowStride, rowStride, kStride,
                             call.rows - row, call.depth, 0, call.width, to);
    else if (call.alongK)
      packAlong<Units, Group>(from + row * rowStride, call.stride, call.depth,
                              call.width, to);
  }
}

template <typename Units> void packPanels(const PackCall &call) {
#ifdef __AVX512F__
  if (call.streams) {
    packGroups<Units, StreamedSixteen>(call);
    _mm_sfence();
    return;
  }
#endif
  if (call.width % VectorOfUnits::kUnits == 0)
    packGroups<Units, VectorOfUnits>(call);
  else
    packGroups<Units, Eight>(call);
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_PACK_H
