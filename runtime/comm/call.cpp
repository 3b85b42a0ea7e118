//===- call.cpp - what a member says it calls -----------------------------===//

#include "runtime/comm/call.h"

#include "runtime/comm/reduce.h"

#include <fmt/format.h>

namespace mtc::runtime::comm {

static const char *dtypeName(MtcDtype dtype) {
  switch (dtype) {
  case MTC_F32:
    return "f32";
  case MTC_BF16:
    return "bf16";
  case MTC_I32:
    return "i32";
  case MTC_I128:
    return "i128";
  case MTC_F16:
    return "f16";
  }
  return "unknown";
}

std::string describe(const CallRecord &call) {
  const char *dtype = dtypeName(call.dtype);
  const char *reduce = call.reduce == MTC_MAX ? "max" : "sum";
  switch (call.kind) {
  case CollectiveKind::allReduce:
    return fmt::format("all-reduce {} {} of {} elements (call {})", reduce,
                       dtype, call.count, call.sequence);
  case CollectiveKind::reduceScatter:
    return fmt::format("reduce-scatter {} of {} elements per rank (call {})",
                       dtype, call.count, call.sequence);
  case CollectiveKind::allGather:
    return fmt::format("all-gather {} of {} elements per rank (call {})", dtype,
                       call.count, call.sequence);
  case CollectiveKind::barrier:
    break;
  }
  return fmt::format("barrier (call {})", call.sequence);
}

int64_t bufferElements(const CallRecord &call, int size) {
  bool perRank = call.kind == CollectiveKind::reduceScatter ||
                 call.kind == CollectiveKind::allGather;
  return perRank ? call.count * size : call.count;
}

Piece pieceOf(const CallRecord &call, int self, int size) {
  constexpr int64_t kUnit = 64;
  if (call.kind == CollectiveKind::reduceScatter)
    return {self * call.count, call.count};
  if (call.kind != CollectiveKind::allReduce)
    return {};
  int64_t per = (call.count + size - 1) / size;
  per = (per + kUnit - 1) / kUnit * kUnit;
  int64_t first = std::min(call.count, per * self);
  return {first, std::min(call.count - first, per)};
}

void tellPiece(const CallRecord &call, int self, int size, SumReader *reader) {
  Piece piece = pieceOf(call, self, size);
  if (reader && piece.count > 0)
    reader->made(piece.first, piece.count);
}

Status checkUnread(const SumReader *reader) {
  if (!reader)
    return Status::okay();
  return {StatusCode::usage, "expected sums on a GPU that nobody reads in the "
                             "call, found a reader"};
}

Status checkSupported(const CallRecord &call) {
  if (call.count < 0)
    return {StatusCode::usage,
            fmt::format("{} on group {}: expected a count of at least 0",
                        describe(call), groupName(call.group))};
  bool reduces = call.kind == CollectiveKind::allReduce ||
                 call.kind == CollectiveKind::reduceScatter;
  if (elementBytes(call.dtype) == 0 ||
      (reduces && !canReduce(call.reduce, call.dtype)))
    return {StatusCode::usage,
            fmt::format("{} on group {}: expected sum or max of f32, bf16 or "
                        "f16, or sum of i128; other types can only be gathered",
                        describe(call), groupName(call.group))};
  return Status::okay();
}

Status checkAgreement(std::span<const int> members,
                      std::span<const CallRecord> calls) {
  for (size_t i = 1; i < calls.size(); ++i)
    if (calls[i] != calls[0])
      return {StatusCode::communication,
              fmt::format("members of group {} disagree: rank {} calls {}, "
                          "rank {} calls {}; all members must make the same "
                          "calls in the same order",
                          groupName(calls[0].group), members[0],
                          describe(calls[0]), members[i], describe(calls[i]))};
  return checkSupported(calls[0]);
}

Status checkTransfer(int source, TransferSide sent, int target,
                     TransferSide expected) {
  if (sent.tag == expected.tag && sent.bytes == expected.bytes)
    return Status::okay();
  return {StatusCode::communication,
          fmt::format("transfer mismatch: rank {} sent tag {} with {} bytes, "
                      "rank {} expected tag {} with {} bytes; sends and "
                      "receives of a pair of ranks must come in the same order",
                      source, sent.tag, sent.bytes, target, expected.tag,
                      expected.bytes)};
}

Status checkTransfers(int rank, const Mesh &mesh,
                      std::span<const ArenaView> arenas,
                      std::span<const MtcTransfer> transfers) {
  for (const MtcTransfer &t : transfers) {
    bool arena = t.arena >= 0 && t.arena < int(arenas.size());
    bool inside = arena && t.offset >= 0 && t.bytes >= 0 &&
                  t.bytes <= arenas[t.arena].bytes &&
                  t.offset <= arenas[t.arena].bytes - t.bytes;
    if (!inside || t.peer_stage < 0 || t.peer_stage >= mesh.stages())
      return {StatusCode::usage,
              fmt::format("transfer of rank {} with tag {}: expected a stage "
                          "below {} and a range inside an arena, found stage "
                          "{}, arena {}, offset {}, {} bytes",
                          rank, t.tag, mesh.stages(), t.peer_stage, t.arena,
                          t.offset, t.bytes)};
  }
  return Status::okay();
}

Placement placementIn(std::span<const ArenaView> arenas, const void *p,
                      int64_t bytes) {
  auto address = reinterpret_cast<uintptr_t>(p);
  for (size_t kind = 0; kind < arenas.size(); ++kind) {
    auto base = reinterpret_cast<uintptr_t>(arenas[kind].base);
    int64_t offset = int64_t(address - base);
    if (base != 0 && address >= base && bytes <= arenas[kind].bytes &&
        offset <= arenas[kind].bytes - bytes)
      return {int32_t(kind), offset};
  }
  return {};
}

Status checkPlacement(int rank, Placement placement, int64_t arenaBytes,
                      int64_t bytes) {
  if (placement.arena >= 0 && placement.arena < MTC_ARENA_COUNT &&
      placement.offset >= 0 && bytes <= arenaBytes &&
      placement.offset <= arenaBytes - bytes)
    return Status::okay();
  return {StatusCode::usage,
          fmt::format("buffer of rank {}: expected {} bytes inside one arena, "
                      "found arena {} ({} bytes), offset {}; only buffers of "
                      "up to {} bytes may lie anywhere",
                      rank, bytes, placement.arena, arenaBytes,
                      placement.offset, kAnywhereBytes)};
}

int64_t payloadBytes(const CallRecord &call, int size) {
  int64_t elements = call.kind == CollectiveKind::allGather
                         ? call.count
                         : bufferElements(call, size);
  return elements * elementBytes(call.dtype);
}

Status unposted(int rank, size_t asked, size_t known) {
  return {StatusCode::usage,
          fmt::format("rank {} waits for {} transfers: expected ones that it "
                      "has posted and not waited for, found {} of them",
                      rank, asked, known)};
}

} // namespace mtc::runtime::comm
