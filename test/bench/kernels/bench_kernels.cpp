// GEMM on one thread, norm and initialisation on as many as are said, and the
// norm of what lies in a cache on one, by the best kernels that this processor
// has; the best of a few repeats.
//
// usage: bench_kernels [THREADS]
#include "mtc/runtime/abi.h"
#include "runtime/kernels/cpu/gemm.h"
#include "runtime/kernels/cpu/init.h"
#include "runtime/kernels/cpu/isa.h"
#include "runtime/kernels/cpu/norm.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

using namespace mtc;

namespace {

/// Weights of gpt2-124m.
constexpr int64_t kWeights = 124'000'000;

double secondsNow() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

double bestSeconds(int repeats, const std::function<void()> &body) {
  double best = 1e30;
  for (int i = 0; i < repeats; ++i) {
    double start = secondsNow();
    body();
    best = std::min(best, secondsNow() - start);
  }
  return best;
}

void drawNormals(std::vector<float> &x, uint64_t id, int64_t threads) {
  std::vector<int64_t> shape = {std::ssize(x)}, zero = {0};
  (void)runtime::initNormal(x.data(), id, 1, 1.0, {shape, zero, shape},
                            threads);
}

std::vector<float> normals(int64_t n, uint64_t id) {
  std::vector<float> x(static_cast<size_t>(n));
  drawNormals(x, id, 1);
  return x;
}

void benchGemm() {
  runtime::GemmSet set;
  std::vector<runtime::GemmDesc> rows = {{1024, 1024, 1024, false, false, 0}};
  if (!set.create(rows, 1).ok())
    return;
  std::vector<float> a = normals(1024 * 1024, 1), b = normals(1024 * 1024, 2),
                     c(a.size());
  std::vector<std::byte> scratch(size_t(set.scratchBytes(0)) + 1);
  double took = bestSeconds(10, [&] {
    (void)set.execute(0, a.data(), b.data(), c.data(), scratch.data());
  });
  std::printf("onednn %s: 1024^3 %.1f GF/s\n",
              runtime::gemmLibraryVersion().c_str(), 2.147483648 / took);
}

void benchStreams(int64_t threads) {
  std::vector<float> g(static_cast<size_t>(kWeights));
  drawNormals(g, 1, threads); // and touches its pages
  double init = bestSeconds(3, [&] { drawNormals(g, 1, threads); });
  runtime::NormSum sum;
  double norm = bestSeconds(
      5, [&] { runtime::normAccumulate(sum, g.data(), kWeights, threads); });
  std::printf("%d threads: %d million initial values %.3f s, their norm %.1f "
              "ms, %.1f GB/s (sum %g)\n",
              int(threads), int(kWeights / 1'000'000), init, norm * 1e3,
              4e-9 * double(kWeights) / norm, runtime::normValue(sum));
  // What a product that takes the norm of what it has just made would pay.
  constexpr int64_t kCached = 32 * 1024;
  runtime::NormSum other;
  double cached = bestSeconds(5, [&] {
    for (int64_t done = 0; done + kCached <= kWeights; done += kCached)
      runtime::normAccumulate(other, g.data(), kCached, 1);
  });
  std::printf(
      "1 thread: their norm, if they lay in the second cache, %.1f ms\n",
      cached * 1e3);
}

} // namespace

int main(int argc, char **argv) {
  int64_t threads = argc > 1 ? std::atoll(argv[1]) : 1;
  for (std::string_view isa : runtime::kIsas)
    if (runtime::processorHas(isa) && runtime::mtc_kernels_select_isa(isa).ok())
      break;
  benchGemm();
  benchStreams(threads);
}
