//===- cuda_calls.h - what fragments of a GPU issue -------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_CUDA_CALLS_H
#define MTC_RUNTIME_DEVICE_CUDA_CUDA_CALLS_H

#include "mtc/runtime/descriptor.h"
#include "mtc/runtime/gpu_chips.h"
#include "runtime/device/cuda/cuda_attention.h"
#include "runtime/device/cuda/cuda_code.h"
#include "runtime/device/cuda/cuda_gemm.h"
#include "runtime/device/cuda/cuda_stream.h"
#include "runtime/device/cuda/own_gemm.h"
#include "runtime/device/device_calls.h"
#include "runtime/program/program.h"

#include <initializer_list>
#include <string>
#include <vector>

namespace mtc::cuda {

/// The calls of abi.h as launches on a stream, which keeps their failures.
class CudaCalls final : public runtime::DeviceCalls {
public:
  CudaCalls(const Driver &driver, CudaStream &stream)
      : driver_(driver), stream_(stream), program_(driver), norm_(driver),
        attention_(driver), ownGemms_(driver) {}

  /// Loads the program's kernels, for the chip, and those of the norm. Errors:
  /// infeasible, naming what the driver rejects; inputRejected, without code
  /// for the chip.
  runtime::Status load(const runtime::Program &program,
                       const std::vector<runtime::KernelInfo> &kernels);
  /// Once, with the GPU's context current. `table`: as CudaGemms::open. Errors:
  /// usage, where the environment asks for other products than there are; those
  /// of CudaGemms::open.
  runtime::Status setGemms(const std::vector<runtime::GemmInfo> &rows,
                           const std::string &table, const std::string &gpu);
  /// Once, in all ranks, behind setGemms: CudaGemms::agree.
  runtime::Status agreeOnGemms(runtime::Communicator &control, int ranks,
                               int rank);
  /// CudaGemms::chosen as JSON; empty: cuBLASLt computes nothing.
  std::string chosenGemms() const;
  /// mtc_gemm: row `index`.
  runtime::Status gemm(int64_t index, const GemmOperands &operands);
  void launch(int32_t kernel, int64_t blocks, void *const *arguments) override;
  void attention(const MtcAttention &shape,
                 const runtime::AttentionOperands &operands,
                 bool backward) override;
  void stepBegin(MtcStepState *state) override;
  void moveOn(MtcStepState *state, int64_t samples, int64_t repeats) override;
  void take(MtcStepState *state, void *to, const void *from, int64_t bytes,
            int64_t stride) override;
  void normReset(MtcStepState *state) override;
  void normAccumulate(MtcStepState *state, MtcDtype dtype, const void *g,
                      int64_t count) override;
  void normCheck(MtcStepState *state, const void *x, int64_t count) override;
  void normFinish(MtcStepState *state) override;
  void zero(void *p, int64_t bytes, const int32_t *asked) override;

  /// MtcStepState::norm as kNormLimbs integers that ranks can add, and back; on
  /// a stream of the same context.
  void normToLimbs(void *norm, void *limbs, StreamHandle stream);
  void normFromLimbs(void *norm, void *limbs, StreamHandle stream);

  /// Before `load`: whose code the GPU runs, and whether it is of that very
  /// chip, so that cubins are for it.
  void setChip(const GpuChip &chip, bool isOfChip) {
    chip_ = chip.name;
    isOfChip_ = isOfChip;
    attention_.setChip(chip_);
  }
  /// Before the first call: where the step block lies on the device, whose it
  /// stays.
  void setState(MtcStepState *state) { state_ = state; }

private:
  /// Entries of the norm's module.
  enum Entry {
    kBegin,
    kMoveOn,
    kTake,
    kReset,
    kAccumulate32,
    kAccumulateBf16,
    kAccumulateF16,
    kCheck,
    kToLimbs,
    kFromLimbs,
    kFinish,
    kZero,
    kEntries
  };
  struct Kernel {
    Function function = nullptr;
    unsigned threads = 0, shared = 0;
    std::string name;
  };
  /// On the stream of fragments, if none is named.
  void start(Entry entry, int64_t blocks,
             std::initializer_list<const void *> arguments,
             StreamHandle stream = nullptr);

  bool usesLibrary() const { return !own_ && !rows_.empty(); }

  const Driver &driver_;
  CudaStream &stream_;
  CudaCode program_, norm_;
  std::vector<Kernel> kernels_; ///< by row of the descriptor
  Function entries_[kEntries] = {};
  CudaAttention attention_;
  CudaGemms gemms_;
  OwnGemms ownGemms_;
  std::string chip_;
  bool isOfChip_ = false;
  bool own_ = false; ///< who multiplies
  std::vector<runtime::GemmInfo> rows_;
  MtcStepState *state_ = nullptr;
};

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_CUDA_CALLS_H
