//===- random_kernel.cpp - kernels that no model has ----------------------===//
#include "random_kernel.h"

#include <algorithm>

using namespace mtc;
using namespace mtc::test;

namespace {

/// A float of the body: `column` if it varies inside a row, `depth` reductions
/// below it, |value| < 2^`magnitude`.
struct Term {
  std::string name;
  bool column = false;
  int depth = 0;
  double magnitude = 1;
};

class Generator {
public:
  Generator(std::mt19937 &rng, const std::string &name)
      : rng(rng), name(name) {}

  RandomKernel run() {
    static const int64_t rowChoices[] = {1, 2, 3, 5, 7, 17};
    static const int64_t colChoices[] = {1,  2,  7,  15, 16,  17,  31,
                                         33, 64, 65, 96, 100, 250, 300};
    k.rows = rowChoices[pick(6)], k.cols = colChoices[pick(14)];
    if (pick(6) == 0)
      k.dynamic = true, k.rows = 1;
    line("%seed = rt.arg 0 : i64");
    line("%sample = rt.arg 1 : i64");
    line("%layer = rt.arg 2 : i64");
    line("%row = rt.index row : i32");
    line("%col = rt.index col : i32");
    line("%one = arith.constant 1.0 : f32");
    int inputs = 1 + pick(4), operations = 5 + pick(21);
    for (int i = 0; i < inputs; ++i)
      terms.push_back(input(i == 0 ? 0 : pick(7)));
    for (int i = 0; i < operations; ++i)
      terms.push_back(operation());
    int outputs = 1 + pick(3);
    for (int i = 0; i < outputs; ++i)
      output(pick(9), i == 0);
    std::string shape = std::to_string(k.dynamic ? -1 : k.cols);
    k.text = "rt.kernel @" + name + " rows " + std::to_string(k.rows) +
             " cols " + shape + " args 3 [" + operands + "] {\n" + body + "}\n";
    return k;
  }

private:
  int pick(int n) { return static_cast<int>(rng() % n); }
  void line(const std::string &text) { body += "  " + text + "\n"; }
  std::string fresh() { return "%v" + std::to_string(next++); }

  std::string define(const std::string &text) {
    std::string v = fresh();
    line(v + " = " + text);
    return v;
  }

  int operand(const std::string &mode, const std::string &type, int extent,
              bool written, int shares = -1) {
    operands += (operands.empty() ? "" : ", ") +
                ("#rt.operand<mode = " + mode) + ", element = " + type +
                ", extent = " + std::to_string(extent) + ">";
    k.sharesWith.push_back(shares);
    k.written.push_back(written);
    return static_cast<int>(k.written.size()) - 1;
  }

  static std::string n(int i) { return std::to_string(i); }

  Term input(int kind) {
    static const char *modes[] = {"full",     "row",   "col", "scalar",
                                  "periodic", "table", "full"};
    std::string mode = modes[kind];
    bool bf16 = kind == 6 || pick(8) == 0;
    int extent = mode == "periodic" || mode == "table" ? 1 + pick(4) : 0;
    int index = operand(mode, bf16 ? "bf16" : "f32", extent, false);
    if (mode == "full" && !bf16)
      fullInputs.push_back(index);
    std::string type = bf16 ? "bf16" : "f32";
    std::string v;
    if (mode == "table") {
      int rows = operand("row", "i32", 0, false);
      std::string at = define("rt.load " + n(rows) + " : i32");
      v = define("rt.gather " + n(index) + " at " + at + " : " + type);
    } else {
      v = define("rt.load " + n(index) + " : " + type);
    }
    if (bf16)
      v = define("arith.extf " + v + " : bf16 to f32");
    return {v, kind != 1 && kind != 3, 0, 1};
  }

  const Term &any() {
    return terms[std::max(pick(int(terms.size())), pick(int(terms.size())))];
  }

  Term bounded(Term t, double limit) {
    if (t.magnitude <= limit)
      return t;
    t.name = define("math.tanh " + t.name + " : f32");
    t.magnitude = 0;
    return t;
  }

  Term unary(const std::string &op, const Term &x, double magnitude) {
    return {define(op + " " + x.name + " : f32"), x.column, x.depth, magnitude};
  }
  Term binary(const std::string &op, const Term &x, const Term &y,
              double magnitude) {
    return {define(op + " " + x.name + ", " + y.name + " : f32"),
            x.column || y.column, std::max(x.depth, y.depth), magnitude};
  }

  /// 1 + x^2: what roots, logarithms and quotients get.
  Term positive(Term x) {
    x = bounded(x, 8);
    Term v = x;
    v.name = define("math.fma " + x.name + ", " + x.name + ", %one : f32");
    v.magnitude = 2 * std::max(x.magnitude, 0.0) + 1;
    return v;
  }

  Term operation() {
    Term x = any(), y = any();
    switch (pick(21)) {
    case 0:
    case 1:
      return binary("arith.addf", x, y, std::max(x.magnitude, y.magnitude) + 1);
    case 2:
      return binary("arith.subf", x, y, std::max(x.magnitude, y.magnitude) + 1);
    case 3:
    case 4:
      x = bounded(x, 10), y = bounded(y, 10);
      return binary("arith.mulf", x, y, x.magnitude + y.magnitude);
    case 5:
      return binary("arith.divf", x, positive(y), x.magnitude);
    case 6:
      return binary("arith.maximumf", x, y, std::max(x.magnitude, y.magnitude));
    case 7:
      return binary("arith.minimumf", x, y, std::max(x.magnitude, y.magnitude));
    case 8:
      return unary("math.exp", bounded(x, 2.5), 9);
    case 9:
      return unary("math.tanh", x, 0);
    case 10:
      return unary("math.erf", x, 0);
    case 11:
      return unary("math.log", positive(x), 5);
    case 12:
      x = positive(x);
      return unary("math.sqrt", x, x.magnitude);
    case 13:
      return unary("math.rsqrt", positive(x), 0);
    case 14:
      return unary(pick(2) ? "math.sin" : "math.cos", bounded(x, 10), 0);
    case 15:
      return dropout(x);
    case 16:
      return indexed(x);
    case 17:
      return unary("rt.logistic", x, 0);
    default:
      return reduce(x);
    }
  }

  Term reduce(Term x) {
    if (x.depth >= 3)
      return unary("math.absf", x, x.magnitude);
    std::string kind = pick(3) ? "sum" : "max";
    Term v = x;
    v.name = define("rt.row_reduce " + kind + " " + x.name + " : f32");
    v.column = false, v.depth = x.depth + 1,
    v.magnitude = x.magnitude + (kind == "sum" ? 9 : 0);
    return v;
  }

  Term dropout(const Term &x) {
    std::string element = "%col";
    if (pick(3)) {
      std::string cols =
          define("arith.constant " + std::to_string(k.cols) + " : i32");
      std::string base = define("arith.muli %row, " + cols + " : i32");
      element = define("arith.addi " + base + ", %col : i32");
    }
    std::string sample = "%sample";
    if (pick(4) == 0) {
      std::string wide = define("arith.extui %row : i32 to i64");
      sample = define("arith.addi %sample, " + wide + " : i64");
    }
    std::string word = define("rt.random %seed, " + sample + ", %layer, " +
                              element + " {site = " + n(pick(4)) + "} : i32");
    std::string limit = define("arith.constant 1000000000 : i32");
    std::string keep =
        define("arith.cmpi uge, " + word + ", " + limit + " : i32");
    std::string other = define("arith.negf " + x.name + " : f32");
    return {define("arith.select " + keep + ", " + x.name + ", " + other +
                   " : f32"),
            true, x.depth, x.magnitude};
  }

  /// x where (col + row) mod 3 is 1, else 1.
  Term indexed(const Term &x) {
    std::string sum = define("arith.addi %col, %row : i32");
    std::string three = define("arith.constant 3 : i32"),
                one = define("arith.constant 1 : i32");
    std::string rest = define("arith.remui " + sum + ", " + three + " : i32");
    std::string hit = define("arith.cmpi eq, " + rest + ", " + one + " : i32");
    return {define("arith.select " + hit + ", " + x.name + ", %one : f32"),
            true, x.depth, std::max(x.magnitude, 0.0)};
  }

  Term rowUniform() {
    for (auto it = terms.rbegin(); it != terms.rend(); ++it)
      if (!it->column)
        return *it;
    return reduce(terms[0]);
  }

  void output(int kind, bool first) {
    Term x =
        terms[terms.size() - 1 - pick(std::min<int>(6, int(terms.size())))];
    if (first)
      x = terms.back();
    if (kind >= 7)
      kind = 0;
    switch (kind) {
    case 0: {
      int shares = -1;
      if (!fullInputs.empty() && pick(2) == 0) {
        shares = fullInputs.back();
        fullInputs.pop_back();
      }
      line("rt.store " + n(operand("full", "f32", 0, true, shares)) + ", " +
           x.name + " : f32");
      break;
    }
    case 1: {
      std::string small = define("arith.truncf " + x.name + " : f32 to bf16");
      line("rt.store " + n(operand("full", "bf16", 0, true)) + ", " + small +
           " : bf16");
      break;
    }
    case 2:
      x = rowUniform();
      line("rt.store " + n(operand("row", "f32", 0, true)) + ", " + x.name +
           " : f32");
      break;
    case 3: {
      int extent = 1 + pick(4);
      int rows = operand("row", "i32", 0, false);
      std::string at = define("rt.load " + n(rows) + " : i32");
      line("rt.scatter_add " + n(operand("table", "f32", extent, true)) +
           " at " + at + ", " + x.name + " : f32");
      break;
    }
    case 4:
      x = rowUniform();
      line("rt.accumulate " +
           n(operand(pick(2) ? "scalar" : "row", "f32", 0, true)) + ", " +
           x.name + " : f32");
      break;
    default: {
      static const char *modes[] = {"full", "col", "periodic"};
      int mode = pick(3);
      // The sum is rounded once; of rows it would be with each.
      std::string element = mode == 0 && pick(2) == 0 ? "bf16" : "f32";
      int index =
          operand(modes[mode], element, mode == 2 ? 1 + pick(4) : 0, true);
      line("rt.accumulate " + n(index) + ", " + x.name + " : f32");
    }
    }
  }

  std::mt19937 &rng;
  std::string name, operands, body;
  int next = 0;
  std::vector<Term> terms;
  std::vector<int> fullInputs;
  RandomKernel k;
};

} // namespace

RandomKernel test::makeRandomKernel(std::mt19937 &rng,
                                    const std::string &name) {
  return Generator(rng, name).run();
}
