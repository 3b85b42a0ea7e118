//===- validate_random.cpp - numbers of random words ----------------------===//

#include "models/validate_random.h"

#include <cmath>

#include <fmt/format.h>

namespace mtc::models {

/// Bits of an element's number: kernels count in 32-bit integers, and Philox
/// takes a quarter of the number in 40 bits.
static constexpr int kKernelBits = 32, kAttentionBits = 42;

/// The longest sample whose scores have numbers: the root is exact, as what it
/// is of has far fewer bits than a double.
static int64_t longestWithScores(int64_t heads) {
  const int64_t most = (int64_t(1) << kAttentionBits) / heads;
  return static_cast<int64_t>(std::sqrt(static_cast<double>(most)));
}

static void checkScores(const ModelSpec &spec, int64_t length,
                        std::vector<Violation> &out) {
  if (spec.dropout.attention == 0)
    return;
  const int64_t longest = longestWithScores(spec.heads);
  if (length > longest)
    out.push_back(
        {fmt::format("heads * seq_length^2 <= 2^{} with dropout.attention, so "
                     "that each score has a random word of its own",
                     kAttentionBits),
         fmt::format("heads = {}, seq_length = {}", spec.heads, length),
         fmt::format("seq_length = {}, or dropout.attention = 0", longest)});
}

static void checkElements(const ModelSpec &spec, int64_t length,
                          std::vector<Violation> &out) {
  const int64_t longest = (int64_t(1) << kKernelBits) / spec.hidden;
  if ((spec.dropout.embedding > 0 || spec.dropout.hidden > 0) &&
      length > longest)
    out.push_back(
        {fmt::format("hidden * seq_length <= 2^{} with dropout, so that each "
                     "element has a random word of its own",
                     kKernelBits),
         fmt::format("hidden = {}, seq_length = {}", spec.hidden, length),
         fmt::format("seq_length = {}, or dropout.embedding = 0 and "
                     "dropout.hidden = 0",
                     longest)});
}

void checkRandomWords(const ModelSpec &spec, const Strategy &strategy,
                      std::vector<Violation> &out) {
  const int64_t length = strategy.seqLength ? strategy.seqLength : spec.maxSeq;
  checkElements(spec, length, out);
  checkScores(spec, length, out);
}

} // namespace mtc::models
