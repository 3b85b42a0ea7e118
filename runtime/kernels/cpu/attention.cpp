// The attention functions of abi.h: checks, then the chosen instruction set.
#include "mtc/runtime/step_field.h"
#include "runtime/base/philox.h"
#include "runtime/base/status.h"
#include "runtime/device/device_calls.h"
#include "runtime/kernels/cpu/kernel_table.h"
#include "runtime/kernels/cpu/team.h"

#include <algorithm>

namespace mtc::runtime {
namespace {

constexpr int64_t kAlign = 64;

int64_t roundTo(int64_t x, int64_t to) { return (x + to - 1) / to * to; }

float *aligned(void *p) {
  return (float *)roundTo(int64_t(uintptr_t(p)), kAlign);
}

/// The kernels, or null with ctx->status set; null, too, after an earlier
/// error.
const AttentionKernels *kernelsFor(MtcContext *ctx, const MtcAttention *d) {
  if (ctx->status != 0)
    return nullptr;
  if (d->dtype != MTC_F32 && d->dtype != MTC_BF16 && d->dtype != MTC_F16) {
    ctx->status = int(StatusCode::usage);
    return nullptr;
  }
  const AttentionKernels *kernels = selectedAttention(MtcDtype(d->dtype));
  if (!kernels)
    ctx->status = int(StatusCode::internal);
  return kernels;
}

AttentionCall callOf(const MtcContext *ctx, const MtcAttention *d,
                     const void *q, const void *k, const void *v,
                     const int32_t *documents, void *scratch, int64_t sample,
                     int64_t head, int64_t begin, int64_t begin2) {
  DropoutRule rule = dropoutRule(d->dropout);
  return {d,
          q,
          k,
          v,
          documents,
          aligned(scratch),
          0,
          0,
          mtc::stepState(ctx).block.seed,
          sample,
          head,
          {begin, begin2},
          rule.threshold,
          rule.scale};
}

/// Floats of scratch of one thread, in every instruction set: what the backward
/// kernel of fp32 needs, five arrays of keys and three of queries, two score
/// tiles, one float per query. That of pairs of bf16 has in place of them half
/// as many floats for each of three arrays of keys and four of queries, one
/// more row (by tiles sixteen) for two of these, three arrays of sums (by tiles
/// 32 more rows of one), and two tiles and a half (by tiles one and a half): no
/// more, as a row has 32 floats and keys are 64. Forward: two arrays of keys
/// and one of queries, 32 rows of sums, and tiles of scores as large as those
/// two.
int64_t threadFloats(const MtcAttention *d) {
  int64_t seq = roundTo(d->seq, kTile), dim = roundTo(d->head_dim, kHeadPad);
  int64_t arrays = 5 * roundTo(d->keys, kTile) + 3 * seq;
  return arrays * dim + 2 * kTile * kTile + seq; // a multiple of kAlign bytes
}

/// Threads that share `heads` of all samples. A head is done by one thread, so
/// threads beyond their number have nothing to do.
int64_t workersFor(int64_t threads, int64_t heads) {
  return std::clamp(threads, int64_t(1), std::max(heads, int64_t(1)));
}

/// Calls work(call) on the threads of a rank, each with its heads and its
/// scratch.
template <typename Work>
void onHeads(const AttentionCall &call, int64_t threads, int64_t heads,
             Work &&work) {
  onTeam(threads, workersFor(threads, heads), [&](int64_t part, int64_t parts) {
    AttentionCall mine = call;
    Part range = partOf(heads, part, parts);
    mine.firstHead = range.begin;
    mine.endHead = range.end;
    mine.scratch += part * threadFloats(call.shape);
    work(mine);
  });
}

} // namespace
} // namespace mtc::runtime

using mtc::runtime::AttentionCall;
using mtc::runtime::AttentionKernels;
using mtc::runtime::callOf;
using mtc::runtime::DeviceCalls;
using mtc::runtime::kernelsFor;
using mtc::runtime::onHeads;

int64_t mtc_attention_scratch(const MtcAttention *d, int32_t threads) {
  using namespace mtc::runtime;
  // The forward call has as many heads as there are queries', the backward one,
  // which needs more, of keys'.
  int64_t workers = workersFor(threads, d->batch * d->heads);
  return workers * threadFloats(d) * int64_t(sizeof(float)) + kAlign;
}

void mtc_attention_forward(MtcContext *ctx, const MtcAttention *d,
                           const void *q, const void *k, const void *v,
                           const int32_t *documents, void *out, void *lse,
                           void *scratch, int64_t sample, int64_t head,
                           int64_t begin, int64_t begin2) {
  if (ctx->status != 0)
    return;
  if (DeviceCalls *device = DeviceCalls::of(ctx))
    return device->attention(*d,
                             {q, k, v, documents, out, lse, nullptr, nullptr,
                              nullptr, nullptr, scratch, sample, head, begin,
                              begin2},
                             /*backward=*/false);
  const AttentionKernels *kernels = kernelsFor(ctx, d);
  if (!kernels)
    return;
  onHeads(
      callOf(ctx, d, q, k, v, documents, scratch, sample, head, begin, begin2),
      ctx->threads, d->batch * d->heads, [&](const AttentionCall &call) {
        kernels->forward(call, out, (float *)lse);
      });
}

void mtc_attention_backward(MtcContext *ctx, const MtcAttention *d,
                            const void *dout, const void *q, const void *k,
                            const void *v, const int32_t *documents,
                            const void *out, const void *lse, void *dq,
                            void *dk, void *dv, void *scratch, int64_t sample,
                            int64_t head, int64_t begin, int64_t begin2) {
  if (ctx->status != 0)
    return;
  if (DeviceCalls *device = DeviceCalls::of(ctx))
    return device->attention(*d,
                             {q, k, v, documents, const_cast<void *>(out),
                              const_cast<void *>(lse), dout, dq, dk, dv,
                              scratch, sample, head, begin, begin2},
                             /*backward=*/true);
  const AttentionKernels *kernels = kernelsFor(ctx, d);
  if (!kernels)
    return;
  onHeads(
      callOf(ctx, d, q, k, v, documents, scratch, sample, head, begin, begin2),
      ctx->threads, d->batch * d->kv_heads, [&](const AttentionCall &call) {
        kernels->backward(call, {dout, out, (const float *)lse, dq, dk, dv});
      });
}
