// GEMM, norm and initialisation on one thread; best of a few repeats.
#include "mtc/runtime/abi.h"
#include "runtime/kernels/cpu/gemm.h"
#include "runtime/kernels/cpu/init.h"
#include "runtime/kernels/cpu/norm.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <vector>

using namespace mtc;

namespace {

/// Processor time of this thread: other work on the machine disturbs it least.
double threadSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

double bestSeconds(int repeats, const std::function<void()> &body) {
  double best = 1e30;
  for (int i = 0; i < repeats; ++i) {
    double start = threadSeconds();
    body();
    best = std::min(best, threadSeconds() - start);
  }
  return best;
}

std::vector<float> normals(int64_t n, uint64_t id) {
  std::vector<float> x(static_cast<size_t>(n));
  std::vector<int64_t> shape = {n}, zero = {0};
  (void)runtime::initNormal(x.data(), id, 1, 1.0, {shape, zero, shape});
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

void benchStreams() {
  int64_t n = 1 << 24;
  double init = bestSeconds(2, [&] { normals(n, 1); });
  std::vector<float> g = normals(n, 1);
  runtime::NormSum sum;
  double norm =
      bestSeconds(5, [&] { runtime::normAccumulate(sum, g.data(), n); });
  std::printf("init %.1f M/s, norm %.1f M/s (%.1f GB/s), sum %g\n",
              double(n) / init * 1e-6, double(n) / norm * 1e-6,
              4e-9 * double(n) / norm, runtime::normValue(sum));
}

} // namespace

int main() {
  benchGemm();
  benchStreams();
}
