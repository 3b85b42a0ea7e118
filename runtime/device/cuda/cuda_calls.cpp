//===- cuda_calls.cpp - what fragments of a GPU issue ---------------------===//

#include "runtime/device/cuda/cuda_calls.h"

#include "mtc/runtime/gpu_texts.h"
#include "runtime/cuda/norm/norm_params.h"

#include <array>

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::cuda {

/// A block each for so many multiprocessors is enough for every GPU: the sum
/// has the same bits for any number of blocks, and plans do not depend on one.
static constexpr int kMultiprocessors = 128;

Status CudaCalls::load(const runtime::Program &program,
                       const std::vector<runtime::KernelInfo> &kernels) {
  MTC_RETURN_IF_ERROR(norm_.loadText(std::string(kNormText)));
  static constexpr const char *kNames[] = {"mtc_cuda_step_begin",
                                           "mtc_cuda_move_on",
                                           "mtc_cuda_take",
                                           "mtc_cuda_norm_reset",
                                           "mtc_cuda_norm_accumulate_f32",
                                           "mtc_cuda_norm_accumulate_bf16",
                                           "mtc_cuda_norm_accumulate_f16",
                                           "mtc_cuda_norm_check",
                                           "mtc_cuda_norm_to_limbs",
                                           "mtc_cuda_norm_from_limbs",
                                           "mtc_cuda_norm_finish",
                                           "mtc_cuda_zero"};
  static_assert(std::size(kNames) == kEntries);
  for (int entry = 0; entry < kEntries; ++entry)
    MTC_RETURN_IF_ERROR(norm_.find(kNames[entry], 0, entries_[entry]));
  const std::string symbol = "ptx_" + chip_;
  const char *ptx = program.code ? program.code(symbol) : nullptr;
  if (!ptx)
    return kernels.empty()
               ? Status::okay()
               : Status(StatusCode::inputRejected,
                        fmt::format("expected the symbol mtc_{} in a program "
                                    "with kernels for {}, found none",
                                    symbol, chip_));
  const char *cubin = isOfChip_ ? program.code("cubin_" + chip_) : nullptr;
  MTC_RETURN_IF_ERROR(program_.load(ptx, "the program's kernels", cubin));
  for (const runtime::KernelInfo &kernel : kernels) {
    Kernel &loaded = kernels_.emplace_back();
    MTC_RETURN_IF_ERROR(
        program_.find(kernel.name, kernel.shared, loaded.function));
    loaded.threads = static_cast<unsigned>(kernel.threads);
    loaded.shared = static_cast<unsigned>(kernel.shared);
    loaded.name = kernel.name;
  }
  return Status::okay();
}

void CudaCalls::launch(int32_t kernel, int64_t blocks, void *const *arguments) {
  countOne();
  if (stream_.failed() || blocks == 0)
    return;
  if (kernel < 0 || static_cast<size_t>(kernel) >= kernels_.size())
    return stream_.fail({StatusCode::inputRejected,
                         fmt::format("a fragment launches kernel {} of {}",
                                     kernel, kernels_.size())});
  const Kernel &k = kernels_[static_cast<size_t>(kernel)];
  if (blocks < 0 || blocks > INT32_MAX)
    return stream_.fail({StatusCode::infeasible,
                         fmt::format("kernel {}: expected at most {} blocks, "
                                     "found {}; lower the micro-batch size",
                                     k.name, INT32_MAX, blocks)});
  (void)stream_.accept(driver_.launch(k.function, static_cast<unsigned>(blocks),
                                      1, 1, k.threads, 1, 1, k.shared,
                                      stream_.handle(), arguments, nullptr),
                       "cuLaunchKernel", k.name);
}

void CudaCalls::start(Entry entry, int64_t blocks,
                      std::initializer_list<const void *> arguments,
                      StreamHandle stream) {
  if (stream_.failed())
    return;
  std::array<void *, 5> list{};
  size_t count = 0;
  for (const void *argument : arguments)
    list[count++] = const_cast<void *>(argument);
  (void)stream_.accept(
      driver_.launch(entries_[entry], static_cast<unsigned>(blocks), 1, 1,
                     kNormThreads, 1, 1, 0, stream ? stream : stream_.handle(),
                     list.data(), nullptr),
      "cuLaunchKernel");
}

void CudaCalls::attention(const MtcAttention &shape,
                          const runtime::AttentionOperands &operands,
                          bool backward) {
  countOne();
  if (stream_.failed())
    return;
  if (Status status = attention_.issue(shape, operands, backward,
                                       &state_->block, stream_.handle());
      !status.ok())
    stream_.fail(std::move(status));
}

/// What is known of the library's epilogues is of a bias that one access of 16
/// bytes reads.
static bool isForLibrary(const runtime::GemmInfo &row,
                         const GemmOperands &operands) {
  return isForLibrary(row) &&
         reinterpret_cast<uintptr_t>(operands.bias) % kTunedAlignment == 0;
}

Status CudaCalls::gemm(int64_t index, const GemmOperands &operands) {
  const runtime::GemmInfo &row = rows_[static_cast<size_t>(index)];
  countOne();
  if (!stream_.failed())
    if (Status status = own_ || !isForLibrary(row, operands)
                            ? ownGemms_.issue(row, operands, stream_.handle())
                            : gemms_.issue(row, operands, stream_.handle());
        !status.ok())
      stream_.fail(std::move(status));
  return stream_.failure();
}

Status CudaCalls::setGemms(const std::vector<runtime::GemmInfo> &rows,
                           const std::string &table, const std::string &gpu) {
  for (const runtime::GemmInfo &row : rows)
    if (row.counts)
      return {StatusCode::inputRejected,
              "expected products that count no squares, as a GPU's do not, "
              "found one that does; compile for a GPU"};
  rows_ = rows;
  MTC_RETURN_IF_ERROR(asksForOwnGemms(own_));
  if (own_ && !table.empty())
    return {StatusCode::usage,
            fmt::format("--gemm-table {}: expected products of cuBLASLt, found "
                        "MTC_CUDA_GEMM=own; leave one of them out",
                        table)};
  return usesLibrary() ? gemms_.open(rows, table, gpu) : Status::okay();
}

Status CudaCalls::agreeOnGemms(runtime::Communicator &control, int ranks,
                               int rank) {
  const int64_t library = rows_.empty() ? kNoProducts
                          : own_        ? kOwnProducts
                                        : gemms_.library();
  return gemms_.agree(control, ranks, rank, static_cast<int32_t>(library));
}

std::string CudaCalls::chosenGemms() const {
  return usesLibrary() ? gemmTableJson(gemms_.chosen()).dump() : "";
}

void CudaCalls::stepBegin(MtcStepState *state) { start(kBegin, 1, {&state}); }

void CudaCalls::moveOn(MtcStepState *state, int64_t samples, int64_t repeats) {
  start(kMoveOn, 1, {&state, &samples, &repeats});
}

void CudaCalls::take(MtcStepState *state, void *to, const void *from,
                     int64_t bytes, int64_t stride) {
  if (bytes > 0)
    start(kTake, takeBlocks(bytes, kMultiprocessors),
          {&state, &to, &from, &bytes, &stride});
}

void CudaCalls::normReset(MtcStepState *state) {
  void *norm = state->norm;
  start(kReset, 1, {&norm});
}

void CudaCalls::normAccumulate(MtcStepState *state, MtcDtype dtype,
                               const void *g, int64_t count) {
  if (count == 0)
    return;
  void *norm = state->norm;
  Entry entry = dtype == MTC_F32    ? kAccumulate32
                : dtype == MTC_BF16 ? kAccumulateBf16
                                    : kAccumulateF16;
  start(entry, normBlocks(count * runtime::floatBytes(dtype), kMultiprocessors),
        {&norm, &g, &count});
}

void CudaCalls::normCheck(MtcStepState *state, const void *x, int64_t count) {
  void *norm = state->norm;
  start(kCheck, normBlocks(count * 4, kMultiprocessors), {&norm, &x, &count});
}

void CudaCalls::normToLimbs(void *norm, void *limbs, StreamHandle stream) {
  start(kToLimbs, 1, {&norm, &limbs}, stream);
}

void CudaCalls::normFromLimbs(void *norm, void *limbs, StreamHandle stream) {
  start(kFromLimbs, 1, {&norm, &limbs}, stream);
}

void CudaCalls::normFinish(MtcStepState *state) { start(kFinish, 1, {&state}); }

void CudaCalls::zero(void *p, int64_t bytes, const int32_t *asked) {
  if (bytes > 0)
    start(kZero, zeroBlocks(bytes, kMultiprocessors), {&p, &bytes, &asked});
}

} // namespace mtc::cuda
