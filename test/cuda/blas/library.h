//===- library.h - the objects behind the handles of cublasLt ---*- C++ -*-===//
//
// A handle is the address of its object. What the real library crashes on, a
// null or stale handle of a descriptor, is named here and refused.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_BLAS_LIBRARY_H
#define MTC_TEST_CUDA_BLAS_LIBRARY_H

#include "test/cuda/blas/attributes.h"
#include "test/cuda/blas/refusal.h"
#include "test/cuda/driver/handles.h"

#include <mutex>

namespace mtc::standin::blas {

struct Handle {
  static constexpr const char *kName = "a handle";
  CUcontext context = nullptr; ///< current when it was made
};
struct MatmulDesc {
  static constexpr const char *kName = "a matmul descriptor";
  Attributes attributes;
};
struct Layout {
  static constexpr const char *kName = "a matrix layout";
  Attributes attributes;
};
struct Preference {
  static constexpr const char *kName = "a preference";
  Attributes attributes;
};

/// How the library of one rank is another than that of all others.
enum class Difference {
  none,
  reversed, ///< its heuristics answer in the opposite order
  fewer,    ///< it has no algorithm that counts tiles
  older,    ///< it has another version
  bare,     ///< it has no algorithm
};
/// MTC_STANDIN_BLAS_DIFFERS: the number of a rank of mtc and how it differs, as
/// "1:reversed".
Difference difference();

class Library {
public:
  static Library &get();

  std::mutex mutex; ///< for all that follows
  Registry<Handle> handles;
  Registry<MatmulDesc> descs;
  Registry<Layout> layouts;
  Registry<Preference> preferences;

  template <class T> Registry<T> &registry();
};

template <> inline Registry<Handle> &Library::registry() { return handles; }
template <> inline Registry<MatmulDesc> &Library::registry() { return descs; }
template <> inline Registry<Layout> &Library::registry() { return layouts; }
template <> inline Registry<Preference> &Library::registry() {
  return preferences;
}

/// The object of a handle that lives, or null, which is told. Wants the lock.
template <class T> T *live(const void *handle, const char *call) {
  T *object = static_cast<T *>(const_cast<void *>(handle));
  if (Library::get().registry<T>().has(object))
    return object;
  tell(call, std::string("expected ") + T::kName + ", found " +
                 (handle ? "one that was destroyed, or never made" : "null"));
  return nullptr;
}

} // namespace mtc::standin::blas
#endif // MTC_TEST_CUDA_BLAS_LIBRARY_H
