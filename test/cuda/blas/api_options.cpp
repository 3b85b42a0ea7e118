//===- api_options.cpp - what algorithms can and are set to ---------------===//
#include "test/cuda/blas/algorithm.h"

using namespace mtc::standin::blas;

namespace {

struct Field {
  int id;
  size_t bytes;
  size_t offset; ///< in Algorithm
};

constexpr Field kFields[] = {
    {CUBLASLT_ALGO_CONFIG_ID, 4, offsetof(Algorithm, id)},
    {CUBLASLT_ALGO_CONFIG_TILE_ID, 4, offsetof(Algorithm, tile)},
    {CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4, offsetof(Algorithm, split)},
    {CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, 4, offsetof(Algorithm, reduction)},
    {CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, 4, offsetof(Algorithm, swizzle)},
    {CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, 4, offsetof(Algorithm, custom)},
    {CUBLASLT_ALGO_CONFIG_STAGES_ID, 4, offsetof(Algorithm, stages)},
    {CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, 2, offsetof(Algorithm, inner)},
    {CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 2, offsetof(Algorithm, cluster)},
};

const Field *fieldOf(int id) {
  for (const Field &each : kFields)
    if (each.id == id)
      return &each;
  return nullptr;
}

constexpr uint64_t kEpilogues =
    CUBLASLT_EPILOGUE_DEFAULT | CUBLASLT_EPILOGUE_BIAS |
    CUBLASLT_EPILOGUE_GELU | CUBLASLT_EPILOGUE_DGELU_BGRAD |
    CUBLASLT_EPILOGUE_BGRADA | CUBLASLT_EPILOGUE_BGRADB;

struct Capability {
  int id;
  unsigned bytes;
  uint64_t value;
};

constexpr Capability kCapabilities[] = {
    {CUBLASLT_ALGO_CAP_SPLITK_SUPPORT, 4, 1},
    {CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK, 4,
     CUBLASLT_REDUCTION_SCHEME_INPLACE |
         CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE},
    {CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT, 4, 0},
    {CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT, 4, 1},
    {CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT, 4, 1},
    {CUBLASLT_ALGO_CAP_UPLO_SUPPORT, 4, 0},
    {CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX, 4, 3},
    {CUBLASLT_ALGO_CAP_CUSTOM_MEMORY_ORDER, 4, 0},
    {CUBLASLT_ALGO_CAP_POINTER_MODE_MASK, 4,
     CUBLASLT_POINTER_MODE_MASK_HOST | CUBLASLT_POINTER_MODE_MASK_DEVICE},
    {CUBLASLT_ALGO_CAP_EPILOGUE_MASK, 4, kEpilogues},
    {CUBLASLT_ALGO_CAP_LD_NEGATIVE, 4, 0},
    {CUBLASLT_ALGO_CAP_POINTER_ARRAY_BATCH_SUPPORT, 4, 0},
    {CUBLASLT_ALGO_CAP_FLOATING_POINT_EMULATION_SUPPORT, 4, 0},
};

} // namespace

MTC_LT cublasLtMatmulAlgoConfigSetAttribute(
    cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoConfigAttributes_t attribute,
    const void *value, size_t bytes) {
  const char *me = "cublasLtMatmulAlgoConfigSetAttribute";
  const Field *field = fieldOf(attribute);
  if (!algo || !value || !field || bytes != field->bytes ||
      attribute == CUBLASLT_ALGO_CONFIG_ID)
    return refuse(me, invalid("there is no such attribute to set"));
  Algorithm algorithm = fromBytes(*algo);
  if (!algorithm.isOurs())
    return refuse(me, invalid("the algorithm is not one of this library's"));
  std::memcpy(reinterpret_cast<char *>(&algorithm) + field->offset, value,
              bytes);
  algorithm.seal();
  *algo = toBytes(algorithm);
  return CUBLAS_STATUS_SUCCESS;
}

MTC_LT cublasLtMatmulAlgoConfigGetAttribute(
    const cublasLtMatmulAlgo_t *algo,
    cublasLtMatmulAlgoConfigAttributes_t attribute, void *to, size_t size,
    size_t *written) {
  const Field *field = fieldOf(attribute);
  if (!algo || !field)
    return CUBLAS_STATUS_INVALID_VALUE;
  Algorithm algorithm = fromBytes(*algo);
  return give(reinterpret_cast<const char *>(&algorithm) + field->offset,
              field->bytes, to, size, written);
}

MTC_LT
cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t *algo,
                                  cublasLtMatmulAlgoCapAttributes_t attribute,
                                  void *to, size_t size, size_t *written) {
  if (!algo || !fromBytes(*algo).isOurs())
    return CUBLAS_STATUS_INVALID_VALUE;
  constexpr int kFirst = CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES;
  if (attribute >= kFirst && attribute < kFirst + 4) {
    uint32_t align = fromBytes(*algo).align[attribute - kFirst];
    return give(&align, sizeof align, to, size, written);
  }
  for (const Capability &each : kCapabilities)
    if (each.id == attribute)
      return give(&each.value, each.bytes, to, size, written);
  return CUBLAS_STATUS_INVALID_VALUE;
}
