//===- call.h - one call of a collective, a send or a receive ---*- C++ -*-===//
#ifndef MTC_TEST_CUDA_NCCL_CALL_H
#define MTC_TEST_CUDA_NCCL_CALL_H

#include "test/cuda/nccl/nccl_api.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace mtc::standin::nccl {

enum class Kind : int32_t {
  allReduce,
  reduceScatter,
  allGather,
  allToAll,
  broadcast,
  reduce,
  send,
  receive
};

/// What ranks have to agree on. Plain data in shared memory.
struct Call {
  Kind kind = Kind::allReduce;
  int32_t type = ncclFloat32;
  int32_t op = ncclSum; ///< ncclSum where nothing is reduced
  int32_t root = 0;     ///< of a send or receive: the other rank
  uint64_t count = 0;   ///< elements, as the caller gave them
  int32_t place = 0;    ///< among the collectives of its group
  int32_t together = 1; ///< how many collectives that group has
  /// Where in memory that the rank has registered a collective's buffer begins,
  /// in bytes; -1: elsewhere.
  int64_t registered = -1;

  bool operator==(const Call &) const = default;

  bool isTransfer() const {
    return kind == Kind::send || kind == Kind::receive;
  }
  bool reduces() const {
    return kind == Kind::allReduce || kind == Kind::reduceScatter ||
           kind == Kind::reduce;
  }
  size_t elementBytes() const;
  /// Of a collective: whether each rank reads a buffer with all elements; else
  /// each writes one.
  bool readsAll() const {
    return kind == Kind::reduceScatter || kind == Kind::allToAll ||
           kind == Kind::reduce;
  }
  /// Of the bytes that `rank` of `size` ranks gives and gets.
  size_t bytesRead(int rank, int size) const;
  size_t bytesWritten(int rank, int size) const;
  /// The largest part of a call that no rank splits: elements that go from one
  /// rank to another.
  bool isSplit() const {
    return kind == Kind::reduceScatter || kind == Kind::allToAll;
  }

  /// "AllReduce", as messages of the real library have it.
  const char *shortName() const;
  /// "ncclAllReduce of 1000 f32, sum".
  std::string text() const;
};

/// "f32"; "type 99".
std::string typeName(int32_t type);
/// "sum".
const char *opName(int32_t op);

/// Whether the real library would take it: type, op, root. Its result and
/// sentence otherwise.
ncclResult_t checkCall(const Call &call, int size);

} // namespace mtc::standin::nccl
#endif // MTC_TEST_CUDA_NCCL_CALL_H
