//===- plan.h - the rt IR of a bundle as plain values -----------*- C++ -*-===//
//
// Read once from the IR; the descriptor, the tables, the report and the
// simulation are computed from it. No MLIR here.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_COMPILER_PLAN_H
#define MTC_COMPILER_PLAN_H

#include "mtc/runtime/mesh.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace mtc::compiler {

/// The module attribute `mtc.config`.
struct PlanConfig {
  std::string model, isa, dtype;
  Mesh mesh;
  int64_t threads = 1;
  int64_t microBatch = 1;   ///< samples of one replica
  int64_t microbatches = 1; ///< per step
  int64_t globalBatch = 1;  ///< samples of one step
  int64_t seq = 1, vocab = 1;
  int64_t deviceMemory = 0;    ///< bytes of one rank; 0: not limited
  nlohmann::ordered_json json; ///< the whole dictionary, for people
};

/// `rt.bucket`: elements and bytes as there.
struct PlanBucket {
  int64_t index = 0, elements = 0, unpadded = 0, shard = 0;
  bool zero = false;
  int64_t secondUseOf = -1;
  int64_t paramOffset = -1, gradOffset = -1;
  int64_t mainOffset = -1, expAvgOffset = -1, expAvgSqOffset = -1;
};

/// `rt.param` in a bucket that holds parameters.
struct PlanParam {
  std::string name, init;
  int64_t bucket = 0, start = 0, splitDim = -1;
  std::string splitAxis; ///< empty if no dimension is split
  std::vector<int64_t> shape, local;
  bool owner = true, decay = true;
  double std = 0;
  std::vector<std::string> axes; ///< logical; empty if not recorded
};

struct PlanInput {
  std::string name, entry;
  int64_t pool = 0, offset = 0, stride = 0;
};

struct PlanExport {
  std::string name, fragment;
  int64_t arena = 0, offset = 0, splitDim = -1;
  std::string splitAxis; ///< as in PlanParam
  std::string dtype;     ///< of its elements: f32 or bf16
  std::vector<int64_t> shape, local;
};

struct PlanGemm {
  int64_t m = 0, n = 0, k = 0;
  bool ta = false, tb = false, beta = false;
  std::string ab, c;   ///< types of both operands and of the product
  int64_t scratch = 0; ///< bytes
};

/// One `rt.collective`. `bytes` is its whole buffer on one rank.
struct PlanCollective {
  std::string kind, group;
  int64_t bytes = 0;
};

struct PlanFragment {
  std::string name;
  std::vector<PlanCollective> collectives;
  double flops = 0; ///< of products and attention
};

struct PlanTransfer {
  bool send = false;
  int64_t peer = 0, arena = 0, tag = 0, offset = 0, bytes = 0;
};

struct PlanRow {
  MtcStepKind kind = MTC_STEP_LOAD;
  std::string fragment; ///< RUN
  int64_t microbatch = 0, chunk = 0;
  std::array<int64_t, MTC_POOL_COUNT> slots{};
  std::vector<PlanTransfer> transfers; ///< EXCHANGE
};

struct PlanTimeline {
  std::string entry;
  std::vector<PlanRow> rows;
};

/// One `rt.program`.
struct ProgramPlan {
  std::string name, onednn;
  int64_t stage = 0, lossOffset = 0;
  std::array<int64_t, MTC_ARENA_COUNT> arenas{}; ///< bytes
  std::vector<PlanBucket> buckets;               ///< by index
  std::vector<PlanParam> params;
  std::vector<PlanInput> inputs;
  std::vector<PlanExport> exports;
  std::vector<PlanGemm> gemms;
  std::vector<PlanFragment> fragments; ///< in the order of mtc_fragments
  std::vector<PlanTimeline> timelines;

  /// The index of a fragment; -1 if there is none of that name.
  int64_t fragmentIndex(const std::string &fragment) const;
};

struct BundlePlan {
  PlanConfig config;
  std::string hash;                  ///< xxh3-64 of the rt IR, 16 hex digits
  std::vector<ProgramPlan> programs; ///< by stage
};

} // namespace mtc::compiler
#endif // MTC_COMPILER_PLAN_H
