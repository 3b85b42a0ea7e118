//===- update_state.cpp - the memory of one stage during the update -------===//
#include "passes/verify/update_state.h"

#include <fmt/format.h>

using namespace mlir;

namespace mtc::passes::verify {

std::set<std::string> sharedParameters(const Model &model) {
  std::map<std::string, std::set<int64_t>> stagesOf;
  for (const Stage &stage : model.stages)
    for (const Param &param : stage.params)
      stagesOf[param.name().str()].insert(stage.index);
  std::set<std::string> shared;
  for (auto &[name, stages] : stagesOf)
    if (stages.size() > 1)
      shared.insert(name);
  return shared;
}

static Copies both(Cell cell) { return {cell, cell}; }

static Cell gradientOf(int64_t bucket, std::bitset<MTC_GROUP_COUNT> partial) {
  Cell cell;
  cell.kind = Cell::Kind::Gradient;
  cell.uses = {bucket};
  cell.partial = partial;
  return cell;
}

UpdateState::UpdateState(const Model &model, const Stage &stage,
                         const std::set<std::string> &shared)
    : model(model), stage(stage), shared(shared) {
  for (const Param &param : stage.params) {
    params[param.bucket()].try_emplace(param.start(), &param);
    usesOf[param.name().str()].insert(param.bucket());
  }
  Cell before;
  before.kind = Cell::Kind::Before;
  for (rt::BucketOp bucket : stage.buckets) {
    int64_t index = bucket.getIndex(), elements = bucket.getElements();
    Cell gradient = gradientOf(index, paddingGroups(index));
    add(Part::Grad, index, {}, elements,
        stage.shardsGradients(index) ? Copies{gradient, Cell()}
                                     : both(gradient));
    setPartial(index);
    add(Part::Param, index, {}, elements, both(before));
    for (StringRef name : bucket.stateNames())
      add(Part::State, index, name, elements,
          stage.isSharded(index) ? Copies{before, Cell()} : both(before));
  }
  // Only the last stage has a loss.
  Cell loss = gradientOf(-1, dataGroups());
  if (stage.index != model.mesh.stages() - 1)
    loss.kind = Cell::Kind::Zero;
  add(Part::Loss, -1, {}, 1, both(loss));
}

UpdateState::Groups UpdateState::dataGroups() const {
  Groups groups;
  for (const AxisInfo &axis : kAxes)
    if (model.mesh.hasPartialSums(axis))
      groups.set(groupAlong(axis.id));
  return groups;
}

UpdateState::Groups UpdateState::dataGroups(const Param &param) const {
  Groups groups = dataGroups(), said;
  for (MtcGroup group : param.op.partialGroups())
    said.set(group);
  groups &= said; // checkOwners holds it to the data
  if (stage.shardsGradients(param.bucket()))
    groups.set(MTC_GROUP_DP, false);
  return groups;
}

UpdateState::Groups UpdateState::accumulatedGroups(const Param &param) const {
  Groups groups = dataGroups(param);
  for (MtcGroup group : param.op.partialGroups())
    if (!kAxes[*kGroups[group].sumAxis()].data)
      groups.set(group, model.mesh.groupSize(group) > 1);
  return groups;
}

UpdateState::Groups UpdateState::paddingGroups(int64_t bucket) const {
  auto inside = params.find(bucket);
  return inside == params.end() || inside->second.empty()
             ? dataGroups()
             : dataGroups(*inside->second.begin()->second);
}

void UpdateState::add(Part part, int64_t bucket, StringRef state, int64_t size,
                      Copies value) {
  Key key{part, bucket, state.str()};
  Cells &made = buffers.try_emplace(key, size, value).first->second;
  for (auto &[start, param] : params[bucket]) {
    made.split(start);
    made.split(param->end());
  }
}

void UpdateState::setPartial(int64_t bucket) {
  for (auto &[start, param] : params[bucket]) {
    Groups partial = accumulatedGroups(*param);
    cells({Part::Grad, bucket})
        .forEach(start, param->end(), [&](int64_t, int64_t, Copies &copies) {
          copies.own.partial = copies.others.partial = partial;
        });
  }
}

Cells &UpdateState::cells(const Slice &slice) {
  return buffers.at(Key{slice.part, slice.bucket, slice.state.str()});
}

const Param *UpdateState::paramAt(int64_t bucket, int64_t element) const {
  auto found = params.find(bucket);
  if (found == params.end())
    return nullptr;
  auto next = found->second.upper_bound(element);
  if (next == found->second.begin())
    return nullptr;
  const Param *param = std::prev(next)->second;
  return element < param->end() ? param : nullptr;
}

Named UpdateState::nameOf(int64_t bucket, int64_t begin, int64_t end) const {
  const Param *param = paramAt(bucket, begin);
  return param ? Named{param->name().str(), begin - param->start(), end - begin}
               : Named{"", 0, end - begin};
}

StringRef UpdateState::partialOver(const Cell &cell) const {
  for (const GroupInfo &group : kGroups)
    if (cell.partial.test(group.id))
      return group.name;
  return {};
}

std::string UpdateState::describeIncomplete(const Cell &cell,
                                            const Param *param,
                                            bool across) const {
  if (!cell.is(Cell::Kind::Gradient) || !partialOver(cell).empty() || !param)
    return describe(*this, cell);
  for (int64_t bucket : usesOf.at(param->name().str()))
    if (!cell.uses.count(bucket))
      return fmt::format("sums without the use in bucket {}", bucket);
  if (cell.uses.size() != usesOf.at(param->name().str()).size())
    return "sums of several parameters";
  if (across && isShared(*param) && !cell.stages)
    return "sums of one of the stages that share it";
  return "";
}

std::string describe(const UpdateState &state, const Cell &cell) {
  switch (cell.kind) {
  case Cell::Kind::Unknown:
    return "what is only whole on another rank along dp";
  case Cell::Kind::Zero:
    return "zero";
  case Cell::Kind::Before:
    return "what was there before the step";
  case Cell::Kind::Updated:
    return "what is updated";
  case Cell::Kind::Gradient:
    break;
  }
  StringRef axis = state.partialOver(cell);
  return axis.empty() ? "whole sums" : "partial sums over " + axis.str();
}

} // namespace mtc::passes::verify
