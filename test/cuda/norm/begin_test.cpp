// What a step begins with: what the host says of it, or what updates led to.
#include "norm_on_device.h"
#include "norm_values.h"
#include "step_states.h"

#include <gtest/gtest.h>

using namespace mtc;
using namespace mtc::test;

namespace {

/// A state that some step has left, and what the host then says.
MtcStepState someState(int32_t follows, int64_t missing) {
  MtcStepState state{};
  state.updates = someUpdates();
  state.skipped = int32_t(below(2));
  state.stopped = int32_t(below(2));
  state.block = someOrder(state.updates).block;
  state.order = someOrder(someUpdates());
  if (follows == MTC_FOLLOWS_STEP)
    state.order.updates.done = state.updates.done + missing;
  state.order.block.follows = follows;
  state.repeats = int64_t(below(9));
  return state;
}

/// By hand, in double, as the host fills a block of which it knows all.
void setRates(MtcStepState &state, int64_t missing) {
  MtcStepBlock &block = state.block;
  const MtcStepOrder &order = state.order;
  for (int group = 0; group < MTC_PARAM_GROUPS; ++group) {
    block.lr[group] = order.rates[missing].lr[group];
    block.weight_decay[group] = order.rates[missing].weight_decay[group];
  }
  volatile double power1 = state.updates.power1 * order.beta1;
  volatile double power2 = state.updates.power2 * order.beta2;
  block.inv_bias1 = float(1 / (1 - power1));
  block.inv_bias2 = float(1 / (1 - power2));
  block.loss_scale = float(state.updates.scale);
  block.inv_loss_scale = 1 / double(block.loss_scale);
}

TEST(Step, BeginHasTheBitsOfTheHost) {
  for (int round = 0; round < 200; ++round) {
    auto follows = int32_t(below(3));
    auto missing = int64_t(below(2));
    MtcStepState state = someState(follows, missing);
    NormOnDevice device(*normModule, normSeed, state);
    device.begin();
    state.block = state.order.block;
    state.repeats = 0;
    if (follows == MTC_FOLLOWS_NONE) {
      state.updates = state.order.updates;
      state.skipped = 0;
    }
    if (follows == MTC_FOLLOWS_STEP)
      setRates(state, missing);
    MtcStepState found = device.read();
    ASSERT_EQ(std::memcmp(&found, &state, sizeof state), 0)
        << "follows " << follows << ", missing " << missing << ": expected "
        << state.block.lr[0] << ", " << state.block.inv_bias1 << ", "
        << state.block.inv_bias2 << " and " << state.block.loss_scale
        << ", found " << found.block.lr[0] << ", " << found.block.inv_bias1
        << ", " << found.block.inv_bias2 << " and " << found.block.loss_scale;
  }
}

TEST(Step, MovesOnAndBack) {
  MtcStepState state = someState(MTC_FOLLOWS_STEP, 0);
  state.repeats = 0;
  NormOnDevice device(*normModule, normSeed, state);
  device.moveOn(24, 3);
  device.moveOn(24, 3);
  state.block.sample_base += 48;
  state.repeats = 6;
  MtcStepState found = device.read();
  EXPECT_EQ(std::memcmp(&found, &state, sizeof state), 0);
  device.moveOn(-48, -6);
  state.block.sample_base -= 48;
  state.repeats = 0;
  found = device.read();
  EXPECT_EQ(std::memcmp(&found, &state, sizeof state), 0);
}

TEST(Step, TakesTheInputsOfARepeat) {
  std::vector<uint32_t> words(5000);
  for (uint32_t i = 0; i < words.size(); ++i)
    words[i] = i;
  for (int64_t repeats : {0, 1, 7})
    for (int64_t count : {1, 31, 257, 700})
      for (uint32_t blocks : {1u, 3u}) {
        MtcStepState state = someState(MTC_FOLLOWS_NONE, 0);
        state.repeats = repeats;
        NormOnDevice device(*normModule, normSeed, state);
        std::vector<uint32_t> taken = device.take(words, count, 600, blocks);
        for (int64_t i = 0; i < count; ++i)
          ASSERT_EQ(taken[size_t(i)], uint32_t(600 * repeats + i))
              << repeats << ", " << count << ", " << blocks;
      }
}

} // namespace
