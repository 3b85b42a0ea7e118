//===- gemm_choices.cpp - one algorithm of a product on all ranks ---------===//

#include "runtime/device/cuda/gemm_choices.h"

#include "runtime/device/cuda/version.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

using mtc::runtime::Communicator;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::cuda {
namespace {

/// What ranks tell each other first.
struct Introduction {
  int32_t library;
  int32_t choices; ///< that it will tell
};

/// A choice on its way. Ranks run programs of one compiler, so it has one form.
struct Message {
  AlignedGemm of;
  bool exists;
  MatmulAlgo algorithm;
};
static_assert(std::is_trivially_copyable_v<Message>);

/// Of one rank in one call.
constexpr size_t kAtOnce = runtime::kAnywhereBytes / sizeof(Message);

/// Part r of `all`, parts as long as they are, comes from rank r.
template <typename T>
Status gather(Communicator &control, std::vector<T> &all, int ranks) {
  static_assert(sizeof(T) % sizeof(float) == 0);
  return control.allGather(
      MTC_GROUP_ALL, MTC_F32, all.data(),
      static_cast<int64_t>(all.size() * sizeof(T) / sizeof(float)) / ranks);
}

std::string nameOf(int32_t library) {
  return library == kOwnProducts ? "mtc's own products" : versionName(library);
}

Status checkLibraries(const std::vector<Introduction> &all) {
  auto first = std::ranges::find_if(all, [](const Introduction &each) {
    return each.library != kNoProducts;
  });
  auto other = std::find_if(first, all.end(), [&](const Introduction &each) {
    return each.library != kNoProducts && each.library != first->library;
  });
  if (other == all.end())
    return Status::okay();
  return {StatusCode::communication,
          fmt::format("expected one version of cuBLASLt, found {} on rank {} "
                      "and {} on rank {}; install the same on all hosts, and "
                      "give all ranks one MTC_CUDA_GEMM",
                      nameOf(first->library), first - all.begin(),
                      nameOf(other->library), other - all.begin())};
}

std::vector<Message> messagesOf(const GemmChoices &choices) {
  std::vector<Message> out;
  for (const auto &[of, choice] : choices)
    out.push_back({of, choice.algorithm.has_value(),
                   choice.algorithm.value_or(MatmulAlgo{})});
  return out;
}

void take(const Message &message, int rank, GemmChoices &choices) {
  GemmChoice choice{std::nullopt, rank};
  if (message.exists)
    choice.algorithm = message.algorithm;
  auto [found, isNew] = choices.try_emplace(message.of, choice);
  if (!isNew && rank < found->second.rank)
    found->second = choice;
}

} // namespace

Status shareGemmChoices(Communicator &control, int ranks, int rank,
                        int32_t library, GemmChoices &choices) {
  const std::vector<Message> own = messagesOf(choices);
  for (auto &[of, choice] : choices)
    choice.rank = rank;
  std::vector<Introduction> introductions(static_cast<size_t>(ranks));
  introductions[static_cast<size_t>(rank)] = {library,
                                              static_cast<int32_t>(own.size())};
  MTC_RETURN_IF_ERROR(gather(control, introductions, ranks));
  MTC_RETURN_IF_ERROR(checkLibraries(introductions));
  const auto countOf = [&](int of) {
    return static_cast<size_t>(introductions[static_cast<size_t>(of)].choices);
  };
  size_t most = 0;
  for (int other = 0; other < ranks; ++other)
    most = std::max(most, countOf(other));
  for (size_t first = 0; first < most; first += kAtOnce) {
    std::vector<Message> all(static_cast<size_t>(ranks) * kAtOnce);
    const auto partOf = [&](int of) {
      return all.begin() + static_cast<ptrdiff_t>(of * kAtOnce);
    };
    const auto lengthOf = [&](int of) {
      return std::min(countOf(of) - std::min(countOf(of), first), kAtOnce);
    };
    std::copy_n(own.begin() +
                    static_cast<ptrdiff_t>(std::min(own.size(), first)),
                lengthOf(rank), partOf(rank));
    MTC_RETURN_IF_ERROR(gather(control, all, ranks));
    for (int other = 0; other < ranks; ++other)
      for (size_t i = 0; i < lengthOf(other); ++i)
        take(partOf(other)[static_cast<ptrdiff_t>(i)], other, choices);
  }
  return Status::okay();
}

} // namespace mtc::cuda
