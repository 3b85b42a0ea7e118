#include "runtime/kernels/cpu/init.h"

#include "runtime/base/philox.h"
#include "runtime/base/plain_math.h"
#include "runtime/kernels/cpu/kernel_table.h"
#include "runtime/kernels/cpu/team.h"

#include <algorithm>

namespace mtc::runtime {

// Elements that take longer than it takes to start a thread that sleeps.
static constexpr int64_t kWorthAThread = 16384;

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

/// Where values of a parameter come from.
struct NormalSource {
  PhiloxAddress at;
  double deviation;
};

/// `count` consecutive elements of the global tensor from `first` on.
static void fillRun(float *out, const NormalSource &from, uint64_t first,
                    int64_t count) {
  if (const KernelTable *table = selectedKernels())
    return table->normals(from.at.seed, from.at.id, from.deviation, first,
                          count, out);
  for (int64_t i = 0; i < count; ++i) {
    uint32_t word = philoxWord(from.at, first + uint64_t(i));
    out[i] = float(from.deviation * plainNormal(word));
  }
}

/// The global index of the first element of a row of the slab, what it has
/// along its last dimension; rows are counted row-major.
static uint64_t rowStart(const Slab &slab, int64_t row) {
  if (slab.shape.empty())
    return 0;
  int64_t start = slab.begin.back(), stride = slab.shape.back();
  for (size_t dim = slab.shape.size() - 1; dim-- > 0;) {
    start += (slab.begin[dim] + row % slab.size[dim]) * stride;
    row /= slab.size[dim];
    stride *= slab.shape[dim];
  }
  return uint64_t(start);
}

/// Elements [begin, end) of the slab.
static void fillPart(float *out, const NormalSource &from, const Slab &slab,
                     Part part) {
  int64_t columns = slab.shape.empty() ? 1 : slab.size.back();
  for (int64_t at = part.begin; at < part.end;) {
    int64_t column = at % columns;
    int64_t count = std::min(columns - column, part.end - at);
    fillRun(out + at, from, rowStart(slab, at / columns) + uint64_t(column),
            count);
    at += count;
  }
}

Status initNormal(float *out, uint64_t nameHash, uint64_t seed,
                  double deviation, const Slab &slab, int64_t threads) {
  MTC_RETURN_IF_ERROR(checkSlab(slab));
  NormalSource from{{seed, nameHash, 0, 0}, deviation};
  int64_t elements = 1;
  for (int64_t size : slab.size)
    elements *= size;
  onTeam(threads, threadsFor(threads, elements, kWorthAThread),
         [&](int64_t part, int64_t parts) {
           fillPart(out, from, slab, partOf(elements, part, parts, 64));
         });
  return Status::okay();
}

} // namespace mtc::runtime
