//===- lasting.cpp - what outlives a fragment, in both forms --------------===//
#include "passes/verify/lasting.h"

using namespace mlir;

namespace mtc::passes::verify {

Lasting::Lasting(const Stage &stage, Numbers &numbers) {
  for (rt::BucketOp bucket : stage.buckets) {
    addBucket(stage, bucket, numbers);
    if (bucket.isSecondUse())
      continue;
    for (const Param &param : stage.params)
      if (param.bucket() == bucket.getIndex())
        parameters[param.name().str()] = {bucket.getIndex(), param.start()};
  }
  for (const Param &param : stage.params)
    accumulators[{param.name().str(), param.op.getUse()}] = {param.bucket(),
                                                             param.start()};
  addPacked(stage, numbers);
  Space loss{SpaceKind::Loss}, norm{SpaceKind::Norm};
  parts[loss] = {loss, MTC_ARENA_GRADS, stage.lossOffset, 4, 4, 4};
  contents.write({loss, 0, 4}, numbers.leaf("the loss"), nullptr);
  contents.write({norm, 0, 1}, numbers.leaf("the norm"), nullptr);
}

/// To whom reads it, a packed weight is the weight: that it was packed of this
/// one, checkPacked sees to.
void Lasting::addPacked(const Stage &stage, Numbers &numbers) {
  for (rt::PackedOp packed : stage.packed) {
    int64_t index = packed.getIndex(), bytes = packed.getBytes();
    Part part{{SpaceKind::Packed, index},
              MTC_ARENA_PACKED,
              int64_t(*packed.getOffset()),
              bytes,
              1,
              bytes};
    parts[part.space] = part;
    int64_t elements = saturatingMul(packed.getN(), packed.getK()),
            width = packed.getType().getIntOrFloatBitWidth() / 8;
    Placement weight =
        parameter(packed.getParam(), saturatingMul(width, elements));
    contents.write({part.space, 0, bytes}, contents.read(weight, numbers),
                   nullptr);
  }
}

/// Parts without an offset are not there.
void Lasting::addBucket(const Stage &stage, rt::BucketOp bucket,
                        Numbers &numbers) {
  int64_t index = bucket.getIndex();
  int64_t wide = bucket.paramBytes(), sum = bucket.gradBytes();
  int64_t mine = saturatingMul(4, bucket.getShard());
  int64_t whole = saturatingMul(4, bucket.getElements());
  int64_t params = saturatingMul(wide, bucket.getElements());
  if (auto offset = bucket.getGradOffset())
    add(stage,
        {{SpaceKind::Grad, index},
         MTC_ARENA_GRADS,
         *offset,
         saturatingMul(sum, bucket.gradElements()),
         sum,
         saturatingMul(sum, bucket.getElements()),
         "the gradient of"},
        numbers);
  if (auto offset = bucket.getParamOffset())
    add(stage,
        {{SpaceKind::Param, index},
         MTC_ARENA_PARAMS,
         *offset,
         params,
         wide,
         params,
         "parameter"},
        numbers);
  for (auto [i, name] : llvm::enumerate(bucket.stateNames())) {
    Space space{SpaceKind::State, index, int64_t(i)};
    states[{index, name.str()}] = space.state;
    if (auto offset = bucket.stateOffset(name))
      add(stage,
          {space, MTC_ARENA_OPTIMIZER, *offset, mine, 4, whole,
           (name + " of").str()},
          numbers);
  }
}

/// One value per parameter; what is left is padding.
void Lasting::add(const Stage &stage, const Part &part, Numbers &numbers) {
  parts[part.space] = part;
  std::string index = std::to_string(part.space.index);
  contents.write({part.space, 0, part.whole},
                 numbers.leaf("padding of bucket " + index), nullptr);
  for (const Param &param : stage.params) {
    if (param.bucket() != part.space.index)
      continue;
    std::string text = part.name + " \"" + param.name().str() + "\" (bucket " +
                       index + " from element " +
                       std::to_string(param.start()) + ")";
    contents.write(this->part(part.space, param.start(),
                              saturatingMul(part.width, param.elements())),
                   numbers.leaf(text), nullptr);
  }
}

const Lasting::Part *Lasting::find(const Space &space) const {
  auto it = parts.find(space);
  return it == parts.end() ? nullptr : &it->second;
}

Space Lasting::space(SpaceKind kind, int64_t bucket, StringRef state) const {
  if (kind != SpaceKind::State)
    return {kind, bucket};
  auto it = states.find({bucket, state.str()});
  return it == states.end() ? Space() : Space{kind, bucket, it->second};
}

Placement Lasting::part(const Space &space, int64_t start,
                        int64_t bytes) const {
  const Part *part = find(space);
  if (!part)
    return {};
  int64_t begin = saturatingMul(start, part->width);
  int64_t end = saturatingAdd(begin, bytes);
  return begin >= 0 && begin <= end && end <= part->whole
             ? Placement{part->space, begin, end}
             : Placement();
}

Placement Lasting::at(MtcArena arena, int64_t offset, int64_t bytes) const {
  for (auto &[space, part] : parts)
    if (part.arena == arena && offset >= part.offset &&
        saturatingAdd(offset, bytes) <= saturatingAdd(part.offset, part.bytes))
      return {space, offset - part.offset, offset - part.offset + bytes};
  return {};
}

Placement Lasting::accumulator(StringRef name, int64_t use,
                               int64_t bytes) const {
  auto it = accumulators.find({name.str(), use});
  return it == accumulators.end() ? Placement()
                                  : part({SpaceKind::Grad, it->second.first},
                                         it->second.second, bytes);
}

Placement Lasting::staging(int64_t bucket, int64_t start, int64_t bytes) const {
  Placement placement = part({SpaceKind::Grad, bucket}, start, bytes);
  if (placement.space.kind != SpaceKind::Nowhere)
    placement.space.kind = SpaceKind::Staging;
  return placement;
}

Placement Lasting::staging(StringRef name, int64_t use, int64_t bytes) const {
  auto it = accumulators.find({name.str(), use});
  return it == accumulators.end()
             ? Placement()
             : staging(it->second.first, it->second.second, bytes);
}

Placement Lasting::parameter(StringRef name, int64_t bytes) const {
  auto it = parameters.find(name);
  return it == parameters.end() ? Placement()
                                : part({SpaceKind::Param, it->second.first},
                                       it->second.second, bytes);
}

/// A range of a rank is named by the segment that it is the rank's part of.
/// Moved otherwise it may be any of the part.
Placement Lasting::move(Placement placement, int64_t width, Value elements,
                        Number moved, Numbers &numbers) const {
  const Part *part = find(placement.space);
  auto range = elements.getDefiningOp<rt::FlatRangeOp>();
  placement.moved =
      numbers.make({wordOf(By::Moved), part ? placement.begin : 0,
                    part ? placement.end : placement.end - placement.begin},
                   moved, nullptr);
  if (!part)
    return placement;
  bool isSharded =
      placement.space.kind == SpaceKind::State || part->bytes != part->whole;
  int64_t begin = -1, end = -1;
  if (range && elements == (isSharded ? range.getLocal() : range.getAt())) {
    begin =
        saturatingAdd(placement.begin, saturatingMul(range.getStart(), width));
    end = saturatingAdd(begin, saturatingMul(range.getCount(), width));
  }
  bool fits = begin >= 0 && begin <= end && end <= part->whole;
  placement.begin = fits ? begin : 0;
  placement.end = fits ? end : part->whole;
  return placement;
}

std::string Lasting::describe(const Placement &placement,
                              const Numbers &numbers) const {
  const Contents::Cells &cells = contents.cellsOf(placement.space);
  auto it = cells.upper_bound(placement.begin);
  return it == cells.begin() ? "other bytes"
                             : numbers.describe(std::prev(it)->second.number);
}

} // namespace mtc::passes::verify
