// The products of a gpt2-124m step, by oneDNN and by the kernel of our own, in
// turn; each as a part of the peak of the same run. Operands come from memory,
// as in a step: buffers rotate. One thread is timed by its processor time,
// several by the clock; both take the best of the repeats.
//
// usage: bench_gemm TOKENS THREADS f32|bf16 [REPEATS [PART OF A NAME [ISA]]]
#include "test/bench/gemm/arguments.h"
#include "test/bench/gemm/peak.h"

#include "runtime/kernels/cpu/team.h"

#include <algorithm>
#include <vector>

using namespace mtc::runtime;

namespace {

/// FLOP/s of all threads with registers alone.
double peakOnce(int threads, bool isBf16) {
  double start = seconds(threads), operations = 0;
  std::vector<double> each(size_t(threads), 0.0);
  onTeam(threads,
         [&](int64_t part, int64_t) { each[size_t(part)] = peakWork(isBf16); });
  for (double work : each)
    operations += work;
  return operations / (seconds(threads) - start);
}

struct Bench {
  int threads, repeats;
  bool isBf16;
  Slots a, b, c;
  double peak = 0, times[2] = {0, 0}, operations = 0;

  GemmDesc descOf(const Product &p, GemmKernel kernel) const {
    MtcDtype ab = isBf16 ? MTC_BF16 : MTC_F32;
    return {p.m,   p.n, p.k, p.ta, p.tb, p.beta, ab, p.beta ? MTC_F32 : ab,
            kernel};
  }

  void run(const Product &p) {
    GemmDesc rows[] = {descOf(p, GemmKernel::library),
                       descOf(p, GemmKernel::own)};
    GemmSet set;
    if (Status status = set.create(rows, threads); !status.ok()) {
      std::fprintf(stderr, "%s\n", status.message().c_str());
      std::exit(1);
    }
    double best[2] = {1e30, 1e30};
    Slots scratch(std::max(set.scratchBytes(0), set.scratchBytes(1)));
    int64_t size = isBf16 ? 2 : 4, cSize = rows[0].c == MTC_F32 ? 4 : 2;
    for (int i = -1; i < repeats; ++i) {
      peak = std::max(peak, peakOnce(threads, isBf16));
      for (int row : {0, 1}) {
        void *x = a.next(p.m * p.k * size), *w = b.next(p.k * p.n * size),
             *y = c.next(p.m * p.n * cSize), *space = scratch.next(0);
        double start = seconds(threads);
        (void)set.execute(row, x, w, y, space);
        if (i >= 0) // the first one finds pages that nobody touched
          best[row] = std::min(best[row], seconds(threads) - start);
      }
    }
    double each = 2.0 * double(p.m) * double(p.n) * double(p.k);
    std::printf("%-22s %6ld x %6ld x %6ld  onednn %8.2f ms %5.1f %%  own %8.2f "
                "ms %5.1f %%\n",
                p.name.c_str(), long(p.m), long(p.n), long(p.k), best[0] * 1e3,
                100 * each / best[0] / peak, best[1] * 1e3,
                100 * each / best[1] / peak);
    std::fflush(stdout);
    operations += p.count * each;
    for (int row : {0, 1})
      times[row] += p.count * best[row];
  }
};

} // namespace

int main(int argc, char **argv) {
  Arguments given;
  if (!parse(argc, argv, given))
    return 2;
  const auto bench = runProducts<Bench>(given);
  std::printf(
      "a step: onednn %.1f ms, %.1f %%; own %.1f ms, %.1f %%; peak %.1f "
      "GFLOP/s\n",
      bench.times[0] * 1e3,
      100 * bench.operations / bench.times[0] / bench.peak,
      bench.times[1] * 1e3,
      100 * bench.operations / bench.times[1] / bench.peak, bench.peak * 1e-9);
  return 0;
}
