//===- places.cpp - where values lie, in bytes or in tensors --------------===//
#include "passes/verify/places.h"

using namespace mlir;

namespace mtc::passes::verify {
namespace {

/// Splits the cell that goes over `at`.
void cut(Contents::Cells &cells, int64_t at) {
  auto it = cells.lower_bound(at);
  if (it == cells.begin())
    return;
  Contents::Cell &before = std::prev(it)->second;
  if (before.end <= at)
    return;
  cells[at] = before;
  before.end = at;
}

} // namespace

void Contents::write(const Place &place, Number number, Operation *writer) {
  if (place.begin >= place.end)
    return;
  Cells &cells = spaces[place.space];
  cut(cells, place.begin);
  cut(cells, place.end);
  cells.erase(cells.lower_bound(place.begin), cells.lower_bound(place.end));
  cells[place.begin] = {place.end, number, place.begin, place.end, writer};
}

Number Contents::read(const Place &place, Numbers &numbers) const {
  const Cells &cells = cellsOf(place.space);
  auto it = cells.upper_bound(place.begin);
  if (it != cells.begin() && std::prev(it)->second.end > place.begin)
    --it;
  Recipe parts{wordOf(By::Parts)};
  SmallVector<Number> values;
  int64_t at = place.begin;
  for (; it != cells.end() && it->first < place.end; ++it) {
    const Cell &cell = it->second;
    if (cell.from == place.begin && cell.to == place.end &&
        it->first == cell.from && cell.end == cell.to)
      return cell.number;
    int64_t begin = std::max(it->first, place.begin);
    if (begin > at)
      break;
    at = std::min(cell.end, place.end);
    // What part of which value, and where.
    parts.append({begin - place.begin, at - begin, begin - cell.from,
                  cell.to - cell.from});
    values.push_back(cell.number);
  }
  if (at < place.end || place.begin >= place.end)
    return numbers.unique("bytes that nothing wrote");
  return numbers.make(parts, values, nullptr);
}

bool Contents::isEmpty(const Place &place) const {
  const Cells &cells = cellsOf(place.space);
  auto it = cells.lower_bound(place.end);
  return it == cells.begin() || std::prev(it)->second.end <= place.begin;
}

const Contents::Cells &Contents::cellsOf(const Space &space) const {
  static const Cells none;
  auto it = spaces.find(space);
  return it == spaces.end() ? none : it->second;
}

void Contents::beginFragment(const Contents &lasting) {
  std::erase_if(spaces, [](const auto &each) {
    return each.first.kind != SpaceKind::Pool;
  });
  spaces.insert(lasting.spaces.begin(), lasting.spaces.end());
}

} // namespace mtc::passes::verify
