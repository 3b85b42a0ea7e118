//===- descriptor_check.cpp - the rules between fields --------------------===//

#include "runtime/program/descriptor.h"

#include "mtc/runtime/descriptor_fields.h"
#include "mtc/runtime/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace mtc::runtime {
namespace {

using Texts = std::vector<std::string>;

/// A rank along cp has two pieces of each sample.
void checkPieces(const Descriptor &d, const std::string &what, int64_t seq,
                 Texts &out) {
  int64_t cp = d.mesh[MTC_AXIS_CP];
  if (cp > 1 && seq % (2 * cp) != 0)
    out.push_back(fmt::format("{}: expected seq to be a multiple of 2 · cp = "
                              "{}, found {}",
                              what, 2 * cp, seq));
}

void checkHead(const Descriptor &d, Texts &out) {
  bool hex =
      d.planHash.size() == 16 &&
      d.planHash.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!hex)
    out.push_back(fmt::format("plan_hash: expected 16 hex digits, found '{}'",
                              d.planHash));
  if (std::ranges::find(kDtypes, d.dtype, &Choice<MtcDtype>::name) ==
      std::end(kDtypes))
    out.push_back(fmt::format("dtype: expected f32, bf16 or fp16, found '{}'; "
                              "this runtime has no other compute type",
                              d.dtype));
  if (d.mesh[MTC_AXIS_TP] % d.mesh.kvRanks() != 0)
    out.push_back(fmt::format("mesh.kv: expected a divisor of tp = {}, found "
                              "{}",
                              d.mesh[MTC_AXIS_TP], d.mesh.kvRanks()));
  if (d.stage >= d.mesh.stages())
    out.push_back(fmt::format("stage: expected less than pp = {}, found {}",
                              d.mesh.stages(), d.stage));
  int64_t product =
      d.batch.microBatch * d.batch.microbatches * d.mesh[MTC_AXIS_DP];
  if (d.batch.globalBatch != product)
    out.push_back(fmt::format("batch: global_batch must be micro_batch · "
                              "microbatches · dp = {}, found {}",
                              product, d.batch.globalBatch));
  checkPieces(d, "batch", d.batch.seq, out);
  for (int64_t size : d.arenas)
    if (size % 4096 != 0)
      out.push_back(fmt::format("arenas: {} is not a multiple of 4096", size));
  if (d.arenas[MTC_ARENA_STEP] < int64_t{sizeof(MtcStepState)})
    out.push_back(fmt::format("arenas: {} of {} bytes cannot hold the state of "
                              "a step",
                              kArenas[MTC_ARENA_STEP].name,
                              d.arenas[MTC_ARENA_STEP]));
  if (!inside(d.lossOffset, 4, d.arenas[MTC_ARENA_GRADS]) ||
      d.lossOffset % 4 != 0)
    out.push_back("loss: the scalar lies outside the gradient arena");
}

void checkGroups(const Descriptor &d, Texts &out) {
  size_t most = MTC_PARAM_GROUPS - 1;
  if (d.groups.size() > most)
    out.push_back(fmt::format("groups: expected at most {}, found {}", most,
                              d.groups.size()));
  for (const ParamInfo &p : d.params)
    if (p.group.value_or(0) > static_cast<int64_t>(d.groups.size()))
      out.push_back(fmt::format("parameter {}: expected one of {} groups, "
                                "found group {}",
                                p.name, d.groups.size(), *p.group));
}

/// `local` must be `shape` with dimension split.dim divided by its axis.
void checkSplit(const Descriptor &d, const std::string &what,
                const std::vector<int64_t> &shape,
                const std::vector<int64_t> &local, const SplitInfo &split,
                Texts &out) {
  std::vector<int64_t> expected = shape;
  if (split.dim && *split.dim >= static_cast<int64_t>(shape.size())) {
    out.push_back(fmt::format("{}: split_dim {} of a tensor of rank {}", what,
                              *split.dim, shape.size()));
    return;
  }
  if (split.dim) {
    int64_t dim = *split.dim;
    int64_t ranks = d.mesh[split.axis], parts = split.parts(d.mesh);
    if (ranks % split.repeats != 0 || shape[dim] % parts != 0) {
      out.push_back(fmt::format("{}: dimension {} of size {} cannot be divided "
                                "by {} = {}{}",
                                what, dim, shape[dim], axisName(split.axis),
                                ranks, repeatsText(split.repeats)));
      return;
    }
    expected[dim] /= parts;
    if (split.repeats != 1 &&
        (split.axis != MTC_AXIS_TP || split.repeats != d.mesh.kvRanks()))
      out.push_back(fmt::format("{}: expected each part on one rank or on {}, "
                                "as kv of the mesh says, along tp, found it on "
                                "{} along {}",
                                what, d.mesh.kvRanks(), split.repeats,
                                axisName(split.axis)));
  }
  if (local != expected)
    out.push_back(fmt::format("{}: local_shape must be shape divided along "
                              "split_dim",
                              what));
}

/// What else the parameters and gradients of a program may be of.
std::string orOwnType(const Descriptor &d) {
  return d.dtype == "f32" ? "" : " or " + d.dtype;
}

void checkBucket(const Descriptor &d, size_t index, Texts &out) {
  const BucketInfo &b = d.buckets[index];
  std::string what = fmt::format("buckets[{}]", index);
  int64_t shards = b.zero ? d.mesh[MTC_AXIS_DP] : 1;
  if (b.unpadded > b.elements || b.shardElements * shards != b.elements)
    out.push_back(fmt::format("{}: expected unpadded <= elements = "
                              "shard_elements · {}",
                              what, shards));
  auto range = [&](const char *name, int64_t offset, int64_t elements,
                   MtcArena arena, int64_t width = 4) {
    if (offset % width != 0 ||
        !inside(offset, elements * width, d.arenas[arena]))
      out.push_back(fmt::format("{}: {} {} is misaligned or its {} elements of "
                                "{} bytes leave the arena of {} bytes",
                                what, name, offset, elements, width,
                                d.arenas[arena]));
  };
  if (b.shardedGradients && *b.shardedGradients != b.shardElements)
    out.push_back(fmt::format("{}: expected sharded_gradients to be "
                              "shard_elements, {}, found {}",
                              what, b.shardElements, *b.shardedGradients));
  range("grad_offset", b.gradOffset, b.gradElements(), MTC_ARENA_GRADS,
        b.gradBytes());
  if (b.gradDtype != MTC_F32 && dtypeName(b.gradDtype) != d.dtype)
    out.push_back(fmt::format("{}: expected gradients of grad_dtype f32{} in a "
                              "program of dtype {}, found {}",
                              what, orOwnType(d), d.dtype,
                              dtypeName(b.gradDtype)));
  if (b.secondUseOf) {
    if (*b.secondUseOf >= static_cast<int64_t>(d.buckets.size()) ||
        d.buckets[*b.secondUseOf].secondUseOf)
      out.push_back(
          fmt::format("{}: second_use_of must name another, first-use "
                      "bucket",
                      what));
    return;
  }
  range("param_offset", b.paramOffset, b.elements, MTC_ARENA_PARAMS,
        b.paramBytes());
  std::set<std::string> names;
  for (const StateInfo &s : b.states) {
    range(s.name.c_str(), s.offset, b.shardElements, MTC_ARENA_OPTIMIZER);
    if (!names.insert(s.name).second)
      out.push_back(fmt::format("{}: state {} is listed twice", what, s.name));
  }
  if (b.hasMains() && dtypeName(b.dtype) != d.dtype)
    out.push_back(fmt::format("{}: expected parameters of dtype f32{} in a "
                              "program of dtype {}, found {}",
                              what, orOwnType(d), d.dtype, dtypeName(b.dtype)));
  if (b.hasMains() != (b.state("main") != nullptr))
    out.push_back(fmt::format(
        "{}: expected {}", what,
        b.hasMains()
            ? "the state main, the fp32 main parameters, of parameters of 16 "
              "bits; found none"
            : "no state main in f32, whose parameters are the main ones; found "
              "one"));
}

void checkParam(const Descriptor &d, const ParamInfo &p, Texts &out) {
  checkSplit(d, p.name, p.shape, p.localShape, p.split, out);
  if (p.slice && !p.slice->fits(p.shape))
    out.push_back(fmt::format("{}: expected the shape and indices of a slice "
                              "of {} elements, found others",
                              p.name, elementCount(p.shape)));
  if (p.bucket >= static_cast<int64_t>(d.buckets.size())) {
    out.push_back(fmt::format("{}: there is no bucket {}", p.name, p.bucket));
    return;
  }
  const BucketInfo &b = d.buckets[p.bucket];
  if (b.secondUseOf)
    out.push_back(
        fmt::format("{}: bucket {} holds second uses only", p.name, p.bucket));
  if (!inside(p.start, p.localElements(), b.unpadded))
    out.push_back(fmt::format("{}: elements [{}, +{}) leave bucket {} of {}",
                              p.name, p.start, p.localElements(), p.bucket,
                              b.unpadded));
}

/// Names are unique and no element of a bucket belongs to two parameters.
void checkOwnership(const Descriptor &d, Texts &out) {
  std::vector<const ParamInfo *> sorted;
  std::set<std::string> names;
  for (const ParamInfo &p : d.params) {
    sorted.push_back(&p);
    if (!names.insert(p.name).second)
      out.push_back(fmt::format("{}: the parameter is listed twice", p.name));
  }
  std::sort(sorted.begin(), sorted.end(), [](auto *a, auto *b) {
    return std::pair(a->bucket, a->start) < std::pair(b->bucket, b->start);
  });
  for (size_t i = 1; i < sorted.size(); ++i) {
    const ParamInfo &a = *sorted[i - 1], &b = *sorted[i];
    if (a.bucket == b.bucket && b.start - a.start < a.localElements())
      out.push_back(fmt::format("{} and {} overlap in bucket {}", a.name,
                                b.name, a.bucket));
  }
}

/// Slices of a tensor are all of it, in one program, and share no index.
void checkSlices(const Descriptor &d, Texts &out) {
  std::map<std::string, std::vector<const ParamInfo *>> tensors;
  for (const ParamInfo &p : d.params)
    if (p.slice)
      tensors[p.slice->of].push_back(&p);
  for (const ParamInfo &p : d.params)
    if (!p.slice && tensors.contains(p.name))
      out.push_back(fmt::format("{}: expected the parameter or slices of it, "
                                "found both",
                                p.name));
  for (auto &[name, slices] : tensors) {
    std::ranges::stable_sort(
        slices, {}, [](const ParamInfo *p) { return p->slice->first; });
    const SliceInfo &first = *slices.front()->slice;
    int64_t at = 0;
    bool good = true;
    for (const ParamInfo *p : slices) {
      good &= p->slice->shape == first.shape && p->slice->dim == first.dim &&
              p->slice->fits(p->shape) && p->slice->first == at;
      at = p->slice->first + p->slice->size;
    }
    if (!good || at != first.shape[first.dim])
      out.push_back(fmt::format("{}: expected slices that are all of it, "
                                "without an index in two, found others",
                                name));
  }
}

void checkEntries(const Descriptor &d, Texts &out) {
  std::set<std::string> names;
  for (const EntryInfo &e : d.entries) {
    if (!names.insert(e.name).second)
      out.push_back(fmt::format("entry {} is listed twice", e.name));
    if (e.seq)
      checkPieces(d, "entry " + e.name, *e.seq, out);
    if (e.microbatches > d.batch.microbatches)
      out.push_back(fmt::format("entry {}: expected at most {} microbatches, "
                                "found {}",
                                e.name, d.batch.microbatches, *e.microbatches));
    if (e.seq > d.batch.seq)
      out.push_back(fmt::format("entry {}: expected samples of at most {} "
                                "tokens, found {}",
                                e.name, d.batch.seq, *e.seq));
    bool fine = e.update.empty() ||
                (e.update.size() == 2 && e.update[0] < e.update[1] &&
                 e.update[1] < e.length);
    if (!fine)
      out.push_back(fmt::format("entry {}: update must be empty or two "
                                "ascending rows below {}",
                                e.name, e.length));
  }
}

void checkInput(const Descriptor &d, const InputInfo &in, Texts &out) {
  if (!inputNamed(in.name))
    out.push_back(
        fmt::format("input '{}': expected {}", in.name, inputNames()));
  if (in.pool >= d.pools)
    out.push_back(fmt::format("input {}: expected one of {} pools, found {}",
                              in.name, d.pools, in.pool));
  const EntryInfo *entry = d.entry(in.entry);
  if (!entry)
    return out.push_back(
        fmt::format("input {}: there is no entry '{}'", in.name, in.entry));
  int64_t bytes = d.inputBytes(*entry);
  if (in.offset % 4 != 0 || in.stride % 4 != 0 ||
      !inside(in.offset, bytes, d.arenas[MTC_ARENA_ACTIVATIONS]))
    out.push_back(fmt::format("input {}: misaligned, or {} bytes at {} leave "
                              "the activation arena",
                              in.name, bytes, in.offset));
}

/// `local` with the dimension whole that `pieces` cuts in a head and a tail.
std::vector<int64_t> joined(const Descriptor &d, const std::string &what,
                            std::vector<int64_t> local, const SplitInfo &split,
                            const SplitInfo &pieces, Texts &out) {
  if (!pieces.dim)
    return local;
  if (*pieces.dim == 0 || *pieces.dim >= static_cast<int64_t>(local.size()) ||
      pieces.dim == split.dim || !kAxes[pieces.axis].headAndTail) {
    out.push_back(fmt::format("{}: expected piece_dim to be a dimension behind "
                              "the first that nothing else splits, over an "
                              "axis that cuts a head and a tail, found {} over "
                              "{}",
                              what, *pieces.dim, axisName(pieces.axis)));
    return local;
  }
  int64_t &size = local[*pieces.dim];
  if (size % 2 != 0 || __builtin_mul_overflow(size, d.mesh[pieces.axis], &size))
    out.push_back(fmt::format("{}: expected an even dimension {}, a head and a "
                              "tail of one size",
                              what, *pieces.dim));
  return local;
}

void checkEpilogue(const GemmInfo &g, size_t index, Texts &out) {
  if (!g.epilogue)
    return;
  if (g.beta || (!g.epilogue->bias && !g.epilogue->gelu) ||
      (g.epilogue->aux && !g.epilogue->gelu))
    out.push_back(fmt::format("gemms[{}]: expected an epilogue with bias or "
                              "gelu, with aux only beside gelu, of a product "
                              "that is not added to c (beta), found another",
                              index));
}

void checkExport(const Descriptor &d, const ExportInfo &e, Texts &out) {
  std::string what = "export " + e.name;
  checkSplit(d, what, e.shape,
             joined(d, what, e.localShape, e.split, e.pieces, out), e.split,
             out);
  if (!d.entry(e.entry))
    out.push_back(fmt::format("{}: there is no entry '{}'", what, e.entry));
  if (e.fragment >= static_cast<int64_t>(d.fragments.size()))
    out.push_back(fmt::format("{}: there is no fragment {}", what, e.fragment));
  if (e.shape.empty() || e.shape[0] != d.batch.microBatch || e.split.dim == 0)
    out.push_back(fmt::format("{}: dimension 0 must be micro_batch and not be "
                              "split",
                              what));
  int64_t bytes = floatBytes(e.dtype);
  if (e.offset % 4 != 0 ||
      !inside(e.offset, elementCount(e.localShape) * bytes, d.arenas[e.arena]))
    out.push_back(fmt::format("{}: misaligned or outside its arena", what));
}

} // namespace

void checkDescriptor(const Descriptor &d, Texts &problems) {
  checkHead(d, problems);
  checkGroups(d, problems);
  for (size_t i = 0; i < d.buckets.size(); ++i)
    checkBucket(d, i, problems);
  for (const ParamInfo &p : d.params)
    checkParam(d, p, problems);
  checkOwnership(d, problems);
  checkSlices(d, problems);
  checkEntries(d, problems);
  for (size_t i = 0; i < d.gemms.size(); ++i)
    checkEpilogue(d.gemms[i], i, problems);
  for (const InputInfo &in : d.inputs)
    checkInput(d, in, problems);
  for (const ExportInfo &e : d.exports)
    checkExport(d, e, problems);
}

} // namespace mtc::runtime
