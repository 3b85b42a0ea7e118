//===- abi.h - what a compiled program and the runtime agree on -*- C++ -*-===//
//
// The one definition of every layout that generated code and the runtime share.
// Generated code sees only plain C: an `MtcContext`, a `MtcStep` (one row of a
// timeline) and the functions declared below. Nothing here is interpreted: a
// fragment is machine code which calls kernels and these functions directly.
//
// Change a layout here and `MTC_ABI_VERSION` must grow: the runtime rejects a
// program of another version.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_ABI_H
#define MTC_RUNTIME_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MTC_ABI_VERSION 26

/// The kinds of memory. Each rank has one arena per kind; its size in bytes is
/// fixed by `plan-memory` and stands in the descriptor. memory.h has their
/// names.
enum MtcArena {
  MTC_ARENA_PARAMS = 0,    ///< parameters in the compute type, bucket layout
  MTC_ARENA_GRADS = 1,     ///< gradient accumulators, bucket layout; fp32 loss
  MTC_ARENA_OPTIMIZER = 2, ///< fp32 moments; of 16-bit parameters main ones
  MTC_ARENA_ACTIVATIONS = 3, ///< slots: saved values, inputs, transfers
  MTC_ARENA_WORKSPACE = 4,   ///< values local to one fragment, GEMM scratch
  MTC_ARENA_STEP = 5,        ///< an MtcStepState
  MTC_ARENA_PACKED = 6,      ///< weights as products read them, packed
  MTC_ARENA_COUNT = 7
};

/// The axes of the mesh. mesh.h has their names and all that follows from them.
enum MtcAxis {
  MTC_AXIS_TP = 0, ///< fastest: neighbours in tp are neighbouring ranks
  MTC_AXIS_CP = 1,
  MTC_AXIS_DP = 2,
  MTC_AXIS_PP = 3, ///< slowest
  MTC_AXIS_COUNT = 4
};

/// Communicators; mesh.h says along which axes each runs.
enum MtcGroup {
  MTC_GROUP_TP = 0, ///< ranks that differ in tp only, in tp order
  MTC_GROUP_DP = 1, ///< ranks that differ in dp only, in dp order
  MTC_GROUP_EMBEDDING =
      2,             ///< first and last stage, else the same place; first first
  MTC_GROUP_ALL = 3, ///< every rank, in rank order
  MTC_GROUP_CP = 4,  ///< ranks that differ in cp only, in cp order
  MTC_GROUP_KV = 5,  ///< those in a row along tp that have the same key heads
  MTC_GROUP_COUNT = 6
};

enum MtcDtype {
  MTC_F32 = 0,
  MTC_BF16 = 1,
  MTC_I32 = 2,
  MTC_I128 = 3,
  MTC_F16 = 4, ///< IEEE 754 binary16
};
enum MtcReduce { MTC_SUM = 0, MTC_MAX = 1 };

/// Queues of work of a rank. Each runs in the order of the program; where a
/// program has one only, that is the first.
enum MtcStream {
  MTC_STREAM_COMPUTE = 0, ///< fragments, and all that they do not give another
  MTC_STREAM_COMM = 1,    ///< collectives that run beside fragments
  MTC_STREAM_COUNT = 2
};

/// Groups of parameters that have a learning rate and a decay of their own,
/// with the first, which all others are in.
#define MTC_PARAM_GROUPS 16

/// Everything that changes between steps or runs. None of it is a constant in
/// code. Kernels read single fields through pointers into this block, which
/// lies in memory of the device: the runtime copies it there before each step.
/// What each field means, who writes and who reads it: step_field.h, whose list
/// this layout is held to.
struct MtcStepBlock {
  uint64_t seed;
  int64_t sample_base;
  int64_t step;
  float lr[MTC_PARAM_GROUPS];
  float weight_decay[MTC_PARAM_GROUPS];
  float beta1, beta2;
  float one_minus_beta1, one_minus_beta2;
  float eps;
  float inv_bias1, inv_bias2;
  float momentum;
  float clip_threshold, clip_coeff;
  int32_t applies, follows;
  float loss_scale, loss;
  double inv_loss_scale;
  double grad_norm;
};

/// What updates have led to, beside parameters (update_state.h).
struct MtcUpdates {
  int64_t done;          ///< steps that were updated
  double power1, power2; ///< beta1^done and beta2^done, as running products
  double scale;          ///< of the loss, in the next step
  int64_t growth;        ///< finite steps that count for a larger scale
  int64_t hysteresis;    ///< overflows that are left until it falls
};

/// How the scale of a run's losses changes.
struct MtcScaleRule {
  double least;
  int64_t window, hysteresis;
  int32_t scales; ///< 1: a step whose gradients are not finite is skipped, as
                  ///< they are scaled; 0: it ends the run
  int32_t adapts; ///< 1: the scale changes; 0: it stays what it is
};

/// What differs between groups of parameters, of one step.
struct MtcRates {
  float lr[MTC_PARAM_GROUPS];
  float weight_decay[MTC_PARAM_GROUPS];
};

/// Steps that a host may have issued when it issues one more, and of which it
/// does not know whether they are updated.
#define MTC_MOST_UNKNOWN 1

/// What a host tells a device of a step.
struct MtcStepOrder {
  /// The block, and the updates in front of the step, provided that all steps
  /// that were issued before it are updated. A device counts by itself where
  /// the step follows one.
  struct MtcStepBlock block;
  struct MtcUpdates updates;
  double beta1, beta2;
  struct MtcScaleRule scale_rule;
  /// Indexed by how many of those are not updated.
  struct MtcRates rates[MTC_MOST_UNKNOWN + 1];
};

/// Limbs of the sum of the global norm, integers of 128 bits. Limb i counts
/// 2^(64·i) units of 2^-298, the square of the smallest fp32 value. The square
/// of the largest is below 2^554 units, which end in the ninth limb.
#define MTC_NORM_LIMBS 9

/// What MTC_ARENA_STEP holds, from its base on.
struct MtcStepState {
  struct MtcStepBlock block;
  /// Behind the last step. Of a GPU; a host counts by itself.
  struct MtcUpdates updates;
  int64_t norm[2 * MTC_NORM_LIMBS]; ///< limbs, low ones and low halves first
  /// 1: the last step ends the run, and steps that follow it are not updated
  /// (update_rule.h). Written by mtc_norm_finish alone.
  int32_t stopped;
  /// 1: the last step was skipped, and its gradients are still there. Of a GPU.
  int32_t skipped;
  struct MtcStepOrder order; ///< of a GPU
  /// Repeats of a period of rows that were left behind (EntryInfo::period); 0
  /// outside of periods. Of a GPU.
  int64_t repeats;
};

/// MtcStepBlock::follows: what of the step before a host knew when it issued
/// one.
enum MtcFollows {
  MTC_FOLLOWS_NONE = 0, ///< all: the block is the step's
  MTC_FOLLOWS_STEP = 1, ///< nothing: the device sees to rates and scale
  MTC_FOLLOWS_TWIN = 2, ///< that it is not updated, and neither is this, which
                        ///< computes the same again
};

/// What every fragment receives. One per rank; it lives as long as the run.
struct MtcContext {
  void *arena[MTC_ARENA_COUNT];   ///< base addresses, 4096-aligned
  int64_t coord[MTC_AXIS_COUNT];  ///< of this rank
  int64_t extent[MTC_AXIS_COUNT]; ///< of the mesh
  /// 0 while all is well. The first failing call sets it (an MtcStatusCode) and
  /// every later call returns at once, so that a fragment ends quickly.
  int32_t status;
  int32_t threads;      ///< of this rank, on a host; 0 is 1
  const int32_t *slots; ///< mtc_slots of its program
  void *runtime;        ///< mtc::runtime::RankState; opaque to generated code
  /// mtc::runtime::DeviceCalls, what a device does in place of the host; null:
  /// the host does all. Opaque to generated code.
  void *device;
  /// The step block as fragments read it. Those of a GPU run on the host, which
  /// cannot read the arenas: what the host said when the step began, of which
  /// rates and scale may be others on the device; null before the first. Else
  /// the one in MTC_ARENA_STEP.
  const struct MtcStepBlock *block;
  /// Of kernels of a GPU: `kernel_workspace` bytes of the descriptor, for one
  /// kernel at a time.
  void *kernel_workspace;
  /// mtc::runtime::RankProfile, while ops of fragments are timed; null: they
  /// are not. Opaque to generated code.
  void *profile;
};

/// One row of a timeline: what the small loop in the runtime walks.
enum MtcStepKind {
  MTC_STEP_LOAD = 0, ///< fill the input values of `microbatch` in its slot
  MTC_STEP_RUN = 1,  ///< call fragments[fragment](ctx, this row)
  MTC_STEP_EXCHANGE =
      2,             ///< transfers[first, first + count) as one atomic group
  MTC_STEP_POST = 3, ///< begins transfers[first, first + count)
  MTC_STEP_WAIT = 4, ///< ends such, that an earlier row of the step posted
};

/// Pools of slots (docs/schedules.md; memory.h has their names). A fragment
/// computes an address as arena base + slot * stride + offset, with stride and
/// offset immediate; the slot is mtc_slots[row.slots + pool]. Every program has
/// the first ones; where more than one value crosses a boundary, each further
/// one has pools behind them, up to MTC_POOL_LIMIT.
enum MtcPool {
  MTC_POOL_RECV_ACTIVATION = 0,
  MTC_POOL_RECV_GRADIENT = 1,
  MTC_POOL_SEND_ACTIVATION = 2,
  MTC_POOL_SEND_GRADIENT = 3,
  MTC_POOL_SAVED = 4,   ///< from forward to backward; also the inputs
  MTC_POOL_SPLIT = 5,   ///< saved from input gradient to weight gradient
  MTC_POOL_OPERAND = 6, ///< saved from forward to weight gradient
  /// The same three of microbatches whose backward computes the rest again.
  MTC_POOL_SAVED_AGAIN = 7,
  MTC_POOL_SPLIT_AGAIN = 8,
  MTC_POOL_OPERAND_AGAIN = 9,
  MTC_POOL_FIXED = 10,
  MTC_POOL_LIMIT = 262
};

struct MtcStep {
  int32_t kind;       ///< MtcStepKind
  int32_t fragment;   ///< RUN: index into mtc_fragments
  int32_t microbatch; ///< LOAD, RUN: 0-based within the step; -1 for the update
  int32_t chunk;      ///< RUN: model chunk of this stage
  int32_t slots; ///< LOAD, RUN: where its slots begin in mtc_slots; -1: none
  int32_t first; ///< EXCHANGE, POST, WAIT: first row in mtc_transfers
  int32_t count; ///< EXCHANGE, POST, WAIT: number of rows
  int32_t last;  ///< RUN: 1 if no row behind it in its entry runs a fragment of
                 ///< its phase and chunk; else 0
};

/// One send or receive. The peer differs from the rank in its pp coordinate
/// only.
struct MtcTransfer {
  int32_t is_send;    ///< 1: send, 0: receive
  int32_t peer_stage; ///< absolute pp coordinate of the peer
  int32_t arena;      ///< MtcArena
  int64_t tag;        ///< value, microbatch and virtual stage; both sides agree
  int64_t offset;     ///< bytes from the arena's base
  int64_t bytes;
};

/// Transfers from one rank to one other that either may have begun and not
/// ended. A plan says how many it has (`posted` of descriptors), and backends
/// keep room for these.
enum { MTC_MOST_POSTED = 4096 };

typedef void (*MtcFragment)(struct MtcContext *, const struct MtcStep *);

// What a program defines (extern in the object, looked up by name in the .so):
//   const char        mtc_descriptor[]  JSON text, NUL-terminated
//   const MtcFragment mtc_fragments[]
//   const MtcStep     mtc_timeline_<entry>[]   for each entry of the descriptor
//   const MtcTransfer mtc_transfers[]
//   const int32_t     mtc_slots[]     a slot per pool, -1 where a row uses none
//   const char        mtc_ptx_<chip>[]   of a GPU program, for each chip of its
//                     descriptor's device: PTX, NUL-terminated; the descriptor
//                     has a row for each entry, one for all chips
//   const char        mtc_cubin_<chip>[] the same, assembled; may be missing
//   MtcDeviceFactory *const mtc_device   of a GPU program: &mtc_cuda_device

/// Shape and layout of one attention call; strides are in elements. Every field
/// has 8 bytes: generated code writes the whole as an array of words. q, k, v,
/// out (and their gradients) are [batch, seq, heads, head_dim] with the
/// innermost dimension contiguous; k and v have `keys` positions in place of
/// seq. Query head h reads key head h / (heads / kv_heads).
///
/// Keys are the whole sequence, queries may be a part of it in two ranges: the
/// first `first` queries, and those behind. The calls are told where in the
/// sequence each range begins; elsewhere first = seq = keys.
struct MtcAttention {
  int64_t batch, seq, heads, kv_heads, head_dim;
  int64_t keys;  ///< positions of k and v, of the whole sequence
  int64_t first; ///< queries of the first range, 1 to seq
  int64_t q_token_stride, q_head_stride;
  int64_t k_token_stride, k_head_stride;
  int64_t v_token_stride, v_head_stride;
  int64_t o_token_stride, o_head_stride;
  int64_t causal;       ///< 1: the query at position i sees keys j <= i
  int64_t global_heads; ///< heads of the unpartitioned tensor (RNG index)
  int64_t layer, site;  ///< RNG address of the probability dropout
  double scale;         ///< multiplies q·k
  double dropout;       ///< probability of dropping; 0: none
  int64_t
      dtype; ///< MtcDtype of q, k, v, out and of their gradients; lse is fp32
};

// --- Functions that fragments call. All obey `ctx->status`. -----------------

/// c = op(a)·op(b) (+ c if the descriptor's entry says beta = 1). `index` names
/// a row of the descriptor's `gemms`, which says the element types, too: sums
/// are in fp32, a 16-bit c is rounded once. `scratch` has that row's scratch
/// bytes. Of a row that counts, the squares of what c then holds are added to
/// the sum of mtc_norm_accumulate: on a CPU, by a kernel of the runtime, c
/// fp32.
void mtc_gemm(struct MtcContext *ctx, int32_t index, const void *a,
              const void *b, void *c, void *scratch);

/// The same for a row with an epilogue, on a GPU: to each sum, in fp32, the
/// column's element of `bias` is added, `aux` gets that, and c its GELU, in the
/// tanh form and of what is not rounded yet; each as far as the row says. Both
/// are of c's type, `bias` has n elements, `aux` is as large as c; null where
/// the row has none.
void mtc_gemm_epilogue(struct MtcContext *ctx, int32_t index, const void *a,
                       const void *b, const void *bias, void *c, void *aux,
                       void *scratch);

/// What continues a product: does its work for the elements of c in rows
/// [row, row_end) and columns [column, column_end), which are rounded and lie
/// in memory.
typedef void (*MtcTile)(void *argument, int64_t row, int64_t row_end,
                        int64_t column, int64_t column_end);
/// mtc_gemm of a row that a kernel of the runtime computes, on a CPU. `then` is
/// called with `argument` for blocks that have each element of c once, of each
/// as soon as it is made, by the thread that made it; blocks run at the same
/// time. So `then` writes nothing that the product reads, and of c it reads and
/// writes these elements alone.
void mtc_gemm_then(struct MtcContext *ctx, int32_t index, const void *a,
                   const void *b, void *c, void *scratch, MtcTile then,
                   void *argument);

/// Packs op(b), [k, n] of MtcDtype `type`, stored [n, k] if `tb`, for products
/// whose row names the kernel own_packed: what is at `packed` then, 64-aligned,
/// is their b. On a CPU.
void mtc_gemm_pack(struct MtcContext *ctx, int64_t n, int64_t k, int32_t tb,
                   int32_t type, const void *b, void *packed);

/// Bytes of scratch of one GEMM under `isa` ("x86-64-v4") and `threads`; `ab`
/// and `c` are the MtcDtype of a and b, and of c. -1 if the library has no such
/// product (bf16 needs AVX-512). Of f16 it has room for the operands in fp32.
/// For the planner; fixes the library's ISA at first use.
int64_t mtc_gemm_scratch(const char *isa, int64_t m, int64_t n, int64_t k,
                         int32_t ta, int32_t tb, int32_t beta, int32_t ab,
                         int32_t c, int32_t threads);

/// The GEMM library's version and commit, "2.6.3 (N/A)" where its build names
/// no commit: what scratch sizes and results depend on. Static storage; never
/// null. For the planner.
const char *mtc_gemm_library(void);

/// Flash attention: out and the row log-sum-exp `lse` [batch, heads, seq]. In
/// fp32 throughout; 16-bit values are widened when read and out is rounded
/// once, to nearest even, but for bf16 on processors that multiply it, and on
/// GPUs, where P and dS are rounded, too (docs/numerics.md, N6). No seq x seq
/// matrix is stored. `sample` is the
/// absolute id of batch row 0, for a GPU less `sample_base` of the step block,
/// `head` the global index of head 0; `begin` and `begin2` are the positions of
/// the first query of each range, 0 <= begin, begin + first <= begin2, and none
/// behind the last key. `documents` [batch, seq], or null: where the document
/// of a query begins; it sees no key before that, but itself in any case; then
/// the call is causal. `scratch`: mtc_attention_scratch bytes.
void mtc_attention_forward(struct MtcContext *ctx, const struct MtcAttention *d,
                           const void *q, const void *k, const void *v,
                           const int32_t *documents, void *out, void *lse,
                           void *scratch, int64_t sample, int64_t head,
                           int64_t begin, int64_t begin2);

/// Gradients dq, dk, dv (same layouts as q, k, v) from dout (layout of out).
/// Types as in the forward call; `out` is what that call wrote. dk and dv are
/// the sums over the queries of this call.
void mtc_attention_backward(struct MtcContext *ctx,
                            const struct MtcAttention *d, const void *dout,
                            const void *q, const void *k, const void *v,
                            const int32_t *documents, const void *out,
                            const void *lse, void *dq, void *dk, void *dv,
                            void *scratch, int64_t sample, int64_t head,
                            int64_t begin, int64_t begin2);

/// Bytes of scratch that both attention calls need in a rank of `threads` (less
/// than 1 is 1). Pure; used by the planner.
int64_t mtc_attention_scratch(const struct MtcAttention *d, int32_t threads);

/// In-place collectives on `stream` (MtcStream): on that of collectives they
/// are done when a wait for an event behind them has returned. `count` is
/// elements of the whole buffer for all_reduce; elements per rank for the other
/// two, whose buffer holds group-size · count elements with rank r's part at r
/// · count. Sums are in group-rank order, in fp32 (rounded once for bf16 and
/// f16), but for NCCL's, which are in an order and with roundings of its own.
void mtc_all_reduce(struct MtcContext *ctx, int32_t stream, int32_t group,
                    int32_t op, int32_t dtype, void *buffer, int64_t count);
void mtc_reduce_scatter(struct MtcContext *ctx, int32_t stream, int32_t group,
                        int32_t dtype, void *buffer, int64_t count);
void mtc_all_gather(struct MtcContext *ctx, int32_t stream, int32_t group,
                    int32_t dtype, void *buffer, int64_t count);

/// fp32 whose squares the norm gets (mtc_norm_accumulate).
struct MtcCounted {
  const float *at;
  int64_t count;
};
/// mtc_all_reduce and mtc_reduce_scatter of fp32 on the stream of fragments, on
/// a CPU, each of which adds the squares of the sums that this rank makes to
/// the norm, as far as they lie in one of `parts`, which share no element: of
/// an all-reduce, one rank of the group makes each.
void mtc_all_reduce_counted(struct MtcContext *ctx, int32_t group,
                            float *buffer, int64_t count,
                            const struct MtcCounted *parts, int64_t part_count);
void mtc_reduce_scatter_counted(struct MtcContext *ctx, int32_t group,
                                float *buffer, int64_t count,
                                const struct MtcCounted *parts,
                                int64_t part_count);
/// A kernel over elements [begin, end) of all its buffers.
typedef void (*MtcRange)(void *argument, int64_t begin, int64_t end);
/// Calls `kernel` with `argument` on all threads of a rank, on a CPU, for
/// ranges that have each of [0, length) once, and adds the squares of what it
/// makes to the norm, as far as that lies in one of `parts`; `made` is where
/// its element 0 lies.
void mtc_range_counted(struct MtcContext *ctx, MtcRange kernel, void *argument,
                       int64_t length, const float *made,
                       const struct MtcCounted *parts, int64_t part_count);

/// An event stands for all that `stream` was given before this call, also of
/// other fragments; recorded again it stands for that.
void mtc_record(struct MtcContext *ctx, int32_t event, int32_t stream);
/// What `stream` is given later runs after all that the event stands for.
void mtc_wait(struct MtcContext *ctx, int32_t event, int32_t stream);

/// The order-free global norm (docs/numerics.md): the exact sum of squares,
/// which is zero when a program starts.
/// reset, accumulate any number of ranges of `dtype` (a float type) in any
/// order, check fp32 that must be finite though it is no gradient (a norm with
/// something that is not finite is +inf on every rank), reduce over `group` on
/// a stream, finish (writes grad_norm, clip_coeff, applies and stopped).
void mtc_norm_reset(struct MtcContext *ctx);
void mtc_norm_accumulate(struct MtcContext *ctx, int32_t dtype, const void *g,
                         int64_t count);
void mtc_norm_check(struct MtcContext *ctx, const void *x, int64_t count);
void mtc_norm_reduce(struct MtcContext *ctx, int32_t stream, int32_t group);
void mtc_norm_finish(struct MtcContext *ctx);

/// Zeroes `bytes` bytes.
void mtc_zero(struct MtcContext *ctx, void *p, int64_t bytes);
/// The same, of an op that is guarded: as work of a GPU it does nothing where
/// `applies` of the step block is 0. On a host fragments of the update do not
/// run then, and it always zeroes.
void mtc_zero_guarded(struct MtcContext *ctx, void *p, int64_t bytes);

/// Of programs for CPUs, in front of what takes time in a fragment: op `op` of
/// row `row` begins, from 0 in the order of the plan (rt::takesTime), and what
/// began before has ended; -1: behind the last. Does nothing but where ops are
/// timed.
void mtc_profile_op(struct MtcContext *ctx, const struct MtcStep *row,
                    int32_t op);

/// Part `part` of `parts` of some work; `argument` says which.
typedef void (*MtcPart)(void *argument, int64_t part, int64_t parts);
/// Calls `work` for each part, each on a thread of the rank, at the same time,
/// and returns when all have returned. `parts` is at most the rank's threads.
void mtc_parallel(struct MtcContext *ctx, MtcPart work, void *argument);
/// For `work`: returns when the threads of all its parts have come here.
void mtc_parallel_meet(void);

/// Makes a device; opaque to generated code, which only names one: a program
/// has the code of the device that it is compiled for, and of no other.
typedef struct MtcDeviceFactory MtcDeviceFactory;
extern const MtcDeviceFactory mtc_cuda_device;

/// Starts `blocks` blocks of a kernel of mtc_ptx_<chip>, for programs of GPUs
/// alone. `index` names a row of the descriptor's `kernels`, which knows the
/// rest of the launch. `arguments` has the address of each parameter; all have
/// 8 bytes, and are copied. Nothing is started for 0 blocks.
void mtc_launch(struct MtcContext *ctx, int32_t index, int64_t blocks,
                void *const *arguments);

#ifdef __cplusplus
}
#endif
#endif // MTC_RUNTIME_ABI_H
