//===- not_finite.cpp - what a failed step could not compute --------------===//

#include "runtime/train/not_finite.h"

#include "runtime/train/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace mtc::runtime {
namespace {

/// NaN and infinities give NaN, which equals nothing.
bool isFinite(float x) { return x - x == 0; }

/// The least fp32 that rounds to an infinity of f16.
constexpr float kFirstBeyondF16 = 65520;

/// A parameter, as ranks tell each other: plain data.
struct Place {
  int32_t index = -1;  ///< in the descriptor; -1: none
  char name[252] = {}; ///< cut off
};
/// What one rank found.
struct Finding {
  Place gradient, parameter;
  float loss = 0;
};
static_assert(sizeof(Finding) % 4 == 0 && sizeof(Finding) <= kAnywhereBytes,
              "gathered from the host, as words");

Place placeOf(const RankState &rank, const std::string &name) {
  const std::vector<ParamInfo> &params = rank.descriptor().params;
  auto at = std::ranges::find(params, name, &ParamInfo::name);
  Place place;
  place.index = static_cast<int32_t>(at - params.begin());
  name.copy(place.name, sizeof place.name - 1);
  return place;
}

/// What the type of a parameter makes infinite, and everything beyond.
float limitOf(const RankState &rank, const std::string &name) {
  const Descriptor &program = rank.descriptor();
  auto at = std::ranges::find(program.params, name, &ParamInfo::name);
  bool isF16 = program.buckets[at->bucket].dtype == MTC_F16;
  return isF16 ? kFirstBeyondF16 : std::numeric_limits<float>::infinity();
}

/// Brings a piece to the host, a part at a time.
Status check(Stream &stream, const Piece &piece, float limit, bool &finite) {
  constexpr int64_t kPart = int64_t{1} << 20;
  std::vector<float> part;
  finite = true;
  for (int64_t at = 0; at < piece.count && finite; at += kPart) {
    part.resize(static_cast<size_t>(std::min(piece.count - at, kPart)));
    MTC_RETURN_IF_ERROR(readElements(stream, piece, at, part));
    // Not so of NaN.
    finite = std::ranges::all_of(part,
                                 [&](float x) { return std::fabs(x) < limit; });
  }
  return Status::okay();
}

/// Descriptors list parameters as buckets do, from the model's end on.
Status findFirst(RankState &rank, const std::vector<Piece> &pieces,
                 bool areParameters, Place &out) {
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    bool finite = true;
    float limit = areParameters ? limitOf(rank, piece->name)
                                : std::numeric_limits<float>::infinity();
    MTC_RETURN_IF_ERROR(check(rank.stream(), *piece, limit, finite));
    if (!finite) {
      out = placeOf(rank, piece->name);
      break;
    }
  }
  return Status::okay();
}

/// The name that comes first in the model: stages in order, and what ranks of
/// one stage found in the order of their common program.
std::string firstOf(const Mesh &mesh, const std::vector<Finding> &all,
                    Place Finding::*which) {
  const Place *first = nullptr;
  int64_t stageOfFirst = 0;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    const Place &place = all[rank].*which;
    int64_t stage = mesh.coordinate(static_cast<int>(rank), MTC_AXIS_PP);
    bool before = !first || stage < stageOfFirst ||
                  (stage == stageOfFirst && place.index > first->index);
    if (place.index < 0 || !before)
      continue;
    first = &place;
    stageOfFirst = stage;
  }
  return first ? first->name : "";
}

} // namespace

Status findNotFinite(RankState &rank, float loss, NotFinite &out) {
  const Mesh &mesh = rank.mesh();
  std::vector<Finding> all(static_cast<size_t>(mesh.worldSize()));
  Finding &own = all[static_cast<size_t>(rank.rank())];
  own.loss = loss;
  MTC_RETURN_IF_ERROR(findFirst(rank, gradPieces(rank), false, own.gradient));
  MTC_RETURN_IF_ERROR(findFirst(rank, paramPieces(rank), true, own.parameter));
  MTC_RETURN_IF_ERROR(rank.comm().allGather(MTC_GROUP_ALL, MTC_I32, all.data(),
                                            sizeof(Finding) / 4));
  MTC_RETURN_IF_ERROR(rank.complete());

  // The last rank is on the last stage, whose ranks have the loss.
  out.loss = all.back().loss;
  std::string gradient = firstOf(mesh, all, &Finding::gradient);
  out.what = !isFinite(out.loss) ? "loss"
             : !gradient.empty() ? "gradient of " + gradient
                                 : "gradient norm";
  out.parameter = firstOf(mesh, all, &Finding::parameter);
  out.isNarrow = rank.descriptor().scalesLoss();
  return Status::okay();
}

std::string NotFinite::text(int64_t step) const {
  // A NaN may have a sign.
  std::string value = loss == loss ? fmt::format("{}", loss) : "nan";
  std::string failed = fmt::format(
      "step {}: the {} is not finite (loss {}){}; ", step, what, value, help);
  if (parameter.empty())
    return failed +
           fmt::format("the parameters are still those of step {}", step - 1);
  std::string since =
      step > 1 ? fmt::format("the update of step {}, or of one before it, made "
                             "it so",
                             step - 1)
               : "it was so before the first step";
  return failed +
         fmt::format("the parameters are not good either: '{}' is not "
                     "finite{}, {}",
                     parameter,
                     isNarrow ? " in f16, which holds up to 65504" : "", since);
}

} // namespace mtc::runtime
