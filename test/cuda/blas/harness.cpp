//===- harness.cpp - programs that use cublasLt ---------------------------===//
#include "test/cuda/blas/harness.h"

#include "runtime/base/bf16.h"
#include "runtime/base/f16.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <random>

namespace mtc::standin::test {
namespace {

std::vector<unsigned char> pack(const std::vector<double> &values,
                                cudaDataType_t type) {
  std::vector<unsigned char> bytes(values.size() * bytesOf(type));
  for (size_t k = 0; k < values.size(); ++k) {
    float value = float(values[k]);
    uint16_t half = type == CUDA_R_16F ? runtime::roundToF16(value)
                                       : runtime::roundToBf16(value);
    if (type == CUDA_R_32F)
      std::memcpy(&bytes[k * 4], &value, 4);
    else
      std::memcpy(&bytes[k * 2], &half, 2);
  }
  return bytes;
}

std::vector<double> unpack(const std::vector<unsigned char> &bytes,
                           cudaDataType_t type) {
  std::vector<double> values(bytes.size() / bytesOf(type));
  for (size_t k = 0; k < values.size(); ++k) {
    float value;
    uint16_t half;
    if (type == CUDA_R_32F)
      std::memcpy(&value, &bytes[k * 4], 4);
    else
      std::memcpy(&half, &bytes[k * 2], 2);
    if (type != CUDA_R_32F)
      value = type == CUDA_R_16F ? runtime::widenF16(half)
                                 : runtime::widenBf16(half);
    values[k] = value;
  }
  return values;
}

void *pointer(CUdeviceptr address) { return reinterpret_cast<void *>(address); }

} // namespace

std::string Lt::load(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return dlerror();
#define X(f)                                                                   \
  f = reinterpret_cast<decltype(f)>(dlsym(library, #f));                       \
  if (!f)                                                                      \
    return std::string(path) + " has no " #f;
  MTC_LT_FUNCTIONS(X)
#undef X
  return "";
}

size_t bytesOf(cudaDataType_t type) { return type == CUDA_R_32F ? 4 : 2; }

double roundTo(cudaDataType_t type, double value) {
  return unpack(pack({value}, type), type)[0];
}

void expect(cublasStatus_t found, cublasStatus_t expected, const char *call,
            int line) {
  if (found != expected)
    fail(std::string(call) + ", line " + std::to_string(line) + ": expected " +
         std::to_string(expected) + ", found " + std::to_string(found));
}

bool Shape::hasGradient() const {
  return epilogue == CUBLASLT_EPILOGUE_DGELU_BGRAD ||
         epilogue == CUBLASLT_EPILOGUE_BGRADA ||
         epilogue == CUBLASLT_EPILOGUE_BGRADB;
}

int64_t Shape::biasLength() const {
  return epilogue == CUBLASLT_EPILOGUE_BGRADB ? n : m;
}

std::string Shape::name() const {
  auto type = [](int which) {
    return which == CUDA_R_32F ? "f32" : which == CUDA_R_16F ? "f16" : "bf16";
  };
  return std::string(type(this->type)) + ">" + type(out) + " " +
         (transA ? "T" : "N") + (transB ? "T" : "N") + " epilogue " +
         std::to_string(epilogue) + " " + std::to_string(m) + "x" +
         std::to_string(n) + "x" + std::to_string(k) + " beta " +
         std::to_string(beta);
}

Blas::Blas() {
  std::string missing = lt.load(MTC_LT_LIBRARY);
  if (!missing.empty())
    fail(missing);
  MTC_LT_OK(lt.cublasLtCreate(&handle));
}

CUdeviceptr Blas::upload(const std::vector<double> &values,
                         cudaDataType_t type) const {
  std::vector<unsigned char> bytes = pack(values, type);
  CUdeviceptr address = empty(std::max<size_t>(bytes.size(), 1));
  if (!bytes.empty())
    MTC_OK(cuMemcpyHtoDAsync(address, bytes.data(), bytes.size(), s));
  MTC_OK(cuStreamSynchronize(s));
  return address;
}

std::vector<double> Blas::download(CUdeviceptr address, size_t count,
                                   cudaDataType_t type) const {
  std::vector<unsigned char> bytes(count * bytesOf(type));
  MTC_OK(cuMemcpyDtoH(bytes.data(), address, bytes.size()));
  return unpack(bytes, type);
}

Operation::Operation(const Blas &blas, const Shape &shape)
    : blas(blas), shape(shape) {
  MTC_LT_OK(blas.lt.cublasLtMatmulDescCreate(&desc, shape.compute, CUDA_R_32F));
  auto op = [](bool trans) { return trans ? CUBLAS_OP_T : CUBLAS_OP_N; };
  MTC_LT_OK(set(CUBLASLT_MATMUL_DESC_TRANSA, int32_t(op(shape.transA))));
  MTC_LT_OK(set(CUBLASLT_MATMUL_DESC_TRANSB, int32_t(op(shape.transB))));
  MTC_LT_OK(set(CUBLASLT_MATMUL_DESC_EPILOGUE, shape.epilogue));
  if (shape.deviceScalars)
    MTC_LT_OK(set(CUBLASLT_MATMUL_DESC_POINTER_MODE,
                  int32_t(CUBLASLT_POINTER_MODE_DEVICE)));
  layoutA = layout(shape.type, shape.rowsA(), shape.colsA(), shape.padA);
  layoutB = layout(shape.type, shape.rowsB(), shape.colsB(), shape.padB);
  layoutC = layout(shape.out, shape.m, shape.n, shape.padD);
  layoutD = layout(shape.out, shape.m, shape.n, shape.padD);
  MTC_LT_OK(blas.lt.cublasLtMatmulPreferenceCreate(&preference));
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t(workspaceBytes));
}

cublasLtMatrixLayout_t Operation::layout(cudaDataType_t type, int64_t rows,
                                         int64_t cols, int64_t pad) const {
  cublasLtMatrixLayout_t made = nullptr;
  int64_t ld = std::max<int64_t>(rows + pad, 1), stride = ld * cols;
  MTC_LT_OK(blas.lt.cublasLtMatrixLayoutCreate(&made, type, uint64_t(rows),
                                               uint64_t(cols), ld));
  auto put = [&](cublasLtMatrixLayoutAttribute_t id, auto value) {
    MTC_LT_OK(blas.lt.cublasLtMatrixLayoutSetAttribute(made, id, &value,
                                                       sizeof value));
  };
  put(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t(shape.batch));
  put(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
  return made;
}

void Operation::makeBuffers(uint64_t seed, bool exact) {
  const Shape &of = shape;
  auto count = [&](int64_t rows, int64_t pad, int64_t cols) {
    return size_t((rows + pad) * cols * of.batch);
  };
  auto factors = [&](size_t many, uint64_t from) {
    return exact ? wholes(many, from) : uniform(many, from, 1, of.type);
  };
  valuesA = factors(count(of.rowsA(), of.padA, of.colsA()), seed);
  valuesB = factors(count(of.rowsB(), of.padB, of.colsB()), seed + 1);
  size_t results = count(of.m, of.padD, of.n);
  valuesC = uniform(results, seed + 2, 3, of.out);
  valuesBias = uniform(size_t(of.biasLength()), seed + 3, 1.5, of.out);
  int64_t auxLd = of.auxLd < 0 ? of.m : of.auxLd;
  valuesAux = uniform(size_t(auxLd * of.n), seed + 4, 4, of.out);
  a = blas.upload(valuesA, of.type);
  b = blas.upload(valuesB, of.type);
  size_t bytes = std::max<size_t>(results * bytesOf(of.out), 1);
  // Padding is read back with the rest, so it has to have values.
  d = of.beta != 0 || of.padD ? blas.upload(valuesC, of.out)
                              : blas.empty(bytes);
  c = d;
  if (of.epilogue & CUBLASLT_EPILOGUE_BIAS)
    bias = blas.upload(valuesBias, of.out);
  else if (of.hasGradient())
    bias = blas.empty(size_t(of.biasLength()) * bytesOf(of.out));
  if (bias)
    MTC_LT_OK(set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias));
  if (of.hasAux()) {
    bool reads = !(of.epilogue & CUBLASLT_EPILOGUE_GELU);
    aux = reads ? blas.upload(valuesAux, of.out)
                : blas.empty(valuesAux.size() * bytesOf(of.out));
    MTC_LT_OK(set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux));
    MTC_LT_OK(set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, auxLd));
  }
  if (of.deviceScalars)
    scalars = blas.upload({of.alpha, of.beta}, CUDA_R_32F);
  workspace = blas.empty(workspaceBytes);
}

cublasStatus_t Operation::find(int most) {
  int count = 0;
  results.resize(size_t(most));
  cublasStatus_t status = blas.lt.cublasLtMatmulAlgoGetHeuristic(
      blas.handle, desc, layoutA, layoutB, layoutC, layoutD, preference, most,
      results.data(), &count);
  results.resize(size_t(count));
  return status;
}

cublasStatus_t Operation::call(CUstream stream,
                               const cublasLtMatmulAlgo_t *algo,
                               size_t bytes) const {
  const void *alpha = &shape.alpha, *beta = &shape.beta;
  if (shape.deviceScalars) {
    alpha = pointer(scalars);
    beta = pointer(scalars + sizeof(float));
  }
  return blas.lt.cublasLtMatmul(blas.handle, desc, alpha, pointer(a), layoutA,
                                pointer(b), layoutB, beta, pointer(c), layoutC,
                                pointer(d), layoutD, algo,
                                bytes ? pointer(workspace) : nullptr, bytes,
                                reinterpret_cast<cudaStream_t>(stream));
}

cublasStatus_t Operation::go(CUstream stream) const {
  return call(stream, nullptr, workspaceBytes);
}

cublasStatus_t Operation::go(CUstream stream, const cublasLtMatmulAlgo_t &algo,
                             size_t bytes) const {
  return call(stream, &algo, bytes);
}

cublasStatus_t Operation::check(const cublasLtMatmulAlgo_t &algo,
                                cublasLtMatmulHeuristicResult_t &result) const {
  return blas.lt.cublasLtMatmulAlgoCheck(blas.handle, desc, layoutA, layoutB,
                                         layoutC, layoutD, &algo, &result);
}

void Operation::destroy() {
  MTC_LT_OK(blas.lt.cublasLtMatmulPreferenceDestroy(preference));
  for (cublasLtMatrixLayout_t each : {layoutA, layoutB, layoutC, layoutD})
    MTC_LT_OK(blas.lt.cublasLtMatrixLayoutDestroy(each));
  MTC_LT_OK(blas.lt.cublasLtMatmulDescDestroy(desc));
}

std::vector<double> Operation::result(CUstream stream) const {
  MTC_OK(cuStreamSynchronize(stream));
  return blas.download(
      d, size_t((shape.m + shape.padD) * shape.n * shape.batch), shape.out);
}

std::vector<double> wholes(size_t count, uint64_t seed, double step, int most) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> draw(-most, most);
  std::vector<double> values(count);
  for (double &each : values)
    each = draw(random) * step;
  return values;
}

std::vector<double> uniform(size_t count, uint64_t seed, double scale,
                            cudaDataType_t type) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> draw(-scale, scale);
  std::vector<double> values(count);
  for (double &each : values)
    each = roundTo(type, draw(random));
  return values;
}

} // namespace mtc::standin::test
