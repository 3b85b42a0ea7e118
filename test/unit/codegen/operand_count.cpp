#include "operand_count.h"

using namespace mtc;

int64_t test::countOf(rt::OperandAttr info, int64_t rows, int64_t cols) {
  switch (info.getMode()) {
  case rt::Mode::Full:
    return rows * cols;
  case rt::Mode::Row:
    return rows;
  case rt::Mode::Col:
    return cols;
  case rt::Mode::Scalar:
    return 1;
  default:
    return static_cast<int64_t>(info.getExtent()) * cols;
  }
}
