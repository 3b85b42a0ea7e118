//===- instances.cpp - functions of one op each ---------------------------===//
#include "test/unit/evaluator/instances.h"

#include <map>

namespace mtc::test {
namespace {

/// Replaces every `from` in `text`.
std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// One function. `arguments` are like "%x: T, %y: T"; `T` is `type`, which is
/// also the result's type.
Instance pointwise(const std::string &name, const std::string &arguments,
                   const std::string &op,
                   const std::string &type = "tensor<$Ax$Bx$Cxf32>") {
  std::string args = replaced(arguments, ": T", ": " + type);
  return {name, "func.func @f(" + args + ") -> " + type + " {\n  %r = " + op +
                    " : " + type + "\n  return %r : " + type + "\n}\n"};
}

/// One function whose op prints `types` after the colon.
Instance general(const std::string &name, const std::string &arguments,
                 const std::string &op, const std::string &operandTypes,
                 const std::string &result) {
  return {name, "func.func @f(" + arguments + ") -> " + result +
                    " {\n  %r = " + op + " : " + operandTypes + " -> " +
                    result + "\n  return %r : " + result + "\n}\n"};
}

Instance einsum(const std::string &name, const std::string &equation,
                const std::string &lhs, const std::string &rhs,
                const std::string &result) {
  return general(name, "%x: " + lhs + ", %y: " + rhs,
                 "tfm.einsum \"" + equation + "\" %x, %y", lhs + ", " + rhs,
                 result);
}

void addPointwise(std::vector<Instance> &all) {
  all.push_back(pointwise("add3", "%x: T, %y: T, %z: T", "tfm.add %x, %y, %z"));
  all.push_back(pointwise("sub", "%x: T, %y: T", "tfm.sub %x, %y"));
  all.push_back(pointwise("mul", "%x: T, %y: T", "tfm.mul %x, %y"));
  all.push_back(
      pointwise("div", "%x: T, %y: T {in.positive}", "tfm.div %x, %y"));
  all.push_back(pointwise("exp", "%x: T", "tfm.exp %x"));
  all.push_back(pointwise("log", "%x: T {in.positive}", "tfm.log %x"));
  all.push_back(pointwise("scale", "%x: T", "tfm.scale %x by 0.375"));
  all.push_back(pointwise("fill", "", "tfm.fill 2.5"));
  for (std::string kind : {"gelu", "silu", "relu"}) {
    all.push_back(pointwise(kind, "%x: T", "tfm.activation " + kind + " %x"));
    all.push_back(pointwise(kind + "_grad", "%x: T, %dy: T",
                            "tfm.activation_grad " + kind + " %x, %dy"));
  }
  all.push_back(general("cast", "%x: tensor<$Ax$Bxf32>", "tfm.cast %x",
                        "tensor<$Ax$Bxf32>", "tensor<$Ax$Bxf32>"));
  all.push_back(pointwise("stop_gradient", "%x: T", "tfm.stop_gradient %x"));
  all.push_back(pointwise("scale_gradient", "%x: T, %w: T",
                          "tfm.scale_gradient %x by %w"));
  all.push_back(pointwise("whole", "%x: T", "tfm.whole %x dims [1]"));
  all.push_back(pointwise("save", "%x: T", "tfm.save %x"));
  all.push_back(pointwise("restore", "%x: T", "tfm.restore %x"));
  all.push_back({"export_", "func.func @f(%x: tensor<$Ax$Bxf32>) {\n"
                            "  tfm.export \"x\" %x : tensor<$Ax$Bxf32>\n"
                            "  return\n}\n"});
}

void addShape(std::vector<Instance> &all) {
  std::string cube = "tensor<$Ax$Bx$Cxf32>";
  std::map<std::string, std::string> types = {
      {"", "tensor<f32>"},           {"1", "tensor<$Bxf32>"},
      {"2", "tensor<$Cxf32>"},       {"0, 2", "tensor<$Ax$Cxf32>"},
      {"0, 1", "tensor<$Ax$Bxf32>"},
  };
  for (auto &[dims, type] : types)
    all.push_back(general("broadcast" + std::to_string(all.size()),
                          "%x: " + type, "tfm.broadcast %x dims [" + dims + "]",
                          type, cube));
  std::map<std::string, std::string> rest = {
      {"0, 1, 2", "tensor<f32>"}, {"0, 2", "tensor<$Bxf32>"},
      {"0, 1", "tensor<$Cxf32>"}, {"1", "tensor<$Ax$Cxf32>"},
      {"2", "tensor<$Ax$Bxf32>"},
  };
  for (std::string kind : {"sum", "max"})
    for (auto &[dims, type] : rest)
      all.push_back(general(
          "reduce_" + kind + std::to_string(all.size()), "%x: " + cube,
          "tfm.reduce " + kind + " %x dims [" + dims + "]", cube, type));
}

/// $H = 2·$K. The dimension may be any.
void addRepeats(std::vector<Instance> &all) {
  std::map<std::string, std::pair<std::string, std::string>> types = {
      {"0", {"tensor<$Kx$Bxf32>", "tensor<$Hx$Bxf32>"}},
      {"1", {"tensor<$Ax$Kx$Cxf32>", "tensor<$Ax$Hx$Cxf32>"}},
      {"2", {"tensor<$Ax$Bx$Kxf32>", "tensor<$Ax$Bx$Hxf32>"}},
  };
  for (auto &[dim, shapes] : types) {
    auto &[once, many] = shapes;
    std::string how = " dim " + dim + " times 2";
    all.push_back(general("repeat" + dim, "%x: " + once, "tfm.repeat %x" + how,
                          once, many));
    all.push_back(general("repeat_grad" + dim, "%x: " + many,
                          "tfm.repeat_grad %x" + how, many, once));
  }
}

void addEinsums(std::vector<Instance> &all) {
  std::string x = "tensor<$Ax$Bx$Cxf32>";
  all.push_back(einsum("einsum_matmul", "bse,ef->bsf", x, "tensor<$Cx$Dxf32>",
                       "tensor<$Ax$Bx$Dxf32>"));
  all.push_back(einsum("einsum_transposed", "bse,ve->bsv", x,
                       "tensor<$Dx$Cxf32>", "tensor<$Ax$Bx$Dxf32>"));
  all.push_back(einsum("einsum_weight", "bse,bsf->ef", x,
                       "tensor<$Ax$Bx$Dxf32>", "tensor<$Cx$Dxf32>"));
  all.push_back(einsum("einsum_qkv", "bse,ekgd->bskgd", x,
                       "tensor<$Cx$Kx4x$Dxf32>", "tensor<$Ax$Bx$Kx4x$Dxf32>"));
  all.push_back(einsum("einsum_out", "bskd,kde->bse", "tensor<$Ax$Bx$Kx$Cxf32>",
                       "tensor<$Kx$Cx$Dxf32>", "tensor<$Ax$Bx$Dxf32>"));
  all.push_back(einsum("einsum_dot", "ab,ab->", "tensor<$Ax$Bxf32>",
                       "tensor<$Ax$Bxf32>", "tensor<f32>"));
  all.push_back(einsum("einsum_outer", "a,b->ab", "tensor<$Axf32>",
                       "tensor<$Bxf32>", "tensor<$Ax$Bxf32>"));
}

void addLookups(std::vector<Instance> &all) {
  // 15 or 32 ids in 7 or 8 rows: some repeat.
  std::string ids = "tensor<$Ax$Bxi32>", table = "tensor<$Cx$Dxf32>";
  std::string rows = "tensor<$Ax$Bx$Dxf32>";
  for (std::string dim : {"0", "1", "2"})
    all.push_back(pointwise("iota" + dim, "", "tfm.iota dim " + dim,
                            "tensor<$Ax$Bx$Cxi32>"));
  for (std::string dim : {"0", "1", "2"})
    all.push_back(pointwise("index_from" + dim, "%x: T {in.below = 9 : i64}",
                            "tfm.index_from %x dim " + dim,
                            "tensor<$Ax$Bx$Cxi32>"));
  std::string idArg = "%i: " + ids + " {in.below = $C : i64}";
  all.push_back(general("embed", idArg + ", %t: " + table, "tfm.embed %i, %t",
                        ids + ", " + table, rows));
  all.push_back(general("embed_grad", idArg + ", %dy: " + rows,
                        "tfm.embed_grad %i, %dy", ids + ", " + rows, table));
  std::string z = "tensor<$Ax$Bx$Cxf32>", row = "tensor<$Ax$Bxf32>";
  all.push_back(general("pick", "%z: " + z + ", " + idArg, "tfm.pick %z, %i",
                        z + ", " + ids, row));
  all.push_back(general("pick_grad", idArg + ", %dl: " + row,
                        "tfm.pick_grad %i, %dl", ids + ", " + row, z));
  all.push_back(
      pointwise("mask_tail_zero", "%x: T", "tfm.mask_tail %x from 5 fill 0.0"));
  all.push_back(pointwise("mask_tail_low", "%x: T",
                          "tfm.mask_tail %x from 5 fill -100.0"));
  all.push_back(general("dropout3", "%x: " + z + ", %s: tensor<i64>",
                        "tfm.dropout %x at %s {rate = 0.4, rng_layer = 3 : "
                        "i64, site = 2 : i64}",
                        z + ", tensor<i64>", z));
  all.push_back(general("dropout2", "%x: " + row + ", %s: tensor<i64>",
                        "tfm.dropout %x at %s {rate = 0.4, rng_layer = 1 : "
                        "i64, site = 3 : i64}",
                        row + ", tensor<i64>", row));
}

/// A norm, and its gradients; `bias` of the forward only.
void addNorm(std::vector<Instance> &all, const std::string &kind, bool bias) {
  std::string x = "tensor<$Ax$Bx$Cxf32>", row = "tensor<$Ax$Bxf32>";
  std::string vec = "tensor<$Cxf32>";
  bool mean = kind == "layer_norm";
  std::string name = kind + (mean == bias ? "" : bias ? "_bias" : "_no_bias");
  std::string types = x + ", " + row + (mean ? ", " + row : "");
  std::string results = mean ? "%y, %m, %r" : "%y, %r";
  all.push_back({name, "func.func @f(%x: " + x + ", %g: " + vec +
                           (bias ? ", %b: " + vec : "") + ") -> (" + types +
                           ") {\n  " + results + " = tfm.norm " + kind +
                           " %x, %g" + (bias ? ", %b" : "") +
                           " {eps = 1.0e-05} : " + x + ", " + vec +
                           (bias ? ", " + vec : "") + " -> " + types +
                           "\n  return " + results + " : " + types + "\n}\n"});
}

void addNormGrads(std::vector<Instance> &all, const std::string &kind) {
  std::string x = "tensor<$Ax$Bx$Cxf32>", row = "tensor<$Ax$Bxf32>";
  std::string vec = "tensor<$Cxf32>";
  bool mean = kind == "layer_norm";
  std::string rows = mean ? row + ", " + row : row;
  std::string saved = mean ? "%mu, %rs" : "%rs";
  std::string stats =
      (mean ? "%mu: " + row + ", " : "") + "%rs: " + row + " {in.positive}";
  all.push_back(general(
      kind + "_dx", "%dy: " + x + ", %x: " + x + ", %g: " + vec + ", " + stats,
      "tfm.norm_dx " + kind + " %dy, %x, %g, " + saved,
      x + ", " + x + ", " + vec + ", " + rows, x));
  all.push_back(general(kind + "_dscale",
                        "%dy: " + x + ", %x: " + x + ", " + stats,
                        "tfm.norm_dscale " + kind + " %dy, %x, " + saved,
                        x + ", " + x + ", " + rows, vec));
}

/// Heads are $K with one query head each, or $H = 2·$K queries on $K keys.
void addAttention(std::vector<Instance> &all, bool fused, bool grouped,
                  bool causal, double rate, bool byDocument = false) {
  std::string heads = grouped ? "$H" : "$K", stack = grouped ? "4" : "3";
  std::string out = "tensor<$Ax$Sx" + heads + "x$Exf32>";
  std::string kv = "tensor<$Ax$Sx$Kx$Exf32>";
  std::string lse = "tensor<$Ax" + heads + "x$Sxf32>";
  std::string qkv = fused ? "tensor<$Ax$Sx$Kx" + stack + "x$Exf32>"
                          : out + ", " + kv + ", " + kv;
  std::string values = fused ? "%q" : "%q, %k, %v";
  std::string args =
      fused ? "%q: " + qkv : "%q: " + out + ", %k: " + kv + ", %v: " + kv;
  std::string types = "(" + qkv + ")";
  if (byDocument) { // where one begins behind a query, that sees itself
    args += ", %w: tensor<$Ax$Sxi32> {in.below = $S : i64}";
    values += " within %w";
    types += " within tensor<$Ax$Sxi32>";
  }
  args += ", %s: tensor<i64>";
  std::string attrs =
      std::string(" {causal = ") + (causal ? "true" : "false") +
      ", scale = 0.6, rate = " + std::to_string(rate) +
      ", rng_layer = 2 : i64, site = 1 : i64, global_heads = " + heads +
      " : i64}";
  std::string name = std::string(fused ? "_fused" : "_separate") +
                     (grouped ? "_grouped" : "") + (causal ? "_causal" : "") +
                     (rate > 0 ? "_dropout" : "") +
                     (byDocument ? "_documents" : "");
  std::string results = out + ", " + lse;
  all.push_back({"attention" + name,
                 "func.func @f(" + args + ") -> (" + results +
                     ") {\n  %o, %l = tfm.attention " + values + " at %s" +
                     attrs + " : " + types + ", tensor<i64> -> " + results +
                     "\n  return %o, %l : " + results + "\n}\n"});
  std::string grads = fused ? "%d" : "%d:3";
  std::string returned = fused ? "%d" : "%d#0, %d#1, %d#2";
  all.push_back({"attention_grad" + name,
                 "func.func @f(%do: " + out + ", %o: " + out + ", %l: " + lse +
                     ", " + args + ") -> (" + qkv + ") {\n  " + grads +
                     " = tfm.attention_grad %do, %o, %l, " + values + " at %s" +
                     attrs + " : " + out + ", " + out + ", " + lse + ", " +
                     types + ", tensor<i64> -> (" + qkv + ")\n  return " +
                     returned + " : " + qkv + "\n}\n"});
}

void addFusing(std::vector<Instance> &all, bool grouped) {
  std::string stack = grouped ? "4" : "3", heads = grouped ? "$H" : "$K";
  std::string fused = "tensor<$Ax$Sx$Kx" + stack + "x$Exf32>";
  std::string kv = "tensor<$Ax$Sx$Kx$Exf32>";
  std::string parts = "tensor<$Ax$Sx" + heads + "x$Exf32>, " + kv + ", " + kv;
  std::string name = grouped ? "_grouped" : "";
  all.push_back({"unfuse" + name,
                 "func.func @f(%x: " + fused + ") -> (" + parts +
                     ") {\n  %q, %k, %v = tfm.unfuse %x : " + fused + " -> " +
                     parts + "\n  return %q, %k, %v : " + parts + "\n}\n"});
  all.push_back(general("fuse" + name,
                        "%q: tensor<$Ax$Sx" + heads + "x$Exf32>, %k: " + kv +
                            ", %v: " + kv,
                        "tfm.fuse %q, %k, %v", parts, fused));
}

void addOptimizer(std::vector<Instance> &all) {
  std::string t = "tensor<$Bxf32>", two = t + ", " + t, three = two + ", " + t;
  for (std::string decay : {"true", "false"}) {
    for (std::string kind : {"adamw", "adam_l2"})
      all.push_back({kind + "_" + decay,
                     "func.func @f(%p: " + t + ", %g: " + t + ", %m: " + t +
                         ", %v: " + t + " {in.positive}) -> (" + three +
                         ") {\n  %a, %b, %c = tfm." + kind +
                         " %p, %g, %m, %v {decay = " + decay + "} : " + t +
                         ", " + three + " -> " + three +
                         "\n  return %a, %b, %c : " + three + "\n}\n"});
    for (std::string kind : {"sgd", "nesterov", "lion"}) {
      bool isNesterov = kind == "nesterov";
      all.push_back(
          {kind + "_" + decay,
           "func.func @f(%p: " + t + ", %g: " + t + ", %m: " + t + ") -> (" +
               two + ") {\n  %a, %b = tfm." + (isNesterov ? "sgd" : kind) +
               " %p, %g, %m {decay = " + decay +
               (isNesterov ? ", nesterov" : "") + "} : " + three + " -> " +
               two + "\n  return %a, %b : " + two + "\n}\n"});
    }
  }
  all.push_back(pointwise("scalar", "", "tfm.scalar \"lr\"", "tensor<f32>"));
}

std::vector<Instance> makeInstances() {
  std::vector<Instance> all;
  addPointwise(all);
  addShape(all);
  addRepeats(all);
  addEinsums(all);
  addLookups(all);
  for (std::string kind : {"layer_norm", "rms_norm"}) {
    for (bool bias : {true, false})
      addNorm(all, kind, bias);
    addNormGrads(all, kind);
  }
  for (bool grouped : {true, false})
    addFusing(all, grouped);
  for (bool fused : {true, false})
    for (bool grouped : {true, false}) {
      addAttention(all, fused, grouped, /*causal=*/true, /*rate=*/0.3);
      addAttention(all, fused, grouped, /*causal=*/false, /*rate=*/0.0);
    }
  addAttention(all, true, false, /*causal=*/true, /*rate=*/0.0);
  for (bool fused : {true, false})
    addAttention(all, fused, false, /*causal=*/true, /*rate=*/0.3,
                 /*byDocument=*/true);
  addAttention(all, false, true, /*causal=*/true, /*rate=*/0.0,
               /*byDocument=*/true);
  addAttention(all, true, false, /*causal=*/false, /*rate=*/0.3);
  addOptimizer(all);
  return all;
}

} // namespace

const std::vector<Instance> &instances() {
  static const std::vector<Instance> all = makeInstances();
  return all;
}

std::string withSizes(const Instance &instance, Sizes sizes) {
  std::map<std::string, int> odd = {{"$A", 3}, {"$B", 5}, {"$C", 7}, {"$D", 9},
                                    {"$K", 3}, {"$H", 6}, {"$S", 5}, {"$E", 3}};
  // Two ranks have a head and a tail of each.
  std::map<std::string, int> even = {{"$A", 4},  {"$B", 8}, {"$C", 8},
                                     {"$D", 12}, {"$K", 4}, {"$H", 8},
                                     {"$S", 8},  {"$E", 4}};
  std::string text = instance.text;
  for (auto &[letter, size] : sizes == Sizes::odd ? odd : even)
    text = replaced(text, letter, std::to_string(size));
  return text;
}

} // namespace mtc::test
