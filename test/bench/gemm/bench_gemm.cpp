// The products of a gpt2-124m step, by oneDNN and by the kernel of our own, in
// turn; each as a part of the peak of the same run. Those whose op(b) is a
// weight also with one that was packed before: that, as a part of our own's
// time, and what packing takes. Operands come from memory, as in a step:
// buffers rotate. One thread is timed by its processor time, several by the
// clock; all take the best of the repeats.
//
// usage: bench_gemm TOKENS THREADS f32|bf16 [REPEATS [PART OF A NAME [ISA
//        [usual|large]]]]
#include "test/bench/gemm/arguments.h"
#include "test/bench/gemm/peak.h"

#include "runtime/kernels/cpu/team.h"
#include "runtime/profile/limits.h"

#include <algorithm>
#include <limits>
#include <vector>

using namespace mtc::runtime;

namespace {

/// FLOP/s of all threads with registers alone.
double peakOnce(int threads, bool isBf16, bool byTiles) {
  double start = seconds(threads), operations = 0;
  std::vector<double> each(size_t(threads), 0.0);
  onTeam(threads, [&](int64_t part, int64_t) {
    each[size_t(part)] =
        byTiles ? multiplyInTiles(1'000'000) : peakWork(isBf16);
  });
  for (double work : each)
    operations += work;
  return operations / (seconds(threads) - start);
}

constexpr double kNever = std::numeric_limits<double>::infinity();

/// What a product takes, the best so far, in seconds.
struct Times {
  double library = kNever, own = kNever;
  double packed = kNever, packing = kNever; ///< where op(b) may be a weight
};

/// Ends this process, and says why, unless all is well.
void demand(const Status &status) {
  if (status.ok())
    return;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  std::exit(1);
}

/// op(b) of one product as gemmPack leaves it; nothing where it is no weight.
struct Packed {
  Packed(const Product &p, const Arguments &given)
      : desc{p.n, p.k, p.tb, given.isBf16 ? MTC_BF16 : MTC_F32},
        isWeight(!p.ta), bytes(bytesOf(given.isa)),
        slots(isWeight ? bytes : 0) {}

  int64_t bytesOf(std::string_view isa) const {
    int64_t bytes = 0;
    demand(gemmPackedBytes(desc, isa, &bytes));
    return bytes;
  }

  PackedDesc desc;
  bool isWeight;
  int64_t bytes;
  Slots slots;
};

struct Bench {
  const Arguments &given;
  Slots a, b, c;
  double peak = 0, operations = 0;
  bool hasLibrary = true; ///< that plans may name; else its time is infinite
  Times step{0, 0, 0, 0};

  GemmDesc descOf(const Product &p, GemmKernel kernel) const {
    MtcDtype ab = given.isBf16 ? MTC_BF16 : MTC_F32;
    return {p.m,   p.n, p.k, p.ta, p.tb, p.beta, ab, p.beta ? MTC_F32 : ab,
            kernel};
  }

  /// Takes the time of `work` into *best, but for that of the first round,
  /// which finds pages that nobody touched.
  template <typename Work> void time(int round, double *best, Work &&work) {
    double start = seconds(given.threads);
    work();
    if (round >= 0)
      *best = std::min(*best, seconds(given.threads) - start);
  }

  /// One call of each; rows of `set` are the library's, our own, and ours of
  /// what is packed.
  void round(int number, const Product &p, GemmSet &set, Slots &scratch,
             Packed &packed, Times &best) {
    int64_t size = given.isBf16 ? 2 : 4, cSize = p.beta ? 4 : size;
    auto product = [&](int row, double *best, void *w) {
      void *x = a.next(p.m * p.k * size), *y = c.next(p.m * p.n * cSize),
           *space = scratch.next(0);
      time(number, best, [&] { demand(set.execute(row, x, w, y, space)); });
    };
    if (hasLibrary)
      product(0, &best.library, b.next(p.k * p.n * size));
    product(1, &best.own, b.next(p.k * p.n * size));
    if (!packed.isWeight)
      return;
    void *from = b.next(p.k * p.n * size),
         *to = packed.slots.next(packed.bytes);
    time(number, &best.packing,
         [&] { demand(gemmPack(packed.desc, given.threads, from, to)); });
    product(2, &best.packed, packed.slots.next(packed.bytes));
  }

  void run(const Product &p) {
    hasLibrary =
        isPlannedByLibrary(descOf(p, GemmKernel::library), given.threads);
    GemmDesc rows[] = {
        descOf(p, hasLibrary ? GemmKernel::library : GemmKernel::own),
        descOf(p, GemmKernel::own), descOf(p, GemmKernel::ownPacked)};
    GemmSet set;
    demand(set.create(rows, given.threads, given.cache));
    Slots scratch(std::max(
        {set.scratchBytes(0), set.scratchBytes(1), set.scratchBytes(2)}));
    Packed packed(p, given);
    Times best;
    for (int i = -1; i < given.repeats; ++i) {
      peak = std::max(peak, peakOnce(given.threads, given.isBf16,
                                     given.isa == "x86-64-v4-amx"));
      round(i, p, set, scratch, packed, best);
    }
    report(p, packed, best);
  }

  void report(const Product &p, const Packed &packed, const Times &best) {
    double each = 2.0 * double(p.m) * double(p.n) * double(p.k);
    std::printf("%-22s %6ld x %6ld x %6ld  onednn %8.2f ms %5.1f %%  own %8.2f "
                "ms %5.1f %%",
                p.name.c_str(), long(p.m), long(p.n), long(p.k),
                best.library * 1e3, 100 * each / best.library / peak,
                best.own * 1e3, 100 * each / best.own / peak);
    if (packed.isWeight)
      std::printf("  packed %8.2f ms %5.3f of own, packing %6.2f ms",
                  best.packed * 1e3, best.packed / best.own,
                  best.packing * 1e3);
    std::printf("\n");
    std::fflush(stdout);
    operations += p.count * each;
    step.library += p.count * best.library;
    step.own += p.count * best.own;
    step.packed += p.count * (packed.isWeight ? best.packed : best.own);
    step.packing += p.count * (packed.isWeight ? best.packing : 0);
  }
};

} // namespace

int main(int argc, char **argv) {
  Arguments given;
  if (!parse(argc, argv, given))
    return 2;
  const auto bench = runProducts<Bench>(given);
  const Times &step = bench.step;
  std::printf("a step: onednn %.1f ms, %.1f %%; own %.1f ms, %.1f %%; weights "
              "packed before %.1f ms, packing %.1f ms; peak %.1f GFLOP/s\n",
              step.library * 1e3,
              100 * bench.operations / step.library / bench.peak,
              step.own * 1e3, 100 * bench.operations / step.own / bench.peak,
              step.packed * 1e3, step.packing * 1e3, bench.peak * 1e-9);
  return 0;
}
