//===- target.cpp - what a plan must know of its device -------------------===//
#include "passes/target/target.h"

#include "mtc/runtime/gemm_scratch.h"
#include "mtc/runtime/isa.h"
#include "passes/target/attention_call.h"
#include "passes/target/gemm_rows.h"

using namespace mlir;

namespace mtc::target {

Target::Target(TargetAttr target)
    : isa_(target.getIsa().str()), chip_(chipOf(target).str()),
      threads(target.getThreads()),
      streams_(chip_.empty() ? target.getStreams().value_or(1)
                             : int64_t(MTC_STREAM_COUNT)) {}

FailureOr<Target> Target::of(ModuleOp module) {
  FailureOr<ConfigAttr> config = configOf(module);
  if (failed(config))
    return failure();
  if (config->getTarget().getIsa())
    return Target(config->getTarget());
  return emitError(module.getLoc(),
                   "expected an instruction set (isa) in the target of "
                   "mtc.config, found none");
}

StringRef Target::chipOf(TargetAttr target) {
  StringRef chip = target.getDevice();
  return chip.consume_front("cuda:") ? chip : StringRef();
}

std::string Target::bestIsa(bool bf16) {
  for (const char *isa : {"x86-64-v4-amx", "x86-64-v4-bf16"})
    if (bf16 && runtime::processorHas(isa))
      return isa;
  if (bf16)
    return "";
  return runtime::processorHas("x86-64-v4") ? "x86-64-v4" : "x86-64-v3";
}

/// What a product may have of a GPU's memory: as much as cuBLAS takes by
/// default on Hopper (its documentation, "cublasSetWorkspace"), and what
/// aligning it takes.
static constexpr int64_t kGpuGemmScratch = (int64_t(32) << 20) + 256;

/// Of the backward a float for each query of each head (attention_params.h).
static int64_t gpuAttentionScratch(rt::AttentionOp op) {
  MtcAttention call = attentionCall(op);
  return op.getBackward() ? call.batch * call.heads * call.seq * 4 : 0;
}

static LogicalResult checkEpilogue(rt::GemmOp op, bool isGpu) {
  if (op.hasEpilogue() && !isGpu)
    return op.emitOpError("expected a product without bias and gelu on a cpu, "
                          "whose products have no epilogue; it has one");
  if (op.getAux() && lacksAux(op.getN()))
    return op.emitOpError("expected columns of aux in multiples of 8, as "
                          "cuBLASLt's kernels read and write them, found ")
           << op.getN();
  return success();
}

static LogicalResult checkKernel(rt::GemmOp op, bool isGpu) {
  if (op.getKernel() && isGpu)
    return op.emitOpError("expected a product of a GPU without a kernel, as "
                          "its library computes it; found '")
           << stringifyGemmKernel(*op.getKernel()) << "'";
  return success();
}

FailureOr<int64_t> Target::scratchBytes(Operation *op) const {
  if (auto attention = dyn_cast<rt::AttentionOp>(op)) {
    if (!chip_.empty())
      return gpuAttentionScratch(attention);
    MtcAttention call = attentionCall(attention);
    return mtc_attention_scratch(&call, static_cast<int32_t>(threads));
  }
  auto gemm = dyn_cast<rt::GemmOp>(op);
  if (!gemm)
    return 0;
  if (failed(checkEpilogue(gemm, !chip_.empty())) ||
      failed(checkKernel(gemm, !chip_.empty())))
    return failure();
  if (!chip_.empty())
    return kGpuGemmScratch;
  int64_t most = 0;
  for (const MicrobatchRow &each : gemmRows(gemm)) {
    int64_t bytes =
        runtime::gemmScratch(isa_, each.row, static_cast<int>(threads));
    most = bytes < 0 || most < 0 ? -1 : std::max(most, bytes);
  }
  if (most < 0)
    return gemm.emitOpError(
               "expected a product that its kernel can plan under ")
           << isa_ << " with " << threads << " threads; it rejected";
  return most;
}

bool Target::countsSquares() const {
  return chip_.empty() && isa_ != "x86-64-v3";
}

int64_t Target::packedBytes(int64_t n, int64_t k, Type type) const {
  return chip_.empty() ? runtime::packedBytes(isa_, n, k, dtypeOf(type)) : -1;
}

std::string Target::library() const {
  return chip_.empty() ? mtc_gemm_library() : "";
}

} // namespace mtc::target
