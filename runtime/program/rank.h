//===- rank.h - one rank of a running program -------------------*- C++ -*-===//
//
// Holds what the fragments' context points to, and walks timelines. The walk is
// the whole interpreter of mtc: load, call a fragment, exchange.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_PROGRAM_RANK_H
#define MTC_RUNTIME_PROGRAM_RANK_H

#include "runtime/comm/comm.h"
#include "runtime/device/cpu/arena.h"
#include "runtime/kernels/cpu/gemm.h"
#include "runtime/kernels/cpu/norm.h"
#include "runtime/program/program.h"

#include <memory>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// Fills inputs; implemented by the data reader.
class Feed {
public:
  virtual ~Feed() = default;
  /// Writes input `in` of `microbatch`, i32 [micro_batch, seq], to `out`.
  virtual Status load(const InputInfo &in, int64_t microbatch,
                      int32_t *out) = 0;
};

/// Sees the values that are valid only right after a fragment.
class Observer {
public:
  virtual ~Observer() = default;
  virtual Status ran(const MtcStep &row) = 0;
};

/// What a rank is made of. The communicator and the arenas belong to the caller
/// and outlive the rank.
struct RankParts {
  Program program;
  Descriptor descriptor; ///< of `program`
  int rank = 0;
  Communicator *comm = nullptr;
  ArenaViews arenas{};
};

/// Selects the plan's instruction set for this process and checks the version
/// of the GEMM library. Once per process, before its ranks are created.
Status prepareProcess(const Descriptor &descriptor);

class RankState {
public:
  /// Checks that the parts fit together: mesh and stage, arenas equal to the
  /// plan, tables inside their bounds, GEMM scratch as planned. Call
  /// prepareProcess before. Errors: inputRefused, infeasible, internal.
  static Status create(RankParts parts, std::unique_ptr<RankState> &out);

  RankState(const RankState &) = delete;
  RankState &operator=(const RankState &) = delete;

  MtcContext &context() { return context_; }
  const Descriptor &descriptor() const { return parts_.descriptor; }
  Communicator &comm() { return *parts_.comm; }
  const Mesh &mesh() const { return parts_.descriptor.mesh; }
  int rank() const { return parts_.rank; }
  int64_t coord(MtcAxis axis) const { return context_.coord[axis]; }
  bool onLastStage() const { return coord(MTC_AXIS_PP) == mesh().stages() - 1; }
  /// True for the rank that logs: on the last stage, the first along every
  /// axis.
  bool logs() const;

  /// The address `offset` bytes into an arena.
  template <typename T> T *at(MtcArena arena, int64_t offset) {
    return reinterpret_cast<T *>(static_cast<char *>(context_.arena[arena]) +
                                 offset);
  }
  float &loss() { return *at<float>(MTC_ARENA_GRADS, descriptor().lossOffset); }

  /// Walks rows [first, end) of an entry's timeline; stops at the first failing
  /// row. `observer` may be null. Allocates nothing.
  Status walk(const EntryInfo &entry, int64_t first, int64_t end, Feed &feed,
              Observer *observer = nullptr);

  // For the functions of abi.h.
  NormSum &norm() { return norm_; }
  Status gemm(int32_t index, const void *a, const void *b, void *c,
              void *scratch);
  /// Sums the norm over a group.
  Status reduceNorm(MtcGroup group);
  /// Takes the result of a call: the first failure becomes the context's status
  /// and makes the other ranks' calls fail.
  void accept(Status status);
  /// ok, or the first failure with its message.
  Status failure() const;

private:
  explicit RankState(RankParts parts);
  Status initialize();
  Status checkPlace() const;
  Status createGemms();
  void collectTimelines();
  Status load(const EntryInfo &entry, const MtcStep &row, Feed &feed);

  RankParts parts_;
  MtcContext context_{};
  GemmSet gemms_;
  NormSum norm_;
  Status failure_;
  std::vector<const MtcStep *> timelines_; ///< by entry of the descriptor
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_PROGRAM_RANK_H
