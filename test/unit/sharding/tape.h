//===- tape.h - programs with a backward, built op by op --------*- C++ -*-===//
//
// Builds sharding graphs by hand: a forward op records how its cotangents are
// made, `backward` appends them. Rules are written here anew, so that the tests
// do not lean on the op families.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_SHARDING_TAPE_H
#define MTC_TEST_SHARDING_TAPE_H

#include "passes/sharding/plan.h"

#include <functional>
#include <map>

namespace mtc::sharding::test {

using Shape = std::vector<int64_t>;

class Tape {
public:
  Graph graph;
  int64_t layer = 0; ///< given to new ops

  int parameter(const std::string &name, Shape shape);
  int input(Shape shape);

  /// One op; result shapes follow from the factors of the operands, where
  /// `sizes` gives the factors that only results have.
  std::vector<int> op(const std::string &name, std::vector<int> operands,
                      Rule rule, std::map<char, int64_t> sizes = {});

  int einsum(const std::string &equation, int lhs, int rhs);
  int add(std::vector<int> operands);
  int mul(int lhs, int rhs);
  int unary(const std::string &name, int x); ///< nonlinear, pointwise
  int dropout(int x);
  int broadcast(const std::string &from, const std::string &to, int x,
                std::map<char, int64_t> sizes);
  int reduceSum(const std::string &from, const std::string &to, int x);
  int norm(int x, int scale, int bias);
  int attention(std::vector<int> qkv); ///< one fused [bskgd] or q, k, v [bskd]
  int embed(int ids, int table);
  int crossEntropy(int z, int labels); ///< mean over batch and sequence

  /// Appends the backward of everything from `loss`; gradients become outputs,
  /// one per use of a parameter.
  void backward(int loss);

private:
  using Cotangents = std::vector<int>; ///< per operand, -1: none
  using Gradient = std::function<Cotangents(int cotangent)>;
  void record(int result, std::vector<int> operands, Gradient gradient);
  int sumOf(int value);
  void finishGradient(int parameter, const std::vector<int> &parts);

  struct Entry {
    int result;
    std::vector<int> operands;
    int64_t layer;
    Gradient gradient;
  };
  std::vector<Entry> entries;
  std::map<int, std::vector<int>> cotangents;
  bool isBackward = false;
};

} // namespace mtc::sharding::test
#endif // MTC_TEST_SHARDING_TAPE_H
