//===- megatron_names.cpp - options of Megatron-LM ------------------------===//

#include "tools/mtc/megatron_names.h"

#include <algorithm>
#include <iterator>

namespace mtc::tool {
namespace {

struct OtherName {
  std::string_view name, instead;
};

constexpr std::string_view kSpec =
    "the key of the model's spec, or --set model.KEY=VALUE";
constexpr std::string_view kBoth = "--stages balanced, which counts both ends";
constexpr std::string_view kLayers =
    "--recompute layers=N for the first N layers of each stage, or full";

// Names are those of its arguments.py; synonyms are in the tables of keys.
constexpr OtherName kNames[] = {
    {"account-for-embedding-in-pipeline-split", kBoth},
    {"account-for-loss-in-pipeline-split", kBoth},
    {"accumulate-allreduce-grads-in-fp32",
     "nothing, as that is the default (--grad-dtype)"},
    {"cp-comm-type", "nothing: --cp gathers keys and values"},
    {"data-parallel-size", "--dp"},
    {"ddp-num-buckets", "--bucket-size, the elements of one"},
    {"ffn-hidden-size", kSpec},
    {"hidden-size", kSpec},
    {"num-attention-heads", kSpec},
    {"num-layers", kSpec},
    {"num-layers-per-virtual-pipeline-stage",
     "--chunks, the layers of a stage divided by these"},
    {"recompute-method", kLayers},
    {"recompute-modules", "--recompute selective, or ops=FAMILY,..."},
    {"recompute-num-layers", kLayers},
};

} // namespace

std::string_view insteadOf(std::string_view name) {
  const auto *it = std::ranges::find(kNames, name, &OtherName::name);
  return it == std::end(kNames) ? "" : it->instead;
}

} // namespace mtc::tool
