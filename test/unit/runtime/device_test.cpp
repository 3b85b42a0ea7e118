//===- device_test.cpp - what every device must do ------------------------===//

#include "runtime/comm/threads/threads_world.h"
#include "runtime/device/device_factory.h"
#include "runtime/device/devices.h"
#include "runtime/device/staging.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <sys/mman.h>
#include <thread>

namespace mtc::runtime::test {
namespace {

constexpr ArenaSizes kSizes{4096, 8192, 0, 4096, 4096, 4096};
using Ints = std::vector<int32_t>;

std::unique_ptr<Device> makeNamed(std::string_view name, int rank = 0) {
  std::unique_ptr<Device> device;
  for (const DeviceInfo &info : devices())
    if (info.name == name) {
      Status status = info.make({rank, {}, kSizes, {}}, device);
      EXPECT_TRUE(status.ok()) << status.message();
    }
  return device;
}

void complete(Device &device) {
  Status status = device.stream().wait(device.stream().record());
  ASSERT_TRUE(status.ok()) << status.message();
}

Ints read(Device &device, ArenaOffset at, size_t count) {
  Ints out(count, -1);
  EXPECT_TRUE(device.stream().copyOut(at, out.data(), int64_t(4 * count)).ok());
  complete(device);
  return out;
}

/// A fragment: adds one to the first number of the workspace.
void addOne(MtcContext *context, const MtcStep *) {
  ++*static_cast<int32_t *>(context->arena[MTC_ARENA_WORKSPACE]);
}

void reject(MtcContext *context, const MtcStep *) {
  context->status = int32_t(StatusCode::infeasible);
}

class EachDevice : public testing::TestWithParam<std::string_view> {
protected:
  void SetUp() override {
    device = makeNamed(GetParam());
    for (int kind = 0; kind < MTC_ARENA_COUNT; ++kind)
      context.arena[kind] = device->arenas()[kind].base;
  }
  Stream &stream() { return device->stream(); }

  std::unique_ptr<Device> device;
  MtcContext context{};
};

TEST_P(EachDevice, HasTheArenasThatWereAskedFor) {
  for (int kind = 0; kind < MTC_ARENA_COUNT; ++kind)
    EXPECT_EQ(device->arenas()[kind].bytes, kSizes[kind]);
  EXPECT_EQ(read(*device, {MTC_ARENA_GRADS, 0}, 2048), Ints(2048, 0));
}

TEST_P(EachDevice, RunsInTheOrderOfIssue) {
  ArenaOffset at{MTC_ARENA_WORKSPACE, 0};
  Ints in(4), first(4), second(4);
  std::iota(in.begin(), in.end(), 10);
  ASSERT_TRUE(stream().copyIn(at, in.data(), 16).ok());
  ASSERT_TRUE(stream().launch(addOne, &context, nullptr).ok());
  ASSERT_TRUE(stream().copyOut(at, first.data(), 16).ok());
  ASSERT_TRUE(stream().fill({at.arena, 4}, 0xff, 8).ok());
  ASSERT_TRUE(stream().launch(addOne, &context, nullptr).ok());
  ASSERT_TRUE(stream().copyOut(at, second.data(), 16).ok());
  complete(*device);
  EXPECT_EQ(first, (Ints{11, 11, 12, 13}));
  EXPECT_EQ(second, (Ints{12, -1, -1, 13}));
}

TEST_P(EachDevice, RejectsRangesThatLeaveTheirArena) {
  struct Case {
    ArenaOffset at;
    int64_t bytes;
  };
  for (Case c : {Case{{MTC_ARENA_PARAMS, 4092}, 8},
                 {{MTC_ARENA_PARAMS, -4}, 4},
                 {{MTC_ARENA_OPTIMIZER, 0}, 4},
                 {{MTC_ARENA_PARAMS, 0}, -1},
                 {{MTC_ARENA_PARAMS, 4}, INT64_MAX}}) {
    std::unique_ptr<Device> fresh = makeNamed(GetParam());
    int32_t value = 0;
    Status status = fresh->stream().copyIn(c.at, &value, c.bytes);
    if (status.ok())
      status = fresh->stream().wait(fresh->stream().record());
    EXPECT_EQ(status.code(), StatusCode::internal) << c.at.offset;
    EXPECT_NE(status.message().find("expected a range inside"),
              std::string::npos);
  }
}

TEST_P(EachDevice, StagesThroughTwoBuffers) {
  Staging staging(stream());
  for (int32_t i = 0; i < 8; ++i) {
    std::byte *out = nullptr;
    ASSERT_TRUE(staging.next(8, out).ok());
    int32_t values[] = {i, 100 + i};
    std::memcpy(out, values, 8);
    ASSERT_TRUE(staging.send({MTC_ARENA_PARAMS, 8 * i}, 4, 4).ok());
    ASSERT_TRUE(staging.send({MTC_ARENA_PARAMS, 8 * i + 4}, 0, 4).ok());
  }
  Ints expected;
  for (int32_t i = 0; i < 8; ++i)
    expected.insert(expected.end(), {100 + i, i});
  EXPECT_EQ(read(*device, {MTC_ARENA_PARAMS, 0}, 16), expected);
}

TEST_P(EachDevice, IssuesCollectives) {
  Mesh mesh;
  mesh[MTC_AXIS_TP] = 2;
  ThreadsWorld world(mesh);
  std::unique_ptr<Device> other = makeNamed(GetParam(), 1);
  Device *both[] = {device.get(), other.get()};
  std::unique_ptr<Communicator> backends[2];
  Ints found[2] = {Ints(4), Ints(4)};
  for (int rank = 0; rank < 2; ++rank)
    backends[rank] = world.join(rank, both[rank]->arenas());
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 2; ++rank)
    ranks.emplace_back([&, rank] {
      Device &mine = *both[rank];
      Communicator &comm = mine.issuing(*backends[rank]);
      Ints part{rank + 1, rank + 5};
      void *whole = mine.arenas()[MTC_ARENA_GRADS].base;
      EXPECT_TRUE(mine.stream()
                      .copyIn({MTC_ARENA_GRADS, 8 * rank}, part.data(), 8)
                      .ok());
      EXPECT_TRUE(comm.allGather(MTC_GROUP_TP, MTC_I32, whole, 2).ok());
      found[rank] = read(mine, {MTC_ARENA_GRADS, 0}, 4);
    });
  for (std::thread &rank : ranks)
    rank.join();
  for (const Ints &each : found)
    EXPECT_EQ(each, (Ints{1, 5, 2, 6}));
}

INSTANTIATE_TEST_SUITE_P(
    Devices, EachDevice,
    [] {
      std::vector<std::string_view> names;
      for (const DeviceInfo &device : devices())
        names.push_back(device.name);
      return testing::ValuesIn(names);
    }(),
    [](const auto &info) { return std::string(info.param); });

TEST(GuardedDevice, DoesNothingBeforeSomebodyWaits) {
  std::unique_ptr<Device> device = makeNamed("guarded");
  Stream &stream = device->stream();
  int32_t in = 7, early = -1, late = -1;
  ArenaOffset at{MTC_ARENA_PARAMS, 0};
  ASSERT_TRUE(stream.copyIn(at, &in, 4).ok());
  ASSERT_TRUE(stream.copyOut(at, &early, 4).ok());
  Event middle = stream.record();
  ASSERT_TRUE(stream.copyOut(at, &late, 4).ok());
  in = 8; // too early: the copy has not run
  EXPECT_EQ(early, -1);
  ASSERT_TRUE(stream.wait(middle).ok());
  EXPECT_EQ(early, 8);
  EXPECT_EQ(late, -1) << "it lies behind the event";
  complete(*device);
  EXPECT_EQ(late, 8);
}

TEST(GuardedDevice, StopsAtTheFirstFailure) {
  std::unique_ptr<Device> device = makeNamed("guarded");
  Stream &stream = device->stream();
  MtcContext context{};
  int32_t out = -1;
  ASSERT_TRUE(stream.launch(reject, &context, nullptr).ok());
  ASSERT_TRUE(stream.copyOut({MTC_ARENA_PARAMS, 0}, &out, 4).ok());
  EXPECT_EQ(stream.wait(stream.record()).code(), StatusCode::infeasible);
  EXPECT_EQ(out, -1);
  EXPECT_EQ(stream.copyOut({MTC_ARENA_PARAMS, 0}, &out, 4).code(),
            StatusCode::infeasible);
}

TEST(GuardedDevice, SaysHowManyArenasItWatches) {
  auto make = [](std::unique_ptr<Device> &device) {
    for (const DeviceInfo &info : devices())
      if (info.name == "guarded")
        return info.make({0, {}, kSizes, {}}, device);
    return Status(StatusCode::internal, "no guarded device");
  };
  std::vector<std::unique_ptr<Device>> ranks;
  Status status = Status::okay();
  while (status.ok() && ranks.size() < 1024)
    status = make(ranks.emplace_back());
  EXPECT_EQ(status.code(), StatusCode::infeasible);
  EXPECT_NE(status.message().find("watches at most 1024 arenas of one process; "
                                  "use --comm shm or fewer ranks"),
            std::string::npos)
      << status.message();
  // The one that failed, and one that did not: there is room for one again.
  ranks.resize(ranks.size() - 2);
  EXPECT_TRUE(make(ranks.emplace_back()).ok());
}

TEST(GuardedDeviceDeathTest, NamesWhatTheHostTouches) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  std::unique_ptr<Device> device = makeNamed("guarded", 3);
  complete(*device);
  auto *grads =
      static_cast<volatile int *>(device->arenas()[MTC_ARENA_GRADS].base);
  EXPECT_DEATH(grads[2047] = 1, "the host touched the arena grads of rank 3");
  EXPECT_DEATH((void)grads[0], "the host touched the arena grads of rank 3");
}

TEST_P(EachDevice, PopulatedArenasHoldWhatTheyHeld) {
  Ints in(4);
  std::iota(in.begin(), in.end(), 10);
  ASSERT_TRUE(stream().copyIn({MTC_ARENA_GRADS, 4096}, in.data(), 16).ok());
  complete(*device);
  device->populate({});
  EXPECT_EQ(read(*device, {MTC_ARENA_GRADS, 4096}, 4), in);
  EXPECT_EQ(read(*device, {MTC_ARENA_GRADS, 0}, 1024), Ints(1024, 0));
}

/// Pages of a mapping that the kernel has given.
int64_t pagesThere(const ArenaView &arena) {
  std::vector<unsigned char> there(static_cast<size_t>(arena.bytes) / 4096);
  EXPECT_EQ(mincore(arena.base, static_cast<size_t>(arena.bytes), there.data()),
            0);
  return std::ranges::count_if(there, [](auto byte) { return byte & 1; });
}

/// MADV_POPULATE_WRITE is of Linux 5.14.
bool kernelPopulates() {
  void *page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  bool does = madvise(page, 4096, 23) == 0;
  munmap(page, 4096);
  return does;
}

TEST(CpuDevice, PopulatesWhatItMapsAndNoMore) {
  if (!kernelPopulates())
    GTEST_SKIP() << "this kernel populates nothing";
  ArenaSizes sizes{};
  sizes[MTC_ARENA_PARAMS] = 4096;
  sizes[MTC_ARENA_GRADS] = (40 << 20) + 4096; // of several pieces
  std::unique_ptr<Device> device;
  ASSERT_TRUE(makeDevice({0, {}, sizes, {}}, device).ok());
  const ArenaViews &arenas = device->arenas();
  EXPECT_EQ(pagesThere(arenas[MTC_ARENA_GRADS]), 0);
  int64_t heard = 0, all = 0;
  device->populate([&](int64_t done, int64_t of) { heard = done, all = of; });
  EXPECT_EQ(all, sizes[MTC_ARENA_PARAMS] + sizes[MTC_ARENA_GRADS]);
  EXPECT_EQ(heard, all);
  for (int kind : {MTC_ARENA_PARAMS, MTC_ARENA_GRADS})
    EXPECT_EQ(pagesThere(arenas[kind]), sizes[kind] / 4096);
}

TEST(Devices, AreNamedByTheEnvironment) {
  std::unique_ptr<Device> device;
  setenv(kDeviceVariable, "abacus", 1);
  Status status = makeDevice({0, {}, kSizes, {}}, device);
  unsetenv(kDeviceVariable);
  EXPECT_EQ(status.code(), StatusCode::usage);
  for (const DeviceInfo &info : devices())
    EXPECT_NE(status.message().find(info.name), std::string::npos);
  EXPECT_NE(status.message().find("found 'abacus'"), std::string::npos);
  EXPECT_TRUE(makeDevice({0, {}, kSizes, {}}, device).ok());
  // A program of a GPU has its device, and does not run on one of the host.
  MtcDeviceFactory factory{
      [](const DeviceRequest &, std::unique_ptr<Device> &) {
        return Status(StatusCode::failed, "made");
      }};
  DeviceRequest ofGpu{0, {}, kSizes, {}, 1, &factory};
  EXPECT_EQ(makeDevice(ofGpu, device).message(), "made");
  setenv(kDeviceVariable, "cpu", 1);
  EXPECT_EQ(makeDevice(ofGpu, device).code(), StatusCode::usage);
  unsetenv(kDeviceVariable);
}

} // namespace
} // namespace mtc::runtime::test
