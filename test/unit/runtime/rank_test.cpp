//===- rank_test.cpp - one rank: checks, statuses, parameters -------------===//

#include "device_memory.h"
#include "mtc/runtime/step_field.h"
#include "runtime/base/safetensors.h"
#include "runtime/comm/threads/threads_world.h"
#include "runtime/device/devices.h"
#include "runtime/program/rank.h"
#include "runtime/train/shards.h"
#include "temporary_folder.h"
#include "toy_descriptor.h"

#include <gtest/gtest.h>

#include <cstring>

namespace mtc::runtime::test {
namespace {

int gCalls = 0;

/// What a fragment would do after a failure: go on calling.
void work(MtcContext *ctx, const MtcStep *row) {
  ++gCalls;
  float value = 1;
  if (row->chunk == 1) // a call that no backend offers, to this rank alone
    mtc_all_reduce(ctx, MTC_STREAM_COMPUTE, MTC_GROUP_DP, MTC_MAX, MTC_I32,
                   &value, 1);
  if (row->chunk == 2) { // c = a·b of the descriptor's only product
    float *a = static_cast<float *>(ctx->arena[MTC_ARENA_ACTIVATIONS]);
    mtc_gemm(ctx, 0, a, a + 16, a + 32, a + 64);
  }
  if (row->chunk == 3) // what only a GPU has
    mtc_launch(ctx, 0, 1, nullptr);
  mtc_zero(ctx, &value, 4);
  stepState(ctx).block.lr[0] = value;
}

const MtcFragment kFragments[] = {work};

class CountingLoader : public DataLoader {
public:
  Status load(const InputInfo &in, int64_t microbatch, int32_t *out) override {
    EXPECT_EQ(in.name, "ids");
    std::fill_n(out, 8, static_cast<int32_t>(microbatch + 10));
    return Status::okay();
  }
};

class FailingLoader : public DataLoader {
public:
  Status load(const InputInfo &, int64_t, int32_t *) override {
    return {StatusCode::inputRejected, "bad token"};
  }
};

/// Both ranks of the toy, as threads would have them.
class RankTest : public testing::Test {
protected:
  void SetUp() override {
    rows_[0] = {MTC_STEP_LOAD, -1, 2, 0, 0, 0, 0, 0};
    rows_[1] = {MTC_STEP_RUN, 0, 2, 0, 0, 0, 0, 0};
    Descriptor d;
    Status status = parseDescriptor(kToyDescriptor, d);
    ASSERT_TRUE(status.ok()) << status.message();
    Mesh mesh;
    mesh[MTC_AXIS_TP] = 2;
    world_ = std::make_unique<ThreadsWorld>(mesh);
    for (int rank = 0; rank < 2; ++rank) {
      ASSERT_TRUE(makeDevice({rank, {}, d.arenas, {}}, devices_[rank]).ok());
      status = devices_[rank]->prepare(d);
      ASSERT_TRUE(status.ok()) << status.message();
      comms_[rank] = world_->join(rank, devices_[rank]->arenas());
    }
    gCalls = 0;
  }

  RankParts parts(int rank) {
    RankParts parts;
    parts.program.descriptor = kToyDescriptor;
    parts.program.fragments = kFragments;
    parts.program.slots = slots_;
    parts.program.timeline = [this](const std::string &) { return rows_; };
    EXPECT_TRUE(parseDescriptor(kToyDescriptor, parts.descriptor).ok());
    parts.rank = rank;
    parts.comm = comms_[rank].get();
    parts.device = devices_[rank].get();
    return parts;
  }

  Status create(RankParts parts) {
    return RankState::create(std::move(parts), rank_);
  }

  MtcStep rows_[2];
  int32_t slots_[MTC_POOL_FIXED] = {-1, -1, -1, -1, 3, -1, -1, -1, -1, -1};
  std::unique_ptr<ThreadsWorld> world_;
  std::unique_ptr<Device> devices_[2];
  std::unique_ptr<Communicator> comms_[2];
  std::unique_ptr<RankState> rank_;
};

TEST_F(RankTest, WalksLoadsAndRuns) {
  ASSERT_TRUE(create(parts(1)).ok());
  EXPECT_EQ(rank_->coord(MTC_AXIS_TP), 1);
  CountingLoader loader;
  ASSERT_TRUE(rank_->walk(rank_->descriptor().entries[0], 0, 2, loader).ok());
  EXPECT_EQ(gCalls, 1);
  EXPECT_EQ(*in<int32_t>(*rank_, MTC_ARENA_ACTIVATIONS, 3 * 1024), 12);
  EXPECT_EQ(stepState(&rank_->context()).block.lr[0], 0)
      << "mtc_zero did nothing";
}

TEST_F(RankTest, AHostLaunchesNoKernelOfAGpu) {
  rows_[1].chunk = 3;
  ASSERT_TRUE(create(parts(0)).ok());
  EXPECT_EQ(rank_->context().block, &stepState(&rank_->context()).block);
  CountingLoader loader;
  Status status = rank_->walk(rank_->descriptor().entries[0], 1, 2, loader);
  EXPECT_EQ(status.code(), StatusCode::internal);
  EXPECT_NE(status.message().find("a kernel of a GPU"), std::string::npos);
}

TEST_F(RankTest, AFailureStaysAndReachesTheOthers) {
  rows_[1].chunk = 1;
  ASSERT_TRUE(create(parts(0)).ok());
  CountingLoader loader;
  const EntryInfo &entry = rank_->descriptor().entries[0];
  Status status = rank_->walk(entry, 1, 2, loader);
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(status.message().empty());
  EXPECT_EQ(rank_->context().status, static_cast<int32_t>(status.code()));
  EXPECT_EQ(stepState(&rank_->context()).block.lr[0], 1)
      << "calls after a failure must return";
  float value = 1;
  EXPECT_FALSE(
      comms_[1]->allReduce(MTC_GROUP_TP, MTC_SUM, MTC_F32, &value, 1).ok());
}

const char *const kGemm =
    R"("gemms": [{"m": 1, "n": 1, "k": 3, "ta": false, "tb": false, "beta": false,
                  "ab": "f32", "c": "f32", "scratch": 1024, "kernel": "own"}])";

TEST_F(RankTest, MultipliesByTheDescriptorsRows) {
  rows_[1].chunk = 2;
  RankParts p = parts(0);
  ASSERT_TRUE(
      parseDescriptor(toyWith("\"gemms\": []", kGemm), p.descriptor).ok());
  ASSERT_TRUE(p.device->prepare(p.descriptor).ok());
  Status status = create(std::move(p));
  ASSERT_TRUE(status.ok()) << status.message();
  float *a = in<float>(*rank_, MTC_ARENA_ACTIVATIONS);
  for (int i = 0; i < 3; ++i)
    a[i] = a[16 + i] = static_cast<float>(i + 1);
  CountingLoader loader;
  status = rank_->walk(rank_->descriptor().entries[0], 1, 2, loader);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(a[32], 14);
}

TEST_F(RankTest, RejectsProductsThatCannotBe) {
  struct Case {
    const char *from, *to, *expected;
  };
  for (Case c : {Case{"\"ab\": \"f32\", \"c\": \"f32\"",
                      "\"ab\": \"f32\", \"c\": \"bf16\"",
                      "found m=1 n=1 k=3 beta=0 of f32 into bf16"},
                 {"\"scratch\": 1024",
                  "\"scratch\": 1024, \"epilogue\": {\"bias\": true, "
                  "\"gelu\": false, \"aux\": false}",
                  "gemm 0: expected a product without epilogue, as a CPU has "
                  "none"},
                 // The toy's instruction set is x86-64-v3.
                 {", \"kernel\": \"own\"", "", "memory is planned"}}) {
    std::string text = toyWith("\"gemms\": []", kGemm);
    text.replace(text.find(c.from), std::strlen(c.from), c.to);
    RankParts p = parts(0);
    ASSERT_TRUE(parseDescriptor(text, p.descriptor).ok());
    Status status = p.device->prepare(p.descriptor);
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.message().find(c.expected), std::string::npos)
        << status.message();
  }
}

/// Loads and calls of a first microbatch, of two repeats, and of a last one.
std::vector<MtcStep> rowsThatRepeat() {
  std::vector<MtcStep> rows;
  for (int microbatch : {0, 1, 2, 3}) {
    rows.push_back({MTC_STEP_LOAD, -1, microbatch, 0, 0, 0, 0, 0});
    rows.push_back({MTC_STEP_RUN, 0, microbatch, 0, 0, 0, 0, microbatch == 3});
  }
  return rows;
}

TEST_F(RankTest, RowsOfAPeriodRepeat) {
  struct Case {
    void (*change)(std::vector<MtcStep> &, PeriodInfo &);
    const char *expected;
  };
  const char *const kOther = "train row 5: expected what row 3 does, for the "
                             "microbatch that is 1 later";
  for (Case c :
       {Case{[](auto &, auto &) {}, ""},
        {[](auto &rows, auto &) { rows[5].microbatch = 3; }, kOther},
        {[](auto &rows, auto &) { rows[5].last = 1; }, kOther},
        {[](auto &rows, auto &) { rows[5].slots = 10; }, kOther},
        {[](auto &rows, auto &) { rows[5].fragment = 1; }, kOther},
        {[](auto &rows, auto &) { rows[5].chunk = 1; }, kOther},
        {[](auto &rows, auto &) { rows[5].count = 1; }, kOther},
        {[](auto &rows, auto &) { rows[5].kind = MTC_STEP_LOAD; }, kOther},
        {[](auto &, auto &period) { period.first = 1; },
         "train row 3: expected what row 1 does"},
        {[](auto &, auto &period) { period.microbatches = 2; },
         "train row 4: expected what row 2 does"},
        {[](auto &, auto &period) { period.times = 4; },
         "a period of rows [2, 10) of 8"},
        {[](auto &, auto &period) { period.times = 3; },
         "train row 7: expected what row 5 does"}}) {
    std::vector<MtcStep> rows = rowsThatRepeat();
    PeriodInfo period{2, 2, 2, 1};
    c.change(rows, period);
    int32_t slots[2 * MTC_POOL_FIXED];
    std::copy_n(slots_, MTC_POOL_FIXED, slots);
    std::copy_n(slots_, MTC_POOL_FIXED, slots + MTC_POOL_FIXED);
    slots[2 * MTC_POOL_FIXED - 1] = 1;
    RankParts p = parts(0);
    p.program.slots = slots;
    p.program.timeline = [&](const std::string &) { return rows.data(); };
    p.descriptor.slots = std::size(slots);
    p.descriptor.batch.microbatches = 4;
    p.descriptor.entries[0].length = std::ssize(rows);
    p.descriptor.entries[0].period = period;
    Status status = checkProgram(p.program, p.descriptor);
    EXPECT_EQ(status.ok(), !*c.expected) << status.message();
    EXPECT_NE(status.message().find(c.expected), std::string::npos)
        << status.message();
  }
}

TEST_F(RankTest, ALocalFailureReachesTheOthers) {
  ASSERT_TRUE(create(parts(0)).ok());
  FailingLoader loader;
  Status status = rank_->walk(rank_->descriptor().entries[0], 0, 2, loader);
  EXPECT_EQ(status.message(), "bad token");
  EXPECT_EQ(gCalls, 0) << "no row may follow a failed one";
  // Without an abort this would wait for rank 0 for ever.
  float value = 1;
  EXPECT_EQ(
      comms_[1]->allReduce(MTC_GROUP_TP, MTC_SUM, MTC_F32, &value, 1).code(),
      StatusCode::peerDied);
}

TEST_F(RankTest, RejectsAPlanForAnotherLibrary) {
  Descriptor d;
  std::string text = toyWith("\"gemms\": []", kGemm);
  text.replace(text.find("\"onednn\": \"2"), 12, "\"onednn\": \"9");
  ASSERT_TRUE(parseDescriptor(text, d).ok());
  EXPECT_EQ(devices_[0]->prepare(d).code(), StatusCode::infeasible);
}

TEST_F(RankTest, RejectsArenasOfAnotherSize) {
  RankParts p = parts(0);
  p.descriptor.arenas[MTC_ARENA_OPTIMIZER] = 8192;
  Status status = create(std::move(p));
  EXPECT_EQ(status.code(), StatusCode::internal);
  EXPECT_NE(status.message().find("optimizer"), std::string::npos);
  p = parts(0);
  DeviceRequest moved{0, {}, p.descriptor.arenas, p.device->arenas()};
  moved.shared[0].base = static_cast<char *>(moved.shared[0].base) + 64;
  std::unique_ptr<Device> device;
  ASSERT_TRUE(makeDevice(moved, device).ok());
  p.device = device.get();
  EXPECT_EQ(create(std::move(p)).code(), StatusCode::internal);
}

TEST_F(RankTest, RejectsRowsThatLeaveTheirTables) {
  slots_[MTC_POOL_SAVED] = 8; // 8 · 1024 is the end of the arena
  EXPECT_EQ(create(parts(0)).code(), StatusCode::inputRejected);
  slots_[MTC_POOL_SAVED] = -1;
  EXPECT_EQ(create(parts(0)).code(), StatusCode::inputRejected);
  slots_[MTC_POOL_SAVED] = 7;
  EXPECT_TRUE(create(parts(0)).ok());
  for (int32_t slots : {-1, 1, int32_t(MTC_POOL_FIXED)}) { // not ten numbers
    rows_[1].slots = slots;
    EXPECT_EQ(create(parts(0)).code(), StatusCode::inputRejected);
  }
  rows_[1].slots = 0;
  rows_[1].fragment = 1;
  EXPECT_EQ(create(parts(0)).code(), StatusCode::inputRejected);
  rows_[1].fragment = 0;
  rows_[1].microbatch = 3;
  EXPECT_EQ(create(parts(0)).code(), StatusCode::inputRejected);
  rows_[1] = {MTC_STEP_EXCHANGE, 0, 0, 0, -1, 0, 1, 0};
  EXPECT_EQ(create(parts(0)).code(), StatusCode::inputRejected);
  rows_[1].kind = 7;
  EXPECT_EQ(create(parts(0)).code(), StatusCode::inputRejected);
}

TEST_F(RankTest, RejectsPostsAndWaitsThatDoNotPair) {
  MtcTransfer transfer{1, 1, MTC_ARENA_ACTIVATIONS, 0, 0, 64};
  auto found = [&](int32_t first, int32_t second, int64_t posted = 1) {
    rows_[0] = {first, -1, -1, 0, -1, 0, 1, 0};
    rows_[1] = {second, -1, -1, 0, -1, 0, 1, 0};
    RankParts p = parts(0);
    p.descriptor.mesh[MTC_AXIS_PP] = 2;
    p.descriptor.transfers = 1;
    p.descriptor.posted = posted;
    p.program.transfers = &transfer;
    return create(std::move(p)).message();
  };
  EXPECT_EQ(found(MTC_STEP_POST, MTC_STEP_WAIT), "");
  EXPECT_EQ(found(MTC_STEP_EXCHANGE, MTC_STEP_EXCHANGE), "");
  for (int32_t first : {MTC_STEP_POST, MTC_STEP_EXCHANGE})
    EXPECT_EQ(
        found(first, first == MTC_STEP_POST ? MTC_STEP_WAIT : first, 0),
        "program tables: 1 problem\n  train: expected at most 0 transfers "
        "of a channel begun and not ended (posted), found 1");
  EXPECT_EQ(found(MTC_STEP_EXCHANGE, MTC_STEP_WAIT),
            "program tables: 1 problem\n  train row 1: waits for transfer 0, "
            "which is not "
            "posted");
  EXPECT_EQ(found(MTC_STEP_POST, MTC_STEP_EXCHANGE, 2),
            "program tables: 1 problem\n  train: no row waits for transfer 0, "
            "which one "
            "posts");
  EXPECT_NE(found(MTC_STEP_POST, MTC_STEP_POST)
                .find("train row 1: posts transfer 0, which nobody has waited "
                      "for since it was posted"),
            std::string::npos);
}

TEST_F(RankTest, RejectsTheWrongStage) {
  RankParts p = parts(0);
  p.rank = 2;
  EXPECT_FALSE(create(std::move(p)).ok());
}

/// The global [4, 6] tensor from both ranks' shards.
std::vector<float> gather(std::unique_ptr<RankState> (&ranks)[2]) {
  std::vector<float> out(24, -1);
  for (auto &rank : ranks)
    for (const Piece &p : paramPieces(*rank))
      if (p.name == "up")
        visitRuns(p.shape, p.box, p.start, p.count,
                  [&](int64_t global, int64_t local, int64_t count) {
                    const float *from =
                        in<float>(*rank, p.source.arena, p.source.offset);
                    std::copy_n(from + local, count, out.begin() + global);
                  });
  return out;
}

TEST_F(RankTest, InitialisesAndLoadsItsColumns) {
  std::unique_ptr<RankState> ranks[2];
  for (int r = 0; r < 2; ++r) {
    ASSERT_TRUE(RankState::create(parts(r), ranks[r]).ok());
    ASSERT_TRUE(initParams(*ranks[r], 42).ok());
    EXPECT_EQ(in<float>(*ranks[r], MTC_ARENA_PARAMS)[1], 1) << "ones";
    EXPECT_EQ(in<float>(*ranks[r], MTC_ARENA_PARAMS)[14], 0) << "padding";
  }
  EXPECT_EQ(paramPieces(*ranks[0]).size(), 2u);
  EXPECT_EQ(paramPieces(*ranks[1]).size(), 1u) << "replicated: rank 0 only";
  std::vector<float> init = gather(ranks);
  for (float value : init)
    EXPECT_NE(value, -1);

  TemporaryFolder folder;
  std::vector<float> values(26);
  for (int i = 0; i < 26; ++i)
    values[i] = static_cast<float>(100 + i);
  SafetensorsWriter writer;
  TensorInfo up, scale;
  up.name = "up";
  up.shape = {4, 6};
  scale.name = "scale";
  scale.shape = {2};
  std::string path = folder.path("p.safetensors");
  ASSERT_TRUE(SafetensorsWriter::create(path, {up, scale}, {}, writer).ok());
  ASSERT_TRUE(writer.write("up", 0, values.data(), 96).ok());
  ASSERT_TRUE(writer.write("scale", 0, values.data() + 24, 8).ok());
  ASSERT_TRUE(writer.commit().ok());
  for (auto &rank : ranks)
    ASSERT_TRUE(loadParams(*rank, path).ok());
  values.resize(24);
  EXPECT_EQ(gather(ranks), values);
  EXPECT_EQ(in<float>(*ranks[1], MTC_ARENA_PARAMS)[2], 103)
      << "the first element of rank 1's columns";

  up.shape = {6, 4};
  ASSERT_TRUE(SafetensorsWriter::create(path, {up}, {}, writer).ok());
  ASSERT_TRUE(writer.write("up", 0, values.data(), 96).ok());
  ASSERT_TRUE(writer.commit().ok());
  Status status = loadParams(*ranks[0], path);
  EXPECT_EQ(status.code(), StatusCode::inputRejected);
  EXPECT_NE(status.message().find("expected F32 [4, 6], found F32 [6, 4]"),
            std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("'scale' is missing"), std::string::npos);
}

} // namespace
} // namespace mtc::runtime::test
