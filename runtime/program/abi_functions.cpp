//===- abi_functions.cpp - the functions that fragments call --------------===//
//
// Thin: each function does nothing once the context has failed, and otherwise
// turns a Status into the context's. A device of its own does the rest in place
// of the host. Attention is in kernels/cpu.
//
//===----------------------------------------------------------------------===//

#include "runtime/program/abi_functions.h"

#include "mtc/runtime/step_field.h"
#include "mtc/runtime/update_rule.h"
#include "runtime/device/device_calls.h"
#include "runtime/kernels/cpu/norm.h"
#include "runtime/kernels/cpu/team.h"
#include "runtime/program/counted_parts.h"
#include "runtime/program/profile.h"
#include "runtime/program/rank.h"

#include <cstddef>
#include <cstring>
#include <mutex>

namespace mtc::runtime {
namespace {

RankState &rankOf(MtcContext *ctx) {
  return *static_cast<RankState *>(ctx->runtime);
}

MtcStream streamOf(int32_t stream) { return static_cast<MtcStream>(stream); }
MtcGroup groupOf(int32_t group) { return static_cast<MtcGroup>(group); }
MtcDtype dtypeOf(int32_t dtype) { return static_cast<MtcDtype>(dtype); }

void issue(MtcContext *ctx, int32_t stream, const CollectiveCall &call,
           void *buffer) {
  if (ctx->status == 0)
    rankOf(ctx).accept(
        rankOf(ctx).collective(streamOf(stream), call, buffer, nullptr));
}

NormSum normOf(const MtcContext *ctx) {
  NormSum sum;
  static_assert(sizeof sum.limb == sizeof MtcStepState::norm);
  std::memcpy(sum.limb, stepState(ctx).norm, sizeof sum.limb);
  return sum;
}

void setNorm(MtcContext *ctx, const NormSum &sum) {
  std::memcpy(stepState(ctx).norm, sum.limb, sizeof sum.limb);
}

/// Adds to the norm of a step what a counter has.
void addToNorm(MtcContext *ctx, const CountedParts &counted) {
  NormSum sum = normOf(ctx);
  counted.addTo(sum);
  setNorm(ctx, sum);
}

void issueCounted(MtcContext *ctx, const CollectiveCall &call, float *buffer,
                  std::span<const MtcCounted> parts) {
  if (ctx->status != 0)
    return;
  CountedParts counted(buffer, parts);
  rankOf(ctx).accept(
      rankOf(ctx).collective(MTC_STREAM_COMPUTE, call, buffer, &counted));
  if (ctx->status == 0)
    addToNorm(ctx, counted);
}

/// Elements of a range that a core's cache keeps, and that take longer than it
/// takes to start a thread that sleeps.
constexpr int64_t kCountedElements = 16384,
                  kRangeWorthAThread = 4 * kCountedElements;

/// Bytes that take longer to clear than it takes to start a thread that sleeps,
/// and a multiple of which parts have, that no page is of two of them.
constexpr int64_t kWorthAThread = 1 << 20, kPageBytes = 4096;

void zeroOnThreads(const MtcContext *ctx, void *p, int64_t bytes) {
  int64_t workers = threadsFor(ctx->threads, bytes, kWorthAThread);
  onTeam(ctx->threads, workers, [&](int64_t part, int64_t parts) {
    Part range = partOf(bytes, part, parts, kPageBytes);
    std::memset(static_cast<std::byte *>(p) + range.begin, 0,
                size_t(range.end - range.begin));
  });
}

} // namespace

std::span<void *const> abiFunctions() {
  static void *const table[] = {
      reinterpret_cast<void *>(&mtc_gemm),
      reinterpret_cast<void *>(&mtc_gemm_epilogue),
      reinterpret_cast<void *>(&mtc_gemm_then),
      reinterpret_cast<void *>(&mtc_gemm_pack),
      reinterpret_cast<void *>(&mtc_attention_forward),
      reinterpret_cast<void *>(&mtc_attention_backward),
      reinterpret_cast<void *>(&mtc_attention_scratch),
      reinterpret_cast<void *>(&mtc_all_reduce),
      reinterpret_cast<void *>(&mtc_reduce_scatter),
      reinterpret_cast<void *>(&mtc_all_gather),
      reinterpret_cast<void *>(&mtc_all_reduce_counted),
      reinterpret_cast<void *>(&mtc_reduce_scatter_counted),
      reinterpret_cast<void *>(&mtc_range_counted),
      reinterpret_cast<void *>(&mtc_record),
      reinterpret_cast<void *>(&mtc_wait),
      reinterpret_cast<void *>(&mtc_norm_reset),
      reinterpret_cast<void *>(&mtc_norm_accumulate),
      reinterpret_cast<void *>(&mtc_norm_check),
      reinterpret_cast<void *>(&mtc_norm_reduce),
      reinterpret_cast<void *>(&mtc_norm_finish),
      reinterpret_cast<void *>(&mtc_zero),
      reinterpret_cast<void *>(&mtc_zero_guarded),
      reinterpret_cast<void *>(&mtc_launch),
      reinterpret_cast<void *>(&mtc_profile_op),
      reinterpret_cast<void *>(&mtc_parallel),
      reinterpret_cast<void *>(&mtc_parallel_meet)};
  return table;
}

extern "C" {

void mtc_gemm(MtcContext *ctx, int32_t index, const void *a, const void *b,
              void *c, void *scratch) {
  if (ctx->status != 0)
    return;
  RankState &rank = rankOf(ctx);
  GemmOperands operands{a, b, c, scratch};
  if (!rank.countsSquares(index))
    return rank.accept(rank.gemm(index, operands));
  NormSum sum = normOf(ctx);
  operands.squares = &sum;
  rank.accept(rank.gemm(index, operands));
  setNorm(ctx, sum);
}

void mtc_gemm_epilogue(MtcContext *ctx, int32_t index, const void *a,
                       const void *b, const void *bias, void *c, void *aux,
                       void *scratch) {
  if (ctx->status == 0)
    rankOf(ctx).accept(rankOf(ctx).gemm(index, {a, b, c, scratch, bias, aux}));
}

void mtc_gemm_then(MtcContext *ctx, int32_t index, const void *a, const void *b,
                   void *c, void *scratch, MtcTile then, void *argument) {
  if (ctx->status == 0)
    rankOf(ctx).accept(rankOf(ctx).gemm(
        index, {a, b, c, scratch, nullptr, nullptr, then, argument}));
}

void mtc_gemm_pack(MtcContext *ctx, int64_t n, int64_t k, int32_t tb,
                   int32_t type, const void *b, void *packed) {
  if (ctx->status == 0)
    rankOf(ctx).accept(
        rankOf(ctx).pack({n, k, tb != 0, dtypeOf(type), b, packed}));
}

void mtc_all_reduce(MtcContext *ctx, int32_t stream, int32_t group, int32_t op,
                    int32_t dtype, void *buffer, int64_t count) {
  issue(ctx, stream,
        {CollectiveKind::allReduce, groupOf(group), static_cast<MtcReduce>(op),
         dtypeOf(dtype), count},
        buffer);
}

void mtc_reduce_scatter(MtcContext *ctx, int32_t stream, int32_t group,
                        int32_t dtype, void *buffer, int64_t count) {
  issue(ctx, stream,
        {CollectiveKind::reduceScatter, groupOf(group), MTC_SUM, dtypeOf(dtype),
         count},
        buffer);
}

void mtc_all_gather(MtcContext *ctx, int32_t stream, int32_t group,
                    int32_t dtype, void *buffer, int64_t count) {
  issue(ctx, stream,
        {CollectiveKind::allGather, groupOf(group), MTC_SUM, dtypeOf(dtype),
         count},
        buffer);
}

void mtc_all_reduce_counted(MtcContext *ctx, int32_t group, float *buffer,
                            int64_t count, const MtcCounted *parts,
                            int64_t part_count) {
  issueCounted(
      ctx, {CollectiveKind::allReduce, groupOf(group), MTC_SUM, MTC_F32, count},
      buffer, {parts, size_t(part_count)});
}

void mtc_reduce_scatter_counted(MtcContext *ctx, int32_t group, float *buffer,
                                int64_t count, const MtcCounted *parts,
                                int64_t part_count) {
  issueCounted(
      ctx,
      {CollectiveKind::reduceScatter, groupOf(group), MTC_SUM, MTC_F32, count},
      buffer, {parts, size_t(part_count)});
}

void mtc_range_counted(MtcContext *ctx, MtcRange kernel, void *argument,
                       int64_t length, const float *made,
                       const MtcCounted *parts, int64_t part_count) {
  if (ctx->status != 0)
    return;
  std::mutex adding;
  int64_t workers = threadsFor(ctx->threads, length, kRangeWorthAThread);
  onTeam(ctx->threads, workers, [&](int64_t part, int64_t all) {
    Part mine = partOf(length, part, all, kCountedElements);
    CountedParts counted(made, {parts, size_t(part_count)});
    for (int64_t at = mine.begin, end; at < mine.end; at = end) {
      end = std::min(mine.end, at + kCountedElements);
      kernel(argument, at, end);
      counted.made(at, end - at);
    }
    std::lock_guard lock(adding);
    addToNorm(ctx, counted);
  });
}

void mtc_record(MtcContext *ctx, int32_t event, int32_t stream) {
  if (ctx->status == 0)
    rankOf(ctx).record(event, streamOf(stream));
}

void mtc_wait(MtcContext *ctx, int32_t event, int32_t stream) {
  if (ctx->status == 0)
    rankOf(ctx).accept(rankOf(ctx).wait(event, streamOf(stream)));
}

void mtc_norm_reset(MtcContext *ctx) {
  if (ctx->status != 0)
    return;
  if (DeviceCalls *device = DeviceCalls::of(ctx))
    return device->normReset(&stepState(ctx));
  setNorm(ctx, NormSum());
}

void mtc_norm_accumulate(MtcContext *ctx, int32_t dtype, const void *g,
                         int64_t count) {
  if (ctx->status != 0)
    return;
  if (DeviceCalls *device = DeviceCalls::of(ctx))
    return device->normAccumulate(&stepState(ctx), dtypeOf(dtype), g, count);
  NormSum sum = normOf(ctx);
  if (dtypeOf(dtype) != MTC_F32)
    normAccumulateHalf(sum, dtypeOf(dtype), static_cast<const uint16_t *>(g),
                       count, ctx->threads);
  else
    normAccumulate(sum, static_cast<const float *>(g), count, ctx->threads);
  setNorm(ctx, sum);
}

void mtc_norm_check(MtcContext *ctx, const void *x, int64_t count) {
  if (ctx->status != 0)
    return;
  if (DeviceCalls *device = DeviceCalls::of(ctx))
    return device->normCheck(&stepState(ctx), x, count);
  NormSum sum = normOf(ctx);
  normCheck(sum, static_cast<const float *>(x), count, ctx->threads);
  setNorm(ctx, sum);
}

void mtc_norm_reduce(MtcContext *ctx, int32_t stream, int32_t group) {
  if (ctx->status == 0)
    rankOf(ctx).accept(
        rankOf(ctx).reduceNorm(streamOf(stream), groupOf(group)));
}

void mtc_norm_finish(MtcContext *ctx) {
  if (ctx->status != 0)
    return;
  if (DeviceCalls *device = DeviceCalls::of(ctx))
    return device->normFinish(&stepState(ctx));
  MtcStepState &state = stepState(ctx);
  MtcStepBlock &block = state.block;
  block.grad_norm = normValue(normOf(ctx)) * block.inv_loss_scale;
  block.clip_coeff = clipCoefficient(block.grad_norm, block.clip_threshold,
                                     block.inv_loss_scale);
  // What is not applied the host deals with, before it issues another step.
  StepEnd end = endOfStep(state.stopped, block.follows, /*scaled=*/false,
                          block.grad_norm, block.clip_threshold);
  block.applies = end == StepEnd::applied;
  state.stopped = end == StepEnd::stopped;
}

void mtc_zero(MtcContext *ctx, void *p, int64_t bytes) {
  if (ctx->status != 0)
    return;
  if (DeviceCalls *device = DeviceCalls::of(ctx))
    return device->zero(p, bytes, nullptr);
  zeroOnThreads(ctx, p, bytes);
}

void mtc_zero_guarded(MtcContext *ctx, void *p, int64_t bytes) {
  if (ctx->status != 0)
    return;
  if (DeviceCalls *device = DeviceCalls::of(ctx))
    return device->zero(p, bytes, &stepState(ctx).block.applies);
  zeroOnThreads(ctx, p, bytes);
}

void mtc_launch(MtcContext *ctx, int32_t index, int64_t blocks,
                void *const *arguments) {
  if (ctx->status != 0)
    return;
  if (DeviceCalls *device = DeviceCalls::of(ctx))
    return device->launch(index, blocks, arguments);
  rankOf(ctx).accept({StatusCode::internal,
                      "a fragment launches a kernel of a GPU on a device that "
                      "has none"});
}

void mtc_profile_op(MtcContext *ctx, const MtcStep *row, int32_t op) {
  if (ctx->profile)
    static_cast<RankProfile *>(ctx->profile)->opBegins(*row, op);
}

} // extern "C"

} // namespace mtc::runtime
