// What the norm of gradients costs behind the products that make them, and
// within these: each block of a gradient counted by the thread that made it, as
// soon as it is made. Both orders give the same bits, as the sum is exact. Of a
// gpt2-124m step, gradients of weights alone; the best of the repeats, in turn.
//
// usage: bench_norm TOKENS THREADS f32|bf16 [REPEATS [PART OF A NAME [ISA]]]
#include "test/bench/gemm/arguments.h"

#include "runtime/kernels/cpu/isa.h"
#include "runtime/kernels/cpu/norm.h"

#include <algorithm>
#include <array>
#include <omp.h>
#include <vector>

using namespace mtc::runtime;

namespace {

/// A thread's sum, in lines of its own.
struct alignas(128) ThreadSum {
  NormSum sum;
};

struct Counted {
  const float *gradient;
  int64_t columns;
  std::vector<ThreadSum> sums; ///< by thread
};

/// A block's rows side by side, as the norm takes some 1,000 values at once.
void countBlock(void *argument, int64_t row, int64_t rowEnd, int64_t column,
                int64_t columnEnd) {
  auto *of = static_cast<Counted *>(argument);
  alignas(64) std::array<float, 8192> block;
  int64_t columns = columnEnd - column,
          rows =
              std::min<int64_t>(rowEnd - row, int64_t(block.size()) / columns);
  for (; row < rowEnd; row += rows) {
    rows = std::min(rows, rowEnd - row);
    for (int64_t i = 0; i < rows; ++i)
      std::copy_n(of->gradient + (row + i) * of->columns + column, columns,
                  block.data() + i * columns);
    normAccumulate(of->sums[size_t(omp_get_thread_num())].sum, block.data(),
                   rows * columns);
  }
}

/// Ways to make a gradient, and its norm: past the caches, into them, with the
/// norm within; and the same of one that is added to what is there.
enum Way { kStreamed, kStored, kStoredWithin, kAdded, kAddedWithin, kNorm };
constexpr int kWays = 6;

struct Bench {
  const Arguments &given;
  Slots a, b, c;
  std::array<double, kWays> times = {};

  GemmDesc descOf(const Product &p, Way way) const {
    GemmKernel kernel =
        way == kStreamed ? GemmKernel::ownStreamed : GemmKernel::own;
    return {p.m,
            p.n,
            p.k,
            p.ta,
            p.tb,
            way == kAdded || way == kAddedWithin,
            given.isBf16 ? MTC_BF16 : MTC_F32,
            MTC_F32,
            kernel};
  }

  double timeOf(GemmSet &set, Way way, const Product &p, void *scratch) {
    int64_t size = given.isBf16 ? 2 : 4;
    void *x = a.next(p.m * p.k * size), *w = b.next(p.k * p.n * size),
         *y = c.next(p.m * p.n * 4);
    Counted counted{static_cast<float *>(y), p.n,
                    std::vector<ThreadSum>(size_t(given.threads))};
    GemmThen then;
    if (way == kStoredWithin || way == kAddedWithin)
      then = {countBlock, &counted};
    double start = seconds(given.threads);
    if (way == kNorm)
      normAccumulate(counted.sums[0].sum, counted.gradient, p.m * p.n,
                     given.threads);
    else
      (void)set.execute(way, x, w, y, scratch, then);
    return seconds(given.threads) - start;
  }

  void run(const Product &p) {
    if (!p.ta)
      return;
    std::vector<GemmDesc> rows;
    for (Way way : {kStreamed, kStored, kStoredWithin, kAdded, kAddedWithin})
      rows.push_back(descOf(p, way));
    GemmSet set;
    if (Status status = set.create(rows, given.threads); !status.ok()) {
      std::fprintf(stderr, "%s\n", status.message().c_str());
      std::exit(1);
    }
    int64_t bytes = 0;
    for (size_t row = 0; row < rows.size(); ++row)
      bytes = std::max(bytes, set.scratchBytes(int64_t(row)));
    Slots scratch(bytes);
    std::array<double, kWays> best;
    best.fill(1e30);
    for (int i = -1; i < given.repeats; ++i)
      for (int way = 0; way < kWays; ++way) {
        double time = timeOf(set, Way(way), p, scratch.next(0));
        if (i >= 0) // the first one finds pages that nobody touched
          best[size_t(way)] = std::min(best[size_t(way)], time);
      }
    std::printf("%-20s", p.name.c_str());
    print(best);
    for (int way = 0; way < kWays; ++way)
      times[size_t(way)] += p.count * best[size_t(way)];
  }

  static void print(const std::array<double, kWays> &of) {
    std::printf(" stored past the caches, then norm %8.2f ms, stored with norm "
                "%8.2f; added, then norm %8.2f, added with norm %8.2f; norm "
                "%8.2f\n",
                (of[kStreamed] + of[kNorm]) * 1e3, of[kStoredWithin] * 1e3,
                (of[kAdded] + of[kNorm]) * 1e3, of[kAddedWithin] * 1e3,
                of[kNorm] * 1e3);
    std::fflush(stdout);
  }
};

} // namespace

int main(int argc, char **argv) {
  Arguments given;
  if (!parse(argc, argv, given) || !mtc_kernels_select_isa(given.isa).ok())
    return 2;
  const auto bench = runProducts<Bench>(given);
  std::printf("%-20s", "a step");
  Bench::print(bench.times);
  return 0;
}
