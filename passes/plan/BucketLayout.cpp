//===- BucketLayout.cpp - parameters in flat buckets ----------------------===//
#include "passes/plan/BucketLayout.h"

#include <map>
#include <numeric>
#include <tuple>

namespace mtc::passes {

static int64_t roundUp(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

BucketLayout layOutBuckets(const std::vector<LayoutParam> &params,
                           const LayoutOptions &options) {
  // Starts are aligned so that kernels see whole vectors; ends so that every dp
  // rank has the same number of elements.
  const bool aligns = options.zero && !options.dense;
  const int64_t startAlign = aligns ? 64 : 1;
  const int64_t endAlign = aligns         ? std::lcm(options.dp, int64_t{128})
                           : options.zero ? options.dp
                                          : 1;
  BucketLayout layout;
  int64_t at = 0, bucketStart = 0;
  auto close = [&](MtcDtype dtype) {
    if (at == bucketStart)
      return;
    int64_t unpadded = at - bucketStart;
    at = roundUp(at, endAlign);
    layout.buckets.push_back({bucketStart, at, unpadded, dtype});
    bucketStart = at;
  };
  auto place = [&](const LayoutParam &param) {
    if (param.shared)
      close(param.dtype);
    int64_t start = roundUp(at, startAlign);
    at = start + param.elements;
    layout.params.push_back(
        {param.name, start, at, static_cast<int64_t>(layout.buckets.size())});
    if (param.shared || at - bucketStart >= options.bucketSize)
      close(param.dtype);
  };
  // Backwards of later chunks come first.
  using Key = std::tuple<MtcDtype, std::vector<MtcGroup>, int64_t>;
  std::map<Key, std::vector<const LayoutParam *>> reversed;
  for (auto it = params.rbegin(); it != params.rend(); ++it)
    reversed[{it->dtype, it->partial, -it->fragment}].push_back(&*it);
  for (auto &[key, together] : reversed) {
    for (const LayoutParam *param : together)
      place(*param);
    close(std::get<MtcDtype>(key));
  }
  return layout;
}

} // namespace mtc::passes
