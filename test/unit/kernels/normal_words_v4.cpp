// CMakeLists.txt gives this file's -march.
#include "normal_words.h"

#include "runtime/kernels/cpu/normal_body.h"

void mtc::test::normalsV4(const uint32_t *words, double *out) {
  for (int i = 0; i < kWordsAtOnce; i += kLanes) {
    Doubles normals = normalsOf(*(const HalfWords *)(words + i));
    for (int lane = 0; lane < kLanes; ++lane)
      out[i + lane] = normals[lane];
  }
}
