//===- table.h - numbers of the ABI and their names -------------*- C++ -*-===//
//
// The ABI knows arenas, pools, axes, groups and step fields by number. For each
// there is one table with a row per number; names, what is printed and what is
// read, lists in messages and checks follow from it.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_TABLE_H
#define MTC_RUNTIME_TABLE_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mtc {

/// Every row of a table is at the index of its id.
template <typename Info> constexpr bool inOrder(const Info *rows, int count) {
  for (int i = 0; i < count; ++i)
    if (rows[i].id != i)
      return false;
  return true;
}

/// The id of the row of that name; none if there is none.
template <typename Info, size_t N>
constexpr auto idNamed(const Info (&rows)[N], std::string_view name)
    -> std::optional<decltype(Info::id)> {
  for (const Info &row : rows)
    if (row.name == name)
      return row.id;
  return std::nullopt;
}

/// For people: "tp, dp, embedding or all", of the rows that `wanted` says yes
/// to.
template <typename Info, size_t N, typename Wanted>
std::string namesOf(const Info (&rows)[N], Wanted wanted) {
  std::vector<std::string_view> names;
  for (const Info &row : rows)
    if (wanted(row))
      names.push_back(row.name);
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text.append(i == 0                  ? ""
                : i + 1 == names.size() ? " or "
                                        : ", ")
        .append(names[i]);
  return text;
}

/// Of all rows.
template <typename Info, size_t N> std::string namesOf(const Info (&rows)[N]) {
  return namesOf(rows, [](const Info &) { return true; });
}

} // namespace mtc
#endif // MTC_RUNTIME_TABLE_H
