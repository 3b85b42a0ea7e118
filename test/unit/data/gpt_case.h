//===- gpt_case.h - an index as a line of text ------------------*- C++ -*-===//
//
// Corpora and what is asked of them, as test/golden/data/generate.py writes
// them:
//
//   SEQ SAMPLES SEED SPLIT PART WEIGHTS CORPUS... DIGEST
//
// WEIGHTS are numbers with commas between, or '-'; a CORPUS is
// SEQUENCES:SEED:LONGEST:TYPE, whose lengths and tokens are draws of
// splitmix64. The digest is XXH3-128 of all indices as 64-bit integers and of
// the tokens of the first samples (digestOfCase).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_UNIT_DATA_GPT_CASE_H
#define MTC_TEST_UNIT_DATA_GPT_CASE_H

#include "runtime/data/sources.h"

#include <string>
#include <vector>

namespace mtc::runtime::test {

struct GptCase {
  struct CorpusText {
    int64_t sequences = 0, longest = 0;
    uint64_t seed = 0;
    TokenType type = TokenType::u16;
  };
  int64_t seq = 0, samples = 0;
  uint64_t seed = 0;
  std::string split, part, weights, digest;
  std::vector<CorpusText> corpora;
};

/// False: it is no such line.
bool parseCase(const std::string &line, GptCase &out);

/// Writes the corpora of a case to `folder`, as 0.idx, 0.bin and so on.
Status writeCorpora(const GptCase &c, const std::string &folder);

/// Prepares the samples of the corpora in `folder`, whose indices go there,
/// too.
Status digestOfCase(const GptCase &c, const std::string &folder,
                    std::string &digest);

} // namespace mtc::runtime::test
#endif // MTC_TEST_UNIT_DATA_GPT_CASE_H
