//===- readers_test.cpp - who reads a sum as it is made -------------------===//

#include "sums.h"
#include "values.h"
#include "worlds.h"

#include <algorithm>
#include <vector>

using namespace mtc;
using namespace mtc::test;
using runtime::CollectiveCall;
using runtime::CollectiveKind;
using runtime::Mesh;

namespace {

// By way of the call, in one piece, in several, and of unequal length.
const int64_t kReadCounts[] = {0, 1, 1000, 20000, 100001};

/// Copies what it is told, as it is then.
class Copying final : public runtime::SumReader {
public:
  Copying(const float *buffer, int64_t elements)
      : seen(size_t(elements)), times(size_t(elements)), buffer(buffer) {}

  void made(int64_t first, int64_t count) override {
    isOutside |=
        first < 0 || count <= 0 || first + count > int64_t(seen.size());
    for (int64_t i = first; !isOutside && i < first + count; ++i) {
      seen[size_t(i)] = buffer[i];
      ++times[size_t(i)];
    }
  }

  std::vector<float> seen, times;
  bool isOutside = false;

private:
  const float *buffer;
};

/// A sum of F32 and what a reader is told of it, in the arena of gradients.
class ReadSum {
public:
  ReadSum(Rank &r, CollectiveKind kind, MtcGroup group, int64_t count)
      : r(r), members(r.mesh.members(r.rank, group)), call{kind, group, MTC_SUM,
                                                           MTC_F32, count},
        memory(r.arena(MTC_ARENA_GRADS)),
        buffer(reinterpret_cast<float *>(memory)),
        elements(kind == CollectiveKind::allReduce
                     ? count
                     : count * int64_t(members.size())),
        reader(buffer, elements) {}

  /// Where this member's part of a reduce-scatter begins.
  int64_t ownPart() const {
    return call.count * (std::ranges::find(members, r.rank) - members.begin());
  }
  /// How often each element was told.
  const std::vector<float> &times() const { return reader.times; }

  runtime::Status run() {
    fill(MTC_F32, r.rank, 0, elements, kSalt, memory);
    return r.comm.collective(call, buffer, &reader);
  }

  /// Elements [first, first + call.count) are the sums, and so they were when
  /// the reader was told of them.
  std::string check(int64_t first) const {
    if (reader.isOutside)
      return "told of elements outside of the buffer, or of none";
    for (size_t i = 0; i < reader.seen.size(); ++i)
      if (reader.times[i] > 0 && reader.seen[i] != buffer[i])
        return "told of element " + std::to_string(i) + " before it was a sum";
    return checkSum(r, MTC_SUM, MTC_F32, members, first, call.count, kSalt,
                    memory + first * int64_t(sizeof(float)));
  }

private:
  static constexpr uint64_t kSalt = 3;

  Rank &r;
  std::vector<int> members;
  CollectiveCall call;
  char *memory;
  float *buffer;
  int64_t elements;
  Copying reader;
};

std::string readsAllReduce(Rank &r, MtcGroup group, int64_t count) {
  ReadSum sum(r, CollectiveKind::allReduce, group, count);
  MTC_EXPECT_OK(sum.run());
  std::string found = sum.check(0);
  if (!found.empty())
    return found;
  // Each element by one member.
  auto *times = reinterpret_cast<float *>(r.arena(MTC_ARENA_PARAMS));
  std::ranges::copy(sum.times(), times);
  MTC_EXPECT_OK(r.comm.allReduce(group, MTC_SUM, MTC_F32, times, count));
  for (int64_t i = 0; i < count; ++i)
    if (times[i] != 1)
      return "element " + std::to_string(i) + " was told " +
             std::to_string(times[i]) + " times, expected once";
  return "";
}

std::string readsReduceScatter(Rank &r, MtcGroup group, int64_t count) {
  ReadSum sum(r, CollectiveKind::reduceScatter, group, count);
  MTC_EXPECT_OK(sum.run());
  int64_t own = sum.ownPart();
  for (int64_t i = 0; i < std::ssize(sum.times()); ++i) {
    bool isOwn = i >= own && i < own + count;
    if (sum.times()[size_t(i)] != float(isOwn))
      return "element " + std::to_string(i) + " was told " +
             std::to_string(sum.times()[size_t(i)]) + " times";
  }
  return sum.check(own);
}

/// A backend of GPUs refuses, and goes on.
std::string refuses(Rank &r, MtcGroup group) {
  std::string found =
      text(ReadSum(r, CollectiveKind::allReduce, group, 1000).run());
  return found.find("nobody reads") != std::string::npos
             ? ""
             : "expected a refusal, found \"" + found + "\"";
}

std::string reads(Rank &r) {
  for (MtcGroup group : {MTC_GROUP_TP, MTC_GROUP_DP, MTC_GROUP_ALL}) {
    if (!r.addsInRankOrder)
      return refuses(r, group);
    for (int64_t count : kReadCounts)
      for (auto *op : {readsAllReduce, readsReduceScatter}) {
        std::string found = op(r, group, count);
        if (!found.empty())
          return "group " + std::to_string(group) + " count " +
                 std::to_string(count) + ": " + found;
      }
  }
  return "";
}

class Readers : public ::testing::TestWithParam<Backend> {};

void testReaders(Backend backend, Mesh mesh) {
  expectAllWell(backend, mesh, 100001 * 4 * int64_t(mesh.worldSize()), reads);
}

TEST_P(Readers, OneRank) { testReaders(GetParam(), {1, 1, 1}); }
TEST_P(Readers, Tp3) { testReaders(GetParam(), {3, 1, 1}); }
TEST_P(Readers, Tp2Dp2) { testReaders(GetParam(), {2, 2, 1}); }

INSTANTIATE_TEST_SUITE_P(Comm, Readers, ::testing::ValuesIn(kBackends),
                         backendName);

} // namespace
