//===- descriptor.h - what a program says about itself ----------*- C++ -*-===//
//
// The C++ form of docs/descriptor.md, which explains every field. Offsets and
// sizes are bytes unless the name says elements.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_PROGRAM_DESCRIPTOR_H
#define MTC_RUNTIME_PROGRAM_DESCRIPTOR_H

#include "mtc/runtime/mesh.h"
#include "runtime/base/status.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// True when [offset, offset + bytes) lies in [0, size).
inline bool inside(int64_t offset, int64_t bytes, int64_t size) {
  return offset >= 0 && bytes >= 0 && offset <= size && bytes <= size - offset;
}

struct BatchInfo {
  int64_t microBatch = 0;   ///< samples of one microbatch on one dp rank
  int64_t microbatches = 0; ///< per step
  int64_t globalBatch = 0;  ///< microBatch * microbatches * dp
  int64_t seq = 0;          ///< tokens per sample
  int64_t vocab = 0;        ///< tokens are below this (before padding)
};

struct InitInfo {
  enum Kind { normal, zeros, ones };
  Kind kind = zeros;
  double std = 0; ///< normal only
};

/// Which part of a global tensor a rank holds: along dimension `splitDim`,
/// coordinate c of `axis` holds indices [c·n/k, (c+1)·n/k); -1: everything.
struct SplitInfo {
  int dim = -1;
  MtcAxis axis = MTC_AXIS_TP;
  /// Whether ranks that differ along `other` hold different parts.
  bool along(MtcAxis other) const { return dim >= 0 && axis == other; }
};

struct ParamInfo {
  std::string name;
  std::vector<int64_t> shape;      ///< of the global tensor
  std::vector<int64_t> localShape; ///< of this rank's shard
  SplitInfo split;
  int64_t bucket = 0;
  int64_t start = 0; ///< first element inside the bucket
  bool owner = true;
  bool decay = true;
  InitInfo init;
  std::vector<std::string> layerAxes;
  int64_t localElements() const;
};

struct BucketInfo {
  int64_t elements = 0, unpadded = 0;
  bool zero = false;         ///< ZeRO-1: moments of one dp range only
  int64_t shardElements = 0; ///< elements / dp with zero, else elements
  int64_t paramOffset = 0, gradOffset = 0;
  int64_t mainOffset = -1; ///< fp32 main parameters of the shard; -1 in f32
  int64_t expAvgOffset = 0, expAvgSqOffset = 0;
  int64_t secondUseOf = -1;
};

struct InputInfo {
  std::string name; ///< "ids" or "labels"
  int pool = 0;
  int64_t offset = 0, stride = 0;
  std::string entry;
};

struct GemmInfo {
  int64_t m = 0, n = 0, k = 0;
  bool ta = false, tb = false;
  int beta = 0;
  MtcDtype ab = MTC_F32, c = MTC_F32; ///< of a and b, and of c
  int64_t scratch = 0;
};

struct EntryInfo {
  std::string name;
  int64_t length = 0;          ///< rows of its timeline
  std::vector<int64_t> update; ///< rows of `reduce` and `apply`, or empty
};

struct ExportInfo {
  std::string name, entry;
  int64_t fragment = 0;
  int arena = 0;
  int64_t offset = 0;
  MtcDtype dtype = MTC_F32;
  std::vector<int64_t> shape, localShape; ///< dimension 0: one microbatch
  SplitInfo split;
};

struct Descriptor {
  std::string planHash, model, isa, dtype, onednn;
  int64_t stage = 0, threads = 1;
  Mesh mesh;
  BatchInfo batch;
  std::array<int64_t, MTC_ARENA_COUNT> arenas{};
  std::vector<ParamInfo> params;
  std::vector<BucketInfo> buckets;
  std::vector<InputInfo> inputs;
  std::vector<GemmInfo> gemms;
  int64_t lossOffset = 0;
  std::vector<EntryInfo> entries;
  std::vector<ExportInfo> exports;
  int64_t transfers = 0;
  std::vector<std::string> fragments;

  const EntryInfo *entry(std::string_view name) const;
  /// True when parameters are bf16 and have fp32 main copies.
  bool hasMains() const { return dtype == "bf16"; }
  /// Bytes of one element of a parameter.
  int64_t paramBytes() const { return hasMains() ? 2 : 4; }
};

class FieldReader;
/// Reads one size per axis, {"tp": 2, "dp": 1, "pp": 4}.
Mesh readMesh(FieldReader reader);

/// Parses and checks the JSON text of a descriptor. Errors: inputRefused with
/// all problems at once (another ABI version is reported alone, because nothing
/// after it can be trusted).
Status parseDescriptor(std::string_view text, Descriptor &out);

/// The rules between fields; parseDescriptor applies it. `problems` gets one
/// text per violation.
void checkDescriptor(const Descriptor &d, std::vector<std::string> &problems);

/// Product of a shape, at most 2^48 (so that bytes cannot overflow).
int64_t elementCount(const std::vector<int64_t> &shape);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_PROGRAM_DESCRIPTOR_H
