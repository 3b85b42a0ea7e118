//===- control.h - the control segment --------------------------*- C++ -*-===//
//
// One memfd per run holds all that ranks and launcher share besides the arenas:
// the abort word, one block per rank, group barriers, call records with small
// payloads, and the rings of transfers. Zero bytes are its initial state.
//
//   Header | RankBlock[world] | GroupSync[kind][leader] |
//   MemberSlot[kind][rank][2] | core[world] |
//   TransferSlot[source rank][target stage][n]
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_COMM_SHM_CONTROL_H
#define MTC_RUNTIME_COMM_SHM_CONTROL_H

#include "runtime/comm/call.h"
#include "runtime/comm/shm/futex.h"

#include <type_traits>

namespace mtc::runtime::comm {

inline constexpr uint64_t kControlMagic = 0x336d68732d63746d; // "mtc-shm3"
inline constexpr int kStateWords = 64;

struct alignas(128) ControlHeader {
  uint64_t magic;
  int64_t bytes; ///< of the whole segment
  Mesh mesh;
  uint32_t ringSlots; ///< of each ring of transfers, a power of two
  std::atomic<uint32_t> abortWord; ///< 0, or cause << 24 | rank + 1
  /// The process whose descriptors RankBlock names; 0: each has them itself.
  int32_t owner;
};

static_assert(std::is_trivially_copyable_v<Mesh>); // between processes

struct alignas(128) RankBlock {
  SharedEvent event; ///< something changed in a ring of this rank
  std::atomic<uint32_t> finished;
  int32_t fd[MTC_ARENA_COUNT]; ///< the owner's; -1 for an empty arena
  int64_t bytes[MTC_ARENA_COUNT];
  std::atomic<int64_t> state[kStateWords]; ///< the runtime's, for the launcher
};

struct alignas(128) GroupSync {
  SharedEvent generation; ///< barriers that are done
  std::atomic<uint32_t> arrived;
};

/// Call k of a group uses slot k mod 2: a member overwrites it only after the
/// barrier of call k+1, when nobody reads it any more.
struct alignas(128) MemberSlot {
  CallRecord call;
  Placement placement;
  alignas(64) char payload[kAnywhereBytes];
};

/// Transfer n of a pair of ranks uses slot n mod ringSlots, once that is free.
/// Each side fills its half and posts; whoever sees both posted and claims the
/// transfer copies. Counters hold n + 1 of the last transfer that got so far.
struct TransferSlot {
  std::atomic<uint32_t> sendPosted, receivePosted, claimed, done;
  std::atomic<uint32_t> mismatched; ///< then it is never done
  TransferSide sent, expected;
  Placement from, to;
};

enum class AbortCause : uint32_t { aborted = 1, died = 2 };

/// A view of a mapped control segment; owns nothing.
class Control {
public:
  Control() = default;
  Control(void *base, const Mesh &mesh)
      : base_(static_cast<char *>(base)), mesh_(mesh) {}

  /// Slots of a ring where a rank has at most `posted` transfers of a channel
  /// begun and not ended. As their number divides 2^32, counters may wrap.
  static uint32_t ringSlots(int64_t posted);
  static int64_t bytes(const Mesh &mesh, uint32_t ringSlots);
  /// Checks what a file descriptor brought; the mesh is in the header.
  static Status check(const ControlHeader &header, int64_t fileBytes);

  const Mesh &mesh() const { return mesh_; }
  ControlHeader &header() const;
  RankBlock &rank(int rank) const;
  GroupSync &sync(MtcGroup kind, int leader) const;
  MemberSlot &slot(MtcGroup kind, int rank, uint64_t call) const;
  /// The core that a rank was seen on last, plus 1; 0: not seen. Beside each
  /// other, as they are read together and seldom written.
  std::atomic<int32_t> &core(int rank) const;
  TransferSlot &transfer(int sourceRank, int targetStage,
                         uint32_t sequence) const;

  /// The first cause wins. Wakes everybody. Async-signal-safe. `rank` -1: the
  /// launcher.
  void abort(AbortCause cause, int rank) const;
  bool aborted() const { return header().abortWord.load() != 0; }
  /// peerDied with the culprit's rank.
  Status abortStatus() const;

private:
  char *base_ = nullptr;
  Mesh mesh_;
};

} // namespace mtc::runtime::comm
#endif // MTC_RUNTIME_COMM_SHM_CONTROL_H
