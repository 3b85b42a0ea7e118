//===- problem.cpp - one product, as its descriptors say it ---------------===//
//
// The order of the checks shows in which status comes where two things are
// wrong; it is that of the recorded answers.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/blas/problem.h"

namespace mtc::standin::blas {
namespace {

constexpr int64_t kAuxBytes = 16; ///< alignment of aux and of its columns

std::string text(int64_t value) { return std::to_string(value); }

bool isHalf(int32_t type) { return type == CUDA_R_16BF || type == CUDA_R_16F; }
bool isKnown(int32_t type) { return isHalf(type) || type == CUDA_R_32F; }

Verdict matrixOf(const Layout &layout, const char *name, Matrix &matrix) {
  const Attributes &of = layout.attributes;
  std::string who = std::string("layout of ") + name + ": ";
  matrix.type = of.at<int32_t>(CUBLASLT_MATRIX_LAYOUT_TYPE);
  matrix.rows = of.at<int64_t>(CUBLASLT_MATRIX_LAYOUT_ROWS);
  matrix.cols = of.at<int64_t>(CUBLASLT_MATRIX_LAYOUT_COLS);
  matrix.ld = of.at<int64_t>(CUBLASLT_MATRIX_LAYOUT_LD);
  matrix.batch = of.at<int32_t>(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
  matrix.stride = of.at<int64_t>(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
  if (!isKnown(matrix.type))
    return unsupported(who + "expected bf16, f16 or f32, found type " +
                       text(matrix.type));
  if (of.at<int32_t>(CUBLASLT_MATRIX_LAYOUT_ORDER) != CUBLASLT_ORDER_COL)
    return unsupported(who + "only column-major order is modelled");
  if (of.at<int32_t>(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE) !=
          CUBLASLT_BATCH_MODE_STRIDED ||
      of.at<int64_t>(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET))
    return unsupported(who + "only strided batches of one plane are modelled");
  if (matrix.rows < 0 || matrix.cols < 0 || matrix.ld < matrix.rows ||
      matrix.ld < 1)
    return invalid(who + "leading dimension " + text(matrix.ld) +
                   " is below its " + text(matrix.rows) + " rows");
  if (matrix.batch < 1)
    return invalid(who + "batch count is " + text(matrix.batch));
  return {};
}

Verdict checkCompute(const Attributes &of, Problem &problem, bool halfOnly) {
  problem.compute = of.at<int32_t>(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE);
  switch (problem.compute) {
  case CUBLAS_COMPUTE_32F:
  case CUBLAS_COMPUTE_32F_PEDANTIC:
  case CUBLAS_COMPUTE_32F_FAST_TF32:
    break;
  case CUBLAS_COMPUTE_16F:
    if (halfOnly)
      return invalid("compute type 16F has another scale type");
    [[fallthrough]];
  default:
    return unsupported("compute type " + text(problem.compute) +
                       " is not modelled, or not taken for these types");
  }
  if (of.at<int32_t>(CUBLASLT_MATMUL_DESC_SCALE_TYPE) != CUDA_R_32F)
    return invalid("expected scale type f32");
  return {};
}

Verdict checkTypes(const Problem &problem) {
  if (problem.d.type != problem.a.type && problem.d.type != CUDA_R_32F)
    return unsupported("D has neither A's type nor f32");
  if (problem.b.type != problem.a.type)
    return invalid("A and B have different types");
  if (problem.c.type != problem.d.type)
    return invalid("C and D have different types");
  return {};
}

Verdict checkSizes(Problem &problem) {
  const Matrix &a = problem.a, &b = problem.b, &c = problem.c, &d = problem.d;
  problem.m = d.rows;
  problem.n = d.cols;
  problem.k = problem.transA ? a.rows : a.cols;
  if ((problem.transA ? a.cols : a.rows) != problem.m ||
      (problem.transB ? b.rows : b.cols) != problem.n ||
      (problem.transB ? b.cols : b.rows) != problem.k || c.rows != problem.m ||
      c.cols != problem.n)
    return invalid("sizes do not fit: A " + text(a.rows) + " x " +
                   text(a.cols) + (problem.transA ? " transposed" : "") +
                   ", B " + text(b.rows) + " x " + text(b.cols) +
                   (problem.transB ? " transposed" : "") + ", C " +
                   text(c.rows) + " x " + text(c.cols) + ", D " + text(d.rows) +
                   " x " + text(d.cols));
  for (const Matrix *each : {&a, &b, &c})
    if (each->batch != d.batch)
      return invalid("batch counts differ");
  // A stride of 0 shares an operand; a result must have room.
  int64_t room = d.ld * (d.cols - 1) + d.rows;
  if (d.batch > 1 && d.stride < room)
    return invalid("products of the batch overlap in D: stride " +
                   text(d.stride) + ", expected at least " + text(room));
  return {};
}

/// What the product's caller could ask for and this does not have.
Verdict checkOptions(const Attributes &of, Problem &problem) {
  auto isSet = [&](int id) { return of.at<uint64_t>(id) != 0; };
  for (int id : {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER,
                 CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
                 CUBLASLT_MATMUL_DESC_C_SCALE_POINTER,
                 CUBLASLT_MATMUL_DESC_D_SCALE_POINTER,
                 CUBLASLT_MATMUL_DESC_AMAX_D_POINTER,
                 CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER,
                 CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER,
                 CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER,
                 CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR})
    if (isSet(id))
      return unsupported("attribute " + text(id) + " is not modelled");
  if (of.at<int32_t>(CUBLASLT_MATMUL_DESC_TRANSC) != CUBLAS_OP_N)
    return unsupported("C cannot be transposed");
  if (of.at<int32_t>(CUBLASLT_MATMUL_DESC_FILL_MODE) != CUBLAS_FILL_MODE_FULL)
    return unsupported("only full matrices are modelled");
  int32_t mode = of.at<int32_t>(CUBLASLT_MATMUL_DESC_POINTER_MODE);
  if (mode != CUBLASLT_POINTER_MODE_HOST &&
      mode != CUBLASLT_POINTER_MODE_DEVICE)
    return unsupported("pointer mode " + text(mode) + " is not modelled");
  problem.deviceScalars = mode == CUBLASLT_POINTER_MODE_DEVICE;
  return {};
}

Verdict checkEpilogueKind(const Problem &problem) {
  switch (problem.epilogue) {
  case CUBLASLT_EPILOGUE_DEFAULT:
    return {};
  case CUBLASLT_EPILOGUE_BIAS:
  case CUBLASLT_EPILOGUE_GELU:
  case CUBLASLT_EPILOGUE_GELU_BIAS:
  case CUBLASLT_EPILOGUE_GELU_AUX:
  case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
  case CUBLASLT_EPILOGUE_DGELU:
  case CUBLASLT_EPILOGUE_DGELU_BGRAD:
    break;
  case CUBLASLT_EPILOGUE_BGRADA:
    if (problem.transA)
      return unsupported("BGRADA wants A that is not transposed");
    break;
  case CUBLASLT_EPILOGUE_BGRADB:
    if (!problem.transB)
      return unsupported("BGRADB wants B transposed");
    break;
  default:
    return unsupported("epilogue " + text(problem.epilogue) +
                       " is not modelled");
  }
  if (problem.d.batch > 1 || problem.deviceScalars)
    return unsupported("batches and scalars of the device are modelled without "
                       "epilogue only");
  return {};
}

Verdict checkBias(const Attributes &of, Problem &problem) {
  if (!problem.hasBias() && !problem.gradientLength())
    return {};
  problem.bias = of.at<CUdeviceptr>(CUBLASLT_MATMUL_DESC_BIAS_POINTER);
  int32_t type = of.at<int32_t>(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
  if (type != -1 && type != problem.d.type)
    return invalid("bias or bias gradient is not of D's type");
  if (!problem.bias)
    return invalid("the epilogue has a bias or a bias gradient, found null");
  // What the library does with others was never recorded.
  if (problem.bias % 16)
    return invalid("bias or bias gradient is at no multiple of 16 bytes");
  return {};
}

Verdict checkAux(const Attributes &of, Problem &problem) {
  if (!problem.hasAux())
    return {};
  Matrix &aux = problem.aux;
  aux = problem.d;
  aux.ld = of.at<int64_t>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD);
  aux.at = of.at<CUdeviceptr>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER);
  int32_t type = of.at<int32_t>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE);
  if (type != -1 && type != problem.d.type)
    return invalid("aux is not of D's type");
  if (aux.ld < problem.m || aux.ld < 1)
    return invalid("leading dimension of aux, " + text(aux.ld) +
                   ", is below the " + text(problem.m) + " rows of D");
  if (!aux.at)
    return invalid("the epilogue has an aux buffer, found null");
  // The library takes these, and its kernels then fault in the stream.
  if (aux.ld % 8)
    return invalid("leading dimension of aux, " + text(aux.ld) +
                   ", is no multiple of 8: kernels fault");
  if (aux.at % kAuxBytes)
    return invalid("aux is not aligned to 16 bytes: kernels fault");
  return {};
}

} // namespace

Family Problem::family() const {
  switch (epilogue) {
  case CUBLASLT_EPILOGUE_GELU_AUX:
  case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
    return Family::aux;
  case CUBLASLT_EPILOGUE_DGELU:
    return Family::dgelu;
  case CUBLASLT_EPILOGUE_DGELU_BGRAD:
    return Family::dgeluSum;
  case CUBLASLT_EPILOGUE_BGRADA:
  case CUBLASLT_EPILOGUE_BGRADB:
    return Family::sumOfInput;
  default:
    return Family::plain;
  }
}

int64_t Problem::gradientLength() const {
  switch (epilogue) {
  case CUBLASLT_EPILOGUE_DGELU_BGRAD:
  case CUBLASLT_EPILOGUE_BGRADA:
    return m;
  case CUBLASLT_EPILOGUE_BGRADB:
    return n;
  default:
    return 0;
  }
}

Verdict describe(const MatmulDesc &desc, const Layout *a, const Layout *b,
                 const Layout *c, const Layout *d, Problem &problem) {
  const Attributes &of = desc.attributes;
  if (!a || !b || !d)
    return invalid("the layout of A, B or D is missing");
  problem.transA = of.at<int32_t>(CUBLASLT_MATMUL_DESC_TRANSA) != CUBLAS_OP_N;
  problem.transB = of.at<int32_t>(CUBLASLT_MATMUL_DESC_TRANSB) != CUBLAS_OP_N;
  problem.epilogue = of.at<uint32_t>(CUBLASLT_MATMUL_DESC_EPILOGUE);
  for (int id : {CUBLASLT_MATMUL_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSB})
    if (uint32_t(of.at<int32_t>(id)) > CUBLAS_OP_C)
      return invalid("transposition " + text(of.at<int32_t>(id)) +
                     " does not exist");
  if (Verdict no = matrixOf(*a, "A", problem.a))
    return no;
  if (Verdict no = matrixOf(*b, "B", problem.b))
    return no;
  if (Verdict no = matrixOf(*d, "D", problem.d))
    return no;
  if (Verdict no = matrixOf(c ? *c : *d, "C", problem.c))
    return no;
  bool halfOnly = problem.a.type == CUDA_R_16F && problem.d.type == CUDA_R_16F;
  if (Verdict no = checkCompute(of, problem, halfOnly))
    return no;
  if (Verdict no = checkSizes(problem))
    return no;
  if (Verdict no = checkTypes(problem))
    return no;
  if (Verdict no = checkOptions(of, problem))
    return no;
  if (Verdict no = checkEpilogueKind(problem))
    return no;
  if (Verdict no = checkBias(of, problem))
    return no;
  return checkAux(of, problem);
}

} // namespace mtc::standin::blas
