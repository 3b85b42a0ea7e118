//===- reduce.cpp - sums and maxima in member order -----------------------===//

#include "runtime/comm/reduce.h"

#include "mtc/runtime/isa.h"
#include "runtime/comm/moves.h"

#include <cstring>

namespace mtc::runtime::comm {

/// The best that this processor has, and may use.
static const MoveTable &moves() {
  static const MoveTable &best = processorHasLevel4()   ? kMovesV4
                                 : processorHasLevel3() ? kMovesV3
                                                        : kMovesBase;
  return best;
}

int64_t elementBytes(MtcDtype dtype) {
  switch (dtype) {
  case MTC_F32:
  case MTC_I32:
    return 4;
  case MTC_BF16:
  case MTC_F16:
    return 2;
  case MTC_I128:
    return 16;
  }
  return 0;
}

bool canReduce(MtcReduce op, MtcDtype dtype) {
  bool isFloat = dtype == MTC_F32 || dtype == MTC_BF16 || dtype == MTC_F16;
  if (op == MTC_SUM)
    return isFloat || dtype == MTC_I128;
  return op == MTC_MAX && isFloat;
}

void reduceInOrder(MtcReduce op, MtcDtype dtype,
                   std::span<const void *const> inputs,
                   std::span<void *const> outputs, int64_t first,
                   int64_t count) {
  moves().reduce({op, dtype, inputs.data(), int64_t(inputs.size()),
                  outputs.data(), int64_t(outputs.size()), first, count});
}

void copyBytes(void *to, const void *from, int64_t bytes, bool stream) {
  moves().copy(static_cast<char *>(to), static_cast<const char *>(from), bytes,
               stream);
}

void combine(const CallRecord &call, int self,
             std::span<const void *const> inputs, char *buffer) {
  void *output = buffer;
  int64_t bytes = call.count * elementBytes(call.dtype);
  if (call.kind == CollectiveKind::allReduce)
    reduceInOrder(call.reduce, call.dtype, inputs, {&output, 1}, 0, call.count);
  if (call.kind == CollectiveKind::reduceScatter)
    reduceInOrder(MTC_SUM, call.dtype, inputs, {&output, 1}, self * call.count,
                  call.count);
  if (call.kind == CollectiveKind::allGather && bytes > 0)
    for (size_t m = 0; m < inputs.size(); ++m)
      std::memcpy(buffer + static_cast<int64_t>(m) * bytes, inputs[m],
                  static_cast<size_t>(bytes));
}

} // namespace mtc::runtime::comm
