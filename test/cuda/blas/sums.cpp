//===- sums.cpp - sums of products, and of elements -----------------------===//
#include "test/cuda/blas/sums.h"

#include "test/cuda/driver/report.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>

namespace mtc::standin::blas {
namespace {

/// Adds products of columns [first, last) of A to `sums`, Q columns at once.
template <int Q>
void addColumns(const float *__restrict a, const float *__restrict b,
                const Problem &of, int64_t first, int64_t last,
                float *__restrict sums) {
  for (int64_t l = first; l < last; ++l) {
    const float *column = a + l * of.m;
    float factors[Q];
    for (int q = 0; q < Q; ++q)
      factors[q] = b[q * of.k + l];
    for (int64_t i = 0; i < of.m; ++i)
      for (int q = 0; q < Q; ++q)
        sums[q * of.m + i] += column[i] * factors[q];
  }
}

/// In which order the parts of k are added.
std::vector<int> orderOf(const Product &product) {
  static std::atomic<uint64_t> runs = 0;
  std::vector<int> order(size_t(product.split));
  std::iota(order.begin(), order.end(), 0);
  if (product.drawsOrder) {
    auto seed = uint64_t(environment("MTC_STANDIN_SEED", 1));
    std::mt19937_64 random(seed * 1000003 + runs++);
    std::shuffle(order.begin(), order.end(), random);
  }
  return order;
}

} // namespace

Factors loadFactors(const Problem &problem, int64_t product) {
  View a(problem.a, product), b(problem.b, product);
  auto read = [&](const View &view, bool transposed, int64_t row, int64_t col) {
    float value = transposed ? view.load(col, row) : view.load(row, col);
    return problem.isTf32() ? roundToTf32(value) : value;
  };
  Factors factors;
  factors.a.reserve(size_t(problem.m * problem.k));
  factors.b.reserve(size_t(problem.k * problem.n));
  for (int64_t l = 0; l < problem.k; ++l)
    for (int64_t i = 0; i < problem.m; ++i)
      factors.a.push_back(read(a, problem.transA, i, l));
  for (int64_t j = 0; j < problem.n; ++j)
    for (int64_t l = 0; l < problem.k; ++l)
      factors.b.push_back(read(b, problem.transB, l, j));
  return factors;
}

std::vector<float> sumProducts(const Product &product, const Factors &factors) {
  const Problem &of = product.problem;
  std::vector<float> sums(size_t(of.m * of.n));
  // Recorded: without tensor cores alpha 0 hides NaN in A, with them it does
  // not.
  if (of.alpha == 0 && !of.onTensorCores())
    return sums;
  std::vector<int> order = orderOf(product);
  constexpr int kColumns = 4; // that A is read for at once
  std::vector<float> part(size_t(of.m * kColumns));
  for (int64_t j = 0; j < of.n;) {
    int64_t columns = of.n - j >= kColumns ? kColumns : 1;
    const float *b = factors.b.data() + j * of.k;
    float *to = sums.data() + j * of.m;
    for (int which : order) {
      int64_t first = of.k * which / product.split,
              last = of.k * (which + 1) / product.split;
      std::fill(part.begin(), part.end(), 0.0f);
      auto add = columns == 1 ? addColumns<1> : addColumns<kColumns>;
      add(factors.a.data(), b, of, first, last, part.data());
      for (int64_t i = 0; i < columns * of.m; ++i)
        to[i] += part[size_t(i)];
    }
    j += columns;
  }
  return sums;
}

} // namespace mtc::standin::blas
