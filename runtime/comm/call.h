//===- call.h - what a member says it calls ---------------------*- C++ -*-===//
//
// Each collective posts a record of itself. Members compare the records before
// they touch data, so that a disagreement is an error and not wrong sums.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_COMM_CALL_H
#define MTC_RUNTIME_COMM_CALL_H

#include "runtime/comm/comm.h"

#include <string>

namespace mtc::runtime::comm {

/// A collective as a member calls it. Plain data: shm keeps it in shared
/// memory.
struct CallRecord : CollectiveCall {
  uint64_t sequence = 0; ///< 1 for the first call of this rank on this group

  bool operator==(const CallRecord &) const = default;
};

/// For people: "all-reduce sum f32 of 8 elements (call 3)".
std::string describe(const CallRecord &call);

/// Elements of the whole buffer of one member of a group of `size`.
int64_t bufferElements(const CallRecord &call, int size);

/// Fails (usage) if the call is one that no backend offers: dtype, reduction,
/// negative count. A pure function of the record, so all members agree on it.
Status checkSupported(const CallRecord &call);

/// Fails (usage) if there is a reader: of what a GPU sums there is none.
Status checkUnread(const SumReader *reader);

/// Ok if all calls[i], made by members[i], are equal; else communication, with
/// a message that names the first two different ones. Then checkSupported.
Status checkAgreement(std::span<const int> members,
                      std::span<const CallRecord> calls);

/// Fails (usage) if a transfer of `rank` leaves its arenas or names no stage.
Status checkTransfers(int rank, const Mesh &mesh,
                      std::span<const ArenaView> arenas,
                      std::span<const MtcTransfer> transfers);

/// Elements of a buffer.
struct Piece {
  int64_t first = 0, count = 0;
};

/// What member `self` of a group of `size` makes of a sum: of an all-reduce
/// pieces that begin at multiples of 64 elements, so that members share no
/// cache line; of a reduce-scatter its part; nothing of other calls.
Piece pieceOf(const CallRecord &call, int self, int size);

/// Tells a reader, if there is one, all of that piece, if it has an element.
void tellPiece(const CallRecord &call, int self, int size, SumReader *reader);

/// Where a buffer lies.
struct Placement {
  int32_t arena = -1; ///< -1: in no arena
  int64_t offset = 0;
};
Placement placementIn(std::span<const ArenaView> arenas, const void *p,
                      int64_t bytes);

/// Ok if [placement.offset, + bytes) is inside that arena of `arenaBytes`
/// bytes; else usage: a large buffer of `rank` that peers cannot reach.
Status checkPlacement(int rank, Placement placement, int64_t arenaBytes,
                      int64_t bytes);

/// Bytes that a member brings, which decides what may lie anywhere: the part
/// for all-gather, else the whole buffer.
int64_t payloadBytes(const CallRecord &call, int size);

/// A send and the receive that it met; ok or communication.
struct TransferSide {
  int64_t tag = 0;
  int64_t bytes = 0;
};
Status checkTransfer(int source, TransferSide sent, int target,
                     TransferSide expected);

/// What is wrong with a wait of `rank` for `asked` transfers, `known` of which
/// it has posted and not waited for.
Status unposted(int rank, size_t asked, size_t known);

} // namespace mtc::runtime::comm
#endif // MTC_RUNTIME_COMM_CALL_H
