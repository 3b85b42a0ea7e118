//===- mesh.h - the axes of the mesh, ranks and groups ----------*- C++ -*-===//
//
// The one definition of what a mesh is, for all levels: strategies and the
// importer, plans and their verifier, generated code, descriptors, the runtime.
// Each walks these tables; whoever needs one certain axis (stages of a
// pipeline, the shards of ZeRO) names it by its constant, MTC_AXIS_PP.
// CONTRIBUTING.md says what else a new axis needs.
//
// Ranks count through the axes in the order of the mesh (RankOrder), the first
// is the fastest. By default it is that of MtcAxis:
//
//   rank = tp + TP·(cp + CP·(dp + DP·pp))
//
//   Mesh mesh(2, 3, 4);                       // 24 ranks: tp, dp, pp
//   mesh.coordinates(23)                      // {1, 0, 2, 3}
//   mesh.moved(23, MTC_AXIS_PP, 0)            // 5: {1, 0, 2, 0}
//   mesh.members(9, MTC_GROUP_DP)             // {7, 9, 11}: tp 1, pp 1
//   mesh.members(3, MTC_GROUP_EMBEDDING)           // {3, 21}: tp 1, dp 1
//   mesh.setKvRanks(2);
//   mesh.members(9, MTC_GROUP_KV)             // {8, 9}: both ranks along tp
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_MESH_H
#define MTC_RUNTIME_MESH_H

#include "mtc/runtime/abi.h"
#include "mtc/runtime/table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mtc {

/// An axis of the mesh.
struct AxisInfo {
  MtcAxis id;
  std::string_view name; ///< in strategies, dist.mesh, mtc.config, descriptors
  /// Dimensions of tensors may be split over it: it is an axis of dist.mesh and
  /// has a group of its name.
  bool splits;
  /// Its ranks have different tokens: the loss, and the gradients of parameters
  /// that it does not split, are partial sums over it until the end of a step.
  bool data;
  /// How its ranks cut a dimension: rank r has the r-th of equal parts or, if
  /// this is set, two pieces of half that size (see PieceOffset).
  bool headAndTail = false;
};

/// By MtcAxis.
inline constexpr AxisInfo kAxes[] = {
    {MTC_AXIS_TP, "tp", true, false},
    {MTC_AXIS_CP, "cp", true, true, /*headAndTail=*/true},
    {MTC_AXIS_DP, "dp", true, true},
    {MTC_AXIS_PP, "pp", false, false},
};

/// A communicator: the ranks that differ in `axes` only, in rank order.
struct GroupInfo {
  MtcGroup id;
  std::string_view name; ///< in rt.collective
  unsigned axes;         ///< bit 1 << MtcAxis
  bool ends;         ///< of each axis the first and the last coordinate only
  bool runs = false; ///< of each axis Mesh::kvRanks() coordinates in a row only
  constexpr bool along(MtcAxis axis) const { return axes >> axis & 1; }
  /// The axis along which its ranks may have parts of one sum; none if they
  /// differ in several or are the ends of one.
  constexpr std::optional<MtcAxis> sumAxis() const {
    return std::has_single_bit(axes) && !ends
               ? std::optional(static_cast<MtcAxis>(std::countr_zero(axes)))
               : std::nullopt;
  }
};

/// By MtcGroup.
inline constexpr GroupInfo kGroups[] = {
    {MTC_GROUP_TP, "tp", 1 << MTC_AXIS_TP, false},
    {MTC_GROUP_DP, "dp", 1 << MTC_AXIS_DP, false},
    {MTC_GROUP_EMBEDDING, "embedding", 1 << MTC_AXIS_PP, true},
    {MTC_GROUP_ALL, "all", (1 << MTC_AXIS_COUNT) - 1, false},
    {MTC_GROUP_CP, "cp", 1 << MTC_AXIS_CP, false},
    {MTC_GROUP_KV, "kv", 1 << MTC_AXIS_TP, false, /*runs=*/true},
};

static_assert(std::size(kAxes) == MTC_AXIS_COUNT &&
              inOrder(kAxes, MTC_AXIS_COUNT));
static_assert(std::size(kGroups) == MTC_GROUP_COUNT &&
              inOrder(kGroups, MTC_GROUP_COUNT));

constexpr std::string_view axisName(MtcAxis axis) { return kAxes[axis].name; }
/// "unknown" for a number that is no group.
constexpr std::string_view groupName(MtcGroup group) {
  return group >= 0 && group < MTC_GROUP_COUNT ? kGroups[group].name
                                               : "unknown";
}

/// The axis, or the group, of a name; none if there is none.
constexpr std::optional<MtcAxis> axisNamed(std::string_view name) {
  return idNamed(kAxes, name);
}
constexpr std::optional<MtcGroup> groupNamed(std::string_view name) {
  return idNamed(kGroups, name);
}

/// The group of all ranks along an axis that may split tensors.
constexpr MtcGroup groupAlong(MtcAxis axis) {
  return *groupNamed(axisName(axis));
}

/// When a sum over a group has its turn, so that sums add in one order in every
/// layout: replicas first, as under ZeRO the others then add their shards; then
/// the other axes of the data; then the rest. The group is along one axis.
constexpr int sumTurn(MtcGroup group) {
  return group == MTC_GROUP_DP                   ? 0
         : kAxes[*kGroups[group].sumAxis()].data ? 1
                                                 : 2;
}

/// Whether the sum over a group along one axis comes before that over another.
constexpr bool isSummedBefore(MtcGroup a, MtcGroup b) {
  return std::pair(sumTurn(a), a) < std::pair(sumTurn(b), b);
}

/// The axis of a name, if tensors may be split over it.
constexpr std::optional<MtcAxis> splittingAxis(std::string_view name) {
  std::optional<MtcAxis> axis = axisNamed(name);
  return axis && kAxes[*axis].splits ? axis : std::nullopt;
}

/// What turns an index in a rank's part of a dimension into one in the whole:
/// start + step·coordinate, to be added.
struct PieceOffset {
  int64_t start, step;
  constexpr int64_t at(int64_t coordinate) const {
    return start + step * coordinate;
  }
};

/// The one statement of the cut "head and tail" of a dimension: it has
/// 2·ranks pieces of `piece` indices, and rank r has piece r and, behind it,
/// piece 2·ranks - 1 - r, so that under a causal mask all ranks work alike.
/// The offsets of a part's first `piece` indices, and of those behind.
constexpr std::array<PieceOffset, 2> pieceOffsets(int64_t ranks,
                                                  int64_t piece) {
  return {{{0, piece}, {(2 * ranks - 2) * piece, -piece}}};
}

/// Whether ranks along the axis of that name cut a dimension so.
constexpr bool cutsHeadAndTail(std::string_view axis) {
  std::optional<MtcAxis> known = axisNamed(axis);
  return known && kAxes[*known].headAndTail;
}

/// For people: "tp, cp or dp".
inline std::string splittingAxes() {
  return namesOf(kAxes, [](const AxisInfo &axis) { return axis.splits; });
}

/// A number for each axis. Only an axis is an index: where an axis stands in
/// the table is nobody's business.
class PerAxis {
public:
  constexpr int64_t &operator[](MtcAxis axis) { return numbers_[axis]; }
  constexpr int64_t operator[](MtcAxis axis) const { return numbers_[axis]; }
  auto operator<=>(const PerAxis &) const = default;

private:
  std::array<int64_t, MTC_AXIS_COUNT> numbers_{};
};

/// Through which axes ranks count first: each axis once, tp the first.
class RankOrder {
public:
  constexpr RankOrder() {
    for (const AxisInfo &axis : kAxes)
      axes_[axis.id] = axis.id;
  }
  /// Of "tp-cp-pp-dp"; none if that is no order.
  static constexpr std::optional<RankOrder> of(std::string_view text) {
    RankOrder order;
    unsigned seen = 0;
    for (MtcAxis &axis : order.axes_) {
      size_t end = std::min(text.find('-'), text.size());
      std::optional<MtcAxis> found = axisNamed(text.substr(0, end));
      if (!found || (seen >> *found & 1))
        return std::nullopt;
      seen |= 1u << *found;
      axis = *found;
      bool isLast = &axis == &order.axes_.back();
      if (isLast != (end == text.size()))
        return std::nullopt;
      text.remove_prefix(isLast ? end : end + 1);
    }
    if (order.axes_.front() != MTC_AXIS_TP)
      return std::nullopt;
    return order;
  }
  /// What `of` takes, for messages.
  static std::string description() {
    return "each axis of the mesh once with dashes between, tp first, such as "
           "\"" +
           RankOrder().text() + "\"";
  }
  std::string text() const {
    std::string text;
    for (MtcAxis axis : axes_)
      text.append(text.empty() ? "" : "-").append(axisName(axis));
    return text;
  }
  constexpr bool isDefault() const { return *this == RankOrder(); }
  constexpr auto begin() const { return axes_.begin(); }
  constexpr auto end() const { return axes_.end(); }
  bool operator==(const RankOrder &) const = default;

private:
  std::array<MtcAxis, MTC_AXIS_COUNT> axes_{};
};

/// How many ranks there are along each axis, and who they are.
class Mesh {
public:
  using Coordinates = PerAxis;
  /// The most ranks along an axis that files may ask for.
  static constexpr int64_t kMaxExtent = 1 << 16;
  /// The most stages times chunks that a plan has: as many as the tag of a
  /// transfer tells apart (memory.h).
  static constexpr int64_t kMostVirtualStages = 1 << 10;

  static constexpr bool isExtent(int64_t ranks) {
    return ranks >= 1 && ranks <= kMaxExtent;
  }

  /// One rank.
  constexpr Mesh() {
    for (const AxisInfo &axis : kAxes)
      extent_[axis.id] = 1;
  }
  /// Every other axis has one rank.
  constexpr Mesh(int64_t tp, int64_t dp, int64_t pp) : Mesh() {
    extent_[MTC_AXIS_TP] = tp;
    extent_[MTC_AXIS_DP] = dp;
    extent_[MTC_AXIS_PP] = pp;
  }
  bool operator==(const Mesh &) const = default;

  constexpr int64_t &operator[](MtcAxis axis) { return extent_[axis]; }
  constexpr int64_t operator[](MtcAxis axis) const { return extent_[axis]; }
  constexpr const RankOrder &order() const { return order_; }
  constexpr void setOrder(const RankOrder &order) { order_ = order; }
  /// How many ranks in a row along tp have the same heads of keys and values:
  /// 1 unless there are fewer of these than ranks. Divides tp.
  constexpr int64_t kvRanks() const { return kvRanks_; }
  constexpr void setKvRanks(int64_t ranks) { kvRanks_ = ranks; }
  constexpr int64_t stages() const { return extent_[MTC_AXIS_PP]; }
  constexpr int64_t worldSize() const {
    int64_t size = 1;
    for (const AxisInfo &axis : kAxes)
      size *= extent_[axis.id];
    return size;
  }

  /// Whether the loss is a partial sum over an axis until the end of a step.
  constexpr bool hasPartialSums(const AxisInfo &axis) const {
    return axis.data && extent_[axis.id] > 1;
  }

  constexpr Coordinates coordinates(int64_t rank) const {
    Coordinates at{};
    for (MtcAxis axis : order_) {
      at[axis] = rank % extent_[axis];
      rank /= extent_[axis];
    }
    return at;
  }
  constexpr int rank(const Coordinates &at) const {
    int64_t rank = 0, stride = 1;
    for (MtcAxis axis : order_) {
      rank += stride * at[axis];
      stride *= extent_[axis];
    }
    return static_cast<int>(rank);
  }
  /// Where a rank stands along one axis.
  constexpr int64_t coordinate(int64_t rank, MtcAxis axis) const {
    return coordinates(rank)[axis];
  }
  /// The rank that differs from `rank` by its coordinate on `axis` only.
  constexpr int moved(int64_t rank, MtcAxis axis, int64_t to) const {
    Coordinates at = coordinates(rank);
    at[axis] = to;
    return this->rank(at);
  }

  /// Ranks of the group that `rank` belongs to, in group-rank order. Of a group
  /// of ends: empty elsewhere, one member where first and last are one.
  std::vector<int> members(int64_t rank, MtcGroup group) const {
    const GroupInfo &info = kGroups[group];
    Coordinates own = coordinates(rank);
    std::vector<int> ranks = {0};
    int64_t stride = 1;
    for (MtcAxis axis : order_) {
      int64_t last = extent_[axis] - 1, first = 0, step = 1;
      if (!info.along(axis))
        first = last = own[axis];
      else if (info.ends && own[axis] != 0 && own[axis] != last)
        return {};
      else if (info.ends)
        step = std::max<int64_t>(last, 1);
      else if (info.runs) {
        first = own[axis] - own[axis] % kvRanks_;
        last = first + kvRanks_ - 1;
      }
      std::vector<int> longer;
      for (int64_t c = first; c <= last; c += step)
        for (int r : ranks)
          longer.push_back(static_cast<int>(r + stride * c));
      ranks = std::move(longer);
      stride *= extent_[axis];
    }
    return ranks;
  }
  /// Members of a group of this kind, as many as it has where it has some.
  constexpr int64_t groupSize(MtcGroup group) const {
    int64_t size = 1;
    for (const AxisInfo &axis : kAxes)
      if (kGroups[group].along(axis.id))
        size *= kGroups[group].ends   ? std::min<int64_t>(extent_[axis.id], 2)
                : kGroups[group].runs ? kvRanks_
                                      : extent_[axis.id];
    return size;
  }

  /// For people: "tp 2, dp 1, pp 4", the order where it is another, and how
  /// many ranks share heads if some do.
  std::string text(std::string_view separator = ", ") const {
    std::string text;
    for (const AxisInfo &axis : kAxes)
      text.append(text.empty() ? "" : separator)
          .append(axis.name)
          .append(" ")
          .append(std::to_string(extent_[axis.id]));
    if (!order_.isDefault())
      text.append(separator).append("order ").append(order_.text());
    if (kvRanks_ != 1)
      text.append(separator).append("kv ").append(std::to_string(kvRanks_));
    return text;
  }

private:
  PerAxis extent_;
  RankOrder order_;
  int64_t kvRanks_ = 1;
};

} // namespace mtc
#endif // MTC_RUNTIME_MESH_H
