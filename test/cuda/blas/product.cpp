//===- product.cpp - a product in a stream --------------------------------===//
#include "test/cuda/blas/product.h"

#include "test/cuda/blas/epilogue.h"
#include "test/cuda/blas/pieces.h"

namespace mtc::standin::blas {
namespace {

constexpr int kScribble = 0xff; ///< a NaN in every type

void readScalars(Problem &problem) {
  if (!problem.deviceScalars)
    return;
  problem.alpha = View(vectorAt(problem.alphaAt, 1, CUDA_R_32F), 0).load(0, 0);
  problem.beta = View(vectorAt(problem.betaAt, 1, CUDA_R_32F), 0).load(0, 0);
}

/// What the algorithm leaves in its workspace is nobody's business: all of it
/// changes, and no byte behind it.
void scribble(const Product &product) {
  if (product.workspaceBytes)
    std::memset(
        DriverLink::get()->bytes(product.workspace, product.workspaceBytes),
        kScribble, product.workspaceBytes);
}

MtcStandinProgress step(MtcStandinPhase phase, void *arguments) {
  if (phase == MTC_STANDIN_START)
    return MTC_STANDIN_DONE;
  Product product = *static_cast<const Product *>(arguments);
  readScalars(product.problem);
  scribble(product);
  for (int64_t k = 0; k < product.problem.d.batch; ++k) {
    Factors factors = loadFactors(product.problem, k);
    finish(product, factors, sumProducts(product, factors), k);
  }
  return MTC_STANDIN_DONE;
}

} // namespace

bool Product::isInPlace() const {
  const Matrix &c = problem.c, &d = problem.d;
  return c.at == d.at && c.ld == d.ld && (d.batch == 1 || c.stride == d.stride);
}

CUresult enqueue(const Product &product, CUstream stream,
                 const std::vector<Operand> &operands) {
  std::vector<MtcStandinRange> ranges = rangesOf(operands);
  return DriverLink::get()->enqueue(stream, "cublasLtMatmul", ranges.data(),
                                    ranges.size(), step, &product,
                                    sizeof product);
}

} // namespace mtc::standin::blas
