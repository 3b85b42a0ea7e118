//===- cuda_attention.cpp - attention on a GPU ----------------------------===//

#include "runtime/device/cuda/cuda_attention.h"

#include "mtc/runtime/gpu_texts.h"
#include "runtime/base/philox.h"

#include <fmt/format.h>

using mtc::runtime::AttentionOperands;
using mtc::runtime::Status;

namespace mtc::cuda {

static AttentionParams paramsOf(const MtcAttention &d,
                                const AttentionOperands &x,
                                const MtcStepBlock *block) {
  runtime::DropoutRule rule = runtime::dropoutRule(d.dropout);
  AttentionParams p{};
  auto in = [](const void *a) { return static_cast<const uint16_t *>(a); };
  auto out = [](void *a) { return static_cast<uint16_t *>(a); };
  p.q = in(x.q), p.k = in(x.k), p.v = in(x.v), p.dout = in(x.dout);
  p.out = out(x.out), p.dq = out(x.dq), p.dk = out(x.dk), p.dv = out(x.dv);
  p.lse = static_cast<float *>(x.lse);
  p.dots = static_cast<float *>(x.scratch);
  p.documents = x.documents;
  p.seed = &block->seed;
  p.sampleBase = reinterpret_cast<const uint64_t *>(&block->sample_base);
  p.sample = static_cast<uint64_t>(x.sample);
  p.qToken = d.q_token_stride, p.qHead = d.q_head_stride;
  p.kToken = d.k_token_stride, p.kHead = d.k_head_stride;
  p.vToken = d.v_token_stride, p.vHead = d.v_head_stride;
  p.oToken = d.o_token_stride, p.oHead = d.o_head_stride;
  auto small = [](int64_t n) { return static_cast<int32_t>(n); };
  p.seq = small(d.seq), p.keys = small(d.keys), p.headDim = small(d.head_dim);
  p.heads = small(d.heads), p.group = small(d.heads / d.kv_heads);
  p.first = small(d.first);
  p.begin = small(x.begin), p.begin2 = small(x.begin2);
  p.causal = small(d.causal), p.head = small(x.head);
  p.layerSite = static_cast<uint32_t>(d.layer << 8 | d.site);
  p.dropThreshold = rule.threshold;
  p.dropScale = rule.scale;
  p.scale = static_cast<float>(d.scale);
  return p;
}

static int headSizeOf(const MtcAttention &d) {
  return attentionHeadSize(d.dtype == MTC_F16, static_cast<int>(d.head_dim));
}

AttentionForm CudaAttention::formOf(const MtcAttention &d) const {
  bool wide = d.dtype == MTC_F32;
  if (hasGroupAttention(chip_, wide, headSizeOf(d)))
    return AttentionForm::groups;
  return wide ? AttentionForm::floats : AttentionForm::warps;
}

static const char *nameOf(AttentionKernel kernel) {
  switch (kernel) {
  case AttentionKernel::forward:
    return "forward";
  case AttentionKernel::dots:
    return "dots";
  case AttentionKernel::queries:
    return "queries";
  case AttentionKernel::keys:
    return "keys";
  }
  return "";
}

std::string CudaAttention::entryOf(const MtcAttention &d,
                                   AttentionKernel kernel) const {
  return fmt::format("mtc_attention_{}_{}", nameOf(kernel),
                     attentionInstance(d, chip_));
}

Status CudaAttention::find(const MtcAttention &d, AttentionKernel kernel,
                           int sharedBytes, Function &out) {
  Instance &instance = instances_[{d.dtype, headSizeOf(d)}];
  Function &function = instance.functions[static_cast<size_t>(kernel)];
  if (!instance.code) {
    auto code = std::make_unique<CudaCode>(driver_);
    MTC_RETURN_IF_ERROR(code->loadText(attentionText(d, chip_)));
    instance.code = std::move(code);
  }
  if (!function)
    MTC_RETURN_IF_ERROR(
        instance.code->find(entryOf(d, kernel), sharedBytes, function));
  out = function;
  return Status::okay();
}

Status CudaAttention::start(const MtcAttention &d, AttentionKernel kernel,
                            const AttentionParams &params,
                            StreamHandle stream) {
  const AttentionShape shape =
      attentionShape(formOf(d), kernel, headSizeOf(d), params.seq, params.keys);
  int heads = kernel == AttentionKernel::keys ? params.heads / params.group
                                              : params.heads;
  Function function = nullptr;
  MTC_RETURN_IF_ERROR(find(d, kernel, shape.shared, function));
  AttentionParams copy = params;
  void *arguments[] = {&copy};
  Result result = driver_.launch(
      function, static_cast<unsigned>(shape.blocks), heads,
      static_cast<unsigned>(d.batch), static_cast<unsigned>(shape.threads), 1,
      1, static_cast<unsigned>(shape.shared), stream, arguments, nullptr);
  return result == 0
             ? Status::okay()
             : driver_.check(result, "cuLaunchKernel", entryOf(d, kernel));
}

Status CudaAttention::issue(const MtcAttention &d, const AttentionOperands &x,
                            bool backward, const MtcStepBlock *block,
                            StreamHandle stream) {
  AttentionParams params = paramsOf(d, x, block);
  if (!backward)
    return start(d, AttentionKernel::forward, params, stream);
  for (AttentionKernel kernel :
       {AttentionKernel::dots, AttentionKernel::queries, AttentionKernel::keys})
    MTC_RETURN_IF_ERROR(start(d, kernel, params, stream));
  return Status::okay();
}

} // namespace mtc::cuda
