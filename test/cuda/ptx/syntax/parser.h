//===- parser.h - a program's text to a tree --------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_SYNTAX_PARSER_H
#define MTC_TEST_CUDA_PTX_SYNTAX_PARSER_H

#include "test/cuda/ptx/syntax/tree.h"

#include <string_view>

namespace mtc::ptx {

/// Any text may come. All problems that are found are added; a tree of a text
/// with problems is of no use. Problems come without the text of their lines.
Tree parse(std::string_view text, std::vector<Problem> &problems);

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_SYNTAX_PARSER_H
