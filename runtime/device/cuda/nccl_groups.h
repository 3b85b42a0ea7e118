//===- nccl_groups.h - a communicator of NCCL for each group ----*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_NCCL_GROUPS_H
#define MTC_RUNTIME_DEVICE_CUDA_NCCL_GROUPS_H

#include "mtc/runtime/mesh.h"
#include "runtime/comm/comm.h"
#include "runtime/device/cuda/nccl.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <span>

namespace mtc::cuda {

/// What a rank has of a group.
struct NcclGroup {
  NcclHandle comm = nullptr; ///< null: the rank is in no such group, or alone
  int64_t size = 1;
  int64_t own = 0; ///< which of the members the rank is
};

/// The communicators of a rank's groups, of which each rank of the mesh makes
/// its own at once and in one order, that of kGroups.
class NcclGroups {
public:
  NcclGroups() = default;
  NcclGroups(const NcclGroups &) = delete;
  NcclGroups &operator=(const NcclGroups &) = delete;
  ~NcclGroups() { end(); }
  /// Ends them, by force behind `abort`, which frees streams that wait in them;
  /// the context of the GPU is current.
  void end();

  /// Once, in all ranks, with the context of the rank's GPU current; `control`
  /// is the host's way to the others. Registers `memory`, of CudaMemory that is
  /// NCCL's, with the communicators of ranks of one stage, which have it in one
  /// layout: a collective may then go from there without a copy, as by NVLS,
  /// which takes buffers at one place of registered memory in all ranks. It has
  /// to outlive `end`. Errors: communication, where two ranks have other
  /// versions of NCCL or it says no.
  runtime::Status open(const Nccl &nccl, runtime::Communicator &control,
                       const Mesh &mesh, int rank, std::span<std::byte> memory);
  /// None of them will be used any more, as a rank is gone. From any thread.
  void abort() { aborted_ = true; }
  bool aborted() const { return aborted_; }
  /// What went wrong on the GPU since calls returned; ok: nothing is known.
  runtime::Status asyncError() const;

  /// That of all ranks.
  NcclHandle all() const { return all_; }
  const NcclGroup &operator[](MtcGroup group) const { return groups_[group]; }

private:
  runtime::Status agree(runtime::Communicator &control, int ranks, int rank,
                        NcclId &id) const;
  runtime::Status begin(int ranks, const NcclId &id, int rank);
  runtime::Status split(MtcGroup group, const Mesh &mesh, int rank);
  runtime::Status registerWith(NcclHandle comm, std::span<std::byte> memory);
  void deregister();

  const Nccl *nccl_ = nullptr;
  NcclHandle all_ = nullptr;
  std::array<NcclGroup, MTC_GROUP_COUNT> groups_{};
  std::map<NcclHandle, void *> registered_; ///< what each calls the memory
  std::atomic<bool> aborted_{false};
};

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_NCCL_GROUPS_H
