//===- explain_parameter.cpp - where a parameter lies ---------------------===//

#include "mtc/runtime/descriptor_fields.h"
#include "runtime/inspect/explain.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtc::runtime {
namespace {

Json axesJson(const Mesh &mesh, int64_t rank) {
  Json json;
  for (const AxisInfo &axis : kAxes)
    json[std::string(axis.name)] = mesh.coordinate(rank, axis.id);
  return json;
}

/// [first, behind the last] of each dimension.
Json indicesOf(const ParamInfo &p, const Mesh &mesh, int64_t rank) {
  Json json = Json::array();
  for (size_t d = 0; d < p.shape.size(); ++d) {
    int64_t first = 0;
    if (p.split.dim && *p.split.dim == static_cast<int64_t>(d))
      first =
          p.split.part(mesh.coordinate(rank, p.split.axis)) * p.localShape[d];
    json.push_back(Json::array({first, first + p.localShape[d]}));
  }
  return json;
}

/// What a rank keeps of a parameter in a table of values of its bucket.
struct Kept {
  /// Elements [first, last) of the rank's part, counted from its first; equal:
  /// none.
  int64_t first = 0, last = 0;
  int64_t at = 0; ///< bytes of the table before them

  Json elements() const { return Json::array({first, last}); }
};

/// Of a table that holds elements [begin, begin + count) of the bucket, each of
/// so many bytes.
Kept keptOf(const ParamInfo &p, int64_t begin, int64_t count,
            int64_t width = 4) {
  int64_t first = std::max(p.start, begin);
  int64_t last = std::min(p.start + p.localElements(), begin + count);
  return first >= last
             ? Kept{}
             : Kept{first - p.start, last - p.start, width * (first - begin)};
}

int64_t shardBegin(const BucketInfo &bucket, const Mesh &mesh, int64_t rank) {
  return mesh.coordinate(rank, MTC_AXIS_DP) * bucket.shardElements;
}

/// The elements whose states the rank keeps, and where those lie.
Json optimizerOf(const ParamInfo &p, const BucketInfo &bucket, const Mesh &mesh,
                 int64_t rank) {
  Kept kept = keptOf(p, bucket.zero ? shardBegin(bucket, mesh, rank) : 0,
                     bucket.shardElements);
  Json json = {{"elements", kept.elements()}, {"offsets", Json::object()}};
  for (const StateInfo &state : bucket.states)
    if (kept.first < kept.last)
      json["offsets"][state.name] = state.offset + kept.at;
  return json;
}

/// The elements whose gradients the rank adds up, and where those lie.
Json gradientOf(const ParamInfo &p, const BucketInfo &bucket, const Mesh &mesh,
                int64_t rank) {
  Kept kept =
      keptOf(p, bucket.shardedGradients ? shardBegin(bucket, mesh, rank) : 0,
             bucket.gradElements(), bucket.gradBytes());
  Json json = {{"elements", kept.elements()}, {"offset", nullptr}};
  if (kept.first < kept.last)
    json["offset"] = bucket.gradOffset + kept.at;
  return json;
}

Json copyOf(const Descriptor &d, const ParamInfo &p) {
  const BucketInfo &bucket = d.buckets[p.bucket];
  Json json = {
      {"stage", d.stage},
      {"name", p.name},
      {"slice", nullptr},
      {"shape", p.shape},
      {"of_a_rank", p.localShape},
      {"split", nullptr},
      {"decay", p.decay},
      {"owner", p.owner},
      {"dtype", dtypeName(bucket.dtype)},
      {"grad_dtype", dtypeName(bucket.gradDtype)},
      {"bucket", p.bucket},
      {"start", p.start},
      {"param_offset", bucket.paramOffset + p.start * bucket.paramBytes()},
      {"ranks", Json::array()}};
  if (p.split.dim)
    json["split"] = {{"dim", *p.split.dim},
                     {"axis", axisName(p.split.axis)},
                     {"repeats", p.split.repeats}};
  if (p.slice)
    json["slice"] = {
        {"of", p.slice->of},
        {"dim", p.slice->dim},
        {"indices", {p.slice->first, p.slice->first + p.slice->size}}};
  for (int64_t rank = 0; rank < d.mesh.worldSize(); ++rank)
    if (d.mesh.coordinate(rank, MTC_AXIS_PP) == d.stage)
      json["ranks"].push_back(
          {{"rank", rank},
           {"at", axesJson(d.mesh, rank)},
           {"indices", indicesOf(p, d.mesh, rank)},
           {"gradient", gradientOf(p, bucket, d.mesh, rank)},
           {"optimizer", optimizerOf(p, bucket, d.mesh, rank)}});
  return json;
}

std::string rangesText(const Json &ranges) {
  std::string text;
  for (const Json &range : ranges)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ", ",
                        range[0].get<int64_t>(), range[1].get<int64_t>());
  return "[" + text + "]";
}

/// ", gradients of elements 0:10 at 40" of the arena of gradients.
std::string gradientText(const Json &gradient) {
  const Json &elements = gradient["elements"];
  if (gradient["offset"].is_null())
    return ", no gradients";
  return fmt::format(", gradients of elements {}:{} at {}",
                     elements[0].get<int64_t>(), elements[1].get<int64_t>(),
                     gradient["offset"].get<int64_t>());
}

/// A line on which part of a tensor a copy is.
std::string sliceText(const Json &copy) {
  const Json &slice = copy["slice"], &indices = slice["indices"];
  return fmt::format("{}, indices {}:{} of dimension {} of {}\n",
                     copy["name"].get<std::string>(), indices[0].get<int64_t>(),
                     indices[1].get<int64_t>(), slice["dim"].get<int64_t>(),
                     slice["of"].get<std::string>());
}

std::string rankText(const Json &rank) {
  std::string at;
  for (const auto &[axis, coordinate] : rank["at"].items())
    at += fmt::format(" {} {}", axis, coordinate.get<int64_t>());
  const Json &elements = rank["optimizer"]["elements"];
  bool none = elements[0] == elements[1];
  std::string states =
      none ? "no states"
           : fmt::format("states of elements {}:{}", elements[0].get<int64_t>(),
                         elements[1].get<int64_t>());
  for (const auto &[name, offset] : rank["optimizer"]["offsets"].items())
    states += fmt::format(", {} at {}", name, offset.get<int64_t>());
  return fmt::format(
      "  rank {:<5}{:<22} {:<24} {}{}\n", rank["rank"].get<int64_t>(), at,
      rangesText(rank["indices"]), states, gradientText(rank["gradient"]));
}

} // namespace

Status explainParameter(const Bundle &bundle, const std::string &name,
                        Json &answer) {
  answer = {{"parameter", name}, {"copies", Json::array()}};
  std::string known;
  for (const BundleProgram &stage : bundle.stages)
    for (const ParamInfo &p : stage.descriptor.params) {
      if (p.name == name || p.modelName() == name)
        answer["copies"].push_back(copyOf(stage.descriptor, p));
      if (known.size() < 200 && !known.ends_with(p.modelName()))
        known += (known.empty() ? "" : ", ") + p.modelName();
    }
  if (!answer["copies"].empty())
    return Status::okay();
  return {StatusCode::usage,
          fmt::format("--parameter: expected a parameter of the bundle such as "
                      "{} (mtc inspect PROGRAM names all), found '{}'",
                      known, name)};
}

std::string parameterText(const Json &answer) {
  std::string text = answer["parameter"].get<std::string>() + "\n";
  for (const Json &copy : answer["copies"]) {
    std::string split =
        copy["split"].is_null()
            ? "replicated"
            : fmt::format("split on {} by {}{}",
                          copy["split"]["dim"].get<int64_t>(),
                          copy["split"]["axis"].get<std::string>(),
                          repeatsText(copy["split"]["repeats"].get<int64_t>()));
    if (!copy["slice"].is_null())
      text += sliceText(copy);
    text += fmt::format(
        "stage {}{}: {} in all, {} of a rank, {}{}\n"
        "  bucket {} from element {}: params in {} at {}, gradients in {}\n",
        copy["stage"].get<int64_t>(),
        copy["owner"].get<bool>() ? "" : " (second copy)", copy["shape"].dump(),
        copy["of_a_rank"].dump(), split,
        copy["decay"].get<bool>() ? "" : ", no decay",
        copy["bucket"].get<int64_t>(), copy["start"].get<int64_t>(),
        copy["dtype"].get<std::string>(), copy["param_offset"].get<int64_t>(),
        copy["grad_dtype"].get<std::string>());
    for (const Json &rank : copy["ranks"])
      text += rankText(rank);
  }
  return text;
}

} // namespace mtc::runtime
