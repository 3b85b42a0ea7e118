//===- diff_text.cpp - two plans side by side, for people -----------------===//

#include "runtime/inspect/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace mtc::runtime {
namespace {

constexpr size_t kWidest = 60; ///< of a column; longer values stick out

struct Row {
  std::string part, name, a, b;
  int layers = 1;
};

/// 1234567 -> "1,234,567".
std::string grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (int at = static_cast<int>(text.size()) - 3; at > (number < 0); at -= 3)
    text.insert(at, ",");
  return text;
}

std::string valueText(const Json &value) {
  if (value.is_string())
    return value.get<std::string>();
  if (value.is_number_integer())
    return grouped(value.get<int64_t>());
  if (!value.is_object())
    return value.dump();
  std::string text;
  for (const auto &[key, inner] : value.items())
    text +=
        (text.empty() ? "" : ", ") + std::string(key) + " " + valueText(inner);
  return text;
}

/// Of an object only what the other side says differently; both sides say what
/// is left of them.
std::string sideText(const std::optional<Json> &value,
                     const std::optional<Json> &other) {
  if (!value)
    return "-";
  if (!value->is_object() || !other || !other->is_object())
    return valueText(*value);
  Json left = Json::object();
  for (const auto &[key, inner] : value->items())
    if (!other->contains(key) || (*other)[key] != inner)
      left[key] = inner;
  return left.empty() ? "-" : valueText(left);
}

/// "layers.7.mlp" -> "layers.*.mlp".
std::string withoutLayer(const std::string &name) {
  constexpr std::string_view head = "layers.";
  if (!name.starts_with(head))
    return name;
  size_t end = head.size();
  while (end < name.size() &&
         std::isdigit(static_cast<unsigned char>(name[end])))
    ++end;
  return end == head.size() ? name : "layers.*" + name.substr(end);
}

/// Rows of layers that say the same are one, where the first of them was.
std::vector<Row> rowsOf(const std::vector<PlanDifference> &differences) {
  std::vector<Row> rows;
  for (const PlanDifference &d : differences) {
    Row row{d.part, withoutLayer(d.name), sideText(d.a, d.b),
            sideText(d.b, d.a)};
    auto same = std::find_if(rows.begin(), rows.end(), [&](const Row &other) {
      return row.part == other.part && row.name == other.name &&
             row.a == other.a && row.b == other.b;
    });
    if (same != rows.end())
      ++same->layers;
    else
      rows.push_back(std::move(row));
  }
  for (Row &row : rows)
    if (row.layers > 1)
      row.name += fmt::format(" ({} layers)", row.layers);
  return rows;
}

size_t widest(const std::vector<Row> &rows, std::string Row::*column) {
  size_t width = 1;
  for (const Row &row : rows)
    width = std::max(width, std::min((row.*column).size(), kWidest));
  return width;
}

} // namespace

std::string diffText(const ComparedBundle &a, const ComparedBundle &b,
                     const std::vector<PlanDifference> &differences) {
  std::string text = fmt::format("a: {}  plan {}\nb: {}  plan {}\n", a.folder,
                                 a.planHash, b.folder, b.planHash);
  std::vector<Row> rows = rowsOf(differences);
  if (a.planHash == b.planHash)
    text += "the same plan\n";
  else if (rows.empty())
    text += "the plans differ in what no report says, such as kernels, the "
            "order of rows or offsets\n";
  size_t name = widest(rows, &Row::name), left = widest(rows, &Row::a);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || rows[i].part != rows[i - 1].part)
      text += rows[i].part + "\n";
    text += fmt::format("  {:<{}}  {:<{}}  {}\n", rows[i].name, name, rows[i].a,
                        left, rows[i].b);
  }
  return text;
}

} // namespace mtc::runtime
