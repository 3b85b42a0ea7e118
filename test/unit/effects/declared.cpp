//===- declared.cpp - what an op says it touches, as bytes of a rank ------===//
//
// Addresses are worked out here from the descriptions of the ops, apart from
// code generation and verify-plan, which do the same.
//
//===----------------------------------------------------------------------===//
#include "declared.h"

#include "mtc/runtime/step_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>

using namespace mlir;

namespace mtc::test {
namespace {

using Effect = MemoryEffects::EffectInstance;

SmallVector<Effect> effectsOf(Operation *op) {
  SmallVector<Effect> effects;
  cast<MemoryEffectOpInterface>(op).getEffects(effects);
  return effects;
}

class Addresses {
public:
  Addresses(const Mesh::Coordinates &at, const Mesh &mesh)
      : at(at), mesh(mesh) {}

  int64_t number(Value value) const {
    if (auto affine = value.getDefiningOp<rt::AffineOp>())
      return affineValue(affine.getValue());
    auto range = value.getDefiningOp<rt::FlatRangeOp>();
    auto [first, local, length] = flatRange(range);
    return value == range.getAt()      ? first
           : value == range.getLocal() ? local
                                       : length;
  }

  /// Where a buffer begins.
  runtime::ArenaOffset offsetOf(Value buffer) const {
    if (auto field = buffer.getDefiningOp<rt::StepFieldOp>())
      return {MTC_ARENA_STEP, int64_t(offsetof(MtcStepState, block)) +
                                  kStepFields[field.getField()].offset +
                                  int64_t(field.getGroup().value_or(0)) *
                                      kStepFields[field.getField()].bytes};
    if (auto moved = buffer.getDefiningOp<rt::OffsetViewOp>()) {
      runtime::ArenaOffset from = offsetOf(moved.getView());
      int64_t width =
          cast<MemRefType>(buffer.getType()).getElementTypeBitWidth() / 8;
      from.offset += number(moved.getElements()) * width;
      return from;
    }
    auto view = buffer.getDefiningOp<rt::ViewOp>();
    return {view.getArena(), view.getOffset()};
  }

  /// Elements of an operand: those of its type, but of a part of a bucket, as
  /// many as the op says.
  int64_t elements(Operation *op, OpOperand &operand) const {
    auto type = cast<MemRefType>(operand.get().getType());
    if (!operand.get().getDefiningOp<rt::OffsetViewOp>())
      return type.getNumElements();
    if (auto norm = dyn_cast<rt::NormOp>(op))
      return number(norm.getLength());
    if (auto collective = dyn_cast<rt::CollectiveOp>(op))
      return collective.getCount() * parts(collective);
    return number(cast<rt::LaunchOp>(op).getScalars().back());
  }

private:
  /// `count` of these two is one rank's part.
  int64_t parts(rt::CollectiveOp op) const {
    bool perRank = op.getKind() == rt::CollectiveKind::ReduceScatter ||
                   op.getKind() == rt::CollectiveKind::AllGather;
    return perRank ? mesh.groupSize(op.getGroup()) : 1;
  }

  int64_t affineValue(const rt::Affine &form) const {
    int64_t value = form.constant;
    for (const AxisInfo &axis : kAxes)
      value += form[axis.id] * at[axis.id];
    return value + form[rt::kMicrobatch] +
           form[rt::kSample] * StepValues::kSampleBase +
           form[rt::kSeed] * int64_t(StepValues::kSeed);
  }

  std::tuple<int64_t, int64_t, int64_t> flatRange(rt::FlatRangeOp op) const {
    int64_t first = op.getStart(), end = first + op.getCount(), low = 0;
    if (auto shard = op.getShard()) {
      low = at[MTC_AXIS_DP] * *shard;
      first = std::max(first, low);
      end = std::min(end, low + *shard);
    }
    auto [from, to] = partAmong(op, std::max<int64_t>(end - first, 0));
    return {first + from, first + from - low, to - from};
  }

  /// By the order of those that have the same elements.
  std::pair<int64_t, int64_t> partAmong(rt::FlatRangeOp op,
                                        int64_t length) const {
    int rank = mesh.rank(at);
    int64_t place = 0, ranks = 1;
    for (const GroupInfo &group : kGroups) {
      if (!op.isAmong(group.id))
        continue;
      auto members = mesh.members(rank, group.id);
      auto size = int64_t(members.size());
      place = place * size + (llvm::find(members, rank) - members.begin());
      ranks *= size;
    }
    return {length * place / ranks, length * (place + 1) / ranks};
  }

  const Mesh::Coordinates &at;
  const Mesh &mesh;
};

/// The bytes that the runtime keeps for a resource.
std::vector<std::pair<int64_t, int64_t>>
bytesOf(SideEffects::Resource *resource) {
  constexpr int64_t block = offsetof(MtcStepState, block);
  if (resource == rt::NormSum::get())
    return {{offsetof(MtcStepState, norm), sizeof MtcStepState::norm}};
  if (resource == rt::NormResult::get())
    return {{block + int64_t(offsetof(MtcStepBlock, clip_coeff)),
             sizeof MtcStepBlock::clip_coeff},
            {block + int64_t(offsetof(MtcStepBlock, applies)),
             sizeof MtcStepBlock::applies},
            {block + int64_t(offsetof(MtcStepBlock, grad_norm)),
             sizeof MtcStepBlock::grad_norm},
            {int64_t(offsetof(MtcStepState, stopped)),
             sizeof MtcStepState::stopped}};
  return {}; // the order of collectives and streams is in no memory
}

void addResources(Operation *op, std::vector<Declared> &declared) {
  std::map<SideEffects::Resource *, rt::AccessKind> kinds;
  std::vector<SideEffects::Resource *> order;
  for (const Effect &effect : effectsOf(op)) {
    if (effect.getValue())
      continue;
    auto [kind, fresh] = kinds.try_emplace(effect.getResource());
    if (fresh)
      order.push_back(effect.getResource());
    kind->second.merge(isa<MemoryEffects::Read>(effect.getEffect())
                           ? rt::kReads
                           : rt::kStores);
  }
  for (SideEffects::Resource *resource : order)
    for (auto [offset, bytes] : bytesOf(resource))
      declared.push_back({resource->getName().str(),
                          kinds[resource],
                          {MTC_ARENA_STEP, offset},
                          bytes,
                          IntegerType::get(op->getContext(), 64)});
}

} // namespace

std::vector<Declared> declaredBy(Operation *op, const Mesh::Coordinates &at,
                                 const Mesh &mesh) {
  Addresses addresses(at, mesh);
  std::vector<Declared> declared;
  for (const rt::Access &access :
       cast<rt::AccessOpInterface>(op).getAccesses()) {
    auto type = cast<MemRefType>(access.value.getType());
    runtime::ArenaOffset start = addresses.offsetOf(access.value);
    // Bytes to the IR; what is there are numbers.
    Type element = start.arena == MTC_ARENA_PACKED
                       ? Float32Type::get(op->getContext())
                       : type.getElementType();
    declared.push_back(
        {fmt::format("operand {}", access.operand->getOperandNumber()),
         access.kind, start,
         addresses.elements(op, *access.operand) *
             (type.getElementTypeBitWidth() / 8),
         element});
  }
  addResources(op, declared);
  return declared;
}

std::string contradiction(Operation *op) {
  SmallVector<Effect> effects = effectsOf(op);
  auto has = [&](OpOperand *operand, bool read) {
    return llvm::any_of(effects, [&](const Effect &effect) {
      return effect.getEffectValue<OpOperand *>() == operand &&
             isa<MemoryEffects::Read>(effect.getEffect()) == read;
    });
  };
  auto destinations = dyn_cast<DestinationStyleOpInterface>(op);
  for (const rt::Access &access :
       cast<rt::AccessOpInterface>(op).getAccesses()) {
    unsigned number = access.operand->getOperandNumber();
    bool isInit = destinations && destinations.isDpsInit(access.operand);
    // Scratch is written and holds nothing afterwards.
    if (isInit != (access.kind.writes && !access.kind.scratch))
      return fmt::format("operand {}: accesses and destinations differ",
                         number);
    if (has(access.operand, true) != access.kind.reads)
      return fmt::format("operand {}: accesses and effects differ in reading",
                         number);
    if (has(access.operand, false) != access.kind.writes)
      return fmt::format("operand {}: accesses and effects differ in writing",
                         number);
  }
  return "";
}

} // namespace mtc::test
