//===- placements.cpp - where values lie, in bytes or in tensors ----------===//
#include "passes/verify/placements.h"

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

void Contents::write(const Placement &placement, Number number,
                     Operation *writer) {
  if (placement.begin >= placement.end)
    return;
  Cells &cells = spaces[placement.space];
  cut(cells, placement.begin);
  cut(cells, placement.end);
  cells.erase(cells.lower_bound(placement.begin),
              cells.lower_bound(placement.end));
  cells[placement.begin] = {placement.end, number, placement.begin,
                            placement.end, writer};
}

Number Contents::read(const Placement &placement, Numbers &numbers) const {
  const Cells &cells = cellsOf(placement.space);
  auto it = cells.upper_bound(placement.begin);
  if (it != cells.begin() && std::prev(it)->second.end > placement.begin)
    --it;
  Recipe parts{wordOf(By::Parts)};
  SmallVector<Number> values;
  int64_t at = placement.begin;
  for (; it != cells.end() && it->first < placement.end; ++it) {
    const Cell &cell = it->second;
    if (cell.from == placement.begin && cell.to == placement.end &&
        it->first == cell.from && cell.end == cell.to)
      return cell.number;
    int64_t begin = std::max(it->first, placement.begin);
    if (begin > at)
      break;
    at = std::min(cell.end, placement.end);
    // What part of which value, and where.
    parts.append({begin - placement.begin, at - begin, begin - cell.from,
                  cell.to - cell.from});
    values.push_back(cell.number);
  }
  if (at < placement.end || placement.begin >= placement.end)
    return numbers.unique("bytes that nothing wrote");
  return numbers.make(parts, values, nullptr);
}

bool Contents::isEmpty(const Placement &placement) const {
  const Cells &cells = cellsOf(placement.space);
  auto it = cells.lower_bound(placement.end);
  return it == cells.begin() || std::prev(it)->second.end <= placement.begin;
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
