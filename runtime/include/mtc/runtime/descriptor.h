//===- descriptor.h - the facts of a program --------------------*- C++ -*-===//
//
// One record each for a parameter, a bucket, a GEMM, an input and an export of
// a compiled program: the compiler fills them from the rt IR, the runtime reads
// them. descriptor_fields.h says how they are written; docs/descriptor.md
// explains every field. Offsets and sizes are bytes unless the name says
// elements.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_PUBLIC_DESCRIPTOR_H
#define MTC_RUNTIME_PUBLIC_DESCRIPTOR_H

#include "mtc/runtime/memory.h"
#include "mtc/runtime/mesh.h"

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// Offsets, sizes and counts in a descriptor are at most this: sums of two fit
/// 64 bits.
inline constexpr int64_t kHuge = int64_t(1) << 48;

/// Bytes of an element of a float type.
inline int64_t floatBytes(MtcDtype dtype) { return dtype == MTC_F32 ? 4 : 2; }

/// Product of a shape, at most kHuge (so that bytes cannot overflow).
inline int64_t elementCount(const std::vector<int64_t> &shape) {
  int64_t n = 1;
  for (int64_t d : shape)
    if (__builtin_mul_overflow(n, d, &n) || n > kHuge)
      return kHuge;
  return n;
}

struct BatchInfo {
  int64_t microBatch = 0;   ///< samples of one microbatch on one dp rank
  int64_t microbatches = 0; ///< per step
  int64_t globalBatch = 0;  ///< microBatch * microbatches * dp
  int64_t seq = 0;          ///< tokens per sample, of the longest
  int64_t vocab = 0;        ///< tokens are below this (before padding)
};

struct InitInfo {
  enum Kind { normal, zeros, ones };
  Kind kind = zeros;
  double std = 0; ///< normal only
};

/// Which part of a global tensor a rank holds: along dimension `dim` there are
/// parts of equal size, each on `repeats` coordinates of `axis` in a row; none:
/// everything.
struct SplitInfo {
  std::optional<int64_t> dim;
  MtcAxis axis = MTC_AXIS_TP;
  int64_t repeats = 1;
  /// How many different parts there are.
  int64_t parts(const Mesh &mesh) const { return mesh[axis] / repeats; }
  /// The one that a coordinate of `axis` has.
  int64_t part(int64_t coordinate) const { return coordinate / repeats; }
  /// Whether ranks that differ along `other` hold different parts.
  bool along(MtcAxis other) const { return dim && axis == other; }
};

/// The indices [first, first + size) of dimension `dim` of a tensor of the
/// model, with all of its others: its elements are in the order in which the
/// tensor has them.
struct SliceInfo {
  std::string of;             ///< the tensor's name
  std::vector<int64_t> shape; ///< of the tensor
  int64_t dim = 0, first = 0, size = 1;

  /// Whether the tensor has such indices, as many elements as one of `slice`.
  bool fits(const std::vector<int64_t> &slice) const {
    if (dim < 0 || dim >= static_cast<int64_t>(shape.size()) || first < 0 ||
        size < 1 || size > shape[dim] || first > shape[dim] - size)
      return false;
    std::vector<int64_t> own = shape;
    own[dim] = size;
    return elementCount(shape) < kHuge &&
           elementCount(own) == elementCount(slice);
  }
  /// Contiguous elements that one index of `dim` has.
  int64_t elementsOfIndex() const {
    return elementCount({shape.begin() + dim + 1, shape.end()});
  }
};

struct ParamInfo {
  std::string name;
  std::vector<int64_t> shape;      ///< of the global tensor
  std::vector<int64_t> localShape; ///< of this rank's shard
  SplitInfo split;
  std::optional<SliceInfo> slice; ///< none: files have it by its name
  int64_t bucket = 0;
  int64_t start = 0; ///< first element inside the bucket
  bool owner = true;
  bool decay = true;
  /// The group whose learning rate and decay hold, in the descriptor's list,
  /// from 1 on; none: those of all.
  std::optional<int64_t> group;
  InitInfo init;
  std::vector<std::string> layerAxes; ///< logical, one per dimension
  int64_t localElements() const { return elementCount(localShape); }
  /// Of the tensor of the model, by which files and overrides know it.
  const std::string &modelName() const { return slice ? slice->of : name; }
  const std::vector<int64_t> &modelShape() const {
    return slice ? slice->shape : shape;
  }
};

/// One fp32 value per element of a bucket's shard that the optimizer keeps.
struct StateInfo {
  std::string name;
  int64_t offset = 0;
};

struct BucketInfo {
  /// The bucket whose parameters these accumulators serve; then there are no
  /// parameters and states here.
  std::optional<int64_t> secondUseOf;
  int64_t elements = 0, unpadded = 0;
  bool zero = false;         ///< ZeRO: states of one dp range only
  int64_t shardElements = 0; ///< elements / dp with zero, else elements
  /// Accumulators that a rank has, where these are those of its shard only
  /// (ZeRO-2).
  std::optional<int64_t> shardedGradients;
  int64_t gradOffset = 0, paramOffset = 0;
  MtcDtype gradDtype = MTC_F32; ///< of its accumulators: a float type
  MtcDtype dtype = MTC_F32;     ///< of its parameters: a float type
  std::vector<StateInfo>
      states; ///< moments; beside 16-bit parameters main ones
  /// True when parameters have 16 bits and fp32 main copies.
  bool hasMains() const { return dtype != MTC_F32; }
  /// Bytes of one element of a parameter.
  int64_t paramBytes() const { return floatBytes(dtype); }
  /// Bytes of one accumulator.
  int64_t gradBytes() const { return floatBytes(gradDtype); }
  /// Accumulators that a rank has, from `gradOffset` on.
  int64_t gradElements() const { return shardedGradients.value_or(elements); }
  /// The state of a name; null if there is none.
  const StateInfo *state(std::string_view name) const {
    for (const StateInfo &s : states)
      if (s.name == name)
        return &s;
    return nullptr;
  }
};

struct InputInfo {
  std::string name; ///< of kInputs
  int64_t pool = 0; ///< MtcPool
  int64_t offset = 0, stride = 0;
  std::string entry;
};

/// What happens to the sums of a product before they are rounded; aux only with
/// gelu (mtc_gemm_epilogue of abi.h).
struct EpilogueInfo {
  bool bias = false, gelu = false, aux = false;
  auto operator<=>(const EpilogueInfo &) const = default;
};

/// What computes a product: the device's library (oneDNN's matmul on a CPU); or
/// the runtime's kernel for CPUs, which may write results past the caches,
/// where nobody reads them soon, or read an op(b) that was packed before
/// (mtc_gemm_pack of abi.h); or, on a CPU, oneDNN's inner_product: forward, or
/// backward by weights where `ta`.
enum class GemmKernel : uint8_t {
  library,
  own,
  ownStreamed,
  ownPacked,
  innerProduct
};

/// Whether it is the runtime's, whose bits depend on no thread.
constexpr bool isOwn(GemmKernel kernel) {
  return kernel != GemmKernel::library && kernel != GemmKernel::innerProduct;
}

/// c[m, n] = op(a)·op(b), plus c with `beta`; op transposes where `ta`, `tb`.
struct GemmInfo {
  int64_t m = 0, n = 0, k = 0;
  bool ta = false, tb = false, beta = false;
  MtcDtype ab = MTC_F32, c = MTC_F32;        ///< of a and b, and of c
  int64_t scratch = 0;                       ///< bytes
  std::optional<EpilogueInfo> epilogue = {}; ///< none with beta
  GemmKernel kernel = GemmKernel::library;
  bool counts = false; ///< adds the squares of what c then holds to the norm
  auto operator<=>(const GemmInfo &) const = default;
};

/// An entry of a GPU program's code, by the index in calls of mtc_launch.
struct KernelInfo {
  std::string name;
  int64_t threads = 0; ///< of a block, in one dimension
  int64_t shared = 0;  ///< bytes of dynamic shared memory
};

/// What a step is made of.
struct StepShape {
  int64_t seq = 0;         ///< tokens of a sample
  int64_t globalBatch = 0; ///< samples
  auto operator<=>(const StepShape &) const = default;
};

/// The entry for steps of a shape, in a program whose largest is another:
/// "train" for 512 tokens, or 16 samples, is "train_seq512", "train_gbs16" or
/// "train_seq512_gbs16".
inline std::string entryName(std::string_view use, StepShape shape,
                             StepShape largest) {
  std::string name(use);
  if (shape.seq != largest.seq)
    name += "_seq" + std::to_string(shape.seq);
  if (shape.globalBatch != largest.globalBatch)
    name += "_gbs" + std::to_string(shape.globalBatch);
  return name;
}

/// Rows of a timeline that repeat: rows [first, first + rows · times) are
/// `times` times the same, up to their microbatches, of which each repeat has
/// those that are `microbatches` later. Slots, fragments and transfers are the
/// same. The first microbatch, of which sums begin, is in none.
struct PeriodInfo {
  int64_t first = 0, rows = 0, times = 0;
  int64_t microbatches = 0; ///< of one repeat
  int64_t end() const { return first + rows * times; }
};

struct EntryInfo {
  std::string name;
  std::optional<int64_t> seq;  ///< tokens of a sample; none: the batch's
  int64_t length = 0;          ///< rows of its timeline
  std::vector<int64_t> update; ///< rows of `reduce` and `apply`, or empty
  std::optional<int64_t> microbatches = {}; ///< none: the batch's
  std::optional<PeriodInfo> period = {};    ///< none: nothing repeats
};

struct ExportInfo {
  std::string name, entry;
  int64_t fragment = 0;
  int64_t arena = 0; ///< MtcArena
  int64_t offset = 0;
  MtcDtype dtype = MTC_F32;
  std::vector<int64_t> shape, localShape; ///< dimension 0: one microbatch
  SplitInfo split;
  /// Another dimension, of which a rank holds a piece of the head and one of
  /// the tail (mesh.h).
  SplitInfo pieces;
};

/// The compute type whose small gradients would be lost.
inline constexpr std::string_view kScaledDtype = "fp16";

struct Descriptor {
  std::string planHash, model, isa, dtype, onednn;
  std::string device;              ///< what computes: "cpu", "cuda:sm_90"
  std::string optimizer;           ///< as strategies name it
  std::vector<std::string> groups; ///< of parameters, in the step's order
  int64_t stage = 0, threads = 1;
  int64_t streams = 1; ///< MtcStream: those that fragments name are below
  Mesh mesh;
  BatchInfo batch;
  std::array<int64_t, MTC_ARENA_COUNT> arenas{};
  std::vector<ParamInfo> params;
  std::vector<BucketInfo> buckets;
  std::vector<InputInfo> inputs;
  std::vector<GemmInfo> gemms; ///< by the index in calls of mtc_gemm
  std::vector<KernelInfo> kernels;
  /// Bytes that a kernel may have as workspace, one at a time.
  int64_t kernelWorkspace = 0;
  int64_t lossOffset = 0;
  std::vector<EntryInfo> entries;
  std::vector<ExportInfo> exports;
  int64_t transfers = 0;
  /// The most transfers of a channel that are begun and not ended (posted.h).
  int64_t posted = 0;
  int64_t pools = MTC_POOL_FIXED; ///< whose slots a row of a timeline names
  int64_t slots = 0;              ///< numbers in mtc_slots
  std::vector<std::string> fragments;

  bool isForGpu() const { return device.starts_with("cuda:"); }
  /// Whether gradients are those of the loss times the loss scale of the step
  /// block.
  bool scalesLoss() const { return dtype == kScaledDtype; }

  /// Whether it has inputs that depend on where documents begin.
  bool knowsDocuments() const {
    for (const InputInfo &in : inputs)
      if (const InputRow *row = inputNamed(in.name);
          row && row->asksForDocuments())
        return true;
    return false;
  }

  const EntryInfo *entry(std::string_view name) const;
  /// The largest step, of which entries have the plain names.
  StepShape shape() const { return {batch.seq, batch.globalBatch}; }
  /// The entry for a use ("train", "eval") of steps of a shape; null if there
  /// is none.
  const EntryInfo *entry(std::string_view use, StepShape of) const {
    return entry(entryName(use, of, shape()));
  }
  /// Tokens of a sample of an entry.
  int64_t seqOf(const EntryInfo &entry) const {
    return entry.seq.value_or(batch.seq);
  }
  /// Microbatches of a step of an entry.
  int64_t microbatchesOf(const EntryInfo &entry) const {
    return entry.microbatches.value_or(batch.microbatches);
  }
  /// Samples of a step of an entry.
  int64_t globalBatchOf(const EntryInfo &entry) const {
    return batch.microBatch * microbatchesOf(entry) * mesh[MTC_AXIS_DP];
  }
  /// Bytes of one input of a microbatch: i32, for the positions that a rank has
  /// of each sample.
  int64_t inputBytes(const EntryInfo &entry) const {
    return 4 * batch.microBatch * (seqOf(entry) / mesh[MTC_AXIS_CP]);
  }
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_PUBLIC_DESCRIPTOR_H
