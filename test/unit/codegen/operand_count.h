//===- operand_count.h - how many elements an operand has -------*- C++ -*-===//
#ifndef MTC_TEST_UNIT_CODEGEN_OPERAND_COUNT_H
#define MTC_TEST_UNIT_CODEGEN_OPERAND_COUNT_H

#include "dialects/rt/Rt.h"

namespace mtc::test {

/// Elements of an operand of a kernel of that shape.
int64_t countOf(rt::OperandAttr info, int64_t rows, int64_t cols);

} // namespace mtc::test
#endif // MTC_TEST_UNIT_CODEGEN_OPERAND_COUNT_H
