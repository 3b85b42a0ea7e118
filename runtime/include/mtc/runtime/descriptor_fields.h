//===- descriptor_fields.h - how a descriptor is written --------*- C++ -*-===//
//
// Each record's fields in order: key, member, and what may stand there. The
// compiler's writer and the runtime's reader both walk these lists, so a field
// cannot be in one and not in the other. A `Fields` has
//
//   integer(key, int64_t &, least, most)    number(key, double &)
//   optional(key, std::optional<int64_t> &, least, most): absent if there is
//   none boolean(key, bool &)                    text(key, std::string &)
//   choice(key, T &, names, what): one of a table of values and names
//   choiceUnless(key, T &, names, T usual): absent where it is the usual one
//   unlessOne(key, int64_t &, most), unlessFalse(key, bool &): likewise
//   integers(key, std::vector<int64_t> &, least)
//   sizes(key, std::array<int64_t, n> &, least): exactly n
//   texts(key, std::vector<std::string> &)
//   order(key, Mesh &): in which ranks count through its axes; absent where it
//   is the default
//   record(key, T &), records(key, std::vector<T> &): by fields(f, T &)
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_DESCRIPTOR_FIELDS_H
#define MTC_RUNTIME_DESCRIPTOR_FIELDS_H

#include "mtc/runtime/descriptor.h"

namespace mtc::runtime {

/// Counts of rows, and the sizes of one GEMM.
inline constexpr int64_t kMany = int64_t(1) << 30;

/// One value of a field that has a few.
template <typename T> struct Choice {
  T value;
  std::string_view name;
};
inline constexpr Choice<InitInfo::Kind> kInitKinds[] = {
    {InitInfo::normal, "normal"},
    {InitInfo::zeros, "zeros"},
    {InitInfo::ones, "ones"}};
inline constexpr Choice<MtcDtype> kDtypes[] = {
    {MTC_F32, "f32"}, {MTC_BF16, "bf16"}, {MTC_F16, "fp16"}};

inline constexpr Choice<GemmKernel> kGemmKernels[] = {
    {GemmKernel::library, "library"},
    {GemmKernel::own, "own"},
    {GemmKernel::ownStreamed, "own_streamed"},
    {GemmKernel::ownPacked, "own_packed"},
    {GemmKernel::innerProduct, "inner_product"}};

/// As descriptors and reports write it; of the types above only.
inline std::string_view dtypeName(MtcDtype dtype) {
  for (const Choice<MtcDtype> &known : kDtypes)
    if (known.value == dtype)
      return known.name;
  return kDtypes[0].name;
}

/// For people, behind what says how a tensor is split: on how many ranks in a
/// row each part is, if these are several.
inline std::string repeatsText(int64_t repeats) {
  if (repeats == 1)
    return "";
  return std::string(", each part on ")
      .append(std::to_string(repeats))
      .append(" in a row");
}

/// For people: "indices 0:4 of dimension 2".
inline std::string indicesText(const SliceInfo &slice) {
  return std::string("indices ")
      .append(std::to_string(slice.first))
      .append(":")
      .append(std::to_string(slice.first + slice.size))
      .append(" of dimension ")
      .append(std::to_string(slice.dim));
}

/// The axes over which a tensor can be split (mesh.h).
inline std::vector<Choice<MtcAxis>> splittingChoices() {
  std::vector<Choice<MtcAxis>> all;
  for (const AxisInfo &axis : kAxes)
    if (axis.splits)
      all.push_back({axis.id, axis.name});
  return all;
}

template <typename Fields> void fields(Fields &f, Mesh &mesh) {
  for (const AxisInfo &axis : kAxes)
    f.integer(axis.name.data(), mesh[axis.id], 1, Mesh::kMaxExtent);
  f.order("order", mesh);
  int64_t kv = mesh.kvRanks();
  f.unlessOne("kv", kv, Mesh::kMaxExtent);
  mesh.setKvRanks(kv);
}

// The bounds keep products of these inside 64 bits.
template <typename Fields> void fields(Fields &f, BatchInfo &b) {
  f.integer("micro_batch", b.microBatch, 1, 1 << 20);
  f.integer("microbatches", b.microbatches, 1, 1 << 20);
  f.integer("global_batch", b.globalBatch, 1, kHuge);
  f.integer("seq", b.seq, 1, 1 << 20);
  f.integer("vocab", b.vocab, 1, INT32_MAX);
}

template <typename Fields> void fields(Fields &f, InitInfo &init) {
  f.choice("kind", init.kind, kInitKinds);
  if (init.kind == InitInfo::normal)
    f.number("std", init.std);
}

/// Not a record of its own: fields of one that has shapes.
template <typename Fields> void splitFields(Fields &f, SplitInfo &split) {
  f.optional("split_dim", split.dim, 0, 15);
  if (!split.dim)
    return;
  f.choice("split_axis", split.axis, splittingChoices());
  f.unlessOne("split_repeats", split.repeats, Mesh::kMaxExtent);
}

template <typename Fields> void fields(Fields &f, SliceInfo &slice) {
  f.text("of", slice.of);
  f.integers("shape", slice.shape, 1);
  f.integer("dim", slice.dim, 0, 15);
  f.integer("first", slice.first, 0, kHuge);
  f.integer("size", slice.size, 1, kHuge);
}

template <typename Fields> void fields(Fields &f, ParamInfo &p) {
  f.text("name", p.name);
  f.integers("shape", p.shape, 1);
  f.integers("local_shape", p.localShape, 1);
  splitFields(f, p.split);
  f.record("slice", p.slice);
  f.integer("bucket", p.bucket, 0, kMany);
  f.integer("start", p.start, 0, kHuge);
  f.boolean("owner", p.owner);
  f.boolean("decay", p.decay);
  f.optional("group", p.group, 1, MTC_PARAM_GROUPS - 1);
  f.record("init", p.init);
  f.texts("layer_axes", p.layerAxes);
}

template <typename Fields> void fields(Fields &f, StateInfo &s) {
  f.text("name", s.name);
  f.integer("offset", s.offset, 0, kHuge);
}

template <typename Fields> void fields(Fields &f, BucketInfo &b) {
  f.optional("second_use_of", b.secondUseOf, 0, kMany);
  f.integer("elements", b.elements, 0, kHuge);
  f.integer("unpadded", b.unpadded, 0, kHuge);
  f.boolean("zero", b.zero);
  f.integer("shard_elements", b.shardElements, 0, kHuge);
  f.optional("sharded_gradients", b.shardedGradients, 0, kHuge);
  f.integer("grad_offset", b.gradOffset, 0, kHuge);
  f.choice("grad_dtype", b.gradDtype, kDtypes);
  if (b.secondUseOf)
    return;
  f.integer("param_offset", b.paramOffset, 0, kHuge);
  f.choice("dtype", b.dtype, kDtypes);
  f.records("states", b.states);
}

template <typename Fields> void fields(Fields &f, InputInfo &in) {
  f.text("name", in.name);
  f.integer("pool", in.pool, 0, MTC_POOL_LIMIT - 1);
  f.integer("offset", in.offset, 0, kHuge);
  f.integer("stride", in.stride, 0, kHuge);
  f.text("entry", in.entry);
}

template <typename Fields> void fields(Fields &f, EpilogueInfo &e) {
  f.boolean("bias", e.bias);
  f.boolean("gelu", e.gelu);
  f.boolean("aux", e.aux);
}

template <typename Fields> void fields(Fields &f, GemmInfo &g) {
  f.integer("m", g.m, 1, kMany);
  f.integer("n", g.n, 1, kMany);
  f.integer("k", g.k, 1, kMany);
  f.boolean("ta", g.ta);
  f.boolean("tb", g.tb);
  f.boolean("beta", g.beta);
  f.choice("ab", g.ab, kDtypes);
  f.choice("c", g.c, kDtypes);
  f.integer("scratch", g.scratch, 0, kHuge);
  f.record("epilogue", g.epilogue);
  f.choiceUnless("kernel", g.kernel, kGemmKernels, GemmKernel::library);
  f.unlessFalse("counts", g.counts);
}

template <typename Fields> void fields(Fields &f, KernelInfo &k) {
  f.text("name", k.name);
  f.integer("threads", k.threads, 1, 1024);
  f.integer("shared", k.shared, 0, 1 << 20);
}

template <typename Fields> void fields(Fields &f, PeriodInfo &p) {
  f.integer("first", p.first, 1, kMany);
  f.integer("rows", p.rows, 1, kMany);
  f.integer("times", p.times, 2, kMany);
  f.integer("microbatches", p.microbatches, 1, kMany);
}

template <typename Fields> void fields(Fields &f, EntryInfo &e) {
  f.text("name", e.name);
  f.optional("seq", e.seq, 1, 1 << 20);
  f.optional("microbatches", e.microbatches, 1, 1 << 20);
  f.integer("length", e.length, 0, kMany);
  f.integers("update", e.update, 0);
  f.record("period", e.period);
}

template <typename Fields> void fields(Fields &f, ExportInfo &e) {
  f.text("name", e.name);
  f.text("entry", e.entry);
  f.integer("fragment", e.fragment, 0, kMany);
  f.integer("arena", e.arena, 0, MTC_ARENA_COUNT - 1);
  f.integer("offset", e.offset, 0, kHuge);
  f.choice("dtype", e.dtype, kDtypes);
  f.integers("shape", e.shape, 1);
  f.integers("local_shape", e.localShape, 1);
  splitFields(f, e.split);
  f.optional("piece_dim", e.pieces.dim, 0, 15);
  if (e.pieces.dim)
    f.choice("piece_axis", e.pieces.axis, splittingChoices());
}

template <typename Fields> void fields(Fields &f, Descriptor &d) {
  f.text("plan_hash", d.planHash);
  f.text("model", d.model);
  f.integer("stage", d.stage, 0, kMany);
  f.text("device", d.device);
  f.text("isa", d.isa);
  f.integer("threads", d.threads, 1, 1 << 16);
  f.integer("streams", d.streams, 1, MTC_STREAM_COUNT);
  f.text("dtype", d.dtype);
  f.text("onednn", d.onednn);
  f.text("optimizer", d.optimizer);
  f.texts("groups", d.groups);
  f.record("mesh", d.mesh);
  f.record("batch", d.batch);
  f.sizes("arenas", d.arenas, 0);
  f.integer("loss_offset", d.lossOffset, 0, kHuge);
  f.records("params", d.params);
  f.records("buckets", d.buckets);
  f.records("inputs", d.inputs);
  f.records("gemms", d.gemms);
  f.records("kernels", d.kernels);
  f.integer("kernel_workspace", d.kernelWorkspace, 0, kHuge);
  f.records("entries", d.entries);
  f.records("exports", d.exports);
  f.integer("transfers", d.transfers, 0, kMany);
  f.integer("posted", d.posted, 0, MTC_MOST_POSTED);
  f.integer("pools", d.pools, MTC_POOL_FIXED, MTC_POOL_LIMIT);
  f.integer("slots", d.slots, 0, kMany);
  f.texts("fragments", d.fragments);
}

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DESCRIPTOR_FIELDS_H
