//===- products.h - the products of a gpt2-124m step ------------*- C++ -*-===//
#ifndef MTC_TEST_BENCH_GEMM_PRODUCTS_H
#define MTC_TEST_BENCH_GEMM_PRODUCTS_H

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <vector>

struct Product {
  std::string name;
  int64_t m, n, k;
  bool ta, tb;
  int beta, count; ///< of a step
};

/// As a plan has them: weights are stored [in, out], the tied table [vocab,
/// hidden]; gradients of weights are added to what the microbatches before
/// left.
inline std::vector<Product> productsOf(int64_t tokens) {
  constexpr int64_t kHidden = 768, kVocab = 50304, kLayers = 12;
  struct Layer {
    const char *name;
    int64_t in, out;
    int count;
    bool isTable;
  };
  const Layer layers[] = {{"qkv", kHidden, 3 * kHidden, kLayers, false},
                          {"proj", kHidden, kHidden, kLayers, false},
                          {"up", kHidden, 4 * kHidden, kLayers, false},
                          {"down", 4 * kHidden, kHidden, kLayers, false},
                          {"head", kHidden, kVocab, 1, true}};
  std::vector<Product> all;
  for (const Layer &l : layers) {
    std::string name = l.name;
    all.push_back(
        {name + " forward", tokens, l.out, l.in, false, l.isTable, 0, l.count});
    all.push_back({name + " input gradient", tokens, l.in, l.out, false,
                   !l.isTable, 0, l.count});
    int64_t rows = l.isTable ? l.out : l.in, columns = l.isTable ? l.in : l.out;
    all.push_back({name + " weight gradient", rows, columns, tokens, true,
                   false, 1, l.count});
  }
  return all;
}

/// Of this thread's processor time; of several threads, of the clock.
inline double seconds(int threads) {
  if (threads > 1)
    return std::chrono::duration<double>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

/// Slots of one size in a buffer, of which each use takes the next.
class Slots {
public:
  explicit Slots(int64_t most) : bytes(std::max(most, kLeast)) {
    memory.reset(static_cast<std::byte *>(
        std::aligned_alloc(kPage, size_t(bytes / kPage + 1) * size_t(kPage))));
    // As arenas of programs have them.
    (void)madvise(memory.get(), size_t(bytes), MADV_HUGEPAGE);
    auto *at = reinterpret_cast<uint16_t *>(memory.get());
    for (int64_t i = 0; i < bytes / 2; ++i)
      at[i] = uint16_t(0x3c00 + (i * 2654435761 >> 20 & 0xff)); // about 0.01
  }
  void *next(int64_t size) {
    int64_t step = (size + 4095) / 4096 * 4096;
    offset = offset + 2 * step > bytes ? 0 : offset + step;
    return memory.get() + offset;
  }

private:
  static constexpr int64_t kLeast = 128 << 20; ///< beyond the caches
  static constexpr int64_t kPage = 2 << 20;
  struct Free {
    void operator()(std::byte *p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> memory;
  int64_t bytes, offset = 0;
};

#endif // MTC_TEST_BENCH_GEMM_PRODUCTS_H
