//===- cuda_memory.h - a rank's arenas on a GPU -----------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_CUDA_MEMORY_H
#define MTC_RUNTIME_DEVICE_CUDA_CUDA_MEMORY_H

#include "runtime/device/arena.h"
#include "runtime/device/cuda/driver.h"
#include "runtime/device/cuda/nccl.h"

#include <cstddef>
#include <span>
#include <vector>

namespace mtc::cuda {

/// One allocation, in which arenas lie one behind the other, each at a multiple
/// of 4096 bytes; freed by the destructor, with the driver's context current.
class CudaMemory {
public:
  explicit CudaMemory(const Driver &driver) : driver_(driver) {}
  /// Before `allocate`: the memory is to be NCCL's, as communicators can
  /// register no other one for all that they do (nccl_groups.h).
  void takeFrom(const Nccl &nccl) { nccl_ = &nccl; }
  CudaMemory(const CudaMemory &) = delete;
  CudaMemory &operator=(const CudaMemory &) = delete;
  ~CudaMemory();

  /// Allocates `bytes[k]` bytes for each part, all zero once `stream` has come
  /// so far. Once. Errors: infeasible, with the bytes of all and `what` they
  /// are.
  runtime::Status allocate(std::span<const int64_t> bytes, const char *what,
                           StreamHandle stream);
  /// The address of part k of the last `allocate`; 0 of an empty one.
  Address part(size_t k) const { return parts_[k]; }
  /// Behind `allocate`: its block from the first part on, in which parts of the
  /// same sizes begin at the same places.
  std::span<std::byte> all() const;

private:
  runtime::Status allocateBlock(int64_t bytes, const char *what);

  const Driver &driver_;
  const Nccl *nccl_ = nullptr;
  Address base_ = 0;
  int64_t bytes_ = 0;
  std::vector<Address> parts_;
};

inline void *pointerTo(Address address) {
  return reinterpret_cast<void *>(static_cast<uintptr_t>(address));
}
inline Address addressOf(const void *pointer) {
  return static_cast<Address>(reinterpret_cast<uintptr_t>(pointer));
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_CUDA_MEMORY_H
