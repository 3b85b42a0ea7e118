//===- instruction_text.h - what a text of PTX says of itself ---*- C++ -*-===//
#ifndef MTC_TEST_CUDA_KERNELS_INSTRUCTION_TEXT_H
#define MTC_TEST_CUDA_KERNELS_INSTRUCTION_TEXT_H

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::test {

/// "@%p1 add.s32 %r1, %r2, 1", without its guard.
struct InstructionText {
  int line = 0;            ///< from 1, where it begins
  std::string operation;   ///< "add.s32"
  std::string destination; ///< "%r1", "{%r1, %r2}", "%r1|%p1"; empty: none
  std::string sources;     ///< "%r2, 1"
};

/// All instructions of a text, however they are spread over its lines, and its
/// directives, whose operation begins with a point.
std::vector<InstructionText>
instructionsOf(const std::vector<std::string> &lines);

/// The one of a line; without an operation: there is none.
InstructionText instructionOf(const std::string &line);

/// Names of registers and others among operands.
std::vector<std::string> namesIn(std::string_view operands);

/// Whether an operation is one of these: "ld" is "ld.global.b32", not "ldu".
bool isOneOf(const std::string &operation,
             std::initializer_list<const char *> names);

/// Whether it has a type of floats.
bool isOfFloats(const std::string &operation);

} // namespace mtc::test
#endif // MTC_TEST_CUDA_KERNELS_INSTRUCTION_TEXT_H
