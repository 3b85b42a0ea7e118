//===- attention_call.cpp - rt.attention as the runtime takes it ----------===//
#include "passes/target/attention_call.h"

#include "passes/target/gemm_rows.h"

using namespace mlir;

namespace mtc::target {

static ArrayRef<int64_t> shapeOf(Value v) {
  return cast<ShapedType>(v.getType()).getShape();
}

/// q, k and v are one tensor [batch, seq, kv_heads, q_per_kv + 2, head_dim].
static void readFused(ArrayRef<int64_t> qkv, MtcAttention &d) {
  d.kv_heads = qkv[2];
  d.heads = qkv[2] * (qkv[3] - 2);
  d.head_dim = qkv[4];
  d.q_token_stride = d.k_token_stride = d.v_token_stride =
      qkv[2] * qkv[3] * qkv[4];
  d.q_head_stride = qkv[3] == 3 ? 3 * qkv[4] : qkv[4];
  d.k_head_stride = d.v_head_stride = qkv[3] * qkv[4];
}

/// q is [batch, seq, heads, head_dim], k and v [batch, seq, kv_heads,
/// head_dim].
static void readSeparate(ArrayRef<int64_t> q, ArrayRef<int64_t> k,
                         MtcAttention &d) {
  d.heads = q[2];
  d.kv_heads = k[2];
  d.head_dim = q[3];
  d.q_token_stride = q[2] * q[3];
  d.k_token_stride = d.v_token_stride = k[2] * k[3];
  d.q_head_stride = d.k_head_stride = d.v_head_stride = q[3];
}

MtcAttention attentionCall(rt::AttentionOp op) {
  OperandRange qkv = op.getQkv();
  MtcAttention d{};
  ArrayRef<int64_t> q = shapeOf(qkv.front());
  d.batch = q[0];
  d.seq = q[1];
  d.keys = shapeOf(qkv.back())[1];
  d.first = op.getPositions().empty() ? d.seq : d.seq / 2;
  if (op.isFused())
    readFused(q, d);
  else
    readSeparate(q, shapeOf(qkv[1]), d);
  d.o_token_stride = d.heads * d.head_dim;
  d.o_head_stride = d.head_dim;
  d.causal = op.getCausal();
  d.global_heads = op.getGlobalHeads();
  d.layer = op.getRngLayer();
  d.site = op.getSite();
  d.scale = op.getScale().convertToDouble();
  d.dropout = op.getRate().convertToDouble();
  d.dtype = dtypeOf(qkv.front());
  return d;
}

} // namespace mtc::target
