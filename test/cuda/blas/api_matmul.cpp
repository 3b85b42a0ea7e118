//===- api_matmul.cpp - the product ---------------------------------------===//
#include "test/cuda/blas/algorithm.h"
#include "test/cuda/blas/driver_link.h"
#include "test/cuda/blas/pieces.h"

using namespace mtc::standin;
using namespace mtc::standin::blas;

namespace {

constexpr const char *kMe = "cublasLtMatmul";
constexpr uintptr_t kWorkspaceAlign = 256;

struct Call {
  cublasLtHandle_t handle;
  cublasLtMatmulDesc_t desc;
  const void *alpha, *beta;
  const void *a, *b, *c;
  void *d;
  cublasLtMatrixLayout_t layouts[4];
  const cublasLtMatmulAlgo_t *algo;
  void *workspace;
  size_t workspaceBytes;
};

CUdeviceptr addressOf(const void *pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

Verdict checkHandle(const Call &call) {
  if (!call.handle)
    return Refusal{CUBLAS_STATUS_NOT_INITIALIZED, "the handle is null"};
  const Handle *handle = live<Handle>(call.handle, kMe);
  if (!handle)
    return invalid("the handle is stale");
  CUcontext current = DriverLink::context();
  if (current != handle->context)
    return invalid(current ? "the handle belongs to another context"
                           : "no context is current, and the handle has one");
  return {};
}

Verdict describeCall(const Call &call, Problem &problem) {
  const MatmulDesc *desc = live<MatmulDesc>(call.desc, kMe);
  const Layout *of[4];
  bool stale = !desc;
  for (int k = 0; k < 4; ++k) {
    cublasLtMatrixLayout_t handle = call.layouts[k];
    of[k] = handle ? live<Layout>(handle, kMe) : nullptr;
    stale |= handle && !of[k];
  }
  if (stale)
    return invalid("an argument is stale or null");
  return describe(*desc, of[0], of[1], of[2], of[3], problem);
}

Verdict takeScalars(const Call &call, Problem &problem) {
  // The real library crashes.
  if (!call.alpha || !call.beta)
    return invalid("alpha or beta is null");
  if (problem.deviceScalars) {
    problem.alphaAt = addressOf(call.alpha);
    problem.betaAt = addressOf(call.beta);
    if (problem.alphaAt % sizeof(float) || problem.betaAt % sizeof(float))
      return invalid("alpha or beta is not aligned to its 4 bytes");
    return {};
  }
  std::memcpy(&problem.alpha, call.alpha, sizeof(float));
  std::memcpy(&problem.beta, call.beta, sizeof(float));
  return {};
}

Verdict takePointers(const Call &call, Problem &problem) {
  problem.a.at = addressOf(call.a);
  problem.b.at = addressOf(call.b);
  problem.c.at = addressOf(call.c);
  problem.d.at = addressOf(call.d);
  if (!call.a || !call.b || !call.d)
    return invalid("A, B or D is null");
  if (problem.readsC() && !call.c)
    return invalid("C is null, and beta may not be 0");
  if (problem.readsC() && !call.layouts[2])
    return invalid("C has no layout, and beta may not be 0");
  for (const Matrix *each : {&problem.a, &problem.b, &problem.c, &problem.d})
    if (each->at % each->elementBytes())
      return unsupported("a matrix is not aligned to its elements");
  if (addressOf(call.workspace) % kWorkspaceAlign)
    return invalid("the workspace is not aligned to 256 bytes");
  if (problem.m == 0 || problem.n == 0)
    return Refusal{CUBLAS_STATUS_EXECUTION_FAILED, "D has no elements"};
  return {};
}

/// Without an algorithm the library takes the heuristic's first that does with
/// the pointers and the workspace.
Verdict chooseAlgorithm(const Call &call, const Problem &problem,
                        Algorithm &algorithm) {
  Wish wish;
  wish.workspace = call.workspace ? call.workspaceBytes : 0;
  CUdeviceptr at[] = {problem.a.at, problem.b.at, problem.c.at, problem.d.at};
  for (int k = 0; k < 4; ++k)
    while (at[k] % wish.align[k])
      wish.align[k] /= 2;
  std::vector<Choice> list = choices(problem, wish);
  if (list.empty())
    return unsupported("no algorithm does with " +
                       std::to_string(wish.workspace) + " bytes of workspace");
  algorithm = list.front().algorithm;
  return {};
}

Verdict takeAlgorithm(const Call &call, const Problem &problem,
                      Algorithm &algorithm) {
  if (!call.algo)
    return chooseAlgorithm(call, problem, algorithm);
  algorithm = fromBytes(*call.algo);
  if (Verdict no = fits(algorithm, problem))
    return unsupported(no->why);
  if (Verdict no = fitsPointers(algorithm, problem))
    return no;
  size_t needs = workspaceOf(algorithm, problem);
  if (needs > (call.workspace ? call.workspaceBytes : 0))
    return invalid("the algorithm needs " + std::to_string(needs) +
                   " bytes of workspace for this, found " +
                   std::to_string(call.workspaceBytes) +
                   (call.workspace ? "" : " at null"));
  return {};
}

/// All that can be said before it runs.
Verdict prepare(const Call &call, Product &product) {
  Problem &problem = product.problem;
  Algorithm algorithm;
  if (Verdict no = checkHandle(call))
    return no;
  if (Verdict no = describeCall(call, problem))
    return no;
  if (Verdict no = takeScalars(call, problem))
    return no;
  if (Verdict no = takePointers(call, problem))
    return no;
  if (Verdict no = takeAlgorithm(call, problem, algorithm))
    return no;
  product.split = algorithm.split;
  product.drawsOrder = algorithm.reduction == CUBLASLT_REDUCTION_SCHEME_INPLACE;
  product.workspace = addressOf(call.workspace);
  product.workspaceBytes = workspaceOf(algorithm, problem);
  return {};
}

cublasStatus_t matmul(const Call &call, CUstream stream) {
  if (!DriverLink::get())
    return CUBLAS_STATUS_NOT_INITIALIZED;
  Product product;
  {
    std::lock_guard lock(Library::get().mutex);
    if (Verdict no = prepare(call, product))
      return refuse(kMe, *no);
  }
  std::vector<Operand> operands = operandsOf(product);
  if (Verdict no = checkAliases(operands))
    return refuse(kMe, *no);
  CUresult result = enqueue(product, stream, operands);
  if (result == CUDA_SUCCESS)
    return CUBLAS_STATUS_SUCCESS;
  return refuse(kMe, {CUBLAS_STATUS_EXECUTION_FAILED,
                      "the driver's answer is " + std::to_string(result)});
}

} // namespace

MTC_LT cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                      const void *alpha, const void *a,
                      cublasLtMatrixLayout_t layoutA, const void *b,
                      cublasLtMatrixLayout_t layoutB, const void *beta,
                      const void *c, cublasLtMatrixLayout_t layoutC, void *d,
                      cublasLtMatrixLayout_t layoutD,
                      const cublasLtMatmulAlgo_t *algo, void *workspace,
                      size_t workspaceBytes, cudaStream_t stream) {
  return matmul({handle,
                 desc,
                 alpha,
                 beta,
                 a,
                 b,
                 c,
                 d,
                 {layoutA, layoutB, layoutC, layoutD},
                 algo,
                 workspace,
                 workspaceBytes},
                reinterpret_cast<CUstream>(stream));
}
