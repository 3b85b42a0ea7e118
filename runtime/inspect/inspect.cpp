//===- inspect.cpp - a descriptor as text for people ----------------------===//

#include "mtc/runtime/descriptor_fields.h"
#include "mtc/runtime/run.h"
#include "runtime/device/cpu/arena.h"
#include "runtime/inspect/elf_symbol.h"
#include "runtime/program/descriptor.h"

#include <fmt/format.h>

namespace mtc::runtime {
namespace {

std::string shapeText(const std::vector<int64_t> &shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string headText(const Descriptor &d) {
  const BatchInfo &b = d.batch;
  return fmt::format(
      "model {}  plan {}\n"
      "stage {} of {}  mesh {}\n"
      "device {}  isa {}  threads {}  dtype {}  onednn {}\n"
      "batch: micro_batch {}  microbatches {}  global_batch {}  seq {}  vocab "
      "{}\n",
      d.model, d.planHash, d.stage, d.mesh.stages(), d.mesh.text(" "), d.device,
      d.isa, d.threads, d.dtype, d.onednn.empty() ? "-" : d.onednn,
      b.microBatch, b.microbatches, b.globalBatch, b.seq, b.vocab);
}

std::string arenaText(const Descriptor &d) {
  std::string text = "arenas (bytes):\n";
  for (int kind = 0; kind < MTC_ARENA_COUNT; ++kind)
    text +=
        fmt::format("  {:<12} {:>14}\n", kArenas[kind].name, d.arenas[kind]);
  return text;
}

std::string paramText(const ParamInfo &p,
                      const std::vector<std::string> &groups) {
  std::string split =
      !p.split.dim
          ? std::string("replicated")
          : fmt::format("split on {} by {}{}", *p.split.dim,
                        axisName(p.split.axis), repeatsText(p.split.repeats));
  return fmt::format(
      "  {:<32} {:<16} local {:<16} {}  bucket {} at {}{}{}{}{}\n", p.name,
      shapeText(p.shape), shapeText(p.localShape), split, p.bucket, p.start,
      p.decay ? "" : "  no decay",
      p.group ? fmt::format("  group {}", groups[*p.group - 1]) : "",
      p.owner ? "" : "  second copy",
      p.slice ? fmt::format("  {} of {}", indicesText(*p.slice), p.slice->of)
              : "");
}

std::string bucketText(const BucketInfo &b, size_t index) {
  if (b.secondUseOf)
    return fmt::format("  {}: {} elements, second use of {}\n", index,
                       b.elements, *b.secondUseOf);
  return fmt::format("  {}: {} elements of {} ({} padding){}\n", index,
                     b.elements, dtypeName(b.dtype), b.elements - b.unpadded,
                     b.zero ? fmt::format(", zero-{} shards of {}",
                                          b.shardedGradients ? 2 : 1,
                                          b.shardElements)
                            : "");
}

std::string describe(const Descriptor &d) {
  std::string text = headText(d) + arenaText(d);
  text += fmt::format("parameters: {}\n", d.params.size());
  for (const ParamInfo &p : d.params)
    text += paramText(p, d.groups);
  text += fmt::format("buckets: {}\n", d.buckets.size());
  for (size_t i = 0; i < d.buckets.size(); ++i)
    text += bucketText(d.buckets[i], i);
  text +=
      fmt::format("gemms: {}  transfers: {}\n", d.gemms.size(), d.transfers);
  text += fmt::format("fragments: {}\n", fmt::join(d.fragments, ", "));
  for (const EntryInfo &e : d.entries)
    text += fmt::format("entry {}: {} rows{}{}\n", e.name, e.length,
                        e.seq ? fmt::format(", seq {}", *e.seq) : "",
                        e.microbatches
                            ? fmt::format(", microbatches {}", *e.microbatches)
                            : "");
  for (const ExportInfo &e : d.exports)
    text += fmt::format("export {} of {}: {}\n", e.name, e.entry,
                        shapeText(e.shape));
  return text;
}

} // namespace

Status readDescriptorText(const std::string &path, std::string &text) {
  return readElfText(path, "mtc_descriptor", text);
}

Status inspectProgram(const std::string &path, std::string &text) {
  std::string json;
  MTC_RETURN_IF_ERROR(readDescriptorText(path, json));
  Descriptor descriptor;
  MTC_RETURN_IF_ERROR(parseDescriptor(json, descriptor));
  text = describe(descriptor);
  return Status::okay();
}

} // namespace mtc::runtime
