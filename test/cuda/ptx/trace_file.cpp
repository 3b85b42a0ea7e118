//===- trace_file.cpp - traces of other processes -------------------------===//
//
// A file is a list of warps: launch, block, index, a count of steps, the steps
// as they are in memory. It is read on the machine that wrote it.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/trace.h"

#include <fstream>

namespace mtc::ptx {
namespace {

struct Head {
  uint32_t launch = 0, block = 0;
  int32_t warp = 0;
  uint64_t steps = 0;
};

/// Of a warp, more than any run takes: a longer list is a broken file.
constexpr uint64_t kMostSteps = uint64_t(1) << 28;

template <class T> char *bytesOf(T *value) {
  return reinterpret_cast<char *>(value);
}

} // namespace

bool Trace::save(const std::string &path) const {
  std::ofstream file(path, std::ios::binary);
  for (const auto &[place, steps] : warps) {
    Head head{std::get<0>(place), std::get<1>(place), std::get<2>(place),
              steps.size()};
    file.write(bytesOf(&head), sizeof head);
    file.write(reinterpret_cast<const char *>(steps.data()),
               std::streamsize(steps.size() * sizeof(Step)));
  }
  return bool(file.flush());
}

bool Trace::load(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return false;
  for (Head head; file.read(bytesOf(&head), sizeof head);) {
    if (head.steps > kMostSteps)
      return false;
    auto &steps = warps[{head.launch, head.block, head.warp}];
    steps.resize(head.steps);
    if (!file.read(bytesOf(steps.data()),
                   std::streamsize(head.steps * sizeof(Step))))
      return false;
  }
  return file.eof() && file.gcount() == 0;
}

} // namespace mtc::ptx
