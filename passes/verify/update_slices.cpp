//===- update_slices.cpp - which elements of a bucket an op means ---------===//
//
// Over the dp coordinates d the ranges [start, start + count) ∩ [d·shard,
// (d + 1)·shard) tile [start, start + count) when the shards tile the bucket,
// which checkOwners sees to. So one range stands for those of all ranks, each
// with the elements of its own shard.
//
//===----------------------------------------------------------------------===//
#include "passes/verify/update_slices.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace mtc::passes::verify {
namespace {

/// A buffer, and the bytes of the arena that it has.
struct Buffer {
  Slice slice;
  int64_t offset;
  Type element;
  int64_t elementBytes() const { return element.getIntOrFloatBitWidth() / 8; }
  bool has(const Extent &e) const {
    int64_t bytes =
        saturatingMul(elementBytes(), saturatingAdd(slice.end, -slice.begin));
    return e.offset >= offset && e.end() <= saturatingAdd(offset, bytes) &&
           (e.offset - offset) % elementBytes() == 0;
  }
};

Buffer wholeOf(Part part, rt::BucketOp bucket, int64_t offset,
               StringRef state = {}) {
  int64_t elements = part == Part::State  ? bucket.getShard()
                     : part == Part::Grad ? bucket.gradElements()
                                          : bucket.getElements();
  Type element = part == Part::Param  ? bucket.paramType()
                 : part == Part::Grad ? bucket.gradType()
                                      : Float32Type::get(bucket.getContext());
  return {{part, static_cast<int64_t>(bucket.getIndex()), state, 0, elements},
          offset,
          element};
}

SmallVector<Buffer> buffersIn(const Stage &stage, MtcArena arena) {
  SmallVector<Buffer> all;
  for (rt::BucketOp bucket : stage.buckets) {
    if (arena == MTC_ARENA_GRADS && bucket.getGradOffset())
      all.push_back(wholeOf(Part::Grad, bucket, *bucket.getGradOffset()));
    if (arena == MTC_ARENA_PARAMS && bucket.getParamOffset())
      all.push_back(wholeOf(Part::Param, bucket, *bucket.getParamOffset()));
    if (arena == MTC_ARENA_OPTIMIZER)
      for (StringRef state : bucket.stateNames())
        if (auto offset = bucket.stateOffset(state))
          all.push_back(wholeOf(Part::State, bucket, *offset, state));
  }
  if (arena == MTC_ARENA_GRADS)
    all.push_back({{Part::Loss, -1, {}, 0, 1},
                   stage.lossOffset,
                   Float32Type::get(stage.op.getContext())});
  return all;
}

} // namespace

std::string nameOf(const Slice &slice) {
  return slice.part == Part::Loss ? std::string("the loss")
                                  : "bucket " + std::to_string(slice.bucket);
}

std::optional<Slice> Slices::bufferOf(const Touch &touch,
                                      const Access &access) {
  for (const Buffer &buffer : buffersIn(stage, access.extent.arena)) {
    if (access.extent.pool || !buffer.has(access.extent))
      continue;
    for (Type type : {access.type, Type(access.view.getType())})
      if (getElementTypeOrSelf(type) != buffer.element) {
        report.error(touch.op)
            << "expected elements of type " << buffer.element << ", as "
            << nameOf(buffer.slice) << " has them there, found " << type;
        return std::nullopt;
      }
    Slice slice = buffer.slice;
    slice.begin =
        (access.extent.offset - buffer.offset) / buffer.elementBytes();
    slice.end = slice.begin + access.extent.bytes / buffer.elementBytes();
    return slice;
  }
  report.error(touch.op) << "expected views of a bucket or of the loss, found "
                         << kArenas[access.extent.arena].name << " at "
                         << access.extent.offset << ", of "
                         << access.extent.bytes << " bytes";
  return std::nullopt;
}

std::optional<Slice> Slices::rangeOf(const Touch &touch, const Access &access,
                                     Slice buffer) {
  rt::FlatRangeOp range = access.range();
  rt::BucketOp bucket =
      buffer.part == Part::Loss ? rt::BucketOp() : stage.bucket(buffer.bucket);
  int64_t elements = bucket ? bucket.getElements() : 0;
  int64_t shard =
      bucket && stage.isSharded(buffer.bucket) ? bucket.getShard() : 0;
  bool isShard =
      buffer.part == Part::State ||
      (buffer.part == Part::Grad && stage.shardsGradients(buffer.bucket));
  Value by = !range ? Value() : isShard ? range.getLocal() : range.getAt();
  int64_t all = isShard && bucket ? bucket.getShard() : elements;
  if (!by || access.moved.getElements() != by || buffer.begin != 0 ||
      buffer.end != all || range.getShard().value_or(0) != shard ||
      range.getStart() < 0 || range.getCount() < 0 ||
      saturatingAdd(range.getStart(), range.getCount()) > elements) {
    report.error(touch.op)
        << "expected the view of a whole buffer of a bucket, moved by an "
           "rt.flat_range inside of it (by its second result for states and "
           "accumulators of a shard, by its first for others) in shards of "
        << shard << " (0: not sharded), found another";
    return std::nullopt;
  }
  buffer.begin = range.getStart();
  buffer.end = range.getStart() + range.getCount();
  buffer.ownShard = stage.isSharded(buffer.bucket);
  buffer.range = range;
  return buffer;
}

std::optional<Slice> Slices::measured(const Touch &touch, const Access &access,
                                      Value length) {
  std::optional<Slice> buffer = bufferOf(touch, access);
  if (!buffer)
    return std::nullopt;
  std::optional<Slice> slice = rangeOf(touch, access, *buffer);
  if (!slice || slice->range.getLength() == length)
    return slice;
  report.error(touch.op) << "expected the length of the rt.flat_range that "
                            "moves its views, found another";
  return std::nullopt;
}

std::optional<Slice> Slices::counted(const Touch &touch, const Access &access,
                                     int64_t count) {
  std::optional<Slice> slice = bufferOf(touch, access);
  if (!slice)
    return std::nullopt;
  int64_t all = slice->end - slice->begin;
  if (access.moved) {
    slice = rangeOf(touch, access, *slice);
    if (!slice)
      return std::nullopt;
    // Of a part some ranks would have less than `count`.
    rt::BucketOp bucket = stage.bucket(slice->bucket);
    bool whole = slice->begin == 0 &&
                 slice->end == static_cast<int64_t>(bucket.getElements()) &&
                 !slice->range.getAmong();
    if (whole &&
        count == static_cast<int64_t>(slice->ownShard ? bucket.getShard()
                                                      : bucket.getElements()))
      return slice;
    all = -1;
  }
  if (count >= 0 && count <= all) {
    slice->end = slice->begin + count;
    return slice;
  }
  report.error(touch.op) << "expected a count of elements that the view has on "
                            "every rank, found "
                         << count;
  return std::nullopt;
}

std::optional<Slice> Slices::gathered(const Touch &touch, rt::CollectiveOp op) {
  int64_t all = saturatingMul(op.getCount(), model.mesh[MTC_AXIS_DP]);
  std::optional<Slice> slice = counted(touch, touch.accesses[0], all);
  if (!slice)
    return std::nullopt;
  rt::BucketOp bucket = stage.bucket(slice->bucket);
  bool isShard = bucket && stage.isSharded(slice->bucket) &&
                 slice->begin == 0 && !slice->ownShard &&
                 slice->part != Part::State &&
                 op.getCount() == static_cast<int64_t>(bucket.getShard());
  if (isShard)
    return slice;
  report.error(op) << "expected a gather of the shards of a whole bucket, "
                      "found one of other parts";
  return std::nullopt;
}

} // namespace mtc::passes::verify
