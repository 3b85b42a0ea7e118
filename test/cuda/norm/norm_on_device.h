//===- norm_on_device.h - the norm by its kernels ---------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_NORM_NORM_ON_DEVICE_H
#define MTC_TEST_CUDA_NORM_NORM_ON_DEVICE_H

#include "runtime/base/half.h"
#include "runtime/cuda/norm/norm_params.h"
#include "runtime/kernels/cpu/norm.h"
#include "test/cuda/common/executor_device.h"

#include <cstddef>

namespace mtc::test {

/// A step's state on a device, and the kernels that change it.
class NormOnDevice {
public:
  NormOnDevice(const ptx::Module &module, uint64_t seed,
               const MtcStepState &state = {})
      : device(module, seed),
        state(device.place(std::span(&state, 1), "state")) {}
  NormOnDevice(const ptx::Module &module, uint64_t seed,
               const runtime::NormSum &sum)
      : NormOnDevice(module, seed, stateOf(sum)) {}

  static MtcStepState stateOf(const runtime::NormSum &sum) {
    MtcStepState state{};
    std::memcpy(state.norm, sum.limb, sizeof state.norm);
    return state;
  }

  /// Of values that begin `skipped` elements behind an aligned address.
  void accumulate(std::span<const float> g, uint32_t blocks, size_t skipped) {
    ptx::Address at = device.place(g, "gradients", skipped * sizeof(float));
    run("mtc_cuda_norm_accumulate_f32", blocks, norm(), at, int64_t(g.size()));
  }
  void accumulate(MtcDtype dtype, std::span<const uint16_t> g, uint32_t blocks,
                  size_t skipped) {
    ptx::Address at = device.place(g, "gradients", skipped * sizeof(uint16_t));
    run(dtype == MTC_F16 ? "mtc_cuda_norm_accumulate_f16"
                         : "mtc_cuda_norm_accumulate_bf16",
        blocks, norm(), at, int64_t(g.size()));
  }
  void check(std::span<const float> x, uint32_t blocks, size_t skipped) {
    ptx::Address at = device.place(x, "checked", skipped * sizeof(float));
    run("mtc_cuda_norm_check", blocks, norm(), at, int64_t(x.size()));
  }
  void begin() { run("mtc_cuda_step_begin", 1, state); }
  void moveOn(int64_t samples, int64_t repeats) {
    run("mtc_cuda_move_on", 1, state, samples, repeats);
  }
  /// `count` words of `words`, `stride` words further for each repeat.
  std::vector<uint32_t> take(std::span<const uint32_t> words, int64_t count,
                             int64_t stride, uint32_t blocks) {
    ptx::Address from = device.place(words, "inputs");
    ptx::Address to = device.space(size_t(4 * count), "taken");
    run("mtc_cuda_take", blocks, state, to, from, 4 * count, 4 * stride);
    return device.read<uint32_t>(to, size_t(count));
  }
  void reset() { run("mtc_cuda_norm_reset", 1, norm()); }
  void finish() { run("mtc_cuda_norm_finish", 1, state); }

  std::vector<uint64_t> toLimbs() {
    ptx::Address limbs = device.space(8 * cuda::kNormLimbs, "limbs");
    run("mtc_cuda_norm_to_limbs", 1, norm(), limbs);
    return device.read<uint64_t>(limbs, cuda::kNormLimbs);
  }
  void fromLimbs(std::span<const uint64_t> limbs) {
    run("mtc_cuda_norm_from_limbs", 1, norm(), device.place(limbs, "limbs"));
  }

  MtcStepState read() { return device.read<MtcStepState>(state, 1)[0]; }
  runtime::NormSum sum() {
    runtime::NormSum sum;
    MtcStepState now = read();
    std::memcpy(sum.limb, now.norm, sizeof sum.limb);
    return sum;
  }

private:
  ptx::Address norm() const { return state + offsetof(MtcStepState, norm); }
  template <class... Values>
  void run(const char *entry, uint32_t blocks, const Values &...values) {
    device.run(entry, {blocks, 1, 1}, cuda::kNormThreads, values...);
  }

  ExecutorDevice device;
  ptx::Address state;
};

/// A sum in words, for messages and comparisons.
inline std::vector<uint64_t> wordsOf(const runtime::NormSum &sum) {
  std::vector<uint64_t> words;
  for (__int128 limb : sum.limb) {
    words.push_back(uint64_t(limb));
    words.push_back(uint64_t(limb >> 64));
  }
  return words;
}

} // namespace mtc::test
#endif // MTC_TEST_CUDA_NORM_NORM_ON_DEVICE_H
