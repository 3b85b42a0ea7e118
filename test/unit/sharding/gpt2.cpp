//===- gpt2.cpp - the model's forward; the tape makes the backward --------===//
#include "gpt2.h"

namespace mtc::sharding::test {
namespace {

class Builder {
public:
  explicit Builder(const Gpt2 &m) : m(m), headDim(m.hidden / m.heads) {}

  Program run() {
    int ids = data({m.batch, m.seq}), labels = data({m.batch, m.seq});
    int table = split("embed.tokens", {m.vocab, m.hidden}, 0);
    int x = embedding(ids, table);
    for (int64_t i = 0; i < m.layers; ++i) {
      tape.layer = i + 1;
      name = "layers." + std::to_string(i) + ".";
      x = tape.add({x, attention(norm(x, "norm1"))});
      x = tape.add({x, mlp(norm(x, "norm2"))});
    }
    tape.layer = m.layers + 1;
    name = "";
    x = norm(x, "final_norm");
    int out = m.tied ? table : split("head.weight", {m.vocab, m.hidden}, 0);
    tape.backward(
        tape.crossEntropy(tape.einsum("bse,ve->bsv", x, out), labels));
    program.graph = std::move(tape.graph);
    return std::move(program);
  }

private:
  int data(Shape shape) {
    int v = tape.input(std::move(shape));
    program.dataSeeds[v] = 0;
    return v;
  }
  int whole(const std::string &suffix, Shape shape) {
    return tape.parameter(name + suffix, std::move(shape));
  }
  int split(const std::string &suffix, Shape shape, State dim) {
    int v = whole(suffix, std::move(shape));
    program.modelSeeds[v] = dim;
    return v;
  }
  int maybeDropout(int x) { return m.dropout ? tape.dropout(x) : x; }
  int norm(int x, const std::string &which) {
    int scale = whole(which + ".scale", {m.hidden});
    return tape.norm(x, scale, whole(which + ".bias", {m.hidden}));
  }
  int withRowBias(int y, const std::string &bias) {
    return tape.add({y, tape.broadcast("e", "bse", whole(bias, {m.hidden}),
                                       {{'b', m.batch}, {'s', m.seq}})});
  }

  int embedding(int ids, int table) {
    int places = tape.parameter("embed.positions", {m.seq, m.hidden});
    int wide = tape.broadcast("se", "bse", places, {{'b', m.batch}});
    return maybeDropout(tape.add({tape.embed(ids, table), wide}));
  }

  int project(int x, const std::string &suffix) {
    int w =
        split("attn." + suffix + ".weight", {m.hidden, m.heads, headDim}, 1);
    int b = split("attn." + suffix + ".bias", {m.heads, headDim}, 0);
    return tape.add(
        {tape.einsum("bse,ekd->bskd", x, w),
         tape.broadcast("kd", "bskd", b, {{'b', m.batch}, {'s', m.seq}})});
  }
  std::vector<int> qkv(int x) {
    if (!m.fusedQkv)
      return {project(x, "q"), project(x, "k"), project(x, "v")};
    int w = split("attn.qkv.weight", {m.hidden, m.heads, 3, headDim}, 1);
    int b = split("attn.qkv.bias", {m.heads, 3, headDim}, 0);
    return {tape.add(
        {tape.einsum("bse,ekgd->bskgd", x, w),
         tape.broadcast("kgd", "bskgd", b, {{'b', m.batch}, {'s', m.seq}})})};
  }
  int attention(int x) {
    int o = tape.attention(qkv(x));
    int y =
        tape.einsum("bskd,kde->bse", o,
                    split("attn.out.weight", {m.heads, headDim, m.hidden}, 0));
    return maybeDropout(withRowBias(y, "attn.out.bias"));
  }
  int mlp(int x) {
    int u = tape.einsum("bse,ef->bsf", x,
                        split("mlp.up.weight", {m.hidden, m.ffn}, 1));
    int b = tape.broadcast("f", "bsf", split("mlp.up.bias", {m.ffn}, 0),
                           {{'b', m.batch}, {'s', m.seq}});
    int v = tape.unary("gelu", tape.add({u, b}));
    int y = tape.einsum("bsf,fe->bse", v,
                        split("mlp.down.weight", {m.ffn, m.hidden}, 0));
    return maybeDropout(withRowBias(y, "mlp.down.bias"));
  }

  const Gpt2 &m;
  int64_t headDim;
  std::string name;
  Tape tape;
  Program program;
};

} // namespace

std::vector<Axis> Program::axes(int64_t dp, int64_t tp) const {
  std::vector<Axis> axes = {{"dp", dp, true, {}}, {"tp", tp, false, {}}};
  if (dp > 1)
    axes[0].seeds = dataSeeds;
  if (tp > 1)
    axes[1].seeds = modelSeeds;
  return axes;
}

Program buildGpt2(const Gpt2 &model) { return Builder(model).run(); }

} // namespace mtc::sharding::test
