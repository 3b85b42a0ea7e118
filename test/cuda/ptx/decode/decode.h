//===- decode.h - a tree to a program ---------------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_DECODE_DECODE_H
#define MTC_TEST_CUDA_PTX_DECODE_DECODE_H

#include "test/cuda/ptx/decode/program.h"

#include <memory>

namespace mtc::ptx {

/// Every kernel of the tree, with what ptxas would refuse as problems, which
/// come without the text of their lines. A program with problems is not to be
/// run. Its text and lines are left to the caller.
std::unique_ptr<Program> decode(Tree tree, const Rules &rules,
                                std::vector<Problem> &problems);

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_DECODE_DECODE_H
