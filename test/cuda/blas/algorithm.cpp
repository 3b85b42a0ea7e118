//===- algorithm.cpp - what lies in a cublasLtMatmulAlgo_t ----------------===//
#include "test/cuda/blas/algorithm.h"

#include "test/cuda/blas/library.h"

#include <algorithm>
#include <cstddef>

namespace mtc::standin::blas {
namespace {

constexpr uint32_t kMagic = 0x6d74636c;
constexpr size_t kMost = 8;           ///< results of a heuristic
constexpr uint32_t kCounts = 3;       ///< an option: tiles are counted
constexpr unsigned kTensorAlign = 16; ///< bytes that loads of kernels want

uint32_t hash(const void *data, size_t bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t k = 0; k < bytes; ++k)
    hash = (hash ^ static_cast<const unsigned char *>(data)[k]) * 0x100000001b3;
  return uint32_t(hash ^ hash >> 32);
}

uint32_t shapeOf(const Problem &problem) {
  int64_t key[] = {problem.m,      problem.n,      problem.k,
                   problem.transA, problem.transB, problem.d.batch};
  return hash(key, sizeof key) | 1;
}

/// Bytes that all columns of a matrix are aligned to, up to kTensorAlign.
unsigned columnAlign(const Matrix &matrix) {
  unsigned align = kTensorAlign;
  int64_t bytes = int64_t(matrix.elementBytes());
  while (matrix.ld * bytes % align ||
         (matrix.batch > 1 && matrix.stride * bytes % align))
    align /= 2;
  return align;
}

const Matrix &matrix(const Problem &problem, int which) {
  return which == 0   ? problem.a
         : which == 1 ? problem.b
         : which == 2 ? problem.c
                      : problem.d;
}

/// Kernels for the smaller alignments exist where the wish asks for them.
void setAligns(const Problem &problem, const Wish &wish, Algorithm &algorithm) {
  for (int k = 0; k < 4; ++k) {
    unsigned align = std::min(columnAlign(matrix(problem, k)), wish.align[k]);
    algorithm.align[k] =
        problem.onTensorCores() ? uint8_t(align) : uint8_t(sizeof(float));
  }
}

bool isAligned(const Algorithm &algorithm) {
  return *std::min_element(algorithm.align, algorithm.align + 4) >=
         kTensorAlign;
}

/// Where parts of k are worth while; kernels without tensor cores are slow.
bool isLong(const Problem &problem) {
  return problem.k > (problem.onTensorCores() ? 2048 : 2047);
}

/// Without a split. Kernels with an aux buffer are few; PEDANTIC has one.
int variants(const Problem &problem) {
  if (problem.onTensorCores() && problem.compute == CUBLAS_COMPUTE_32F_PEDANTIC)
    return 1;
  if (problem.family() == Family::aux)
    return 2;
  return isLong(problem) ? 4 : int(kMost);
}

std::vector<int> splits(const Problem &problem) {
  constexpr int64_t kLeast = 256; // of k in a part
  std::vector<int> list;
  if (variants(problem) < 4 || problem.d.batch > 1)
    return list;
  for (int split : {4, 2, 3, 6})
    if (problem.k >= split * kLeast && isLong(problem))
      list.push_back(split);
  return list;
}

} // namespace

bool Algorithm::isOurs() const {
  return magic == kMagic && sum == hash(this, offsetof(Algorithm, sum));
}

void Algorithm::seal() { sum = hash(this, offsetof(Algorithm, sum)); }

Algorithm fromBytes(const cublasLtMatmulAlgo_t &bytes) {
  Algorithm algorithm;
  std::memcpy(&algorithm, &bytes, sizeof algorithm);
  return algorithm;
}

cublasLtMatmulAlgo_t toBytes(const Algorithm &algorithm) {
  cublasLtMatmulAlgo_t bytes{};
  std::memcpy(&bytes, &algorithm, sizeof algorithm);
  return bytes;
}

std::vector<int32_t> idsFor(int32_t compute, int32_t typeA, int32_t typeD) {
  if (typeD != typeA && typeD != CUDA_R_32F)
    return {};
  if (typeA == CUDA_R_16BF || typeA == CUDA_R_16F) {
    if (compute == CUBLAS_COMPUTE_32F_PEDANTIC)
      return {kAnySize};
    return {kAnySize, kTensor};
  }
  if (typeA != CUDA_R_32F)
    return {};
  return compute == CUBLAS_COMPUTE_32F_FAST_TF32
             ? std::vector<int32_t>{kTf32}
             : std::vector<int32_t>{kSingle};
}

Algorithm makeAlgorithm(int32_t id, int32_t compute, int32_t typeA,
                        int32_t typeD) {
  Algorithm made;
  std::memset(&made, 0, sizeof made); // its padding is hashed, too
  made.magic = kMagic;
  made.id = id;
  made.split = 1;
  made.reduction = CUBLASLT_REDUCTION_SCHEME_NONE;
  made.typeA = uint8_t(typeA);
  made.typeD = uint8_t(typeD);
  made.compute = uint8_t(compute);
  made.family = kAnyFamily;
  uint8_t align = id == kTensor || id == kTf32 ? kTensorAlign
                  : typeA == CUDA_R_32F        ? 4
                                               : 2;
  std::fill(made.align, made.align + 4, align);
  made.seal();
  return made;
}

/// A rank whose library differs may have no such algorithm.
static bool isThere(const Algorithm &algorithm) {
  return difference() != Difference::bare &&
         (difference() != Difference::fewer || algorithm.custom != kCounts);
}

std::vector<Choice> choices(const Problem &problem, const Wish &wish) {
  std::vector<Choice> list;
  uint32_t shape = shapeOf(problem);
  auto add = [&](int variant, int split) {
    if (split > 1 &&
        !(wish.reductions & CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE))
      return;
    int32_t id = idsFor(problem.compute, problem.a.type, problem.d.type).back();
    Algorithm made =
        makeAlgorithm(id, problem.compute, problem.a.type, problem.d.type);
    setAligns(problem, wish, made);
    if (id == kTensor && !isAligned(made))
      made.id = kAnySize;
    made.family = uint8_t(problem.family());
    made.shape = shape;
    // As on a GPU, what is best differs from shape to shape.
    made.tile = 10 + (shape >> 3) % 20 + uint32_t(variant);
    made.stages = 35;
    made.custom = variant % 2 || variants(problem) == 1 ? 2 : kCounts;
    made.cluster = uint16_t(3 + (shape >> 8) % 7);
    made.split = split;
    if (split > 1)
      made.reduction = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    made.seal();
    size_t workspace = workspaceOf(made, problem);
    if (isThere(made) && workspace <= wish.workspace && list.size() < kMost)
      list.push_back({made, workspace});
  };
  // Few results and a long sum: parts of k keep a GPU busy.
  bool partsFirst =
      problem.m * problem.n <= 65536 &&
      (problem.k >= 8192 || (!problem.onTensorCores() && isLong(problem)));
  if (partsFirst)
    for (int split : splits(problem))
      add(split, split);
  for (int variant = 0; variant < variants(problem); ++variant)
    add(variant, 1);
  if (!partsFirst)
    for (int split : splits(problem))
      add(split, split);
  if (difference() == Difference::reversed)
    std::ranges::reverse(list);
  return list;
}

Verdict fits(const Algorithm &algorithm, const Problem &problem) {
  if (!algorithm.isOurs())
    return invalid("the algorithm is not one of this library's");
  if (algorithm.typeA != problem.a.type || algorithm.typeD != problem.d.type)
    return invalid("the algorithm is for other types");
  if (!isThere(algorithm))
    return unsupported("the library of this rank lacks the algorithm");
  if (algorithm.compute != problem.compute)
    return invalid("the algorithm is for another compute type");
  if (algorithm.family != kAnyFamily &&
      algorithm.family != uint8_t(problem.family()))
    return unsupported("the algorithm is for another kind of epilogue");
  for (int k = 0; k < 4; ++k)
    if (columnAlign(matrix(problem, k)) < algorithm.align[k])
      return unsupported(std::string("the algorithm wants columns of ") +
                         "ABCD"[k] + " aligned to " +
                         std::to_string(algorithm.align[k]) + " bytes");
  if (algorithm.split < 1 || algorithm.split > std::max<int64_t>(1, problem.k))
    return unsupported("the algorithm splits k into " +
                       std::to_string(algorithm.split) + " parts");
  bool fine = algorithm.split == 1 ||
              algorithm.reduction == CUBLASLT_REDUCTION_SCHEME_INPLACE ||
              algorithm.reduction == CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  if (!fine)
    return unsupported("reduction scheme " +
                       std::to_string(algorithm.reduction) +
                       " is not modelled");
  return {};
}

Verdict fitsPointers(const Algorithm &algorithm, const Problem &problem) {
  for (int k = 0; k < 4; ++k) {
    if (k == 2 && !problem.readsC())
      continue;
    if (matrix(problem, k).at % algorithm.align[k])
      return unsupported(std::string("the algorithm wants ") + "ABCD"[k] +
                         " aligned to " + std::to_string(algorithm.align[k]) +
                         " bytes; ask the heuristic with its alignment, or "
                         "without algorithm");
  }
  return {};
}

size_t workspaceOf(const Algorithm &algorithm, const Problem &problem) {
  // Recorded: partial sums in f32 and 16 bytes; 4 bytes of a counter for some,
  // not for the shape alone; 16.5 bytes a row for the sum of dGELU.
  constexpr int64_t kManyTiles = int64_t(1) << 22;
  size_t results = size_t(problem.m * problem.n);
  size_t bytes = 0;
  if (algorithm.split > 1)
    bytes = size_t(algorithm.split) * results * sizeof(float) + 16;
  else if (algorithm.shape != shapeOf(problem) ||
           (algorithm.custom == kCounts && problem.m * problem.n >= kManyTiles))
    bytes = 4;
  if (problem.family() == Family::dgeluSum)
    bytes += size_t(problem.m) * 33 / 2 + 15;
  return bytes;
}

} // namespace mtc::standin::blas
