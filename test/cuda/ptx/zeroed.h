//===- zeroed.h - arrays of zeros that cost what is touched -----*- C++ -*-===//
//
// Shadows are many times as large as what they are of, and most of them is
// never looked at: large ones are pages that the system makes when they are
// touched.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_PTX_ZEROED_H
#define MTC_TEST_CUDA_PTX_ZEROED_H

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace mtc::ptx {

/// Elements whose bytes are zeros until somebody writes them.
template <class T> class Zeroed {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  Zeroed() = default;
  Zeroed(Zeroed &&other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  Zeroed &operator=(Zeroed &&other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Zeroed() { clear(); }

  /// `size` zeros in place of what was there.
  void reset(size_t size) {
    clear();
    if (size == 0)
      return;
    void *made = bytesOf(size) < kMapped ? std::calloc(size, sizeof(T))
                                         : map(bytesOf(size));
    if (!made || made == MAP_FAILED)
      throw std::bad_alloc();
    data_ = static_cast<T *>(made);
    size_ = size;
  }
  void clear() {
    if (bytesOf(size_) < kMapped)
      std::free(data_);
    else
      munmap(data_, bytesOf(size_));
    data_ = nullptr;
    size_ = 0;
  }

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  T *data() { return data_; }
  const T *data() const { return data_; }
  T *begin() { return data_; }
  T *end() { return data_ + size_; }
  const T *begin() const { return data_; }
  const T *end() const { return data_ + size_; }
  T &operator[](size_t k) { return data_[k]; }
  const T &operator[](size_t k) const { return data_[k]; }

private:
  /// From so many bytes on the system is asked, not the heap.
  static constexpr size_t kMapped = 64 << 10;
  /// And so many are worth pages of this size.
  static constexpr size_t kLarge = 2 << 20;
  static size_t bytesOf(size_t size) { return size * sizeof(T); }
  static void *map(size_t bytes) {
    void *made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made != MAP_FAILED && bytes >= kLarge)
      (void)madvise(made, bytes, MADV_HUGEPAGE); // a hint
    return made;
  }

  T *data_ = nullptr;
  size_t size_ = 0;
};

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_ZEROED_H
