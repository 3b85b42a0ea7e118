// Sums over ranks, and what a sum says: the bits of the host's.
#include "norm_on_device.h"
#include "norm_values.h"
#include "step_states.h"

#include <cmath>

using namespace mtc;
using namespace mtc::test;
using runtime::NormSum;

namespace {

/// Adds, as ranks do, what is given so many times.
std::vector<uint64_t> times(std::vector<uint64_t> limbs, uint64_t ranks) {
  for (uint64_t &limb : limbs) {
    EXPECT_LE(limb, (uint64_t(1) << 63) / ranks);
    limb *= ranks;
  }
  return limbs;
}

/// A sum that no kernel leaves behind.
NormSum garbage() {
  NormSum sum;
  for (__int128 &limb : sum.limb)
    limb = -2;
  return sum;
}

TEST(Norm, RanksAddLimbs) {
  for (uint64_t ranks :
       {uint64_t(1), uint64_t(2), uint64_t(1000), uint64_t(1) << 31}) {
    NormSum host = someSum();
    NormOnDevice device(*normModule, someSeed(), host);
    NormOnDevice other(*normModule, someSeed(), garbage());
    other.fromLimbs(times(device.toLimbs(), ranks));
    for (__int128 &limb : host.limb)
      limb *= int64_t(ranks);
    runtime::normAccumulate(host, nullptr, 0); // carries
    EXPECT_EQ(wordsOf(other.sum()), wordsOf(host)) << ranks;
  }
  NormOnDevice fine(*normModule, 1, someSum()),
      bad(*normModule, 2, notFinite());
  std::vector<uint64_t> all = times(fine.toLimbs(), 1000);
  std::vector<uint64_t> one = times(bad.toLimbs(), 2);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] += one[i];
  fine.fromLimbs(all);
  EXPECT_FALSE(fine.sum().finite());
  bad.fromLimbs(times(bad.toLimbs(), 1));
  EXPECT_FALSE(bad.sum().finite());
}

MtcStepState someState(NormSum sum) {
  MtcStepState state = NormOnDevice::stateOf(sum);
  state.block.seed = someSeed();
  const float thresholds[] = {0, -1, 1, 1e-30f, 1e38f, 0.5f};
  state.block.clip_threshold = thresholds[below(6)];
  const double scales[] = {1, 0x1p-16, 0x1p-126, 3.5};
  state.block.inv_loss_scale = scales[below(4)];
  state.block.follows = int32_t(below(8) == 0 ? 2 : below(2));
  state.stopped = below(4) == 0;
  state.skipped = below(2);
  state.updates = someUpdates();
  state.order = someOrder(state.updates);
  return state;
}

NormSum sumOfBits(int bits) {
  NormSum sum;
  for (int at = 0; at < bits; at += 64)
    sum.limb[at / 64] = uint64_t(someSeed());
  // Half the time with a long run of zeros or ones: near ties.
  for (int at = 0; at + 64 < bits && below(2); at += 64)
    sum.limb[at / 64] = below(2) ? 0 : ~uint64_t(0);
  if (bits % 64 != 0)
    sum.limb[bits / 64] &= (__int128{1} << bits % 64) - 1;
  return sum;
}

/// Half way between two doubles, whose last bit is at `at`, or a unit above
/// that.
NormSum nearTie(int at) {
  NormSum sum;
  auto leading = (uint64_t(someSeed()) >> 11 | uint64_t(1) << 52) << 1 | 1;
  __int128 wide = __int128(leading) << at % 64;
  int limb = at / 64;
  sum.limb[limb] = limb + 1 < NormSum::kLimbs ? uint64_t(wide) : wide;
  if (limb + 1 < NormSum::kLimbs)
    sum.limb[limb + 1] = wide >> 64;
  sum.limb[0] |= below(2);
  return sum;
}

TEST(Norm, FinishHasTheBitsOfTheHost) {
  std::vector<NormSum> sums(60, notFinite());
  sums.emplace_back();
  for (int i = 0; i < 120; ++i)
    sums.push_back(sumOfBits(1 + int(below(570))));
  for (int at = 0; at < 575; ++at)
    sums.push_back(nearTie(at));
  for (int i = 0; i < 3; ++i) { // sums over ranks, with their carries to come
    sums.push_back(someSum());
    for (__int128 &limb : sums.back().limb)
      limb *= 1 + int64_t(below(1000));
  }
  int applied = 0, tooLarge = 0, held = 0, skipped = 0;
  for (const NormSum &sum : sums) {
    MtcStepState state = someState(sum);
    NormOnDevice device(*normModule, normSeed, state);
    device.finish();
    MtcStepBlock &b = state.block;
    b.grad_norm = runtime::normValue(sum) * b.inv_loss_scale;
    b.clip_coeff = runtime::clipCoefficient(b.grad_norm, b.clip_threshold,
                                            b.inv_loss_scale);
    double clipped = b.clip_threshold > 0
                         ? std::min<double>(b.grad_norm, b.clip_threshold)
                         : b.grad_norm;
    bool isGood = std::isfinite(b.grad_norm) && clipped < 0x1p64;
    bool isHeld = b.follows == 2 || (b.follows == 1 && state.stopped);
    b.applies = isGood && !isHeld;
    state.skipped =
        !isHeld && !std::isfinite(b.grad_norm) && state.order.scale_rule.scales;
    state.stopped = !b.applies && !state.skipped;
    if (!state.stopped)
      countStep(state.order, b.applies, state.updates);
    applied += b.applies;
    skipped += state.skipped;
    held += isGood && isHeld;
    tooLarge += std::isfinite(b.grad_norm) && !isGood;
    MtcStepState found = device.read();
    ASSERT_EQ(std::memcmp(&found, &state, sizeof state), 0)
        << "expected " << b.grad_norm << " and " << b.clip_coeff << ", found "
        << found.block.grad_norm << " and " << found.block.clip_coeff
        << "; applies: expected " << b.applies << ", found "
        << found.block.applies;
  }
  EXPECT_GT(applied, 100);
  EXPECT_GT(tooLarge, 20);
  EXPECT_GT(held, 20);
  EXPECT_GT(skipped, 10);
}

} // namespace
