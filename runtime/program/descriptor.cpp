//===- descriptor.cpp - reads a descriptor --------------------------------===//

#include "runtime/program/descriptor.h"

#include "runtime/base/json.h"

#include <fmt/format.h>

namespace mtc::runtime {
namespace {

constexpr int64_t kHuge = int64_t(1) << 48;
constexpr int64_t kMany = int64_t(1) << 30;

SplitInfo readSplit(FieldReader &reader) {
  SplitInfo split;
  split.dim = static_cast<int>(reader.integer("split_dim", -1, 15));
  std::string name;
  if (split.dim >= 0 || reader.has("split_axis"))
    name = reader.text("split_axis");
  if (split.dim < 0)
    return split;
  if (std::optional<MtcAxis> axis = splittingAxis(name))
    split.axis = *axis;
  else
    reader.problem(fmt::format("'split_axis': expected {}, found '{}'",
                               splittingAxes(), name));
  return split;
}

InitInfo readInit(FieldReader reader) {
  InitInfo init;
  std::string kind = reader.text("kind");
  if (kind == "normal") {
    init.kind = InitInfo::normal;
    init.std = reader.number("std");
  } else if (kind == "ones") {
    init.kind = InitInfo::ones;
  } else if (kind != "zeros") {
    reader.problem(fmt::format(
        "'kind': expected normal, zeros or ones, found '{}'", kind));
  }
  return init;
}

ParamInfo readParam(FieldReader &reader) {
  ParamInfo p;
  p.name = reader.text("name");
  p.shape = reader.integers("shape", 1);
  p.localShape = reader.integers("local_shape", 1);
  p.split = readSplit(reader);
  p.bucket = reader.integer("bucket", 0, kMany);
  p.start = reader.integer("start", 0, kHuge);
  p.owner = reader.boolean("owner");
  p.decay = reader.boolean("decay");
  p.init = readInit(reader.object("init"));
  if (reader.has("layer_axes"))
    p.layerAxes = reader.texts("layer_axes");
  return p;
}

BucketInfo readBucket(FieldReader &reader) {
  BucketInfo b;
  b.elements = reader.integer("elements", 0, kHuge);
  b.unpadded = reader.integer("unpadded", 0, kHuge);
  b.zero = reader.boolean("zero");
  b.shardElements = reader.integer("shard_elements", 0, kHuge);
  b.paramOffset = reader.integer("param_offset", -1, kHuge);
  b.gradOffset = reader.integer("grad_offset", 0, kHuge);
  b.mainOffset = reader.integer("main_offset", -1, kHuge);
  b.expAvgOffset = reader.integer("exp_avg_offset", -1, kHuge);
  b.expAvgSqOffset = reader.integer("exp_avg_sq_offset", -1, kHuge);
  b.secondUseOf = reader.integer("second_use_of", -1, kMany);
  return b;
}

InputInfo readInput(FieldReader &reader) {
  InputInfo in;
  in.name = reader.text("name");
  in.pool = static_cast<int>(reader.integer("pool", 0, MTC_POOL_COUNT - 1));
  in.offset = reader.integer("offset", 0, kHuge);
  in.stride = reader.integer("stride", 0, kHuge);
  in.entry = reader.text("entry");
  return in;
}

MtcDtype readDtype(FieldReader &reader, const char *key) {
  std::string name = reader.text(key);
  if (name != "f32" && name != "bf16")
    reader.problem(
        fmt::format("'{}': expected f32 or bf16, found '{}'", key, name));
  return name == "bf16" ? MTC_BF16 : MTC_F32;
}

GemmInfo readGemm(FieldReader &reader) {
  GemmInfo g;
  g.m = reader.integer("m", 1, kMany);
  g.n = reader.integer("n", 1, kMany);
  g.k = reader.integer("k", 1, kMany);
  g.ta = reader.boolean("ta");
  g.tb = reader.boolean("tb");
  g.beta = static_cast<int>(reader.integer("beta", 0, 1));
  g.ab = readDtype(reader, "ab");
  g.c = readDtype(reader, "c");
  g.scratch = reader.integer("scratch", 0, kHuge);
  return g;
}

EntryInfo readEntry(FieldReader &reader) {
  EntryInfo e;
  e.name = reader.text("name");
  e.length = reader.integer("length", 0, kMany);
  e.update = reader.integers("update", 0);
  return e;
}

ExportInfo readExport(FieldReader &reader) {
  ExportInfo e;
  e.name = reader.text("name");
  e.entry = reader.text("entry");
  e.fragment = reader.integer("fragment", 0, kMany);
  e.arena = static_cast<int>(reader.integer("arena", 0, MTC_ARENA_COUNT - 1));
  e.offset = reader.integer("offset", 0, kHuge);
  e.dtype = readDtype(reader, "dtype");
  e.shape = reader.integers("shape", 1);
  e.localShape = reader.integers("local_shape", 1);
  e.split = readSplit(reader);
  return e;
}

void readBatch(FieldReader reader, BatchInfo &b) {
  // The bounds keep products of these inside 64 bits.
  b.microBatch = reader.integer("micro_batch", 1, 1 << 20);
  b.microbatches = reader.integer("microbatches", 1, 1 << 20);
  b.globalBatch = reader.integer("global_batch", 1, kHuge);
  b.seq = reader.integer("seq", 1, 1 << 20);
  b.vocab = reader.integer("vocab", 1, INT32_MAX);
}

void readHead(FieldReader &reader, Descriptor &d) {
  d.planHash = reader.text("plan_hash");
  d.model = reader.text("model");
  d.stage = reader.integer("stage", 0, kMany);
  d.isa = reader.text("isa");
  d.threads = reader.integer("threads", 1, 1 << 16);
  d.dtype = reader.text("dtype");
  if (reader.has("onednn"))
    d.onednn = reader.text("onednn");
  d.mesh = readMesh(reader.object("mesh"));
  readBatch(reader.object("batch"), d.batch);
  std::vector<int64_t> arenas = reader.integers("arenas", 0);
  if (arenas.size() == d.arenas.size())
    std::copy(arenas.begin(), arenas.end(), d.arenas.begin());
  else
    reader.problem(fmt::format("'arenas': expected {} sizes, found {}",
                               d.arenas.size(), arenas.size()));
  d.lossOffset = reader.object("loss").integer("offset", 0, kHuge);
  d.transfers = reader.integer("transfers", 0, kMany);
  d.fragments = reader.texts("fragments");
}

template <typename T>
void readList(FieldReader &reader, const char *key, std::vector<T> &out,
              T (*readOne)(FieldReader &)) {
  for (FieldReader &item : reader.objects(key))
    out.push_back(readOne(item));
}

} // namespace

Mesh readMesh(FieldReader reader) {
  Mesh mesh;
  for (const AxisInfo &axis : kAxes)
    mesh[axis.id] = reader.integer(axis.name.data(), 1, Mesh::kMaxExtent);
  return mesh;
}

int64_t elementCount(const std::vector<int64_t> &shape) {
  int64_t n = 1;
  for (int64_t d : shape)
    if (__builtin_mul_overflow(n, d, &n) || n > kHuge)
      return kHuge;
  return n;
}

int64_t ParamInfo::localElements() const { return elementCount(localShape); }

const EntryInfo *Descriptor::entry(std::string_view name) const {
  for (const EntryInfo &e : entries)
    if (e.name == name)
      return &e;
  return nullptr;
}

Status parseDescriptor(std::string_view text, Descriptor &out) {
  Json json;
  MTC_RETURN_IF_ERROR(parseJson(text, "program descriptor", json));
  Problems problems;
  FieldReader reader(json, "", problems);
  int64_t abi = reader.integer("abi", 0, INT32_MAX);
  if (problems.empty() && abi != MTC_ABI_VERSION)
    return {
        StatusCode::inputRefused,
        fmt::format("program descriptor: expected abi {}, found {}; compile "
                    "the program again with this version of mtc",
                    MTC_ABI_VERSION, abi)};
  Descriptor d;
  readHead(reader, d);
  readList(reader, "params", d.params, readParam);
  readList(reader, "buckets", d.buckets, readBucket);
  readList(reader, "inputs", d.inputs, readInput);
  readList(reader, "gemms", d.gemms, readGemm);
  readList(reader, "entries", d.entries, readEntry);
  readList(reader, "exports", d.exports, readExport);
  // Rules between fields mean nothing while single fields are wrong.
  if (problems.empty()) {
    std::vector<std::string> found;
    checkDescriptor(d, found);
    for (std::string &problem : found)
      problems.add(std::move(problem));
  }
  MTC_RETURN_IF_ERROR(problems.status("program descriptor"));
  out = std::move(d);
  return Status::okay();
}

} // namespace mtc::runtime
