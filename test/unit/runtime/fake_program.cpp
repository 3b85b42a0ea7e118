//===- fake_program.cpp - a program written by hand -----------------------===//
//
// What `mtc compile` would emit for a toy: with x an input token and t its
// label, y = w[x mod 4] + b[t mod 3], loss = mean of (y - t/16)^2 / 2; dp = 2
// with ZeRO-1; plain gradient descent with clipping. With pp = 2, w and its
// term are on stage 0, b and the loss on stage 1. Sums are in the same order in
// both, so the results must be the same to the bit.
//
// With FAKE_BF16 the parameters are bf16 and the update is that of their fp32
// main copies; all else is as in fp32. With FAKE_FP16 they are f16, and so is
// the gradient of y, of the loss times the loss scale.
//
// FAKE_DEATH="rank step" kills that rank with SIGKILL in that step, and with
// FAKE_STUCK="rank step" it calls what no other rank calls, and no process ends
// any more. FAKE_NAN="what step" makes something NaN in it, on the second
// replica: the "loss", the gradient of "w" or "b", or the parameter b, by the
// "update".
//
//===----------------------------------------------------------------------===//

#include "mtc/runtime/step_field.h"
#include "runtime/base/half.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <unistd.h>
#include <utility>

#ifndef FAKE_ABI
#define FAKE_ABI MTC_ABI_VERSION
#endif
#if defined(FAKE_BF16)
#define DTYPE "bf16"
#define MAIN_OFFSET 32
#elif defined(FAKE_FP16)
#define DTYPE "fp16"
#define MAIN_OFFSET 32
#else
#define DTYPE "f32"
#endif
// JSON is a sequence of C++ tokens, so the preprocessor can quote it.
#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)

#define HAS_W (FAKE_STAGE == 0)
#define HAS_B (FAKE_STAGE == FAKE_PP - 1)

namespace {

constexpr int64_t kTokens = 8; // of one microbatch on one rank: 2 samples of 4
constexpr int64_t kBucket = 8; // elements: w, then b where there is one
constexpr int64_t kShard = 4;
constexpr int64_t kBStart = HAS_W ? 4 : 0;
constexpr int64_t kGradOffset = 64; // behind the loss
constexpr int64_t kTransfer = 1024; // of the first transfer buffer
constexpr int64_t kTransferBytes = kTokens * 4;
constexpr float kGlobalTokens = 32;

template <typename T> T *at(MtcContext *ctx, MtcArena arena, int64_t offset) {
  return reinterpret_cast<T *>(static_cast<char *>(ctx->arena[arena]) + offset);
}

#ifdef MAIN_OFFSET
using Element = uint16_t;
#ifdef FAKE_FP16
constexpr MtcDtype kDtype = MTC_F16;
#else
constexpr MtcDtype kDtype = MTC_BF16;
#endif
float widen(Element x) { return mtc::runtime::widenHalf(kDtype, x); }
Element narrow(float x) { return mtc::runtime::roundToHalf(kDtype, x); }
/// The main parameter of an element of this rank's shard.
float *mainOf(MtcContext *ctx, int64_t i) {
  return at<float>(ctx, MTC_ARENA_OPTIMIZER,
                   MAIN_OFFSET + 4 * (i - ctx->coord[MTC_AXIS_DP] * kShard));
}
#else
using Element = float;
constexpr MtcDtype kDtype = MTC_F32;
float widen(Element x) { return x; }
Element narrow(float x) { return x; }
float *mainOf(MtcContext *ctx, int64_t i) {
  return at<float>(ctx, MTC_ARENA_PARAMS, 4 * i);
}
#endif

Element *params(MtcContext *ctx) {
  return at<Element>(ctx, MTC_ARENA_PARAMS, 0);
}
float *grads(MtcContext *ctx) {
  return at<float>(ctx, MTC_ARENA_GRADS, kGradOffset);
}
float *loss(MtcContext *ctx) { return at<float>(ctx, MTC_ARENA_GRADS, 0); }
const int32_t *input(MtcContext *ctx, const MtcStep *row, int64_t offset) {
  return at<int32_t>(ctx, MTC_ARENA_ACTIVATIONS,
                     ctx->slots[row->slots + MTC_POOL_SAVED] * 64 + offset);
}
/// The receive and send pools have one slot each.
float *transfer(MtcContext *ctx, int pool) {
  return at<float>(ctx, MTC_ARENA_ACTIVATIONS,
                   kTransfer + pool * kTransferBytes);
}

/// Which rank a variable means in this step; -1: none.
long meantBy(MtcContext *ctx, const char *variable) {
  long rank = -1, step = -1;
  const char *text = std::getenv(variable);
  return text && std::sscanf(text, "%ld %ld", &rank, &step) == 2 &&
                 step == mtc::stepState(ctx).block.step
             ? rank
             : -1;
}

int64_t rankOf(MtcContext *ctx) {
  return ctx->coord[MTC_AXIS_DP] +
         ctx->extent[MTC_AXIS_DP] * ctx->coord[MTC_AXIS_PP];
}

void misbehave(MtcContext *ctx) {
  if (meantBy(ctx, "FAKE_DEATH") == rankOf(ctx))
    kill(getpid(), SIGKILL);
}

/// No process ends behind the step, which one rank fails in.
void getStuck(MtcContext *ctx) {
  const long stuck = meantBy(ctx, "FAKE_STUCK");
  if (stuck < 0)
    return;
  static bool isStuck = false;
  if (!std::exchange(isStuck, true))
    std::atexit([] {
      for (;;)
        pause();
    });
  float one = 1;
  if (stuck == rankOf(ctx))
    mtc_all_reduce(ctx, MTC_STREAM_COMPUTE, MTC_GROUP_DP, MTC_SUM, MTC_F32,
                   &one, 1);
}

/// NaN if $FAKE_NAN says so of this rank in this step, else 0.
float spoil(MtcContext *ctx, const char *what) {
  char found[16] = "";
  long step = -1;
  const char *nan = std::getenv("FAKE_NAN");
  bool meant = nan && std::sscanf(nan, "%15s %ld", found, &step) == 2 &&
               std::strcmp(found, what) == 0 && ctx->coord[MTC_AXIS_DP] == 1 &&
               step == mtc::stepState(ctx).block.step;
  return meant ? std::numeric_limits<float>::quiet_NaN() : 0;
}

[[maybe_unused]] void firstForward(MtcContext *ctx, const MtcStep *row) {
  for (int64_t i = 0; i < kTokens; ++i)
    transfer(ctx, MTC_POOL_SEND_ACTIVATION)[i] =
        widen(params(ctx)[input(ctx, row, 0)[i] % 4]);
}

[[maybe_unused]] void firstBackward(MtcContext *ctx, const MtcStep *row) {
  for (int64_t i = 0; i < kTokens; ++i)
    grads(ctx)[input(ctx, row, 0)[i] % 4] +=
        transfer(ctx, MTC_POOL_RECV_GRADIENT)[i];
}

/// The gradient of y, scaled and rounded where the program does that.
[[maybe_unused]] float gradient(MtcContext *ctx, float error) {
  float g = error / kGlobalTokens;
#ifdef FAKE_FP16
  return widen(narrow(g * mtc::stepState(ctx).block.loss_scale));
#else
  (void)ctx;
  return g;
#endif
}

/// y, the loss and its gradient; "logits" y·(v + 1) for the 16 words v.
[[maybe_unused]] void last(MtcContext *ctx, const MtcStep *row, bool train) {
  misbehave(ctx);
  *loss(ctx) += spoil(ctx, "loss");
  const Element *b = params(ctx) + kBStart;
  for (int64_t i = 0; i < kTokens; ++i) {
    int32_t t = input(ctx, row, 32)[i];
    float y = transfer(ctx, MTC_POOL_RECV_ACTIVATION)[i] + widen(b[t % 3]);
    float error = y - static_cast<float>(t) / 16;
    *loss(ctx) += error * error / 2 / kGlobalTokens;
    float g = gradient(ctx, error);
    transfer(ctx, MTC_POOL_SEND_GRADIENT)[i] = g;
    if (train)
      grads(ctx)[kBStart + t % 3] += g;
    for (int64_t v = 0; v < 16; ++v)
      at<float>(ctx, MTC_ARENA_WORKSPACE, 0)[i * 16 + v] =
          y * static_cast<float>(v + 1);
  }
}

#if FAKE_PP == 1
void move(MtcContext *ctx, int from, int to) {
  for (int64_t i = 0; i < kTokens; ++i)
    transfer(ctx, to)[i] = transfer(ctx, from)[i];
}
void forward(MtcContext *ctx, const MtcStep *row) {
  firstForward(ctx, row);
  move(ctx, MTC_POOL_SEND_ACTIVATION, MTC_POOL_RECV_ACTIVATION);
  last(ctx, row, true);
  move(ctx, MTC_POOL_SEND_GRADIENT, MTC_POOL_RECV_GRADIENT);
}
void backward(MtcContext *ctx, const MtcStep *row) { firstBackward(ctx, row); }
void evaluate(MtcContext *ctx, const MtcStep *row) {
  firstForward(ctx, row);
  move(ctx, MTC_POOL_SEND_ACTIVATION, MTC_POOL_RECV_ACTIVATION);
  last(ctx, row, false);
}
#elif FAKE_STAGE == 0
void forward(MtcContext *ctx, const MtcStep *row) { firstForward(ctx, row); }
void backward(MtcContext *ctx, const MtcStep *row) { firstBackward(ctx, row); }
void evaluate(MtcContext *ctx, const MtcStep *row) { firstForward(ctx, row); }
#else
void forward(MtcContext *ctx, const MtcStep *row) { last(ctx, row, true); }
void backward(MtcContext *, const MtcStep *) {}
void evaluate(MtcContext *ctx, const MtcStep *row) { last(ctx, row, false); }
#endif

void reduce(MtcContext *ctx, const MtcStep *) {
  getStuck(ctx);
  int64_t shard = ctx->coord[MTC_AXIS_DP] * kShard;
  if (HAS_W)
    grads(ctx)[1] += spoil(ctx, "w");
  if (HAS_B)
    grads(ctx)[kBStart] += spoil(ctx, "b");
  mtc_reduce_scatter(ctx, MTC_STREAM_COMPUTE, MTC_GROUP_DP, MTC_F32, grads(ctx),
                     kShard);
  if (HAS_B)
    mtc_all_reduce(ctx, MTC_STREAM_COMPUTE, MTC_GROUP_DP, MTC_SUM, MTC_F32,
                   loss(ctx), 1);
  mtc_norm_reset(ctx);
  if (HAS_B)
    mtc_norm_check(ctx, loss(ctx), 1);
  mtc_norm_accumulate(ctx, MTC_F32, grads(ctx) + shard, kShard);
  mtc_norm_reduce(ctx, MTC_STREAM_COMPUTE, MTC_GROUP_ALL);
  mtc_norm_finish(ctx);
}

void apply(MtcContext *ctx, const MtcStep *) {
  int64_t shard = ctx->coord[MTC_AXIS_DP] * kShard;
  // With one stage the second replica's shard is b.
  *mainOf(ctx, shard) += spoil(ctx, "update");
  for (int64_t i = shard; i < shard + kShard; ++i) {
    *mainOf(ctx, i) -= mtc::stepState(ctx).block.lr[0] *
                       (mtc::stepState(ctx).block.clip_coeff * grads(ctx)[i]);
    params(ctx)[i] = narrow(*mainOf(ctx, i));
  }
  mtc_all_gather(ctx, MTC_STREAM_COMPUTE, MTC_GROUP_DP, kDtype, params(ctx),
                 kShard);
  mtc_zero(ctx, grads(ctx), kBucket * 4);
}

constexpr int slotsOf(int microbatch) {
  return microbatch < 0 ? -1 : MTC_POOL_FIXED * microbatch;
}
constexpr MtcStep load(int microbatch) {
  return {MTC_STEP_LOAD, -1, microbatch, 0, slotsOf(microbatch), 0, 0, 0};
}
constexpr MtcStep call(int fragment, int microbatch) {
  return {MTC_STEP_RUN, fragment, microbatch, 0, slotsOf(microbatch), 0, 0, 0};
}
[[maybe_unused]] constexpr MtcStep exchange(int first) {
  return {MTC_STEP_EXCHANGE, -1, -1, 0, -1, first, 1, 0};
}

} // namespace

extern "C" {

extern const MtcFragment mtc_fragments[] = {forward, backward, evaluate, reduce,
                                            apply};

extern const int32_t mtc_slots[] = {0, 0, 0, 0, 0, -1, -1, -1, -1, -1,
                                    0, 0, 0, 0, 1, -1, -1, -1, -1, -1};

#if FAKE_PP == 1
extern const MtcStep mtc_timeline_train[] = {
    load(0),    call(0, 0), call(1, 0),  load(1),
    call(0, 1), call(1, 1), call(3, -1), call(4, -1)};
extern const MtcStep mtc_timeline_eval[] = {load(0), call(2, 0), load(1),
                                            call(2, 1)};
#define HASH "00000000000000a1"
#define TRAIN                                                                  \
  { "name" : "train", "length" : 8, "update" : [ 6, 7 ] }
#define EVAL                                                                   \
  { "name" : "eval", "length" : 4, "update" : [] }
#define TRANSFERS 0
#elif FAKE_STAGE == 0
// 0: send the activation, 1: receive its gradient; tags carry the microbatch.
extern const MtcTransfer mtc_transfers[] = {
    {1, 1, MTC_ARENA_ACTIVATIONS, 0, 1024 + MTC_POOL_SEND_ACTIVATION * 32, 32},
    {0, 1, MTC_ARENA_ACTIVATIONS, 10, 1024 + MTC_POOL_RECV_GRADIENT * 32, 32},
    {1, 1, MTC_ARENA_ACTIVATIONS, 1, 1024 + MTC_POOL_SEND_ACTIVATION * 32, 32},
    {0, 1, MTC_ARENA_ACTIVATIONS, 11, 1024 + MTC_POOL_RECV_GRADIENT * 32, 32}};
extern const MtcStep mtc_timeline_train[] = {
    load(0),     call(0, 0), exchange(0), exchange(1),
    call(1, 0),  load(1),    call(0, 1),  exchange(2),
    exchange(3), call(1, 1), call(3, -1), call(4, -1)};
extern const MtcStep mtc_timeline_eval[] = {load(0), call(2, 0), exchange(0),
                                            load(1), call(2, 1), exchange(2)};
#define HASH "00000000000000a2"
#define TRAIN                                                                  \
  { "name" : "train", "length" : 12, "update" : [ 10, 11 ] }
#define EVAL                                                                   \
  { "name" : "eval", "length" : 6, "update" : [] }
#define TRANSFERS 4
#else
extern const MtcTransfer mtc_transfers[] = {
    {0, 0, MTC_ARENA_ACTIVATIONS, 0, 1024 + MTC_POOL_RECV_ACTIVATION * 32, 32},
    {1, 0, MTC_ARENA_ACTIVATIONS, 10, 1024 + MTC_POOL_SEND_GRADIENT * 32, 32},
    {0, 0, MTC_ARENA_ACTIVATIONS, 1, 1024 + MTC_POOL_RECV_ACTIVATION * 32, 32},
    {1, 0, MTC_ARENA_ACTIVATIONS, 11, 1024 + MTC_POOL_SEND_GRADIENT * 32, 32}};
extern const MtcStep mtc_timeline_train[] = {
    load(0),     exchange(0), call(0, 0),  exchange(1), load(1),
    exchange(2), call(0, 1),  exchange(3), call(3, -1), call(4, -1)};
extern const MtcStep mtc_timeline_eval[] = {load(0), exchange(0), call(2, 0),
                                            load(1), exchange(2), call(2, 1)};
#define HASH "00000000000000a2"
#define TRAIN                                                                  \
  { "name" : "train", "length" : 10, "update" : [ 8, 9 ] }
#define EVAL                                                                   \
  { "name" : "eval", "length" : 6, "update" : [] }
#define TRANSFERS 4
#endif

// clang-format off
#define W \
  {"name": "w", "shape": [4], "local_shape": [4], "bucket": 0, "start": 0, \
   "owner": true, "decay": true, "init": {"kind": "normal", "std": 0.5}, \
   "layer_axes": ["ffn"]}
#define B(first) \
  {"name": "b", "shape": [3], "local_shape": [3], "bucket": 0, \
   "start": first, "owner": true, "decay": false, "init": {"kind": "ones"}, \
   "layer_axes": ["embed"]}
#define MOMENTS \
  {"name": "exp_avg", "offset": 0}, {"name": "exp_avg_sq", "offset": 16}
#ifdef MAIN_OFFSET
#define STATES MOMENTS, {"name": "main", "offset": MAIN_OFFSET}
#else
#define STATES MOMENTS
#endif
#define LOGITS \
  {"name": "logits", "entry": "eval", "fragment": 2, "arena": 4, \
   "offset": 0, "dtype": "f32", "shape": [2, 4, 16], "local_shape": [2, 4, 16]}
// clang-format on
#define IDS(of)                                                                \
  { "name" : "ids", "pool" : 4, "offset" : 0, "stride" : 64, "entry" : of }
#define LABELS(of)                                                             \
  { "name" : "labels", "pool" : 4, "offset" : 32, "stride" : 64, "entry" : of }
#if FAKE_PP == 1
#define PARAMS W, B(4)
#define UNPADDED 7
#define EXPORTS LOGITS
#elif FAKE_STAGE == 0
#define PARAMS W
#define UNPADDED 4
#define EXPORTS
#else
#define PARAMS B(0)
#define UNPADDED 3
#define EXPORTS LOGITS
#endif

extern const char mtc_descriptor[] = TEXT({
  "abi" : FAKE_ABI,
  "plan_hash" : HASH,
  "model" : "toy",
  "stage" : FAKE_STAGE,
  "isa" : "x86-64-v3",
  "threads" : 1,
  "streams" : 1,
  "dtype" : DTYPE,
  "onednn" : "",
  "device" : "cpu",
  "optimizer" : "sgd",
  "groups" : [],
  "mesh" : {"tp" : 1, "cp" : 1, "dp" : 2, "pp" : FAKE_PP},
  "batch" : {
    "micro_batch" : 2,
    "microbatches" : 2,
    "global_batch" : 8,
    "seq" : 4,
    "vocab" : 16
  },
  "arenas" : [ 4096, 4096, 4096, 4096, 4096, 4096, 0 ],
  "params" : [PARAMS],
  "buckets" : [ {
    "elements" : 8,
    "unpadded" : UNPADDED,
    "zero" : true,
    "shard_elements" : 4,
    "grad_offset" : 64,
    "grad_dtype" : "f32",
    "param_offset" : 0,
    "dtype" : DTYPE,
    "states" : [STATES]
  } ],
  "inputs" : [ IDS("train"), LABELS("train"), IDS("eval"), LABELS("eval") ],
  "gemms" : [],
  "kernels" : [],
  "kernel_workspace" : 0,
  "loss_offset" : 0,
  "entries" : [ TRAIN, EVAL ],
  "exports" : [EXPORTS],
  "transfers" : TRANSFERS,
  "posted" : TRANSFERS,
  "pools" : 10,
  "slots" : 20,
  "fragments" : [ "forward", "backward", "evaluate", "reduce", "apply" ]
});

} // extern "C"
