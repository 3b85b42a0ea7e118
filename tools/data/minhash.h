//===- minhash.h - signatures of texts that share shingles ------*- C++ -*-===//
//
// Broder, "On the resemblance and containment of documents" (1997): for a
// random order of all shingles, two sets have the same smallest one with the
// probability of their Jaccard index, |A and B| / |A or B|. Signatures are cut
// into bands, as in Leskovec, Rajaraman and Ullman, "Mining of Massive
// Datasets", 3.4: two texts of index s agree in all rows of at least one band
// with probability 1 - (1 - s^rows)^bands.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TOOLS_DATA_MINHASH_H
#define MTC_TOOLS_DATA_MINHASH_H

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace mtc::data {

/// At index 0.7 a pair is missed once in 6,500, at 0.8 once in 20 million; at
/// 0.3 one of four is compared in vain, at 0.2 one of 20.
constexpr int kBands = 32, kRows = 4;
constexpr int kHashes = kBands * kRows;

/// The different shingles of a text, runs of `width` characters, or the whole
/// text if it is shorter: their xxh3-64 in ascending order, so two shingles of
/// one hash are taken for one. An empty text has none.
std::vector<uint64_t> shinglesOf(std::string_view text, int width);

/// |A and B| / |A or B| of two ascending lists; 1 for two empty ones.
double jaccard(const std::vector<uint64_t> &a, const std::vector<uint64_t> &b);

class MinHash {
public:
  /// The random orders are those of `seed`.
  explicit MinHash(uint64_t seed);
  /// A number for each band of a set's signature.
  std::array<uint64_t, kBands>
  bands(const std::vector<uint64_t> &shingles) const;

private:
  std::array<uint32_t, kHashes> multiply_, add_;
};

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_MINHASH_H
