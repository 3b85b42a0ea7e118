//===- attention_case.h - attention in double precision ---------*- C++ -*-===//
//
// Inputs of a call, what must come out, and how far each value may be from
// that. Written from the formulas, without the kernels' code.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_ATTENTION_CASE_H
#define MTC_TEST_CUDA_ATTENTION_CASE_H

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::test {

struct AttentionCase {
  std::string name;
  bool half = false; ///< fp16 in place of bf16
  int dim = 64, batch = 1, heads = 1, kvHeads = 1;
  int seq = 64, keys = 64;
  bool causal = false;
  /// Queries of the first range, and where the ranges begin.
  int first = 64, begin = 0, begin2 = 0;
  double rate = 0;
  bool documents = false; ///< several in a sample
  bool fused = false;     ///< q, k and v are [batch, tokens, 3, heads, dim]

  std::string fullName() const {
    return name + (half ? "_f16_d" : "_bf16_d") + std::to_string(dim);
  }
  int group() const { return heads / kvHeads; }
  int position(int query) const {
    return query < first ? begin + query : begin2 + query - first;
  }
};

/// Values in the order [batch][token][head][dim], as 16 bits each.
struct AttentionData {
  std::vector<uint16_t> q, k, v, dout;
  std::vector<int32_t> documents; ///< [batch][seq], or empty
};

/// A result and its allowed errors.
struct Expected {
  std::vector<double> value, bound;
};

struct AttentionResults {
  Expected out, lse, dq, dk, dv;
};

// What the words of dropout are made of.
inline constexpr uint64_t kSeed = 0x123456789abcdefULL, kSample = 1000003;
inline constexpr int kLayer = 3, kSite = 1, kFirstHead = 2;

double valueOf(bool half, uint16_t bits);
uint16_t bitsOf(bool half, double value);
double scaleOf(const AttentionCase &c);

AttentionData makeData(const AttentionCase &c);
AttentionResults reference(const AttentionCase &c, const AttentionData &data);

/// The shapes that tests run.
std::vector<AttentionCase> attentionCases();
/// Those for a GPU.
std::vector<AttentionCase> largeAttentionCases();

} // namespace mtc::test
#endif // MTC_TEST_CUDA_ATTENTION_CASE_H
