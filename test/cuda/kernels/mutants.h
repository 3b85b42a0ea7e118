//===- mutants.h - PTX with one thing changed -------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_KERNELS_MUTANTS_H
#define MTC_TEST_CUDA_KERNELS_MUTANTS_H

#include <random>
#include <string>
#include <vector>

namespace mtc::test {

/// The lines of a module that some of its entries need: what stands outside of
/// entries, and those.
std::vector<std::string> linesOf(const std::string &module,
                                 const std::vector<std::string> &entries);

struct Mutant {
  std::string kind; ///< what was done: "drop", "number" and so on
  size_t line = 0;  ///< of `lines`
  std::vector<std::string> lines;
};

/// `lines` with one instruction changed; its kind is empty if the random one
/// chosen has nothing to change.
Mutant makeMutant(const std::vector<std::string> &lines, std::mt19937 &rng);

/// True if `changed` is `line` with two operands exchanged whose order does not
/// matter: of a sum, a product, a minimum and the like, or the factors of fma
/// and mad.
bool isExchange(const std::string &line, const std::string &changed);

} // namespace mtc::test
#endif // MTC_TEST_CUDA_KERNELS_MUTANTS_H
