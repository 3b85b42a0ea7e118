//===- api_descriptors.cpp - descriptors, layouts, preferences ------------===//
//
// The library takes any value when it is set; what it means is looked at by
// the heuristic and the product.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/blas/library.h"

using namespace mtc::standin::blas;

namespace {

template <class T, class H> void make(H *handle, Attributes attributes) {
  auto object = std::make_unique<T>();
  object->attributes = std::move(attributes);
  std::lock_guard lock(Library::get().mutex);
  *handle =
      reinterpret_cast<H>(Library::get().registry<T>().add(std::move(object)));
}

/// Null is destroyed without a word, as by the library.
template <class T> cublasStatus_t destroy(const void *handle, const char *me) {
  if (!handle)
    return CUBLAS_STATUS_SUCCESS;
  std::lock_guard lock(Library::get().mutex);
  T *object = live<T>(handle, me);
  if (!object)
    return CUBLAS_STATUS_INVALID_VALUE;
  Library::get().registry<T>().remove(object);
  return CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t set(const void *handle, int id, const void *value, size_t bytes,
                   const char *me) {
  std::lock_guard lock(Library::get().mutex);
  T *object = live<T>(handle, me);
  if (!object)
    return CUBLAS_STATUS_INVALID_VALUE;
  cublasStatus_t status = object->attributes.set(id, value, bytes);
  if (status != CUBLAS_STATUS_SUCCESS)
    tell(me, "attribute " + std::to_string(id) + " does not exist, or is not " +
                 std::to_string(bytes) + " bytes");
  return status;
}

template <class T>
cublasStatus_t get(const void *handle, int id, void *to, size_t size,
                   size_t *written, const char *me) {
  std::lock_guard lock(Library::get().mutex);
  T *object = live<T>(handle, me);
  return object ? object->attributes.get(id, to, size, written)
                : CUBLAS_STATUS_INVALID_VALUE;
}

} // namespace

MTC_LT cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc,
                                cublasComputeType_t compute,
                                cudaDataType_t scale) {
  if (!desc)
    return CUBLAS_STATUS_INVALID_VALUE;
  Attributes attributes(matmulKinds());
  attributes.put(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, int32_t(compute));
  attributes.put(CUBLASLT_MATMUL_DESC_SCALE_TYPE, int32_t(scale));
  make<MatmulDesc>(desc, std::move(attributes));
  return CUBLAS_STATUS_SUCCESS;
}

MTC_LT cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  return destroy<MatmulDesc>(desc, "cublasLtMatmulDescDestroy");
}

MTC_LT cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                      cublasLtMatmulDescAttributes_t attribute,
                                      const void *value, size_t bytes) {
  return set<MatmulDesc>(desc, attribute, value, bytes,
                         "cublasLtMatmulDescSetAttribute");
}

MTC_LT cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t desc,
                                      cublasLtMatmulDescAttributes_t attribute,
                                      void *to, size_t size, size_t *written) {
  return get<MatmulDesc>(desc, attribute, to, size, written,
                         "cublasLtMatmulDescGetAttribute");
}

MTC_LT cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout,
                                  cudaDataType type, uint64_t rows,
                                  uint64_t cols, int64_t ld) {
  if (!layout)
    return CUBLAS_STATUS_INVALID_VALUE;
  Attributes attributes(layoutKinds());
  attributes.put(CUBLASLT_MATRIX_LAYOUT_TYPE, int32_t(type));
  attributes.put(CUBLASLT_MATRIX_LAYOUT_ROWS, rows);
  attributes.put(CUBLASLT_MATRIX_LAYOUT_COLS, cols);
  attributes.put(CUBLASLT_MATRIX_LAYOUT_LD, ld);
  make<Layout>(layout, std::move(attributes));
  return CUBLAS_STATUS_SUCCESS;
}

MTC_LT cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return destroy<Layout>(layout, "cublasLtMatrixLayoutDestroy");
}

MTC_LT
cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                 cublasLtMatrixLayoutAttribute_t attribute,
                                 const void *value, size_t bytes) {
  return set<Layout>(layout, attribute, value, bytes,
                     "cublasLtMatrixLayoutSetAttribute");
}

MTC_LT
cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                 cublasLtMatrixLayoutAttribute_t attribute,
                                 void *to, size_t size, size_t *written) {
  return get<Layout>(layout, attribute, to, size, written,
                     "cublasLtMatrixLayoutGetAttribute");
}

MTC_LT cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
  if (!preference)
    return CUBLAS_STATUS_INVALID_VALUE;
  make<Preference>(preference, Attributes(preferenceKinds()));
  return CUBLAS_STATUS_SUCCESS;
}

MTC_LT cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy<Preference>(preference, "cublasLtMatmulPreferenceDestroy");
}

MTC_LT cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t preference,
    cublasLtMatmulPreferenceAttributes_t attribute, const void *value,
    size_t bytes) {
  return set<Preference>(preference, attribute, value, bytes,
                         "cublasLtMatmulPreferenceSetAttribute");
}

MTC_LT cublasLtMatmulPreferenceGetAttribute(
    cublasLtMatmulPreference_t preference,
    cublasLtMatmulPreferenceAttributes_t attribute, void *to, size_t size,
    size_t *written) {
  return get<Preference>(preference, attribute, to, size, written,
                         "cublasLtMatmulPreferenceGetAttribute");
}
