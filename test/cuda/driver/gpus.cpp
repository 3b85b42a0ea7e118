//===- gpus.cpp - the GPUs of the machine that is stood in for ------------===//
#include "test/cuda/driver/gpus.h"

#include "test/cuda/driver/report.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>

namespace mtc::standin {
namespace {

constexpr unsigned kMostGpus = 16;
constexpr unsigned kUsualCapability = 90;

/// Bytes of shared memory of a block; CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability".
int mostSharedOf(unsigned capability) {
  switch (capability) {
  case 80:
    return 163 << 10;
  case 86:
  case 89:
  case 120:
    return 99 << 10;
  default:
    return 227 << 10;
  }
}

/// Numbers between commas, up to the first word that is none.
std::vector<unsigned> numbersOf(const char *name) {
  const char *text = std::getenv(name);
  std::istringstream words(text ? text : "");
  std::vector<unsigned> numbers;
  for (std::string word; std::getline(words, word, ',');) {
    char *end = nullptr;
    unsigned long number = std::strtoul(word.c_str(), &end, 10);
    if (word.empty() || word[0] == '-' || *end)
      break;
    numbers.push_back(unsigned(number));
  }
  return numbers;
}

/// Those of the machine that are shown: all up to the first that is not there,
/// or is named twice. A machine of which nobody said how many it has has one,
/// whatever it is called.
std::vector<unsigned> shownGpus() {
  bool isAsked = std::getenv("MTC_STANDIN_DEVICES");
  auto count = std::clamp(unsigned(environment("MTC_STANDIN_DEVICES", 1)), 1u,
                          kMostGpus);
  std::vector<unsigned> all;
  for (unsigned gpu = 0; gpu < count; ++gpu)
    all.push_back(gpu);
  if (!std::getenv("CUDA_VISIBLE_DEVICES"))
    return all;
  std::vector<unsigned> shown;
  for (unsigned gpu : numbersOf("CUDA_VISIBLE_DEVICES")) {
    if ((isAsked && gpu >= count) || std::ranges::count(shown, gpu) ||
        shown.size() == count)
      break;
    shown.push_back(gpu);
  }
  return shown;
}

} // namespace

bool canReach(const CUctx_st &gpu, const CUctx_st &peer) {
  return &gpu != &peer && gpu.capability / 10 == peer.capability / 10;
}

std::vector<std::unique_ptr<CUctx_st>> visibleGpus() {
  std::vector<unsigned> capabilities = numbersOf("MTC_STANDIN_CAPABILITY");
  if (capabilities.empty())
    capabilities.push_back(kUsualCapability);
  std::vector<std::unique_ptr<CUctx_st>> gpus;
  for (unsigned gpu : shownGpus()) {
    auto made = std::make_unique<CUctx_st>();
    made->device = unsigned(gpus.size());
    made->gpu = gpu;
    made->capability =
        capabilities[std::min<size_t>(gpu, capabilities.size() - 1)];
    made->mostShared = mostSharedOf(made->capability);
    made->legacy.context = made.get();
    made->legacy.name = "the legacy stream";
    gpus.push_back(std::move(made));
  }
  return gpus;
}

} // namespace mtc::standin
