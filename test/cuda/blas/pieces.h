//===- pieces.h - which bytes a product touches -----------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_BLAS_PIECES_H
#define MTC_TEST_CUDA_BLAS_PIECES_H

#include "test/cuda/blas/product.h"
#include "test/cuda/driver/hooks.h"

#include <string>
#include <vector>

namespace mtc::standin::blas {

/// One operand: its bytes as ranges without gaps, ascending. Padding between
/// columns is not a part of it.
struct Operand {
  std::string name;
  bool reads, writes;
  std::vector<MtcStandinRange> ranges;
};

std::vector<Operand> operandsOf(const Product &product);

/// Refuses a result that lies where another operand does; C may be D as a
/// whole. The real library takes it, and what comes out is anything.
Verdict checkAliases(const std::vector<Operand> &operands);

std::vector<MtcStandinRange> rangesOf(const std::vector<Operand> &operands);

} // namespace mtc::standin::blas
#endif // MTC_TEST_CUDA_BLAS_PIECES_H
