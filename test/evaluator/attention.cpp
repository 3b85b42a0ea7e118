//===- attention.cpp - softmax(q·k^T·scale)·v and its gradient ------------===//
#include "test/evaluator/ops.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace mtc::eval {
namespace {

/// Sizes and attributes that the op and its gradient share, and where query,
/// key and value elements stand in one fused or three separate tensors.
struct Problem {
  int64_t batch, seq, heads, kvHeads, dim;
  std::vector<int64_t> position; ///< of each query in the sequence
  bool fused, causal;
  double scale, rate;
  int64_t layer, site, headOffset;

  template <typename Op> Problem(Op op, const Call &c, const Tensor &out);
  int64_t kvHead(int64_t head) const { return head / (heads / kvHeads); }
  Shape query(int64_t b, int64_t s, int64_t head, int64_t d) const {
    int64_t group = heads / kvHeads;
    return fused ? Shape{b, s, head / group, head % group, d}
                 : Shape{b, s, head, d};
  }
  /// `which` is 0 for keys, 1 for values; `head` is a query head.
  Shape keyValue(int which, int64_t b, int64_t s, int64_t head,
                 int64_t d) const {
    int64_t group = heads / kvHeads;
    return fused ? Shape{b, s, head / group, group + which, d}
                 : Shape{b, s, kvHead(head), d};
  }
  const Tensor *documents = nullptr;
  /// The first key that query `i` of sample `b` sees.
  int64_t firstKey(int64_t b, int64_t i) const {
    return documents
               ? std::min(documents->ints[b * position.size() + i], position[i])
               : 0;
  }
  /// One behind the last key that query `i` sees.
  int64_t keys(int64_t i) const { return causal ? position[i] + 1 : seq; }
};

/// Where in the sequence the rank's piece of the head, or of the tail, begins.
int64_t pieceStart(Operation *op, const Call &c, bool ofTail) {
  auto axis = op->getAttrOfType<StringAttr>("dist.piece_axis").getValue();
  int64_t piece = op->getAttrOfType<IntegerAttr>("dist.piece").getInt();
  int64_t before = c.mesh.coordinate(c.rank, axis);
  return piece * (ofTail ? 2 * c.mesh.sizeOf(axis) - 1 - before : before);
}

template <typename Op>
Problem::Problem(Op op, const Call &c, const Tensor &out) {
  fused = op.getQkv().size() == 1;
  batch = out.shape[0], heads = out.shape[2], dim = out.shape[3];
  auto first = op.getQkv().getTypes();
  seq = shapeOf(first[first.size() - 1])[1];
  int64_t piece = 0; // heads may be split as well, which is another index
  if (auto attr = op->template getAttrOfType<IntegerAttr>("dist.piece"))
    piece = attr.getInt();
  for (int64_t i = 0; i < out.shape[1]; ++i)
    position.push_back(piece ? pieceStart(op, c, i >= piece) + i % piece : i);
  kvHeads = shapeOf(first[fused ? 0 : 1])[2];
  causal = op.getCausal();
  scale = op.getScale().convertToDouble();
  rate = op.getRate().convertToDouble();
  layer = op.getRngLayer(), site = op.getSite();
  bool split = heads != static_cast<int64_t>(op.getGlobalHeads());
  headOffset = split ? c.indexCoordinate() * heads : 0;
  if (op.getDocuments()) // the operand before the sample
    documents = c.in[c.in.size() - 2];
}

/// One query row of one head: scores, log-sum-exp, dropout factors.
struct Row {
  const Call &c;
  const Problem &p;
  const Tensor &q, &k;
  int64_t sample;

  double score(int64_t b, int64_t h, int64_t i, int64_t j) const {
    double dot = 0;
    for (int64_t d = 0; d < p.dim; ++d)
      dot += q.at(p.query(b, i, h, d)) * k.at(p.keyValue(0, b, j, h, d));
    return dot * p.scale;
  }
  double logSumExp(int64_t b, int64_t h, int64_t i) const {
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t j = p.firstKey(b, i); j < p.keys(i); ++j)
      top = std::max(top, score(b, h, i, j));
    for (int64_t j = p.firstKey(b, i); j < p.keys(i); ++j)
      sum += std::exp(score(b, h, i, j) - top);
    return top + std::log(sum);
  }
  double factor(int64_t b, int64_t h, int64_t i, int64_t j) const {
    if (p.rate == 0)
      return 1;
    int64_t element = ((h + p.headOffset) * p.seq + p.position[i]) * p.seq + j;
    return keepFactor(c.step.seed, sample + b, p.layer, p.site, element,
                      p.rate);
  }
};

void forward(tfm::AttentionOp op, Call &c) {
  Problem p(op, c, c.out[0]);
  const Tensor &q = *c.in[0], &k = *c.in[p.fused ? 0 : 1];
  const Tensor &v = *c.in[p.fused ? 0 : 2];
  Row row{c, p, q, k, c.in.back()->ints[0]};
  forEachIndex(c.out[1].shape, [&](const Shape &at) { // batch, head, query
    int64_t b = at[0], h = at[1], i = at[2];
    double lse = row.logSumExp(b, h, i);
    c.out[1].at(at) = lse;
    for (int64_t j = p.firstKey(b, i); j < p.keys(i); ++j) {
      double weight =
          std::exp(row.score(b, h, i, j) - lse) * row.factor(b, h, i, j);
      for (int64_t d = 0; d < p.dim; ++d)
        c.out[0].at({b, i, h, d}) += weight * v.at(p.keyValue(1, b, j, h, d));
    }
  });
}

/// With P the softmax, M the dropout factors, out = (P·M)v: dP = M·(dout·v),
/// dS = P·(dP - sum(dout·out)), dq = scale·dS·k, dk = scale·dS^T·q,
/// dv = (P·M)^T·dout. Operands dout, out, lse, q k v, sample.
void backward(tfm::AttentionGradOp op, Call &c) {
  const Tensor &dout = *c.in[0], &out = *c.in[1], &lse = *c.in[2];
  Problem p(op, c, dout);
  const Tensor &q = *c.in[3], &k = *c.in[p.fused ? 3 : 4];
  const Tensor &v = *c.in[p.fused ? 3 : 5];
  Tensor &dq = c.out[0], &dk = c.out[p.fused ? 0 : 1];
  Tensor &dv = c.out[p.fused ? 0 : 2];
  Row row{c, p, q, k, c.in.back()->ints[0]};
  forEachIndex(lse.shape, [&](const Shape &at) {
    int64_t b = at[0], h = at[1], i = at[2];
    double delta = 0;
    for (int64_t d = 0; d < p.dim; ++d)
      delta += dout.at({b, i, h, d}) * out.at({b, i, h, d});
    for (int64_t j = p.firstKey(b, i); j < p.keys(i); ++j) {
      double prob = std::exp(row.score(b, h, i, j) - lse.at(at));
      double factor = row.factor(b, h, i, j), dp = 0;
      for (int64_t d = 0; d < p.dim; ++d)
        dp += dout.at({b, i, h, d}) * v.at(p.keyValue(1, b, j, h, d));
      double ds = prob * (dp * factor - delta) * p.scale;
      for (int64_t d = 0; d < p.dim; ++d) {
        Shape atQ = p.query(b, i, h, d), atK = p.keyValue(0, b, j, h, d);
        dq.at(atQ) += ds * k.at(atK);
        dk.at(atK) += ds * q.at(atQ);
        dv.at(p.keyValue(1, b, j, h, d)) +=
            prob * factor * dout.at({b, i, h, d});
      }
    }
  });
}

/// Of key head k: its queries, from k·n on, then its key and its value.
void unfuse(tfm::UnfuseOp, Call &c) {
  int64_t n = c.in[0]->shape[3] - 2;
  forEachIndex(c.in[0]->shape, [&](const Shape &at) {
    int64_t group = at[3];
    Tensor &to = c.out[group < n ? 0 : group - n + 1];
    int64_t head = group < n ? at[2] * n + group : at[2];
    to.at({at[0], at[1], head, at[4]}) = c.in[0]->at(at);
  });
}

void fuse(tfm::FuseOp, Call &c) {
  int64_t n = c.out[0].shape[3] - 2;
  forEachIndex(c.out[0].shape, [&](const Shape &at) {
    int64_t group = at[3];
    const Tensor &from = *c.in[group < n ? 0 : group - n + 1];
    int64_t head = group < n ? at[2] * n + group : at[2];
    c.out[0].at(at) = from.at({at[0], at[1], head, at[4]});
  });
}

} // namespace

void addAttention(Handlers &h) {
  on<tfm::UnfuseOp>(h, unfuse);
  on<tfm::FuseOp>(h, fuse);
  on<tfm::AttentionOp>(h, forward);
  on<tfm::AttentionGradOp>(h, backward);
}

} // namespace mtc::eval
