//===- checkpoint_diff.cpp - which elements of checkpoints differ ---------===//

#include "mtc/runtime/checkpoints.h"
#include "runtime/base/json.h"
#include "runtime/control/newest_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

namespace mtc::runtime {
namespace {

/// Floats in their order as integers: neighbours differ by 1, and the zeros by
/// 1, too. Of NaN it is beyond all numbers.
int64_t orderOf(float value) {
  auto bits = std::bit_cast<int32_t>(value);
  return bits < 0 ? -1 - int64_t{bits & INT32_MAX} : int64_t{bits};
}

struct TensorDiff {
  int64_t count = 0; ///< elements of other bits
  int64_t first = -1;
  float a = 0, b = 0;   ///< of the first
  int64_t mostUlps = 0; ///< units in the last place
};

void compare(const std::vector<float> &a, const std::vector<float> &b,
             int64_t start, TensorDiff &diff) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::bit_cast<uint32_t>(a[i]) == std::bit_cast<uint32_t>(b[i]))
      continue;
    if (diff.count++ == 0) {
      diff.first = start + static_cast<int64_t>(i);
      diff.a = a[i];
      diff.b = b[i];
    }
    diff.mostUlps =
        std::max(diff.mostUlps, std::abs(orderOf(a[i]) - orderOf(b[i])));
  }
}

Status compareTensor(const Checkpoint &a, const Checkpoint &b,
                     const std::string &name, TensorDiff &diff) {
  constexpr int64_t kAtATime = int64_t{1} << 20;
  TensorReader of[2];
  MTC_RETURN_IF_ERROR(TensorReader::open(a.pieces, name, of[0]));
  MTC_RETURN_IF_ERROR(TensorReader::open(b.pieces, name, of[1]));
  std::vector<float> values[2];
  for (int64_t at = 0; at < of[0].elements(); at += kAtATime) {
    int64_t count = std::min(kAtATime, of[0].elements() - at);
    for (int i = 0; i < 2; ++i) {
      values[i].resize(static_cast<size_t>(count));
      MTC_RETURN_IF_ERROR(of[i].read(at, count, values[i].data()));
    }
    compare(values[0], values[1], at, diff);
  }
  return Status::okay();
}

/// What two say of one thing.
class Findings {
public:
  template <typename T> void value(const char *what, const T &a, const T &b) {
    if (!(a == b))
      add({{"what", what}, {"a", a}, {"b", b}},
          fmt::format("{}: {} and {}", what, Json(a).dump(), Json(b).dump()));
  }
  void add(Json json, const std::string &line) {
    list_.push_back(std::move(json));
    text_ += line + "\n";
  }
  bool empty() const { return list_.empty(); }
  std::string text(bool json) const {
    return json ? list_.dump(1) + "\n" : text_;
  }

private:
  Json list_ = Json::array();
  std::string text_;
};

/// A tensor that both have, or one alone.
Status compareOne(const Checkpoint &a, const Checkpoint &b,
                  const std::string &name, Findings &found) {
  const auto &left = a.manifest.tensors, &right = b.manifest.tensors;
  if (!left.contains(name) || !right.contains(name)) {
    const char *where = left.contains(name) ? "a" : "b";
    found.add({{"what", name}, {"only_in", where}},
              fmt::format("{}: only in {}", name, where));
    return Status::okay();
  }
  if (left.at(name) != right.at(name)) {
    found.value(name.c_str(), left.at(name), right.at(name));
    return Status::okay();
  }
  TensorDiff diff;
  MTC_RETURN_IF_ERROR(compareTensor(a, b, name, diff));
  if (diff.count > 0)
    found.add({{"what", name},
               {"differ", diff.count},
               {"first", diff.first},
               {"a", diff.a},
               {"b", diff.b},
               {"ulps", diff.mostUlps}},
              fmt::format("{}: {} elements differ, by up to {} units in the "
                          "last place; the first is {}: {} and {}",
                          name, diff.count, diff.mostUlps, diff.first, diff.a,
                          diff.b));
  return Status::okay();
}

} // namespace

Status diffCheckpoints(const std::string &pathA, const std::string &pathB,
                       bool json, std::string &text, bool &same) {
  Checkpoint a, b;
  MTC_RETURN_IF_ERROR(openNewest(pathA, a));
  MTC_RETURN_IF_ERROR(openNewest(pathB, b));
  Findings found;
  found.value("model", a.manifest.model, b.manifest.model);
  found.value("step", a.manifest.position.step, b.manifest.position.step);
  found.value("samples", a.manifest.position.samples,
              b.manifest.position.samples);
  found.value("tokens", a.manifest.position.tokens, b.manifest.position.tokens);
  std::set<std::string> names;
  for (const Checkpoint *each : {&a, &b})
    for (const auto &[name, shape] : each->manifest.tensors)
      names.insert(name);
  for (const std::string &name : names)
    MTC_RETURN_IF_ERROR(compareOne(a, b, name, found));
  text = found.text(json);
  same = found.empty();
  return Status::okay();
}

} // namespace mtc::runtime
