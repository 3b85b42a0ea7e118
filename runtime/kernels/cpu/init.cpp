#include "runtime/kernels/cpu/init.h"

#include "runtime/base/philox.h"
#include "runtime/base/plain_math.h"

namespace mtc::runtime {

static Status checkSlab(const Slab &slab) {
  size_t rank = slab.shape.size();
  if (slab.begin.size() != rank || slab.size.size() != rank)
    return {StatusCode::usage,
            "expected a slab of rank " + std::to_string(rank) + ", found " +
                std::to_string(slab.begin.size()) + " starts and " +
                std::to_string(slab.size.size()) + " sizes"};
  __int128 elements = 1;
  for (size_t i = 0; i < rank; ++i) {
    int64_t extent = slab.shape[i], begin = slab.begin[i], size = slab.size[i];
    if (begin < 0 || size < 0 || begin > extent || size > extent - begin)
      return {StatusCode::usage,
              "expected a slab inside dimension " + std::to_string(i) +
                  " of extent " + std::to_string(extent) + ", found start " +
                  std::to_string(begin) + " and size " + std::to_string(size)};
    elements *= extent;
    if (elements > (__int128{1} << 42))
      return {StatusCode::usage,
              "expected at most 2^42 elements in a tensor (the index space of "
              "the random numbers), found more: split the parameter"};
  }
  return Status::okay();
}

/// `count` consecutive elements of the global tensor from `first` on.
static void fillRun(float *out, const PhiloxAddress &at, double deviation,
                    uint64_t first, int64_t count) {
  uint64_t end = first + uint64_t(count);
  for (uint64_t block = first / 4; block * 4 < end; ++block) {
    PhiloxBlock words = philoxBlock(at, block);
    for (uint64_t lane = 0; lane < 4; ++lane) {
      uint64_t element = block * 4 + lane;
      if (element >= first && element < end)
        *out++ = float(deviation * plainNormal(words[lane]));
    }
  }
}

/// Walks the dimensions down to contiguous runs; returns the end of what it
/// wrote. `base` is the global index of the first element of dimension `dim`.
static float *fillFrom(float *out, const PhiloxAddress &at, double deviation,
                       const Slab &slab, size_t dim, uint64_t base) {
  size_t rank = slab.shape.size();
  int64_t begin = rank ? slab.begin[dim] : 0, size = rank ? slab.size[dim] : 1;
  if (dim + 1 >= rank) {
    fillRun(out, at, deviation, base + uint64_t(begin), size);
    return out + size;
  }
  for (int64_t i = begin; i < begin + size; ++i)
    out = fillFrom(out, at, deviation, slab, dim + 1,
                   (base + uint64_t(i)) * uint64_t(slab.shape[dim + 1]));
  return out;
}

Status initNormal(float *out, uint64_t nameHash, uint64_t seed,
                  double deviation, const Slab &slab) {
  MTC_RETURN_IF_ERROR(checkSlab(slab));
  PhiloxAddress at{seed, nameHash, 0, 0};
  fillFrom(out, at, deviation, slab, 0, 0);
  return Status::okay();
}

} // namespace mtc::runtime
