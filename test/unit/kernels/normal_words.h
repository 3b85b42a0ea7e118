//===- normal_words.h - the vectorised normals of given words ---*- C++ -*-===//
//
// Programs only have those of Philox words, among which a test does not find
// the edges. Each function is built as the kernels of its instruction set are.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_UNIT_KERNELS_NORMAL_WORDS_H
#define MTC_TEST_UNIT_KERNELS_NORMAL_WORDS_H

#include <cstdint>

namespace mtc::test {

inline constexpr int kWordsAtOnce = 8;

/// The normal values of kWordsAtOnce words.
void normalsV3(const uint32_t *words, double *out);
void normalsV4(const uint32_t *words, double *out);

} // namespace mtc::test
#endif // MTC_TEST_UNIT_KERNELS_NORMAL_WORDS_H
