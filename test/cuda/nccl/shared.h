//===- shared.h - what the ranks of a communicator share --------*- C++ -*-===//
//
// A file without a name (memfd): the unique id says in which process and under
// which descriptor it is open, so nothing can be left behind, and that process
// has to live until all ranks have it, as the real one's root has to.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_NCCL_SHARED_H
#define MTC_TEST_CUDA_NCCL_SHARED_H

#include "test/cuda/nccl/call.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace mtc::standin::nccl {

constexpr int kMostRanks = 64;
/// Of what one rank shows the others at a time.
constexpr size_t kStageBytes = 1 << 20;
/// Calls that ranks may differ by: those of no elements wait for nobody.
constexpr uint64_t kRing = 64;

/// Where a rank stands. What is above `here` makes no call any more.
enum class Presence : uint32_t { missing, coming, here, left, aborted };

/// A call of ncclCommSplit.
struct SplitCall {
  int32_t color = 0, key = 0;
  std::atomic<uint32_t> idThere; ///< `id` is written, by rank 0 of the new one
  ncclUniqueId id;
};

/// Written by one rank, read by all.
struct RankBlock {
  std::atomic<Presence> presence;
  int32_t process;
  uint64_t born;              ///< when the process began, in the kernel's ticks
  char device[96];            ///< which GPU this is, by name
  std::atomic<uint32_t> warm; ///< is in its first collective, or behind it
  std::atomic<uint64_t> posted;     ///< collectives begun
  Call calls[kRing];                ///< of those, by number
  std::atomic<uint64_t> put, taken; ///< pieces shown, and read of all ranks
  std::atomic<uint64_t> splits;
  SplitCall split[2]; ///< the newest two, by number
  alignas(64) std::byte stage[kStageBytes];
};

/// What goes from one rank to another.
struct Channel {
  std::atomic<uint32_t> warmSender, warmReceiver;
  std::atomic<uint64_t> sends, receives; ///< begun
  Call send, receive;                    ///< the newest
  std::atomic<uint64_t> put, taken;      ///< pieces
  alignas(64) std::byte stage[kStageBytes];
};

struct Head {
  std::atomic<int32_t> size;    ///< ranks; 0: nobody has come
  std::atomic<uint64_t> draw;   ///< rank 0's random number, never 0 when it is
                                ///< there; what all ranks have to choose alike
  std::atomic<uint32_t> broken; ///< two ranks disagreed
};

/// One rank's view.
class Shared {
public:
  ~Shared();
  Shared(const Shared &) = delete;
  Shared &operator=(const Shared &) = delete;

  /// Makes one; its id is good as long as this process lives, or until
  /// `forget`.
  static ncclUniqueId create();
  /// Closes the descriptor behind an id if this process made it.
  static void forget(const ncclUniqueId &id);
  /// Null: there is none (any more), in words in *why.
  static std::unique_ptr<Shared> open(const ncclUniqueId &id, int size,
                                      std::string *why);

  Head &head() const { return *reinterpret_cast<Head *>(bytes); }
  RankBlock &rank(int rank) const;
  Channel &channel(int from, int to) const;
  /// Whether the process of a rank that has come is there.
  bool isAlive(int rank) const;

  const int size;

private:
  Shared(std::byte *bytes, size_t length, int size)
      : size(size), bytes(bytes), length(length) {}
  std::byte *bytes;
  size_t length;
};

/// This process, for RankBlock.
uint64_t bornAt(int process);

} // namespace mtc::standin::nccl
#endif // MTC_TEST_CUDA_NCCL_SHARED_H
