//===- repeat.h - large ranges full of one word -----------------*- C++ -*-===//
//
// A block of a GPU is set as a whole, and little of it is used. So large ranges
// are the pages of a small file, again and again, of which the system copies
// those that are written.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_PTX_REPEAT_H
#define MTC_TEST_CUDA_PTX_REPEAT_H

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace mtc::ptx {

/// From so many bytes on pages are mapped; fewer are written.
inline constexpr size_t kRepeated = 4 << 20;

/// `count` elements of one value. Ranges of kRepeated bytes and more are of
/// mappings that are private and have no file. Throws std::bad_alloc.
void repeatWord(void *begin, size_t bytes, uint64_t word);

template <class T> void repeat(T *begin, size_t count, T value) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 8);
  if (count < kRepeated / sizeof(T)) {
    std::fill_n(begin, count, value);
    return;
  }
  uint64_t word = uint64_t(value);
  repeatWord(begin, count * sizeof(T),
             sizeof(T) == 8 ? word : (word & 0xff) * (~uint64_t(0) / 0xff));
}

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_REPEAT_H
