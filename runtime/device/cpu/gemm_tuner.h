//===- gemm_tuner.h - which kernels are fastest on a CPU --------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CPU_GEMM_TUNER_H
#define MTC_RUNTIME_DEVICE_CPU_GEMM_TUNER_H

#include "mtc/runtime/cpu_gemm_table.h"

#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// Products, and the kernel of our own that each has: own or ownStreamed.
using TuneRows = std::map<CpuProduct, GemmKernel>;

/// Adds the products of a rank's descriptor, each once.
void addTuneRows(std::span<const GemmInfo> gemms, int64_t threads,
                 TuneRows &out);

/// By the medians of times in microseconds, at least one of our own and, where
/// the library has the product, one of its: own, unless the library takes less
/// than 0.98 of its time.
TunedProduct fastestKernel(std::vector<double> own,
                           std::vector<double> library);

/// Called behind each product.
using ProductTuned =
    std::function<void(const CpuProduct &, const TunedProduct &)>;

/// Times each product as a rank of `isa` runs it, by each kernel that has it,
/// in turn, `rounds` times (at least 1) some milliseconds or one call; fills
/// in what the table is for. Errors: infeasible, where this processor lacks the
/// instruction set or there is no memory; usage, where this process has
/// computed products of another one; failed, with oneDNN's code.
Status tuneCpuGemms(const TuneRows &rows, std::string_view isa, int rounds,
                    const ProductTuned &told, CpuGemmTable &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DEVICE_CPU_GEMM_TUNER_H
