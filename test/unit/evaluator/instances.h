//===- instances.h - functions of one op each -------------------*- C++ -*-===//
//
// Both the gradient and the sharding tests walk this list; a test demands that
// every op of tfm is in it.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_UNIT_EVALUATOR_INSTANCES_H
#define MTC_TEST_UNIT_EVALUATOR_INSTANCES_H

#include <ostream>
#include <string>
#include <vector>

namespace mtc::test {

/// A function of one op. `text` has sizes as $A, $B, ...
struct Instance {
  std::string name; ///< letters and digits, for the name of the test case
  std::string text;
};

/// The name is what a failed test prints.
inline void PrintTo(const Instance &instance, std::ostream *out) {
  *out << instance.name;
}

enum class Sizes {
  odd, ///< no two are equal within an op, none is a multiple of a vector
  even ///< all can be halved
};

const std::vector<Instance> &instances();
/// The module with sizes put in.
std::string withSizes(const Instance &instance, Sizes sizes);

} // namespace mtc::test
#endif // MTC_TEST_UNIT_EVALUATOR_INSTANCES_H
