//===- attention_case.h - attention in double precision ---------*- C++ -*-===//
//
// Inputs of a call, what must come out, and how far each value may be from
// that. Values are written from the formulas, without the kernels' code.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_ATTENTION_CASE_H
#define MTC_TEST_CUDA_ATTENTION_CASE_H

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::test {

enum class Element { bf16, f16, f32 };

/// As in the names of kernels.
const char *nameOf(Element element);
int bytesOf(Element element);
double valueOf(Element element, uint32_t bits);
/// The nearest value; ties to even.
uint32_t bitsOf(Element element, double value);

struct AttentionCase {
  std::string name;
  Element element = Element::bf16;
  int dim = 64, batch = 1, heads = 1, kvHeads = 1;
  int seq = 64, keys = 64;
  bool causal = false;
  /// Queries of the first range, and where the ranges begin.
  int first = 64, begin = 0, begin2 = 0;
  double rate = 0;
  /// Tokens of each document of sample 0, three quarters more in each next
  /// sample; 0: a sample is one.
  int documents = 0;
  bool groups = false; ///< by kernels for sm_90a
  bool fused = false;  ///< q, k and v are one [batch, tokens, 3, heads, dim]

  std::string fullName() const {
    return name + "_" + nameOf(element) + "_d" + std::to_string(dim) +
           (groups ? "_sm_90a" : "");
  }
  int group() const { return heads / kvHeads; }
  int position(int query) const {
    return query < first ? begin + query : begin2 + query - first;
  }
};

/// Values in the order [batch][token][head][dim], as bits of elements.
struct AttentionData {
  std::vector<uint32_t> q, k, v, dout;
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

double scaleOf(const AttentionCase &c);

AttentionData makeData(const AttentionCase &c);
AttentionResults reference(const AttentionCase &c, const AttentionData &data);

/// The shapes that tests run.
std::vector<AttentionCase> attentionCases();
/// Those for a GPU.
std::vector<AttentionCase> largeAttentionCases();

} // namespace mtc::test
#endif // MTC_TEST_CUDA_ATTENTION_CASE_H
