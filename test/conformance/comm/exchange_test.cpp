//===- exchange_test.cpp - groups of sends and receives -------------------===//

#include "messages.h"

using namespace mtc;
using namespace mtc::test;

namespace {

class Exchange : public ::testing::TestWithParam<Backend> {};

TEST_P(Exchange, BothWaysInOneGroup) {
  expectAllWell(GetParam(), {2, 1, 2}, 1 << 16, [](Rank &r) {
    int other = 1 - int(r.mesh.coordinate(r.rank, MTC_AXIS_PP));
    prepare(r, 1, 3);
    // All send first: only a group that makes progress as one can end.
    MtcTransfer group[] = {send(other, 0), receive(other, 0)};
    MTC_EXPECT_OK(r.comm.exchange(group));
    return arrived(r, other, 0, 3);
  });
}

TEST_P(Exchange, Ring) {
  for (int stages : {1, 3, 5})
    expectAllWell(GetParam(), {1, 1, stages}, 1 << 16, [](Rank &r) {
      int stages = int(r.mesh.stages()), stage = r.rank;
      int next = (stage + 1) % stages, previous = (stage + stages - 1) % stages;
      for (int round = 0; round < 20; ++round) {
        prepare(r, 2, uint64_t(round));
        MtcTransfer group[] = {send(next, 1), receive(previous, 1)};
        MTC_EXPECT_OK(r.comm.exchange(group));
        std::string found = arrived(r, previous, 1, uint64_t(round));
        if (!found.empty())
          return found;
      }
      return std::string();
    });
}

// More messages than may be posted, so that slots are used again within a
// group.
constexpr int kMany = kPosted + 20;
TEST_P(Exchange, ManyMessagesPerPeerInOrder) {
  expectAllWell(
      GetParam(), {1, 1, 2}, int64_t(kMany) * kMessageStride, [](Rank &r) {
        int other = 1 - r.rank;
        for (int round = 0; round < 5; ++round) {
          prepare(r, kMany, uint64_t(round) * kMany);
          std::vector<MtcTransfer> group;
          for (int n = 0; n < kMany; ++n) {
            group.push_back(r.rank == 0 ? receive(other, n) : send(other, n));
            group.push_back(r.rank == 0 ? send(other, n) : receive(other, n));
          }
          MTC_EXPECT_OK(r.comm.exchange(group));
          for (int n = 0; n < kMany; ++n)
            if (auto found = arrived(r, other, n, uint64_t(round) * kMany);
                !found.empty())
              return found;
        }
        return std::string();
      });
}

// A pipeline's pattern: one-way groups, each a call of its own.
TEST_P(Exchange, OneWayCallsAreARendezvous) {
  expectAllWell(GetParam(), {1, 1, 3}, 1 << 16, [](Rank &r) {
    for (int n = 0; n < 6; ++n) {
      prepare(r, 6, 11);
      if (r.rank > 0) {
        MtcTransfer t = receive(r.rank - 1, n);
        MTC_EXPECT_OK(r.comm.exchange({&t, 1}));
        if (auto found = arrived(r, r.rank - 1, n, 11); !found.empty())
          return found;
      }
      if (r.rank < 2) {
        MtcTransfer t = send(r.rank + 1, n);
        MTC_EXPECT_OK(r.comm.exchange({&t, 1}));
        // A finished send was received: its buffer may be overwritten.
        fill(MTC_I32, 99, 0, messageBytes(n) / 4, 0,
             r.arena(MTC_ARENA_ACTIVATIONS) + n * kMessageStride);
      }
    }
    return std::string();
  });
}

TEST_P(Exchange, EmptyGroupsAndMessages) {
  expectAllWell(GetParam(), {1, 1, 2}, 4096, [](Rank &r) {
    MTC_EXPECT_OK(r.comm.exchange({}));
    MtcTransfer t{r.rank, 1 - r.rank, MTC_ARENA_ACTIVATIONS, 1, 4096, 0};
    MTC_EXPECT_OK(r.comm.exchange({&t, 1}));
    return std::string();
  });
}

INSTANTIATE_TEST_SUITE_P(Comm, Exchange, ::testing::ValuesIn(kBackends),
                         backendName);

} // namespace
