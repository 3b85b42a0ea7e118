//===- gemm_timer.h - how long a product takes on a GPU ---------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_GEMM_TIMER_H
#define MTC_RUNTIME_DEVICE_CUDA_GEMM_TIMER_H

#include "runtime/device/cuda/cuda_memory.h"
#include "runtime/device/cuda/gemm_product.h"

#include <array>

namespace mtc::cuda {

/// Operands of one product on a GPU, whose context is current, and a clock.
/// They are random in [-1, 1): of equal numbers a GPU needs less power, and
/// runs faster than it does in a step.
class GemmTimer {
public:
  GemmTimer(const Driver &driver, StreamHandle stream)
      : driver_(driver), stream_(stream), memory_(driver) {}
  GemmTimer(const GemmTimer &) = delete;
  GemmTimer &operator=(const GemmTimer &) = delete;
  ~GemmTimer();

  /// Once. Errors: infeasible, without memory for the operands.
  runtime::Status open(const runtime::GemmInfo &row);
  /// What calls read and write; behind `open`.
  GemmOperands operands() const;
  /// Microseconds of a call, the mean of `calls` in a row. Errors: infeasible,
  /// where the library rejects the algorithm.
  runtime::Status time(BlasHandle handle, const GemmProduct &product,
                       const MatmulAlgo &algorithm, int calls, double &out);

private:
  runtime::Status fill(size_t part, int64_t bytes, MtcDtype dtype);

  const Driver &driver_;
  StreamHandle stream_;
  CudaMemory memory_;
  std::array<EventHandle, 2> events_{};
};

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_GEMM_TIMER_H
