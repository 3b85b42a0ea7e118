//===- call.cpp - one call of a collective, a send or a receive -----------===//
#include "test/cuda/nccl/call.h"

#include "test/cuda/nccl/results.h"

#include <iterator>

namespace mtc::standin::nccl {
namespace {

struct TypeFacts {
  const char *name;
  size_t bytes;
};

/// By ncclDataType_t.
constexpr TypeFacts kTypes[] = {
    {"i8", 1},  {"u8", 1},  {"i32", 4}, {"u32", 4},  {"i64", 8},  {"u64", 8},
    {"f16", 2}, {"f32", 4}, {"f64", 8}, {"bf16", 2}, {"e4m3", 1}, {"e5m2", 1}};
static_assert(std::size(kTypes) == ncclNumTypes);

/// By ncclRedOp_t.
constexpr const char *kOps[] = {"sum", "prod", "max", "min", "avg"};
static_assert(std::size(kOps) == ncclNumOps && ncclMax == 2 && ncclMin == 3);

/// By Kind.
constexpr const char *kNames[] = {"AllReduce", "ReduceScatter", "AllGather",
                                  "AlltoAll",  "Broadcast",     "Reduce",
                                  "Send",      "Recv"};

bool isFloat8(int32_t type) {
  return type == ncclFloat8e4m3 || type == ncclFloat8e5m2;
}

} // namespace

size_t Call::elementBytes() const { return kTypes[type].bytes; }

size_t Call::bytesRead(int rank, int size) const {
  size_t bytes = count * elementBytes();
  switch (kind) {
  case Kind::reduceScatter:
  case Kind::allToAll:
    return bytes * size_t(size);
  case Kind::broadcast:
    return rank == root ? bytes : 0;
  case Kind::receive:
    return 0;
  default:
    return bytes;
  }
}

size_t Call::bytesWritten(int rank, int size) const {
  size_t bytes = count * elementBytes();
  switch (kind) {
  case Kind::allGather:
  case Kind::allToAll:
    return bytes * size_t(size);
  case Kind::reduce:
    return rank == root ? bytes : 0;
  case Kind::send:
    return 0;
  default:
    return bytes;
  }
}

const char *Call::shortName() const { return kNames[int(kind)]; }

std::string typeName(int32_t type) {
  return type >= 0 && type < ncclNumTypes ? kTypes[type].name
                                          : "type " + std::to_string(type);
}

const char *opName(int32_t op) {
  return op >= 0 && op < ncclNumOps ? kOps[op] : "an op that is none";
}

std::string Call::text() const {
  std::string text = std::string("nccl") + shortName() + " of " +
                     std::to_string(count) + " " + typeName(type);
  if (reduces())
    text += std::string(", ") + opName(op);
  if (kind == Kind::broadcast || kind == Kind::receive)
    text += " from " + std::to_string(root);
  if (kind == Kind::reduce || kind == Kind::send)
    text += " to " + std::to_string(root);
  if (together > 1)
    text += ", " + std::to_string(place + 1) + " of " +
            std::to_string(together) + " in a group";
  if (registered >= 0)
    text += ", from byte " + std::to_string(registered) +
            " of registered memory on";
  return text;
}

ncclResult_t checkCall(const Call &call, int size) {
  std::string who = std::string(call.shortName()) + " : ";
  if (call.root < 0 || call.root >= size)
    return refuse(ncclInvalidArgument, who + "invalid root " +
                                           std::to_string(call.root) +
                                           " (root should be in the 0.." +
                                           std::to_string(size) + " range)");
  if (call.type < 0 || call.type >= ncclNumTypes)
    return refuse(ncclInvalidArgument,
                  who + "invalid type " + std::to_string(call.type));
  if (call.op < 0)
    return refuse(ncclInvalidArgument, who + "invalid reduction operation " +
                                           std::to_string(call.op));
  if (call.op >= ncclNumOps || (call.op == ncclAvg && isFloat8(call.type)))
    return refuse(ncclInvalidArgument, who + "reduction operation " +
                                           std::to_string(call.op) +
                                           " unknown to this communicator");
  if (call.reduces() && isFloat8(call.type) && size > 1)
    return refuseStrictly(ncclInvalidArgument,
                          call.text() + ": 8-bit floats are moved here, and "
                                        "not reduced");
  return ncclSuccess;
}

} // namespace mtc::standin::nccl
