//===- minhash.cpp - signatures of texts that share shingles --------------===//

#include "tools/data/minhash.h"

#include "runtime/base/name_hash.h"
#include "runtime/base/philox.h"
#include "tools/data/unicode.h"

#include <algorithm>
#include <iterator>

namespace mtc::data {

std::vector<uint64_t> shinglesOf(std::string_view text, int width) {
  std::vector<size_t> starts; // of characters, and the end
  for (size_t at = 0; at < text.size(); at += codePointAt(text, at).bytes)
    starts.push_back(at);
  starts.push_back(text.size());
  std::vector<uint64_t> shingles;
  size_t last = std::max<size_t>(starts.size() - 1, width) - width;
  for (size_t i = 0; i <= last && !text.empty(); ++i) {
    size_t end = std::min(i + width, starts.size() - 1);
    shingles.push_back(
        XXH3_64bits(text.data() + starts[i], starts[end] - starts[i]));
  }
  std::sort(shingles.begin(), shingles.end());
  shingles.erase(std::unique(shingles.begin(), shingles.end()), shingles.end());
  return shingles;
}

double jaccard(const std::vector<uint64_t> &a, const std::vector<uint64_t> &b) {
  size_t both = 0;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    both += a[i] == b[j];
    bool first = a[i] <= b[j], second = b[j] <= a[i];
    i += first;
    j += second;
  }
  size_t either = a.size() + b.size() - both;
  return either == 0 ? 1.0
                     : static_cast<double>(both) / static_cast<double>(either);
}

MinHash::MinHash(uint64_t seed) {
  for (int i = 0; i < kHashes; ++i) {
    runtime::PhiloxBlock words = runtime::philox4x32(
        {uint32_t(i), 0, 0, 0}, uint32_t(seed), uint32_t(seed >> 32));
    multiply_[i] = words[0] | 1; // odd: a permutation of 32-bit words
    add_[i] = words[1];
  }
}

std::array<uint64_t, kBands>
MinHash::bands(const std::vector<uint64_t> &shingles) const {
  std::array<uint32_t, kHashes> least;
  least.fill(UINT32_MAX);
  for (uint64_t shingle : shingles)
    for (int i = 0; i < kHashes; ++i)
      least[i] = std::min(least[i], multiply_[i] * uint32_t(shingle) + add_[i]);
  std::array<uint64_t, kBands> bands;
  for (int band = 0; band < kBands; ++band)
    bands[band] =
        XXH3_64bits(least.data() + band * kRows, kRows * sizeof(uint32_t));
  return bands;
}

} // namespace mtc::data
