//===- onednn_calls.h - what oneDNN computes a product by -------*- C++ -*-===//
//
// Internal: a product as calls of oneDNN's primitives, one behind the other.
// Its matmul is one. Of inner_product the weights have an order of oneDNN's
// choice, because what reads or makes them as a plan has them allocates memory
// in each call: one more call brings them there, or from there.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_ONEDNN_CALLS_H
#define MTC_RUNTIME_KERNELS_CPU_ONEDNN_CALLS_H

#include "runtime/kernels/cpu/gemm.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <string>
#include <vector>

namespace mtc::runtime {

/// The one engine of this process.
dnnl::engine oneDnnEngine();

/// Where calls of a product read and write.
enum class OneDnnPlace : uint8_t { a, b, c, weights, scratch };
inline constexpr size_t kOneDnnPlaces = 5;

/// One operand of a call.
struct OneDnnOperand {
  int argument; ///< DNNL_ARG_*
  OneDnnPlace place;
  dnnl::memory::desc desc;
};

struct OneDnnCall {
  dnnl::primitive primitive;
  std::string name; ///< of what oneDNN computes it by
  std::vector<OneDnnOperand> operands;
};

/// A product, and what its calls need beside a, b and c of GemmDesc: `weights`,
/// in oneDNN's order, and `scratch`, which each call uses anew; both
/// 64-aligned.
struct OneDnnCalls {
  std::vector<OneDnnCall> calls;
  int64_t weightsBytes = 0, scratchBytes = 0;
};

/// The calls of a legal product by GemmKernel::library or innerProduct, of f32
/// or bf16, for the threads that the caller has set: matmul; or inner_product,
/// forward, or backward by weights where `ta`. Throws dnnl::error where oneDNN
/// has no such primitive.
OneDnnCalls oneDnnCalls(const GemmDesc &desc);

/// Whether all memory of the calls is in their operands: so with kernels of
/// packed blocks (brgemm), and compiled code that reorders. What oneDNN has
/// else, as without AVX-512 or without its units for bf16, allocates up to some
/// MiB in each call, or is for reference.
bool isAllPlanned(const OneDnnCalls &calls);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_KERNELS_CPU_ONEDNN_CALLS_H
