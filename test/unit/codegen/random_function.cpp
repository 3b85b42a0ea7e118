//===- random_function.cpp - functions that no model has ------------------===//
//
// Every value carries bounds of its magnitude and of the error of computing it
// in fp32 (first order, worst case over elements).
//
//===----------------------------------------------------------------------===//
#include "random_function.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace mtc::test;

namespace {

/// Unit roundoff of fp32, and a bound for one elementary function or a handful
/// of roundings.
constexpr double kUnit = 0x1p-24, kFew = 16 * kUnit;
/// Operands stay below this magnitude; no value may have a larger error.
constexpr double kLargest = 4, kWorstError = 0.02;
/// The same where a value was rounded to bf16 on the way.
constexpr double kWorstCoarse = 0.06;

/// Unit roundoff of bf16.
constexpr double kBf16 = 0x1p-9;

struct Term {
  std::string name, letters; ///< dimensions by letter: "bse"
  double size = 1, error = 0;
  int uses = 0;
  bool narrow = false; ///< bf16
  bool coarse = false; ///< was bf16, or depends on what was
};

class Maker {
public:
  Maker(std::mt19937 &rng, const std::string &name) : rng(rng), name(name) {
    // Equal and unit sizes happen: letters, not sizes, tell dimensions apart.
    sizes = {{'b', pick({1, 2, 3})},
             {'s', pick({1, 3, 5})},
             {'e', pick({1, 3, 7, 16, 17, 33})},
             {'v', pick({3, 5, 19})},
             {'t', pick({2, 5})}};
  }

  RandomFunction make() {
    int count = 4 + rng() % 13;
    for (int tries = 0; made < count && tries < 10 * count; ++tries)
      step();
    leave();
    write();
    return std::move(out);
  }

private:
  template <typename T> T pick(std::vector<T> from) {
    return from[rng() % from.size()];
  }
  int64_t pick(std::initializer_list<int> from) {
    return *(from.begin() + rng() % from.size());
  }
  bool chance(int percent) { return static_cast<int>(rng() % 100) < percent; }

  int64_t count(const std::string &letters) {
    int64_t n = 1;
    for (char c : letters)
      n *= sizes[c];
    return n;
  }
  std::string type(const std::string &letters,
                   const std::string &element = "f32") {
    std::string text = "tensor<";
    for (char c : letters)
      text += std::to_string(sizes[c]) + "x";
    return text + element + ">";
  }

  //===--- operands ---------------------------------------------------===//

  size_t input(const std::string &letters, int64_t limit = 0) {
    std::string text = "%a" + std::to_string(out.inputs.size());
    out.inputs.push_back(
        {type(letters, limit ? "i32" : "f32"), count(letters), limit});
    terms.push_back({text, letters});
    terms.back().uses = 1; // an argument nobody reads is no result
    return terms.size() - 1;
  }
  /// A value of this shape, an old one if there is one.
  size_t operand(const std::string &letters, double largest = kLargest) {
    std::vector<size_t> fitting;
    for (size_t i = 0; i < terms.size(); ++i)
      if (terms[i].letters == letters && terms[i].size <= largest &&
          !terms[i].narrow && !integer(i))
        fitting.push_back(i);
    if (fitting.empty() || chance(15))
      return chance(10) ? constant(letters) : input(letters);
    return chance(60) ? fitting.back() : pick(fitting);
  }
  /// A bf16 value of any shape; false if there is none.
  bool narrowOperand(size_t &found) {
    std::vector<size_t> fitting;
    for (size_t i = 0; i < terms.size(); ++i)
      if (terms[i].narrow && terms[i].size <= kLargest)
        fitting.push_back(i);
    if (!fitting.empty())
      found = pick(fitting);
    return !fitting.empty();
  }
  size_t constant(const std::string &letters) {
    std::string text = "%c" + std::to_string(terms.size());
    body += "  " + text + " = tfm.fill 7.500000e-01 : " + type(letters) + "\n";
    terms.push_back({text, letters, 0.75, 0, 1});
    return terms.size() - 1;
  }
  size_t index(const std::string &letters, int64_t limit) {
    auto [it, isNew] = indices.try_emplace({letters, limit}, 0);
    if (isNew)
      it->second = input(letters, limit);
    return it->second;
  }
  bool integer(size_t i) {
    return std::any_of(indices.begin(), indices.end(),
                       [&](auto &entry) { return entry.second == i; });
  }
  std::string shape() {
    return pick(std::vector<std::string>{"bse", "bse", "bse", "bsv", "bs", "bs",
                                         "se", "e", "b", ""});
  }

  //===--- ops --------------------------------------------------------===//

  /// `texts` names the operands and attributes after the op's name.
  void add(const std::string &op, std::string text, const std::string &types,
           std::vector<Term> results, std::vector<size_t> operands) {
    bool coarse = results.front().narrow;
    for (size_t i : operands)
      coarse |= terms[i].coarse;
    for (Term &r : results) {
      r.coarse = coarse;
      if (r.error > (coarse ? kWorstCoarse : kWorstError))
        return;
    }
    if (chance(10))
      ++layer;
    std::string names;
    for (Term &r : results) {
      r.name = "%v" + std::to_string(terms.size());
      names += (names.empty() ? "" : ", ") + r.name;
      terms.push_back(r);
    }
    for (size_t i : operands)
      ++terms[i].uses;
    body += "  " + names + " = tfm." + op + " " + text + " {" + extra +
            "tfm.layer = " + std::to_string(layer) + " : i64} : " + types +
            "\n";
    extra.clear();
    ++made;
  }
  std::string list(const std::vector<size_t> &operands) {
    std::string text;
    for (size_t i : operands)
      text += (text.empty() ? "" : ", ") + terms[i].name;
    return text;
  }
  std::string types(const std::vector<size_t> &operands) {
    std::string text;
    for (size_t i : operands)
      text += (text.empty() ? "" : ", ") + type(terms[i].letters, elementOf(i));
    return text;
  }

  std::string elementOf(size_t i) {
    return terms[i].narrow ? "bf16" : integer(i) ? "i32" : "f32";
  }

  void step() {
    using Step = void (Maker::*)();
    static const Step steps[] = {&Maker::sum,
                                 &Maker::sum,
                                 &Maker::product,
                                 &Maker::scale,
                                 &Maker::exponential,
                                 &Maker::activation,
                                 &Maker::activationGrad,
                                 &Maker::broadcast,
                                 &Maker::broadcast,
                                 &Maker::broadcast,
                                 &Maker::reduce,
                                 &Maker::reduce,
                                 &Maker::norm,
                                 &Maker::normGrad,
                                 &Maker::pickLabel,
                                 &Maker::embed,
                                 &Maker::firstRows,
                                 &Maker::mask,
                                 &Maker::narrow,
                                 &Maker::narrow,
                                 &Maker::narrow,
                                 &Maker::widen,
                                 &Maker::narrowArithmetic,
                                 &Maker::narrowArithmetic,
                                 &Maker::narrowSum,
                                 &Maker::dropout};
    extra.clear();
    (this->*steps[rng() % std::size(steps)])();
  }

  void sum() {
    std::string at = shape();
    std::vector<size_t> x = {operand(at), operand(at)};
    bool minus = chance(30);
    if (!minus && chance(30))
      x.push_back(operand(at));
    Term r{"", at, 0, 0};
    for (size_t i : x)
      r.size += terms[i].size, r.error += terms[i].error;
    r.error += 2 * kUnit * r.size;
    add(minus ? "sub" : "add", list(x), type(at), {r}, x);
  }
  void product() {
    std::string at = shape();
    size_t x = operand(at), y = operand(at);
    if (chance(15))
      return add("scale_gradient", terms[x].name + " by " + terms[y].name,
                 type(at), {{"", at, terms[x].size, terms[x].error}}, {x, y});
    add("mul", list({x, y}), type(at), {times(terms[x], terms[y], at)}, {x, y});
  }
  Term times(const Term &x, const Term &y, const std::string &at) {
    double size = x.size * y.size;
    return {"", at, size, x.error * y.size + y.error * x.size + kUnit * size};
  }
  void scale() {
    std::string at = shape();
    size_t x = operand(at, 1e4);
    double by =
        terms[x].size > 2 ? std::ldexp(1.0, -std::ilogb(terms[x].size)) : -1.5;
    add("scale", terms[x].name + " by " + std::to_string(by), type(at),
        {{"", at, terms[x].size * std::fabs(by),
          (terms[x].error + kUnit * terms[x].size) * std::fabs(by)}},
        {x});
  }
  void exponential() {
    std::string at = shape();
    size_t x = operand(at, 1.5);
    double size = std::exp(terms[x].size);
    add("exp", terms[x].name, type(at),
        {{"", at, size, size * (1.1 * terms[x].error + kFew)}}, {x});
  }
  void activation() {
    std::string at = shape();
    size_t x = operand(at);
    const Term &in = terms[x];
    // Slopes are at most 1.13; four roundings and a tanh on |x| <= 5.5.
    add("activation",
        pick(std::vector<std::string>{"gelu", "silu", "relu"}) + " " + in.name,
        type(at),
        {{"", at, in.size, 1.13 * in.error + 4 * kFew * (1 + in.size)}}, {x});
  }
  void activationGrad() {
    std::string at = shape();
    size_t x = operand(at), dy = operand(at);
    // The derivative of relu jumps, so an error of x could be any error of it.
    // The others' second derivatives are below 0.9; 1 - t² cancels.
    double slope = 0.9 * terms[x].error +
                   4 * kFew * (1 + terms[x].size) * (1 + terms[x].size);
    add("activation_grad",
        pick(std::vector<std::string>{"gelu ", "silu "}) + list({x, dy}),
        type(at),
        {{"", at, 1.13 * terms[dy].size,
          1.13 * terms[dy].error + terms[dy].size * slope}},
        {x, dy});
  }
  void broadcast() {
    std::string to =
        pick(std::vector<std::string>{"bse", "bse", "bsv", "bs", "se"});
    size_t take = rng() % to.size();
    bool rows = chance(50);
    size_t x =
        operand(rows ? to.substr(0, take) : to.substr(to.size() - take), 1e4);
    std::string dims;
    for (size_t i = 0; i < take; ++i)
      dims += (i ? ", " : "") + std::to_string(rows ? i : to.size() - take + i);
    add("broadcast", terms[x].name + " dims [" + dims + "]",
        types({x}) + " -> " + type(to),
        {{"", to, terms[x].size, terms[x].error}}, {x});
  }
  void reduce() {
    std::string at =
        pick(std::vector<std::string>{"bse", "bse", "bsv", "bs", "se", "e"});
    size_t x = operand(at), take = 1 + rng() % at.size();
    bool rows = chance(50), max = chance(30) && !rows;
    std::string gone = rows ? at.substr(0, take) : at.substr(at.size() - take),
                dims;
    std::string left = rows ? at.substr(take) : at.substr(0, at.size() - take);
    for (size_t i = 0; i < take; ++i)
      dims += (i ? ", " : "") + std::to_string(rows ? i : at.size() - take + i);
    double n = max ? 1 : count(gone), size = n * terms[x].size;
    add("reduce",
        (max ? "max " : "sum ") + terms[x].name + " dims [" + dims + "]",
        types({x}) + " -> " + type(left),
        {{"", left, size, n * terms[x].error + (max ? 0 : n * kUnit * size)}},
        {x});
  }

  /// x less the mean of its row; an RMS norm subtracts none.
  Term centred(const Term &x, const Term *mean, const std::string &at) {
    if (!mean)
      return {"", at, x.size, x.error};
    double size = x.size + mean->size;
    return {"", at, size, x.error + mean->error + kUnit * size};
  }
  void norm() {
    std::string at = pick(std::vector<std::string>{"bse", "bse", "bsv", "se"});
    std::string row = at.substr(0, at.size() - 1),
                col = at.substr(at.size() - 1);
    bool layerNorm = chance(50), hasBias = chance(50);
    std::vector<size_t> in = {operand(at), operand(col)};
    if (hasBias)
      in.push_back(operand(col));
    const double root = 1 / std::sqrt(0.5); // eps = 0.5 bounds 1 / the root
    const Term &x = terms[in[0]], g = terms[in[1]];
    double n = count(col);
    Term mean{"", row, x.size, x.error + n * kUnit * x.size};
    Term d = centred(x, layerNorm ? &mean : nullptr, at);
    Term square = times(d, d, at);
    double variance = square.error + n * kUnit * square.size;
    Term rstd{"", row, root, root * root * root * variance / 2 + kFew * root};
    Term y = times(times(d, rstd, at), g, at);
    if (hasBias) {
      y.size += terms[in[2]].size;
      y.error += terms[in[2]].error + kUnit * y.size;
    }
    extra = "eps = 5.000000e-01 : f64, ";
    std::string rows = ", " + type(row), kind = "layer_norm ";
    std::vector<Term> out = {y, mean, rstd};
    if (!layerNorm) {
      kind = "rms_norm ";
      out = {y, rstd};
    }
    add("norm", kind + list(in),
        types(in) + " -> " + type(at) + rows + (layerNorm ? rows : ""), out,
        in);
  }

  void normGrad() {
    std::string at = pick(std::vector<std::string>{"bse", "bse", "bsv", "se"});
    std::string row = at.substr(0, at.size() - 1),
                col = at.substr(at.size() - 1);
    bool layerNorm = chance(50), forScale = chance(50);
    std::string kind = layerNorm ? "layer_norm " : "rms_norm ";
    std::vector<size_t> in = {operand(at, 2), operand(at, 2)}, rows;
    if (layerNorm)
      rows.push_back(operand(row, 2));
    rows.push_back(operand(row, 2));
    Term mean = terms[rows[0]], rstd = terms[rows.back()], dy = terms[in[0]];
    Term xh =
        times(centred(terms[in[1]], layerNorm ? &mean : nullptr, at), rstd, at);
    if (forScale) {
      in.insert(in.end(), rows.begin(), rows.end());
      Term each = times(dy, xh, at);
      double n = count(row), size = n * each.size;
      add("norm_dscale", kind + list(in), types(in) + " -> " + type(col),
          {{"", col, size, n * each.error + n * kUnit * size}}, in);
      return;
    }
    in.push_back(operand(col, 2));
    Term d = times(dy, terms[in[2]], at), slope = times(d, xh, at);
    in.insert(in.end(), rows.begin(), rows.end());
    double n = count(col);
    slope.error += n * kUnit * slope.size;
    Term part = times(xh, slope, at);
    Term inner{"", at, 2 * d.size + part.size,
               2 * d.error + n * kUnit * d.size + part.error};
    inner.error += 4 * kUnit * inner.size;
    add("norm_dx", kind + list(in), types(in) + " -> " + type(at),
        {times(rstd, inner, at)}, in);
  }

  void pickLabel() {
    std::string at = pick(std::vector<std::string>{"bse", "bsv"});
    size_t labels = index("bs", count(at.substr(2)));
    if (chance(50)) {
      size_t z = operand(at);
      add("pick", list({z, labels}), types({z, labels}) + " -> " + type("bs"),
          {{"", "bs", terms[z].size, terms[z].error}}, {z});
    } else {
      size_t dl = operand("bs");
      add("pick_grad", list({labels, dl}),
          types({labels, dl}) + " -> " + type(at),
          {{"", at, terms[dl].size, terms[dl].error}}, {dl});
    }
  }
  void embed() {
    std::string col = pick(std::vector<std::string>{"e", "v"});
    size_t ids = index("bs", sizes['t']);
    if (chance(50)) {
      size_t table = operand("t" + col);
      add("embed", list({ids, table}),
          types({ids, table}) + " -> " + type("bs" + col),
          {{"", "bs" + col, terms[table].size, terms[table].error}}, {table});
      return;
    }
    size_t dy = operand("bs" + col);
    double n = count("bs"), size = n * terms[dy].size;
    add("embed_grad", list({ids, dy}),
        types({ids, dy}) + " -> " + type("t" + col),
        {{"", "t" + col, size, n * terms[dy].error + n * kUnit * size}}, {dy});
  }
  /// Numbers that the function makes, in the kernel of a reader or in another.
  size_t numbers(const std::string &at, int64_t dim) {
    std::string text = "dim " + std::to_string(dim);
    auto [it, isNew] = indices.try_emplace({at + text, 0}, terms.size());
    if (isNew)
      add("iota", text, type(at, "i32"), {{"", at}}, {});
    if (!chance(30))
      return it->second;
    size_t from = it->second; // themselves: all are 0
    auto [own, isOwn] = indices.try_emplace({at + text, 1}, terms.size());
    if (isOwn)
      add("index_from", terms[from].name + " " + text, type(at, "i32"),
          {{"", at}}, {from});
    return own->second;
  }
  void firstRows() {
    std::string row = pick(std::vector<std::string>{"b", "e", "bs", "bs"});
    std::string col = row == "e" || chance(50) ? "v" : "e";
    size_t ids = numbers(row, rng() % row.size());
    if (chance(50)) {
      size_t table = operand("t" + col);
      add("embed", list({ids, table}),
          types({ids, table}) + " -> " + type(row + col),
          {{"", row + col, terms[table].size, terms[table].error}}, {table});
      return;
    }
    size_t dy = operand(row + col);
    double n = count(row), size = n * terms[dy].size;
    add("embed_grad", list({ids, dy}),
        types({ids, dy}) + " -> " + type("t" + col),
        {{"", "t" + col, size, n * terms[dy].error + n * kUnit * size}}, {dy});
  }
  void mask() {
    std::string at = pick(std::vector<std::string>{"bse", "bsv", "se", "bs"});
    size_t x = operand(at);
    int64_t valid = rng() % (count(at.substr(at.size() - 1)) + 1);
    add("mask_tail",
        terms[x].name + " from " + std::to_string(valid) +
            " fill -5.000000e-01",
        type(at), {{"", at, std::max(terms[x].size, 0.5), terms[x].error}},
        {x});
  }
  void dropout() {
    std::string at = pick(std::vector<std::string>{"bse", "bsv", "bs"});
    size_t x = operand(at);
    extra = "rate = 2.500000e-01 : f64, rng_layer = " + std::to_string(layer) +
            " : i64, site = " + std::to_string(made) + " : i64, ";
    add("dropout", terms[x].name + " at %sample",
        type(at) + ", tensor<i64> -> " + type(at),
        {{"", at, terms[x].size / 0.75,
          terms[x].error / 0.75 + 2 * kUnit * terms[x].size}},
        {x});
  }

  //===--- bf16 -------------------------------------------------------===//

  Term rounded(Term r) {
    r.error += kBf16 * r.size;
    r.narrow = true;
    return r;
  }
  void narrow() {
    std::string at = shape();
    size_t x = operand(at);
    add("cast", terms[x].name, type(at) + " -> " + type(at, "bf16"),
        {rounded({"", at, terms[x].size, terms[x].error})}, {x});
  }
  void widen() {
    size_t x;
    if (!narrowOperand(x))
      return;
    const Term in = terms[x];
    add("cast", in.name, types({x}) + " -> " + type(in.letters),
        {{"", in.letters, in.size, in.error}}, {x});
  }
  /// Ops on bf16 values alone: each rounds its result.
  void narrowArithmetic() {
    size_t x;
    if (!narrowOperand(x))
      return;
    const Term in = terms[x];
    std::string both = type(in.letters, "bf16");
    if (chance(50)) {
      add("add", list({x, x}), both,
          {rounded({"", in.letters, 2 * in.size, 2 * in.error})}, {x, x});
    } else {
      double size = in.size, error = 1.13 * in.error + 4 * kFew * (1 + size);
      add("activation", "gelu " + in.name, both,
          {rounded({"", in.letters, size, error})}, {x});
    }
  }
  /// Sums of bf16 values are f32.
  void narrowSum() {
    size_t x;
    if (!narrowOperand(x) || terms[x].letters.empty())
      return;
    const Term in = terms[x];
    size_t take = 1 + rng() % in.letters.size();
    bool rows = chance(50);
    std::string dims, gone = rows ? in.letters.substr(0, take)
                                  : in.letters.substr(in.letters.size() - take);
    std::string left = rows ? in.letters.substr(take)
                            : in.letters.substr(0, in.letters.size() - take);
    for (size_t i = 0; i < take; ++i)
      dims += (i ? ", " : "") +
              std::to_string(rows ? i : in.letters.size() - take + i);
    double n = count(gone), size = n * in.size;
    add("reduce", "sum " + in.name + " dims [" + dims + "]",
        types({x}) + " -> " + type(left),
        {{"", left, size, n * in.error + n * kUnit * size}}, {x});
  }

  //===--- results ----------------------------------------------------===//

  /// What nobody reads leaves; so do some that others read, once or twice.
  void leave() {
    for (size_t i = 0; i < terms.size(); ++i) {
      if (integer(i))
        continue;
      int times = terms[i].uses == 0 ? 1 : chance(25);
      for (times += chance(10); times > 0; --times)
        result(terms[i]);
    }
    if (out.outputs.empty())
      result(terms.back());
  }
  void result(const Term &term) {
    bool accumulated = chance(40);
    std::string i = std::to_string(out.outputs.size()),
                shaped = type(term.letters, term.narrow ? "bf16" : "f32");
    double error = term.error + (accumulated ? kUnit * (term.size + 1) : 0);
    out.outputs.push_back({accumulated, error});
    returned += (returned.empty() ? "" : ", ") + term.name;
    returnedTypes += (returnedTypes.empty() ? "" : ", ") + shaped;
    if (!accumulated) {
      leaving +=
          "  pipe.save " + term.name + " as " + i + " : " + shaped + "\n";
      return;
    }
    leaving += "  pipe.accumulate " + term.name + " to \"" + name + "." + i +
               "\" use 0 : " + shaped + "\n";
    out.params += "  rt.param \"" + name + "." + i +
                  "\" use 0 bucket 0 start " + i + "\n";
  }

  void write() {
    std::string arguments, kept;
    for (size_t i = 0; i < out.inputs.size(); ++i) {
      std::string at = "%a" + std::to_string(i);
      arguments += at + ": " + out.inputs[i].type + ", ";
      kept += "  " + at + " = pipe.saved " + std::to_string(i) + " : " +
              out.inputs[i].type + "\n";
    }
    out.function = "func.func @" + name + "(" + arguments +
                   "%sample: tensor<i64>) -> (" + returnedTypes + ") {\n" +
                   body + "  return " + returned + " : " + returnedTypes +
                   "\n}\n";
    out.fragment = "func.func @" + name +
                   "_fragment() attributes {pipe.fragment = "
                   "#pipe.fragment<stage = 0, chunk = 0, phase = backward>} "
                   "{\n" +
                   kept + "  %sample = pipe.sample : tensor<i64>\n" + body +
                   leaving + "  return\n}\n";
  }

  std::mt19937 &rng;
  std::string name, body, leaving, returned, returnedTypes, extra;
  std::map<char, int64_t> sizes;
  std::vector<Term> terms;
  std::map<std::pair<std::string, int64_t>, size_t> indices; ///< ids and labels
  RandomFunction out;
  int made = 0, layer = 0;
};

} // namespace

RandomFunction mtc::test::makeRandomFunction(std::mt19937 &rng,
                                             const std::string &name) {
  return Maker(rng, name).make();
}
