//===- tape.cpp - ops and their cotangents --------------------------------===//
#include "tape.h"

namespace mtc::sharding::test {

int Tape::parameter(const std::string &name, Shape shape) {
  graph.values.push_back({name, std::move(shape), 4, -1, true, -1});
  return static_cast<int>(graph.values.size()) - 1;
}

int Tape::input(Shape shape) {
  graph.values.push_back({"", std::move(shape), 4, -1, false, -1});
  return static_cast<int>(graph.values.size()) - 1;
}

std::vector<int> Tape::op(const std::string &name, std::vector<int> operands,
                          Rule rule, std::map<char, int64_t> sizes) {
  for (size_t k = 0; k < operands.size(); ++k)
    for (size_t d = 0; d < rule.operands[k].size(); ++d)
      sizes[rule.operands[k][d]] = graph.values[operands[k]].shape[d];
  int index = static_cast<int>(graph.ops.size());
  std::vector<int> results;
  for (const std::string &factors : rule.results) {
    Shape shape;
    for (char factor : factors)
      shape.push_back(sizes.at(factor));
    graph.values.push_back({"", shape, 4, index, false, -1});
    results.push_back(static_cast<int>(graph.values.size()) - 1);
  }
  graph.ops.push_back({name, std::move(operands), results, std::move(rule),
                       layer, isBackward, name == "add", index});
  return results;
}

void Tape::record(int result, std::vector<int> operands, Gradient gradient) {
  if (!isBackward)
    entries.push_back(
        {result, std::move(operands), layer, std::move(gradient)});
}

//===--- pointwise --------------------------------------------------------===//

static std::string lettersOf(const Tensor &value) {
  return std::string("abcdefgh").substr(0, value.shape.size());
}

int Tape::add(std::vector<int> operands) {
  std::string all = lettersOf(graph.values[operands[0]]);
  Rule rule{std::vector<std::string>(operands.size(), all), {all}, "", {{}}};
  for (size_t k = 0; k < operands.size(); ++k)
    rule.linear[0].push_back(static_cast<int>(k));
  int y = op("add", operands, rule)[0];
  record(y, operands,
         [n = operands.size()](int dy) { return Cotangents(n, dy); });
  return y;
}

int Tape::mul(int lhs, int rhs) {
  std::string all = lettersOf(graph.values[lhs]);
  int y = op("mul", {lhs, rhs}, {{all, all}, {all}, "", {{0}, {1}}})[0];
  record(y, {lhs, rhs}, [=, this](int dy) {
    return Cotangents{mul(dy, rhs), mul(dy, lhs)};
  });
  return y;
}

int Tape::unary(const std::string &name, int x) {
  std::string all = lettersOf(graph.values[x]);
  int y = op(name, {x}, {{all}, {all}})[0];
  record(y, {x}, [=, this](int dy) {
    return op(name + "_grad", {x, dy}, {{all, all}, {all}, "", {{1}}});
  });
  return y;
}

int Tape::dropout(int x) {
  std::string all = lettersOf(graph.values[x]);
  int y = op("dropout", {x}, {{all}, {all}, "", {{0}}})[0];
  record(y, {x}, [this](int dy) { return Cotangents{dropout(dy)}; });
  return y;
}

//===--- contractions and shapes ------------------------------------------===//

int Tape::einsum(const std::string &equation, int lhs, int rhs) {
  std::string a = equation.substr(0, equation.find(','));
  std::string b =
      equation.substr(a.size() + 1, equation.find('-') - a.size() - 1);
  std::string c = equation.substr(equation.find('>') + 1);
  int y = op("einsum", {lhs, rhs}, {{a, b}, {c}, "", {{0}, {1}}})[0];
  record(y, {lhs, rhs}, [=, this](int dy) {
    return Cotangents{einsum(c + "," + b + "->" + a, dy, rhs),
                      einsum(a + "," + c + "->" + b, lhs, dy)};
  });
  return y;
}

int Tape::broadcast(const std::string &from, const std::string &to, int x,
                    std::map<char, int64_t> sizes) {
  int y = op("broadcast", {x}, {{from}, {to}, "", {{0}}}, sizes)[0];
  record(y, {x},
         [=, this](int dy) { return Cotangents{reduceSum(to, from, dy)}; });
  return y;
}

int Tape::reduceSum(const std::string &from, const std::string &to, int x) {
  std::map<char, int64_t> sizes;
  for (size_t d = 0; d < from.size(); ++d)
    sizes[from[d]] = graph.values[x].shape[d];
  int y = op("reduce", {x}, {{from}, {to}, "", {{0}}})[0];
  record(y, {x}, [=, this](int dy) {
    return Cotangents{broadcast(to, from, dy, sizes)};
  });
  return y;
}

//===--- blocks -----------------------------------------------------------===//

int Tape::norm(int x, int scale, int bias) {
  auto r = op("norm", {x, scale, bias},
              {{"bse", "e", "e"}, {"bse", "bs", "bs"}, "e"});
  record(r[0], {x, scale, bias}, [=, this](int dy) {
    Rule dx{.operands = {"bse", "bse", "e", "bs", "bs"},
            .results = {"bse"},
            .blocked = "e",
            .linear = {{0}},
            .normBackward = true};
    Rule dscale{.operands = {"bse", "bse", "bs", "bs"},
                .results = {"e"},
                .blocked = "e",
                .linear = {{0}},
                .normBackward = true};
    return Cotangents{op("norm_dx", {dy, x, scale, r[1], r[2]}, dx)[0],
                      op("norm_dscale", {dy, x, r[1], r[2]}, dscale)[0],
                      reduceSum("bse", "e", dy)};
  });
  return r[0];
}

int Tape::attention(std::vector<int> qkv) {
  std::vector<std::string> in(qkv.size(), qkv.size() == 1 ? "bskgd" : "bskd");
  auto r = op("attention", qkv, {in, {"bskd", "bks"}, "sgd"});
  record(r[0], qkv, [=, this](int dy) {
    Rule rule{{"bskd", "bskd", "bks"}, in, "sgd"};
    rule.operands.insert(rule.operands.end(), in.begin(), in.end());
    std::vector<int> operands = {dy, r[0], r[1]};
    operands.insert(operands.end(), qkv.begin(), qkv.end());
    return op("attention_grad", operands, rule);
  });
  return r[0];
}

int Tape::embed(int ids, int table) {
  int64_t rows = graph.values[table].shape[0];
  int y = op("embed", {ids, table}, {{"bs", "ve"}, {"bse"}, "", {{1}}})[0];
  record(y, {ids, table}, [=, this](int dy) {
    return Cotangents{-1,
                      op("embed_grad", {ids, dy},
                         {{"bs", "bse"}, {"ve"}, "", {{1}}}, {{'v', rows}})[0]};
  });
  return y;
}

int Tape::crossEntropy(int z, int labels) {
  const Shape shape = graph.values[z].shape;
  std::map<char, int64_t> sizes = {
      {'b', shape[0]}, {'s', shape[1]}, {'v', shape[2]}};
  // No gradient flows through the maximum: it is a shift that cancels.
  int top = op("reduce_max", {z}, {{"bsv"}, {"bs"}, "", {}, true})[0];
  int wide = op("broadcast", {top}, {{"bs"}, {"bsv"}, "", {{0}}}, sizes)[0];
  int shifted =
      op("sub", {z, wide}, {{"bsv", "bsv"}, {"bsv"}, "", {{0, 1}}})[0];
  record(shifted, {z, wide}, [](int dy) { return Cotangents{dy, -1}; });
  int sum = reduceSum("bsv", "bs", unary("exp", shifted));
  int logSum = unary("log", sum);
  int picked =
      op("pick", {shifted, labels}, {{"bsv", "bs"}, {"bs"}, "", {{0}}})[0];
  record(picked, {shifted, labels}, [=, this](int dy) {
    return Cotangents{op("pick_grad", {labels, dy},
                         {{"bs", "bs"}, {"bsv"}, "", {{1}}}, sizes)[0],
                      -1};
  });
  int each =
      op("sub", {logSum, picked}, {{"bs", "bs"}, {"bs"}, "", {{0, 1}}})[0];
  record(each, {logSum, picked}, [this](int dy) {
    return Cotangents{dy, op("scale", {dy}, {{"bs"}, {"bs"}, "", {{0}}})[0]};
  });
  int total = reduceSum("bs", "", each);
  int mean = op("scale", {total}, {{""}, {""}, "", {{0}}})[0];
  record(mean, {total}, [this](int dy) {
    return op("scale", {dy}, {{""}, {""}, "", {{0}}});
  });
  return mean;
}

//===--- backward ---------------------------------------------------------===//

int Tape::sumOf(int value) {
  auto it = cotangents.find(value);
  if (it == cotangents.end())
    return -1;
  int dy = it->second.size() == 1 ? it->second[0] : add(it->second);
  if (graph.values[dy].primal < 0)
    graph.values[dy].primal = value;
  return dy;
}

void Tape::finishGradient(int parameter, const std::vector<int> &parts) {
  for (size_t i = parts.size(); i-- > 0;)
    graph.outputs.push_back({parts[i], OutputKind::Gradient, parameter});
}

void Tape::backward(int loss) {
  graph.outputs.push_back({loss, OutputKind::Loss});
  isBackward = true;
  cotangents[loss] = {op("fill", {}, {{}, {""}})[0]};
  for (size_t i = entries.size(); i-- > 0;) {
    const Entry entry = entries[i];
    layer = entry.layer;
    int dy = sumOf(entry.result);
    if (dy < 0)
      continue;
    Cotangents parts = entry.gradient(dy);
    for (size_t k = 0; k < parts.size(); ++k) {
      if (parts[k] < 0)
        continue;
      cotangents[entry.operands[k]].push_back(parts[k]);
      if (graph.values[parts[k]].primal < 0)
        graph.values[parts[k]].primal = entry.operands[k];
    }
  }
  for (size_t v = 0; v < graph.values.size(); ++v)
    if (graph.values[v].parameter)
      finishGradient(static_cast<int>(v), cotangents[static_cast<int>(v)]);
}

} // namespace mtc::sharding::test
