//===- attributes.h - what a descriptor holds -------------------*- C++ -*-===//
//
// Descriptors are tables of values by number. Numbers, sizes and first values
// are those of cublasLt 13.1.0, asked without a GPU; attributes_test.cpp asks
// again where the library is installed.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_BLAS_ATTRIBUTES_H
#define MTC_TEST_CUDA_BLAS_ATTRIBUTES_H

#include "test/cuda/blas/lt_api.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace mtc::standin::blas {

struct AttributeKind {
  int id;
  unsigned bytes;   ///< at most 8
  uint64_t initial; ///< in its low bytes
};

std::span<const AttributeKind> matmulKinds();
std::span<const AttributeKind> layoutKinds();
std::span<const AttributeKind> preferenceKinds();

/// Copies a value of `bytes` as the GetAttribute functions do: with size 0 only
/// the size is told, in *written.
cublasStatus_t give(const void *value, size_t bytes, void *to, size_t size,
                    size_t *written);

class Attributes {
public:
  Attributes() = default;
  explicit Attributes(std::span<const AttributeKind> kinds);

  /// INVALID_VALUE: no such number, another size, or no bytes. What the value
  /// means is not asked, as the library does not.
  cublasStatus_t set(int id, const void *value, size_t bytes);
  cublasStatus_t get(int id, void *to, size_t size, size_t *written) const;

  template <class T> T at(int id) const {
    T value;
    std::memcpy(&value, &values[place(id)], sizeof value);
    return value;
  }
  template <class T> void put(int id, T value) {
    std::memcpy(&values[place(id)], &value, sizeof value);
  }

private:
  /// kinds.size(): there is no such number.
  size_t place(int id) const;

  std::span<const AttributeKind> kinds;
  std::vector<uint64_t> values;
};

} // namespace mtc::standin::blas
#endif // MTC_TEST_CUDA_BLAS_ATTRIBUTES_H
