// What the norm of gradients costs behind the products that make them, and
// within these, which count the squares of each block of sums that they make
// while it is in registers. Both have the same bits, as the sum is exact. Of a
// gpt2-124m step, gradients of weights alone; the best of the repeats, in turn.
//
// usage: bench_norm TOKENS THREADS f32|bf16 [REPEATS [PART OF A NAME [ISA
//        [usual|large]]]]
#include "test/bench/gemm/arguments.h"

#include "runtime/kernels/cpu/isa.h"
#include "runtime/kernels/cpu/norm.h"

#include <algorithm>
#include <array>
#include <vector>

using namespace mtc::runtime;

namespace {

/// Ways to make a gradient, past the caches or added to what is there, and with
/// its norm; and the norm of one that was made before.
enum Way { kStreamed, kStreamedCounted, kAdded, kAddedCounted, kNorm };
constexpr int kWays = 5;

/// Seconds of each.
using Times = std::array<double, kWays>;

GemmDesc descOf(const Product &p, Way way, MtcDtype type) {
  bool isAdded = way == kAdded || way == kAddedCounted;
  return {.m = p.m,
          .n = p.n,
          .k = p.k,
          .ta = p.ta,
          .tb = p.tb,
          .beta = isAdded,
          .ab = type,
          .c = MTC_F32,
          .kernel = isAdded ? GemmKernel::own : GemmKernel::ownStreamed,
          .counts = way == kStreamedCounted || way == kAddedCounted};
}

/// The products of all ways; ends the program where one is refused.
GemmSet waysOf(const Product &p, const Arguments &given) {
  std::vector<GemmDesc> rows;
  for (Way way : {kStreamed, kStreamedCounted, kAdded, kAddedCounted})
    rows.push_back(descOf(p, way, given.isBf16 ? MTC_BF16 : MTC_F32));
  GemmSet set;
  if (Status status = set.create(rows, given.threads, given.cache);
      !status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    std::exit(1);
  }
  return set;
}

void print(const std::string &name, const Times &of) {
  std::printf("%-20s stored past the caches, then norm %8.2f ms, counted by "
              "the product %8.2f; added, then norm %8.2f, counted by the "
              "product %8.2f; norm %8.2f\n",
              name.c_str(), (of[kStreamed] + of[kNorm]) * 1e3,
              of[kStreamedCounted] * 1e3, (of[kAdded] + of[kNorm]) * 1e3,
              of[kAddedCounted] * 1e3, of[kNorm] * 1e3);
  std::fflush(stdout);
}

struct Bench {
  const Arguments &given;
  Slots a, b, c;
  Times times = {};

  double timeOf(GemmSet &set, Way way, const Product &p, void *scratch) {
    int64_t size = given.isBf16 ? 2 : 4;
    void *x = a.next(p.m * p.k * size), *w = b.next(p.k * p.n * size),
         *y = c.next(p.m * p.n * 4);
    NormSum sum;
    Status status = Status::okay();
    double start = seconds(given.threads);
    if (way == kNorm)
      normAccumulate(sum, static_cast<float *>(y), p.m * p.n, given.threads);
    else
      status = set.execute(way, x, w, y, scratch, {}, &sum);
    double time = seconds(given.threads) - start;
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", status.message().c_str());
      std::exit(1);
    }
    return time;
  }

  void run(const Product &p) {
    if (!p.ta)
      return;
    GemmSet set = waysOf(p, given);
    int64_t bytes = 0;
    for (int64_t row = 0; row < set.size(); ++row)
      bytes = std::max(bytes, set.scratchBytes(row));
    Slots scratch(bytes);
    Times best;
    best.fill(1e30);
    for (int i = -1; i < given.repeats; ++i)
      for (int way = 0; way < kWays; ++way) {
        double time = timeOf(set, Way(way), p, scratch.next(0));
        if (i >= 0) // the first one finds pages that nobody touched
          best[size_t(way)] = std::min(best[size_t(way)], time);
      }
    print(p.name, best);
    for (int way = 0; way < kWays; ++way)
      times[size_t(way)] += p.count * best[size_t(way)];
  }
};

} // namespace

int main(int argc, char **argv) {
  Arguments given;
  if (!parse(argc, argv, given) || !mtc_kernels_select_isa(given.isa).ok())
    return 2;
  const auto bench = runProducts<Bench>(given);
  print("a step", bench.times);
  return 0;
}
