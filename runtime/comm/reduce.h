//===- reduce.h - sums and maxima in member order ---------------*- C++ -*-===//
//
// The one place where members' values are combined, for all backends: that is
// why threads and shm give the same bits.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_COMM_REDUCE_H
#define MTC_RUNTIME_COMM_REDUCE_H

#include "mtc/runtime/abi.h"

#include "runtime/comm/call.h"

#include <cstdint>
#include <span>

namespace mtc::runtime::comm {

/// Bytes of one element; 0 for a value that is no MtcDtype.
int64_t elementBytes(MtcDtype dtype);

bool canReduce(MtcReduce op, MtcDtype dtype);

/// outputs[k][i] = ((inputs[0][i] op inputs[1][i]) op inputs[2][i]) ... for
/// every k and i in [first, first + count). F32, BF16 and F16 in fp32, those of
/// 16 bits rounded once to nearest even; I128 exactly, saturating. An output
/// may be one of the inputs, at the same place.
void reduceInOrder(MtcReduce op, MtcDtype dtype,
                   std::span<const void *const> inputs,
                   std::span<void *const> outputs, int64_t first,
                   int64_t count);

/// Whether buffers of `bytes` bytes, together, leave the caches anyway: then a
/// copy past them costs less, and otherwise several times as much. What
/// sysconf says of caches is wrong on some virtual machines.
constexpr bool leavesCaches(int64_t bytes) { return bytes > 16 << 20; }

/// Copies `bytes` >= 0 bytes that do not overlap. `stream`: past the caches;
/// all stores are visible to other processors when it returns.
void copyBytes(void *to, const void *from, int64_t bytes, bool stream);

/// What a collective leaves in the buffer of member `self`, where `inputs` are
/// what each member gave, in group-rank order: of an all-gather its part, else
/// the whole buffer. For calls so small that each member has a copy of them.
void combine(const CallRecord &call, int self,
             std::span<const void *const> inputs, char *buffer);

} // namespace mtc::runtime::comm
#endif // MTC_RUNTIME_COMM_REDUCE_H
