//===- numpy_random.h - numpy's RandomState.shuffle -------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DATA_NUMPY_RANDOM_H
#define MTC_RUNTIME_DATA_NUMPY_RANDOM_H

#include <cstdint>
#include <random>
#include <span>
#include <utility>

namespace mtc::runtime {

/// The draws of numpy.random.RandomState(seed), which numpy keeps as they are:
/// the Mersenne Twister MT19937, integers up to a bound by masks and rejection,
/// and the shuffle of Fisher and Yates from the last element down.
class NumpyRandom {
public:
  explicit NumpyRandom(uint32_t seed) : words_(seed) {}

  /// Uniform in [0, most].
  uint64_t upTo(uint64_t most) {
    uint64_t mask = most;
    for (int shift = 1; shift < 64; shift *= 2)
      mask |= mask >> shift;
    uint64_t value = 0;
    if (most > 0)
      do
        value = (most >> 32 ? wide() : word()) & mask;
      while (value > most);
    return value;
  }

  template <typename T> void shuffle(std::span<T> values) {
    for (size_t i = values.size(); i-- > 1;)
      std::swap(values[i], values[upTo(i)]);
  }

private:
  uint64_t word() { return words_(); }
  uint64_t wide() { // the high word is drawn first
    uint64_t high = word();
    return high << 32 | word();
  }

  std::mt19937 words_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DATA_NUMPY_RANDOM_H
