//===- diff_text.cpp - two plans side by side, for people -----------------===//

#include "runtime/inspect/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace mtc::runtime {
namespace {

constexpr size_t kWidest = 60; ///< of a column; longer values stick out

struct Row {
  std::string part, name, a, b;
  std::vector<int64_t> layers; ///< that it stands for; none: of no layer
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

/// "layers.7.mlp" -> "layers.*.mlp", and 7; other names as they are.
std::string withoutLayer(const std::string &name, std::vector<int64_t> &layer) {
  constexpr std::string_view head = "layers.";
  if (!name.starts_with(head))
    return name;
  int64_t number = 0;
  const char *begin = name.data() + head.size(),
             *end =
                 std::from_chars(begin, name.data() + name.size(), number).ptr;
  if (end == begin)
    return name;
  layer.push_back(number);
  return "layers.*" + std::string(end, name.data() + name.size());
}

/// {0, 1, 2, 5} -> "0-2,5".
std::string rangesText(const std::vector<int64_t> &numbers) {
  std::string text;
  for (size_t first = 0, last; first < numbers.size(); first = last + 1) {
    for (last = first;
         last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1;)
      ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[first]);
    if (last > first)
      text += fmt::format("-{}", numbers[last]);
  }
  return text;
}

/// "layers.{0-2,5}.mlp"; of one layer "layers.5.mlp".
void nameLayers(Row &row) {
  if (row.layers.empty())
    return;
  std::sort(row.layers.begin(), row.layers.end());
  std::string which = rangesText(row.layers);
  if (row.layers.size() > 1)
    which = "{" + which + "}";
  row.name.replace(row.name.find('*'), 1, which);
}

/// Rows of layers that say the same are one, where the first of them was.
std::vector<Row> rowsOf(const std::vector<PlanDifference> &differences) {
  std::vector<Row> rows;
  for (const PlanDifference &d : differences) {
    std::vector<int64_t> layer;
    Row row{d.part, withoutLayer(d.name, layer), sideText(d.a, d.b),
            sideText(d.b, d.a), layer};
    auto same = std::find_if(rows.begin(), rows.end(), [&](const Row &other) {
      return row.part == other.part && row.name == other.name &&
             row.a == other.a && row.b == other.b;
    });
    if (same != rows.end())
      same->layers.insert(same->layers.end(), layer.begin(), layer.end());
    else
      rows.push_back(std::move(row));
  }
  for (Row &row : rows)
    nameLayers(row);
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
