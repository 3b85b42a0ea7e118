//===- plan.h - the rt IR of a bundle as plain values -----------*- C++ -*-===//
//
// Read once from the IR; the descriptor, the tables, the report and the
// simulation are computed from it. No MLIR here.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_COMPILER_PLAN_H
#define MTC_COMPILER_PLAN_H

#include "compiler/gemm_choice.h"
#include "compiler/proof_log.h"
#include "mtc/runtime/abi.h"
#include "mtc/runtime/descriptor.h"
#include "passes/codegen/gpu_launch.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::compiler {

/// The order in which a chunk of a stage adds the gradients of microbatches.
struct SumOrder {
  int64_t stage = 0, chunk = 0;
  std::vector<int64_t> microbatches;
};

/// The module attribute `mtc.config`.
struct PlanConfig {
  std::string model, isa, dtype;
  std::string device;              ///< what computes, as strategies name it
  std::string optimizer;           ///< its name in strategies
  std::vector<std::string> groups; ///< of parameters
  std::string gradDtype; ///< of gradients of parameters that have main ones
  Mesh mesh;
  int64_t threads = 1;
  int64_t streams = 1; ///< queues of a rank that run beside each other
  std::vector<std::string> epilogues; ///< what products do before they round
  std::string gemm;  ///< how products of a cpu are computed; empty: by oneDNN
  bool zero = false; ///< ZeRO with more than one replica
  int64_t zeroStage = 0; ///< of the strategy, also of one replica
  bool sequenceParallel = false;
  std::vector<std::string> overlap; ///< names of what does
  std::string recompute;    ///< the policy, as strategies write it; empty: none
  int64_t microBatch = 1;   ///< samples of one replica
  int64_t microbatches = 1; ///< per step
  int64_t globalBatch = 1;  ///< samples of one step
  int64_t seq = 1, vocab = 1;
  std::vector<SumOrder> sumOrders;     ///< that do not ascend
  std::optional<int64_t> deviceMemory; ///< bytes of one rank; none: no limit
  std::optional<int64_t> ranksPerHost; ///< none: not said
  std::string text;                    ///< the whole attribute, for people

  bool isForGpu() const { return device != "cpu"; }
};

/// One `rt.collective`. `bytes` is its whole buffer on one rank.
struct PlanCollective {
  std::string kind, group;
  int64_t bytes = 0;
  /// How often a byte goes round a ring of the members: twice where all of them
  /// get the sum.
  int64_t ringPasses = 1;
};

/// Calls that do the same: of one kernel, or products of one shape. The figures
/// are those of all of them together, as rt::Work has them.
struct PlanCalls {
  std::string op;      ///< of rt, without its dialect: "gemm"
  std::string name;    ///< what tells them from others of the op
  std::string part;    ///< of the model; "*" stands for numbers of layers
  std::string factors; ///< type of what products multiply; empty: no products
  int64_t stream = 0, calls = 0;
  double flops = 0, unmaskedFlops = 0, bytes = 0, linkBytes = 0;

  /// Whether they and others are one row.
  bool isLike(const PlanCalls &other) const {
    return op == other.op && name == other.name && stream == other.stream;
  }
  /// Those of another, which is like this, `times` over.
  void add(const PlanCalls &more, int64_t times = 1);
};

struct PlanFragment {
  std::string name;
  int64_t chunk = 0; ///< of the stage
  int64_t phase = 0; ///< a pipe::Phase; forms of a fragment have both in common
  std::vector<PlanCollective> collectives;
  std::vector<PlanCalls> calls; ///< in the order of the first of each
  double flops = 0;             ///< of products and attention
  /// The same with attention in full, where a mask leaves half of it out.
  double unmaskedFlops = 0;
  /// Of the workspace where gradients wait for their sum over dp (ZeRO-2).
  int64_t stagingBytes = 0;
  /// Of the workspace where what replicas share is gathered.
  int64_t gatherBytes = 0;
};

/// Rows as the runtime has them: a plan has some for each microbatch.
struct PlanTimeline {
  std::string entry;
  std::optional<int64_t> seq; ///< tokens of a sample; none: those of the plan
  std::optional<int64_t> microbatches; ///< of a step; none: those of the plan
  std::vector<MtcStep> rows;
  /// What rows run that is no fragment of the program; their index is -1.
  std::vector<std::string> unknown;
};

/// One `rt.program`.
struct ProgramPlan {
  std::string name;
  /// What the runtime is told. `describe` adds what all programs share: the
  /// head of the plan, mesh and batch.
  runtime::Descriptor descriptor;
  std::vector<PlanFragment> fragments; ///< in the order of mtc_fragments
  std::vector<PlanTimeline> timelines;
  std::vector<MtcTransfer> transfers; ///< mtc_transfers
  std::vector<int32_t> slots;         ///< mtc_slots
  codegen::GpuProgram gpu;            ///< empty: not for a GPU, or not made

  int64_t stage() const { return descriptor.stage; }
  /// The transfers of an exchange, whole, post or wait; none of another row. A
  /// wait has those that a post of the timeline has.
  std::span<const MtcTransfer> transfersOf(const MtcStep &row) const {
    return {transfers.data() + row.first, static_cast<size_t>(row.count)};
  }
  /// The index of a fragment; -1 if there is none of that name.
  int64_t fragmentIndex(std::string_view fragment) const;
};

struct BundlePlan {
  PlanConfig config;
  std::string hash;                  ///< xxh3-64 of the rt IR, 16 hex digits
  std::vector<ProgramPlan> programs; ///< by stage
  ProofCounts proof;                 ///< of verify-plan; empty: it did not look
  GemmChoices gemms;
};

} // namespace mtc::compiler
#endif // MTC_COMPILER_PLAN_H
