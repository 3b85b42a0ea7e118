//===- epilogue.h - from sums of products to D ------------------*- C++ -*-===//
//
// What is rounded where, as test/golden/cuda/lt.json has it ("rounding"):
//
//   v = alpha sum + bias, one rounding to f32, then one to D's type;
//   beta: v = alpha sum + f32(beta C), then + bias. With 16-bit operands, beta
//     1, C in place and no activation, f32(alpha sum + bias) is rounded to D's
//     type first, and C is added to that. With f32 operands and parts of k
//     v = f32(alpha sum) + beta C;
//   GELU, aux: aux = v in D's type; D = gelu(v) of the unrounded v;
//   DGELU: D = gelu'(aux) times v in D's type; its sum over columns is of
//     values that are not rounded to D's type;
//   BGRADA, BGRADB: sums of op(A)'s rows, of op(B)'s columns; alpha and beta do
//     not matter.
//
// Guessed, as nobody asked: that alpha sum + bias is rounded once where alpha
// is no power of two; bias or GELU with beta where aux is not made and C is
// apart, or beta is not 1.
//
// gelu(x) = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), here in double
// precision; an H100 has an approximation, in which 1 to 3 % of the results in
// 16 bits have another last bit, and nearly all in f32.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_BLAS_EPILOGUE_H
#define MTC_TEST_CUDA_BLAS_EPILOGUE_H

#include "test/cuda/blas/sums.h"

namespace mtc::standin::blas {

/// Writes D, and aux or the gradient of a bias, of one product of a batch.
void finish(const Product &product, const Factors &factors,
            const std::vector<float> &sums, int64_t index);

} // namespace mtc::standin::blas
#endif // MTC_TEST_CUDA_BLAS_EPILOGUE_H
