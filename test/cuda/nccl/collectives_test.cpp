//===- collectives_test.cpp - what collectives give -----------------------===//
//
// Values are small integers, so that sums and products are exact in every type
// and order. What orders make of others is in sums_test.cpp.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/nccl/harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

using namespace mtc::standin::nccl::test;

namespace {

/// An element of each type that the product may use, as a double.
struct TypeCase {
  ncclDataType_t type;
  size_t bytes;
};
constexpr TypeCase kTypes[] = {
    {ncclInt8, 1},    {ncclUint8, 1},   {ncclInt32, 4},   {ncclUint32, 4},
    {ncclInt64, 8},   {ncclUint64, 8},  {ncclFloat16, 2}, {ncclFloat32, 4},
    {ncclFloat64, 8}, {ncclBfloat16, 2}};
constexpr ncclRedOp_t kOps[] = {ncclSum, ncclProd, ncclMax, ncclMin};

template <class T> void put(std::vector<char> &bytes, size_t k, T value) {
  std::memcpy(bytes.data() + k * sizeof value, &value, sizeof value);
}
template <class T> double got(const std::vector<char> &bytes, size_t k) {
  T value;
  std::memcpy(&value, bytes.data() + k * sizeof value, sizeof value);
  return double(value);
}

uint16_t upper(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return uint16_t(bits >> 16);
}
float lower(double value) {
  uint32_t bits = uint32_t(value) << 16;
  float wide;
  std::memcpy(&wide, &bits, sizeof wide);
  return wide;
}

void encode(std::vector<char> &bytes, ncclDataType_t type, size_t k,
            int value) {
  switch (type) {
  case ncclInt8:
    return put(bytes, k, int8_t(value));
  case ncclUint8:
    return put(bytes, k, uint8_t(value));
  case ncclInt32:
    return put(bytes, k, int32_t(value));
  case ncclUint32:
    return put(bytes, k, uint32_t(value));
  case ncclInt64:
    return put(bytes, k, int64_t(value));
  case ncclUint64:
    return put(bytes, k, uint64_t(value));
  case ncclFloat16:
    return put(bytes, k, _Float16(value));
  case ncclFloat64:
    return put(bytes, k, double(value));
  case ncclBfloat16:
    return put(bytes, k, upper(float(value)));
  default:
    return put(bytes, k, float(value));
  }
}

double decode(const std::vector<char> &bytes, ncclDataType_t type, size_t k) {
  switch (type) {
  case ncclInt8:
    return got<int8_t>(bytes, k);
  case ncclUint8:
    return got<uint8_t>(bytes, k);
  case ncclInt32:
    return got<int32_t>(bytes, k);
  case ncclUint32:
    return got<uint32_t>(bytes, k);
  case ncclInt64:
    return got<int64_t>(bytes, k);
  case ncclUint64:
    return got<uint64_t>(bytes, k);
  case ncclFloat16:
    return got<_Float16>(bytes, k);
  case ncclFloat64:
    return got<double>(bytes, k);
  case ncclBfloat16:
    return lower(got<uint16_t>(bytes, k));
  default:
    return got<float>(bytes, k);
  }
}

/// 1 or 2, so that the product of eight ranks fits a byte at most times.
int element(int rank, size_t k) { return (rank * 5 + int(k)) % 3 == 0 ? 2 : 1; }

double reduced(int ranks, ncclRedOp_t op, size_t k) {
  double value = element(0, k);
  for (int rank = 1; rank < ranks; ++rank) {
    double next = element(rank, k);
    value = op == ncclSum    ? value + next
            : op == ncclProd ? value * next
            : op == ncclMax  ? std::max(value, next)
                             : std::min(value, next);
  }
  return value;
}

constexpr size_t kCount = 301;

/// This rank's `blocks` * kCount elements, on the device.
CUdeviceptr input(Rank &self, TypeCase type, size_t blocks) {
  std::vector<char> bytes(blocks * kCount * type.bytes);
  for (size_t k = 0; k < blocks * kCount; ++k)
    encode(bytes, type.type, k, element(self.rank, k));
  return self.bytes(bytes.data(), bytes.size());
}

template <class Expected>
void compare(Rank &self, CUdeviceptr at, TypeCase type, size_t count,
             const char *what, Expected expected) {
  std::vector<char> bytes(count * type.bytes);
  self.get(at, bytes.data(), bytes.size());
  for (size_t k = 0; k < count; ++k)
    if (decode(bytes, type.type, k) != expected(k))
      fail(std::string(what) + ", type " + std::to_string(type.type) +
           ", element " + std::to_string(k) + ": expected " +
           std::to_string(expected(k)) + ", found " +
           std::to_string(decode(bytes, type.type, k)));
}

void *pointer(CUdeviceptr address) { return reinterpret_cast<void *>(address); }

MTC_PROGRAM(reductions) {
  ncclComm_t comm = self.communicator();
  auto stream = reinterpret_cast<cudaStream_t>(self.s);
  size_t ranks = size_t(self.size), mine = size_t(self.rank);
  for (TypeCase type : kTypes)
    for (ncclRedOp_t op : kOps) {
      if (self.size > 4 && type.bytes != 2)
        continue; // many ranks take long, and types are not what they differ in
      CUdeviceptr x = input(self, type, ranks),
                  y = self.empty(kCount * type.bytes);
      MTC_OK(self.nccl.ncclReduceScatter(pointer(x), pointer(y), kCount,
                                         type.type, op, comm, stream));
      compare(self, y, type, kCount, "reduce-scatter", [&](size_t k) {
        return reduced(self.size, op, mine * kCount + k);
      });
      MTC_OK(self.nccl.ncclReduce(pointer(x), pointer(y), kCount, type.type, op,
                                  self.size - 1, comm, stream));
      if (self.rank == self.size - 1)
        compare(self, y, type, kCount, "reduce",
                [&](size_t k) { return reduced(self.size, op, k); });
      CUdeviceptr own = x + mine * kCount * type.bytes;
      MTC_OK(self.nccl.ncclReduceScatter(pointer(x), pointer(own), kCount,
                                         type.type, op, comm, stream));
      compare(
          self, own, type, kCount, "reduce-scatter in place",
          [&](size_t k) { return reduced(self.size, op, mine * kCount + k); });
      x = input(self, type, 1);
      MTC_OK(self.nccl.ncclAllReduce(pointer(x), pointer(x), kCount, type.type,
                                     op, comm, stream));
      compare(self, x, type, kCount, "all-reduce",
              [&](size_t k) { return reduced(self.size, op, k); });
    }
  MTC_OK(self.nccl.ncclCommDestroy(comm));
}

MTC_PROGRAM(movements) {
  ncclComm_t comm = self.communicator();
  auto stream = reinterpret_cast<cudaStream_t>(self.s);
  int ranks = self.size;
  TypeCase types[] = {{ncclInt8, 1}, {ncclBfloat16, 2}, {ncclFloat64, 8}};
  for (TypeCase type : types) {
    size_t block = kCount * type.bytes;
    CUdeviceptr x = input(self, type, size_t(ranks));
    CUdeviceptr y = self.empty(size_t(ranks) * block);
    auto gathered = [&](size_t k) {
      return element(int(k / kCount), k % kCount);
    };
    MTC_OK(self.nccl.ncclAllGather(pointer(x), pointer(y), kCount, type.type,
                                   comm, stream));
    compare(self, y, type, size_t(ranks) * kCount, "all-gather", gathered);
    MTC_OK(self.nccl.ncclAlltoAll(pointer(x), pointer(y), kCount, type.type,
                                  comm, stream));
    compare(self, y, type, size_t(ranks) * kCount, "all-to-all", [&](size_t k) {
      return element(int(k / kCount), size_t(self.rank) * kCount + k % kCount);
    });
    // In place, from the part that is this rank's.
    CUdeviceptr own = y + size_t(self.rank) * block;
    CUdeviceptr z = input(self, type, 1);
    MTC_OK(self.nccl.ncclBroadcast(pointer(z), pointer(z), kCount, type.type, 0,
                                   comm, stream));
    compare(self, z, type, kCount, "broadcast",
            [&](size_t k) { return element(0, k); });
    MTC_OK(self.nccl.ncclBroadcast(
        self.rank == ranks - 1 ? pointer(x) : nullptr, pointer(own), kCount,
        type.type, ranks - 1, comm, stream));
    MTC_OK(self.nccl.ncclAllGather(pointer(own), pointer(y), kCount, type.type,
                                   comm, stream));
    compare(self, y, type, size_t(ranks) * kCount, "all-gather in place",
            [&](size_t k) { return element(ranks - 1, k % kCount); });
  }
  MTC_OK(self.nccl.ncclCommDestroy(comm));
}

/// Seeds choose sizes of pieces, too.
MTC_PROGRAM(large) {
  ncclComm_t comm = self.communicator();
  constexpr size_t kLarge = 20000;
  CUdeviceptr x = self.floats(kLarge, float(self.rank + 1));
  for (int round = 0; round < 2; ++round)
    MTC_OK(self.sum(x, kLarge, comm, self.s));
  float once = float(self.size * (self.size + 1) / 2);
  for (float each : self.get(x, kLarge))
    MTC_TRUE(each == once * float(self.size));
  MTC_OK(self.nccl.ncclCommDestroy(comm));
}

TEST(Collectives, ReduceEveryType) {
  for (int ranks : {1, 2, 3, 8}) {
    Outcome outcome = run("reductions", {.ranks = ranks});
    EXPECT_TRUE(outcome.good()) << ranks << outcome.text();
  }
}

TEST(Collectives, MoveBlocks) {
  for (int ranks : {1, 2, 3, 4, 8}) {
    Outcome outcome = run("movements", {.ranks = ranks});
    EXPECT_TRUE(outcome.good()) << ranks << outcome.text();
  }
}

TEST(Collectives, LongOnesGoInPieces) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    Outcome outcome = run("large", {.ranks = 3, .seed = seed});
    EXPECT_TRUE(outcome.good()) << seed << outcome.text();
  }
}

} // namespace
