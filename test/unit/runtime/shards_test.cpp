//===- shards_test.cpp - parameters with main copies ----------------------===//

#include "device_memory.h"
#include "runtime/base/safetensors.h"
#include "runtime/comm/threads/threads_world.h"
#include "runtime/device/devices.h"
#include "runtime/train/shards.h"
#include "temporary_folder.h"
#include "test/unit/half.h"
#include "toy_descriptor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace mtc::runtime::test {
namespace {

void replace(std::string &text, const std::string &from,
             const std::string &to) {
  ASSERT_NE(text.find(from), std::string::npos) << from;
  text.replace(text.find(from), from.size(), to);
}

/// The toy on tp = 2 x dp = 2; in bf16 its mains lie behind the moments. A
/// second bucket holds second uses, as that of a tied parameter does.
std::string descriptorText(bool bf16, bool zero) {
  std::string text = kToyDescriptor;
  replace(text, "\"dp\": 1", "\"dp\": 2");
  replace(text, "\"global_batch\": 6", "\"global_batch\": 12");
  if (zero)
    replace(text, "\"zero\": false, \"shard_elements\": 16",
            "\"zero\": true, \"shard_elements\": 8");
  if (bf16) {
    replace(text, "\"dtype\": \"f32\"", "\"dtype\": \"bf16\"");
    replace(text, "\"dtype\": \"f32\"", "\"dtype\": \"bf16\"");
    replace(text, "\"offset\": 64}",
            R"("offset": 64}, {"name": "main", "offset": 128})");
  }
  replace(text, "}]}],\n  \"inputs\"", R"(}]},
    {"second_use_of": 0, "elements": 4, "unpadded": 4, "zero": false,
     "shard_elements": 4, "grad_offset": 128, "grad_dtype": "f32"}],
  "inputs")");
  return text;
}

/// The example of Megatron's document of the distributed optimizer: 16 elements
/// over four replicas, of which rank r has [4r, 4r + 4), and four parameters
/// whose ends are no ends of shards (of 5, 6, 2 and 3 elements). The rows are
/// written by hand.
TEST(Shards, FourParametersInSixteenElementsOverFourReplicas) {
  const ElementRange params[] = {{0, 5}, {5, 11}, {11, 13}, {13, 16}};
  struct Row {
    int64_t rank;
    int param;
    ShardPart part; ///< in the bucket, in the shard, in the parameter
  };
  const Row expected[] = {
      {0, 0, {{0, 4}, {0, 4}, {0, 4}}},   {1, 0, {{4, 5}, {0, 1}, {4, 5}}},
      {1, 1, {{5, 8}, {1, 4}, {0, 3}}},   {2, 1, {{8, 11}, {0, 3}, {3, 6}}},
      {2, 2, {{11, 12}, {3, 4}, {0, 1}}}, {3, 2, {{12, 13}, {0, 1}, {1, 2}}},
      {3, 3, {{13, 16}, {1, 4}, {0, 3}}}};
  const Row *next = std::begin(expected);
  for (int64_t rank = 0; rank < 4; ++rank)
    for (int param = 0; param < 4; ++param) {
      std::optional<ShardPart> part =
          partOf(params[param], {4 * rank, 4 * rank + 4});
      bool isExpected = next != std::end(expected) && next->rank == rank &&
                        next->param == param;
      ASSERT_EQ(part.has_value(), isExpected) << rank << " " << param;
      if (!part)
        continue;
      EXPECT_EQ(part->bucket, next->part.bucket);
      EXPECT_EQ(part->local, next->part.local);
      EXPECT_EQ(part->param, next->part.param);
      ++next;
    }
}

/// All ranks of one mesh in one process; they only hold parameters.
class Holders {
public:
  explicit Holders(const std::string &text) : text_(text) {
    Descriptor d;
    Status status = parseDescriptor(text_, d);
    EXPECT_TRUE(status.ok()) << status.message();
    Mesh mesh;
    mesh[MTC_AXIS_TP] = mesh[MTC_AXIS_DP] = 2;
    threads_ = std::make_unique<ThreadsWorld>(mesh);
    for (int rank = 0; rank < 4; ++rank) {
      EXPECT_TRUE(makeDevice({rank, {}, d.arenas, {}}, devices_[rank]).ok());
      comms_[rank] = threads_->join(rank, devices_[rank]->arenas());
      RankParts parts;
      parts.program.descriptor = text_.c_str();
      parts.program.timeline = [](const std::string &) { return rows_; };
      parts.program.slots = slots_;
      parts.descriptor = d;
      parts.rank = rank;
      parts.comm = comms_[rank].get();
      parts.device = devices_[rank].get();
      Status made = RankState::create(std::move(parts), ranks[rank]);
      EXPECT_TRUE(made.ok()) << made.message();
    }
  }

  void init() {
    for (auto &rank : ranks)
      ASSERT_TRUE(initParams(*rank, 42).ok());
  }

  /// The global tensors; every element must be written exactly once.
  std::map<std::string, std::vector<float>> tensors() {
    std::map<std::string, std::vector<float>> out = {
        {"up", std::vector<float>(24, NAN)},
        {"scale", std::vector<float>(2, NAN)}};
    for (auto &rank : ranks)
      for (const Piece &p : paramPieces(*rank))
        visitRuns(p.shape, p.box, p.start, p.count,
                  [&](int64_t global, int64_t local, int64_t count) {
                    for (int64_t i = 0; i < count; ++i) {
                      float &to = out[p.name].at(size_t(global + i));
                      EXPECT_TRUE(std::isnan(to)) << p.name << " twice";
                      to = in<float>(*rank, p.source.arena,
                                     p.source.offset)[local - p.start + i];
                    }
                  });
    for (auto &[name, values] : out)
      for (float value : values)
        EXPECT_FALSE(std::isnan(value)) << name << " has a gap";
    return out;
  }

private:
  static constexpr MtcStep rows_[2] = {{MTC_STEP_RUN, 0, -1, 0, -1, 0, 0, 0},
                                       {MTC_STEP_RUN, 0, -1, 0, -1, 0, 0, 0}};
  static constexpr int32_t slots_[MTC_POOL_FIXED] = {-1, -1, -1, -1, -1,
                                                     -1, -1, -1, -1, -1};
  std::string text_;
  std::unique_ptr<ThreadsWorld> threads_;
  std::unique_ptr<Device> devices_[4];
  std::unique_ptr<Communicator> comms_[4];

public:
  std::unique_ptr<RankState> ranks[4]; ///< they go before their devices
};

std::vector<float> floats(RankState &rank, MtcArena arena, int64_t offset,
                          int64_t count) {
  const float *p = in<float>(rank, arena, offset);
  return {p, p + count};
}

/// `half` must hold what `full`, filled alike in f32, holds: rounded in the
/// parameters, as it is in the mains, and nothing anywhere else.
void expectFilled(Holders &half, Holders &full, bool zero) {
  for (int r = 0; r < 4; ++r) {
    RankState &rank = *half.ranks[r];
    std::vector<float> values = floats(*full.ranks[r], MTC_ARENA_PARAMS, 0, 16);
    EXPECT_EQ(values[14], 0);
    EXPECT_EQ(values[15], 0);
    const auto *bits = in<uint16_t>(rank, MTC_ARENA_PARAMS);
    for (int i = 0; i < 16; ++i)
      EXPECT_EQ(bits[i], mtc::test::nearestBf16(values[i])) << r << " " << i;
    for (int i = 16; i < 2048; ++i)
      EXPECT_EQ(bits[i], 0) << "behind the parameters";
    int64_t begin = zero ? 8 * rank.coord(MTC_AXIS_DP) : 0,
            count = zero ? 8 : 16;
    EXPECT_EQ(floats(rank, MTC_ARENA_OPTIMIZER, 128, count),
              std::vector<float>(&values[begin], &values[begin] + count));
    EXPECT_EQ(floats(rank, MTC_ARENA_OPTIMIZER, 0, 32),
              std::vector<float>(32, 0.0f))
        << "moments";
    EXPECT_EQ(floats(rank, MTC_ARENA_OPTIMIZER, 128 + 4 * count, 64),
              std::vector<float>(64, 0.0f))
        << "behind the mains";
    EXPECT_EQ(floats(rank, MTC_ARENA_GRADS, 0, 1024),
              std::vector<float>(1024, 0.0f))
        << "accumulators and loss";
  }
}

class MainParameters : public testing::TestWithParam<bool> {
protected:
  Holders half{descriptorText(true, GetParam())};
  Holders full{descriptorText(false, GetParam())};
};

TEST_P(MainParameters, AreInitialisedAndRoundedOnce) {
  half.init();
  full.init();
  expectFilled(half, full, GetParam());
  // Else rounding would not show.
  EXPECT_NE(half.tensors()["up"],
            mtc::test::roundedTo(MTC_BF16, half.tensors()["up"]));
}

TEST_P(MainParameters, AreWhatFilesGet) {
  half.init();
  full.init();
  EXPECT_EQ(half.tensors(), full.tensors());
  // The parameters themselves are not looked at.
  for (auto &rank : half.ranks)
    std::fill_n(in<uint16_t>(*rank, MTC_ARENA_PARAMS), 16, 0x4000);
  EXPECT_EQ(half.tensors(), full.tensors());
}

TEST_P(MainParameters, AreReadFromFiles) {
  TemporaryFolder folder;
  std::string path = folder.path("p.safetensors");
  std::vector<float> values(26);
  for (int i = 0; i < 26; ++i)
    // Odd i are in the middle between two bf16, every third a bit above.
    values[i] = 1 + static_cast<float>(i) * 0x1p-8f + (i % 3 == 1) * 0x1p-20f;
  TensorInfo up, scale;
  up.name = "up";
  up.shape = {4, 6};
  scale.name = "scale";
  scale.shape = {2};
  SafetensorsWriter writer;
  ASSERT_TRUE(SafetensorsWriter::create(path, {up, scale}, {}, writer).ok());
  ASSERT_TRUE(writer.write("up", 0, values.data(), 96).ok());
  ASSERT_TRUE(writer.write("scale", 0, values.data() + 24, 8).ok());
  ASSERT_TRUE(writer.commit().ok());
  for (Holders *world : {&half, &full})
    for (auto &rank : world->ranks) {
      Status status = loadParams(*rank, path);
      ASSERT_TRUE(status.ok()) << status.message();
    }
  expectFilled(half, full, GetParam());
  EXPECT_EQ(half.tensors()["scale"],
            std::vector<float>(values.begin() + 24, values.end()));
  values.resize(24);
  EXPECT_EQ(half.tensors()["up"], values);
}

INSTANTIATE_TEST_SUITE_P(Zero, MainParameters, testing::Bool(),
                         [](const auto &info) {
                           return info.param ? "Zero1" : "Zero0";
                         });

} // namespace
} // namespace mtc::runtime::test
