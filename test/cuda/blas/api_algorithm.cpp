//===- api_algorithm.cpp - heuristic, ids, checks and options -------------===//
#include "test/cuda/blas/algorithm.h"

#include <algorithm>

using namespace mtc::standin::blas;

namespace {

/// Null stays null; a stale one is told, and `stale` set.
const Layout *layoutOf(cublasLtMatrixLayout_t handle, const char *me,
                       bool &stale) {
  if (!handle)
    return nullptr;
  const Layout *layout = live<Layout>(handle, me);
  stale |= !layout;
  return layout;
}

/// Looks all handles up and describes the product.
Verdict describeAll(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                    const cublasLtMatrixLayout_t (&layouts)[4], const char *me,
                    Problem &problem) {
  if (!handle)
    return Refusal{CUBLAS_STATUS_NOT_INITIALIZED, "the handle is null"};
  bool stale = !live<Handle>(handle, me);
  const MatmulDesc *found = live<MatmulDesc>(desc, me);
  const Layout *of[4];
  for (int k = 0; k < 4; ++k)
    of[k] = layoutOf(layouts[k], me, stale);
  if (stale || !found)
    return invalid("an argument is stale or null");
  return describe(*found, of[0], of[1], of[2], of[3], problem);
}

/// "No" to a question is no misuse; nonsense in one is.
cublasStatus_t answer(const char *me, const Refusal &refusal) {
  return refusal.status == CUBLAS_STATUS_NOT_SUPPORTED ? refusal.status
                                                       : refuse(me, refusal);
}

cublasLtMatmulHeuristicResult_t resultOf(const Algorithm &algorithm,
                                         const Problem &problem) {
  constexpr float kTile = 128 * 128 * 132; // of one wave of an H100
  cublasLtMatmulHeuristicResult_t result{};
  result.algo = toBytes(algorithm);
  result.workspaceSize = workspaceOf(algorithm, problem);
  result.state = CUBLAS_STATUS_SUCCESS;
  result.wavesCount = float(problem.m) * float(problem.n) / kTile;
  return result;
}

Wish wishOf(const Preference &preference) {
  const Attributes &of = preference.attributes;
  Wish wish;
  wish.workspace = of.at<uint64_t>(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
  wish.reductions = of.at<uint32_t>(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
  for (int k = 0; k < 4; ++k)
    wish.align[k] =
        of.at<uint32_t>(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES + k);
  return wish;
}

/// Least alignment of a pointer that a wish may have.
bool isSane(const Wish &wish, const Problem &problem) {
  size_t least[] = {problem.a.elementBytes(), problem.b.elementBytes(),
                    problem.c.elementBytes(), problem.d.elementBytes()};
  for (int k = 0; k < 4; ++k)
    if (wish.align[k] < least[k] || (wish.align[k] & (wish.align[k] - 1)))
      return false;
  return true;
}

} // namespace

MTC_LT cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
    cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
    cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t preference, int requested,
    cublasLtMatmulHeuristicResult_t results[], int *count) {
  const char *me = "cublasLtMatmulAlgoGetHeuristic";
  std::lock_guard lock(Library::get().mutex);
  Problem problem;
  if (Verdict no = describeAll(handle, desc, {a, b, c, d}, me, problem)) {
    if (count && no->status == CUBLAS_STATUS_NOT_SUPPORTED)
      *count = 0;
    return answer(me, *no);
  }
  if (!preference || requested < 1)
    return refuse(me, invalid("expected a preference, and to be asked for at "
                              "least one algorithm"));
  // The real library crashes.
  if (!results || !count)
    return refuse(me, invalid("results or their count have no place"));
  const Preference *found = live<Preference>(preference, me);
  if (!found)
    return CUBLAS_STATUS_INVALID_VALUE;
  Wish wish = wishOf(*found);
  *count = 0;
  if (!isSane(wish, problem))
    return refuse(me, invalid("the preference has an alignment that is no "
                              "power of two, or below that of elements"));
  std::vector<Choice> list = choices(problem, wish);
  *count = std::min(requested, int(list.size()));
  for (int k = 0; k < *count; ++k)
    results[k] = resultOf(list[size_t(k)].algorithm, problem);
  return *count ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

MTC_LT cublasLtMatmulAlgoGetIds(cublasLtHandle_t handle,
                                cublasComputeType_t compute,
                                cudaDataType_t scale, cudaDataType_t a,
                                cudaDataType_t b, cudaDataType_t c,
                                cudaDataType_t d, int requested, int ids[],
                                int *count) {
  const char *me = "cublasLtMatmulAlgoGetIds";
  if (!handle)
    return CUBLAS_STATUS_NOT_INITIALIZED;
  if (requested < 1 || !ids || !count)
    return refuse(me, invalid("expected places for at least one id"));
  *count = 0;
  std::vector<int32_t> list = idsFor(compute, a, d);
  if (scale != CUDA_R_32F || a != b || c != d || list.empty())
    return CUBLAS_STATUS_NOT_SUPPORTED;
  for (; *count < std::min(requested, int(list.size())); ++*count)
    ids[*count] = list[size_t(*count)];
  return CUBLAS_STATUS_SUCCESS;
}

MTC_LT cublasLtMatmulAlgoInit(cublasLtHandle_t handle,
                              cublasComputeType_t compute, cudaDataType_t scale,
                              cudaDataType_t a, cudaDataType_t b,
                              cudaDataType_t c, cudaDataType_t d, int id,
                              cublasLtMatmulAlgo_t *algo) {
  const char *me = "cublasLtMatmulAlgoInit";
  if (!handle)
    return CUBLAS_STATUS_NOT_INITIALIZED;
  std::vector<int32_t> list = idsFor(compute, a, d);
  if (!algo || std::find(list.begin(), list.end(), id) == list.end())
    return refuse(me, invalid("there is no algorithm " + std::to_string(id) +
                              " for these types"));
  if (scale != CUDA_R_32F || a != b || c != d)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  *algo = toBytes(makeAlgorithm(id, compute, a, d));
  return CUBLAS_STATUS_SUCCESS;
}

MTC_LT
cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                        cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                        cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                        const cublasLtMatmulAlgo_t *algo,
                        cublasLtMatmulHeuristicResult_t *result) {
  const char *me = "cublasLtMatmulAlgoCheck";
  std::lock_guard lock(Library::get().mutex);
  Problem problem;
  if (Verdict no = describeAll(handle, desc, {a, b, c, d}, me, problem))
    return answer(me, *no);
  if (!algo || !result)
    return refuse(me, invalid("the algorithm or the result is null"));
  // `algo` may be a part of *result.
  Algorithm algorithm = fromBytes(*algo);
  if (Verdict no = fits(algorithm, problem)) {
    if (no->status == CUBLAS_STATUS_NOT_SUPPORTED)
      result->state = no->status;
    return no->status;
  }
  *result = resultOf(algorithm, problem);
  return CUBLAS_STATUS_SUCCESS;
}
