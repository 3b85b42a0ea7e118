//===- init.h - initial values of parameters --------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_KERNELS_CPU_INIT_H
#define MTC_RUNTIME_KERNELS_CPU_INIT_H

#include "runtime/base/status.h"

#include <cstdint>
#include <span>

namespace mtc::runtime {

/// A box of a tensor: in dimension i the indices [begin[i], begin[i] + size[i])
/// of a global extent shape[i]. A scalar has rank 0.
struct Slab {
  std::span<const int64_t> shape, begin, size;
};

/// Writes the normal initial values, mean 0 and standard deviation `deviation`,
/// of one slab of a parameter to `out` (dense, row-major in the slab's own
/// sizes; owned by the caller). Each value is a function of (seed, nameHash,
/// row-major index in the global shape) only, so any partition of the tensor
/// holds the same bytes: word of that element, layer = site = 0, through
/// plainNormal, times deviation in double, rounded to fp32. Same bits before
/// and after mtc_kernels_select_isa, and on any number of threads. Error
/// (usage): ranks differ, the slab leaves the shape, or the tensor has more
/// than 2^42 elements (the RNG's index space).
Status initNormal(float *out, uint64_t nameHash, uint64_t seed,
                  double deviation, const Slab &slab, int64_t threads = 1);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_KERNELS_CPU_INIT_H
