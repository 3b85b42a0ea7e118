//===- part.cpp - one call while it runs ----------------------------------===//
#include "test/cuda/nccl/part.h"

#include "test/cuda/nccl/driver_calls.h"
#include "test/cuda/nccl/reduction.h"

#include <algorithm>
#include <cstring>

namespace mtc::standin::nccl {
namespace {

/// Pieces of a call are at most this many, so that long ones are not slow.
constexpr uint64_t kMostPieces = 16;
/// Of pieces, in bytes; which one, rank 0's random number says.
constexpr size_t kPieceBytes[] = {512, 4096, 1 << 16};

std::byte *bytesAt(CUdeviceptr address, size_t bytes) {
  return bytes ? static_cast<std::byte *>(
                     driver().mtcStandinBytes_(address, bytes))
               : nullptr;
}

void putBytes(void *to, const void *from, size_t bytes) {
  if (bytes && to && from)
    std::memcpy(to, from, bytes);
}

} // namespace

/// The same on all ranks.
size_t Part::pieceElements() const {
  const Call &call = request.call;
  size_t share = call.isSplit() ? size_t(place.shared.size) : 1;
  size_t most = kStageBytes / call.elementBytes() / share;
  uint64_t draw = place.shared.head().draw;
  size_t chosen =
      kPieceBytes[draw % std::size(kPieceBytes)] / call.elementBytes() / share;
  size_t least = call.count / kMostPieces + 1;
  return std::min(most, std::max({chosen, least, size_t(1)}));
}

size_t Part::pieceEnd() const {
  return std::min<size_t>(request.call.count, pieceBegin() + elements);
}

PartState Part::step(std::string *wrong) {
  if (done)
    return PartState::done;
  PartState state =
      request.call.isTransfer() ? stepTransfer(wrong) : stepCollective(wrong);
  done = state == PartState::done;
  return state;
}

void Part::spoil() const {
  if (done)
    return;
  size_t bytes = request.call.bytesWritten(place.rank, place.shared.size);
  if (std::byte *to = bytesAt(request.to, bytes))
    std::memset(to, 0xff, bytes);
}

//===- Collectives --------------------------------------------------------===//

bool Part::collectiveIsThere(int rank) const {
  return place.shared.rank(rank).posted > place.number;
}

int Part::missing() const {
  const Call &call = request.call;
  if (call.isTransfer())
    return call.root;
  for (int rank = 0; rank < place.shared.size; ++rank)
    if (rank != place.rank && !collectiveIsThere(rank))
      return rank;
  for (int rank = 0; rank < place.shared.size; ++rank)
    if (rank != place.rank && place.shared.rank(rank).put <= basePut + piece)
      return rank;
  return -1;
}

std::optional<std::string> Part::disagreement() const {
  const Call &mine = request.call;
  for (int rank = 0; rank < place.shared.size; ++rank) {
    if (rank == place.rank || !collectiveIsThere(rank))
      continue;
    const Call &other = place.shared.rank(rank).calls[place.number % kRing];
    if (!(mine == other))
      return "collective " + std::to_string(place.number + 1) + ": rank " +
             std::to_string(place.rank) + " calls " + mine.text() +
             ", and rank " + std::to_string(rank) + " " + other.text();
  }
  return std::nullopt;
}

/// Posts the call. False: calls of other ranks are too far behind.
bool Part::begin() {
  if (begun)
    return true;
  for (int rank = 0; rank < place.shared.size; ++rank)
    if (place.shared.rank(rank).posted + kRing <= place.number + 1)
      return false;
  RankBlock &mine = place.shared.rank(place.rank);
  mine.calls[place.number % kRing] = request.call;
  mine.posted = place.number + 1;
  elements = pieceElements();
  pieces =
      std::max<uint64_t>(1, (request.call.count + elements - 1) / elements);
  basePut = mine.put;
  return begun = true;
}

PartState Part::stepCollective(std::string *wrong) {
  Shared const &shared = place.shared;
  if (!begin())
    return PartState::waiting;
  if (auto sentence = disagreement())
    if (!shared.head().broken.exchange(1))
      *wrong = *sentence;
  // Nothing is waited for, whatever the others do: a count of 0 is no barrier.
  if (request.call.count == 0)
    return PartState::done;
  if (shared.head().broken)
    return PartState::waiting;
  auto all = [&](auto &&holds) {
    for (int rank = 0; rank < shared.size; ++rank)
      if (!holds(shared.rank(rank)))
        return false;
    return true;
  };
  if (!all([&](const RankBlock &r) { return r.posted > place.number; }))
    return PartState::waiting;
  if (!shown) {
    // The piece before this one has been read by all.
    if (!all([&](const RankBlock &r) { return r.taken >= basePut + piece; }))
      return PartState::waiting;
    show();
    return PartState::moved;
  }
  if (!all([&](const RankBlock &r) { return r.put > basePut + piece; }))
    return PartState::waiting;
  read();
  return piece == pieces ? PartState::done : PartState::moved;
}

/// Puts this rank's piece where all see it.
void Part::show() {
  const Call &call = request.call;
  RankBlock &mine = place.shared.rank(place.rank);
  size_t width = call.elementBytes(),
         bytes = (pieceEnd() - pieceBegin()) * width;
  int blocks = call.isSplit() ? place.shared.size : 1;
  bool gives = call.kind != Kind::broadcast || call.root == place.rank;
  for (int block = 0; block < blocks && gives; ++block)
    putBytes(mine.stage + size_t(block) * bytes,
             bytesAt(request.from +
                         (size_t(block) * call.count + pieceBegin()) * width,
                     bytes),
             bytes);
  mine.put = basePut + piece + 1;
  shown = true;
}

/// Reductions begin their chains alike on all ranks.
uint64_t Part::chainShift() const {
  if (request.call.kind == Kind::reduceScatter)
    return uint64_t(place.rank) + 1;
  return place.shared.head().draw / std::size(kPieceBytes);
}

/// Makes this rank's piece of what all have shown.
void Part::read() {
  const Call &call = request.call;
  int size = place.shared.size;
  size_t width = call.elementBytes(), count = pieceEnd() - pieceBegin();
  size_t bytes = count * width;
  auto stage = [&](int rank, size_t block = 0) {
    return place.shared.rank(rank).stage + block * bytes;
  };
  auto target = [&](size_t block) {
    return bytesAt(request.to + (block * call.count + pieceBegin()) * width,
                   bytes);
  };
  bool gets = call.kind != Kind::reduce || call.root == place.rank;
  if (call.reduces() && gets) {
    Reduction reduction{call.type,
                        call.op,
                        {},
                        count,
                        pieceBegin(),
                        chainShift(),
                        call.kind == Kind::reduceScatter};
    for (int rank = 0; rank < size; ++rank)
      reduction.inputs.push_back(
          stage(rank, call.isSplit() ? size_t(place.rank) : 0));
    if (std::byte *to = target(0))
      reduce(reduction, to);
  } else if (call.kind == Kind::broadcast) {
    putBytes(target(0), stage(call.root), bytes);
  } else if (!call.reduces()) {
    for (int rank = 0; rank < size; ++rank)
      putBytes(target(size_t(rank)),
               stage(rank, call.isSplit() ? size_t(place.rank) : 0), bytes);
  }
  ++piece;
  place.shared.rank(place.rank).taken = basePut + piece;
  shown = false;
}

//===- Sends and receives -------------------------------------------------===//

PartState Part::stepTransfer(std::string *wrong) {
  const Call &call = request.call;
  bool sends = call.kind == Kind::send;
  int from = sends ? place.rank : call.root,
      to = sends ? call.root : place.rank;
  Channel &channel = place.shared.channel(from, to);
  if (!begun) {
    (sends ? channel.send : channel.receive) = call;
    (sends ? channel.sends : channel.receives) = place.number + 1;
    elements = pieceElements();
    pieces = std::max<uint64_t>(1, (call.count + elements - 1) / elements);
    basePut = sends ? channel.put : channel.taken;
    begun = true;
  }
  if (place.shared.head().broken ||
      (sends ? channel.receives : channel.sends) <= place.number)
    return PartState::waiting;
  if (!agreed) {
    const Call &other = sends ? channel.receive : channel.send;
    if (other.type != call.type || other.count != call.count) {
      if (!place.shared.head().broken.exchange(1))
        *wrong = "transfer " + std::to_string(place.number + 1) + ": rank " +
                 std::to_string(place.rank) + " calls " + call.text() +
                 ", and rank " + std::to_string(call.root) + " " + other.text();
      return PartState::waiting;
    }
    agreed = true;
  }
  size_t width = call.elementBytes();
  size_t bytes = (pieceEnd() - pieceBegin()) * width;
  size_t offset = pieceBegin() * width;
  if (sends) {
    if (channel.taken < basePut + piece)
      return PartState::waiting;
    if (piece == pieces)
      return PartState::done;
    putBytes(channel.stage, bytesAt(request.from + offset, bytes), bytes);
    channel.put = basePut + ++piece;
    return PartState::moved;
  }
  if (channel.put <= basePut + piece)
    return PartState::waiting;
  putBytes(bytesAt(request.to + offset, bytes), channel.stage, bytes);
  channel.taken = basePut + ++piece;
  return piece == pieces ? PartState::done : PartState::moved;
}

} // namespace mtc::standin::nccl
