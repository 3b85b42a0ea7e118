//===- gemm_tuner.cpp - which kernels are fastest on a CPU ----------------===//

#include "runtime/device/cpu/gemm_tuner.h"

#include "runtime/base/cores.h"
#include "runtime/device/cpu/arena.h"
#include "runtime/device/tuned_products.h"
#include "runtime/kernels/cpu/gemm.h"
#include "runtime/kernels/cpu/gemm_own.h"
#include "runtime/kernels/cpu/isa.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace mtc::runtime {
namespace {

/// Of calls in a row, which take as long as their sum.
constexpr double kRoundMicroseconds = 10'000;
/// More than the caches of a processor hold: in a step the weights, and most of
/// what a layer saved for the backward, have long been driven out of them.
constexpr int64_t kBeyondCaches = int64_t(128) << 20;

/// Of a time in microseconds, as tables have it.
double tenths(double microseconds) {
  return std::round(microseconds * 10) / 10;
}

int64_t bytesOf(MtcDtype dtype, int64_t elements) {
  return elements * (dtype == MTC_F32 ? 4 : 2);
}

/// Memory as a rank's arenas have it, of which each call takes the next part.
class Operand {
public:
  Status map(int64_t most) {
    bytes_ = std::max(most, kBeyondCaches);
    MTC_RETURN_IF_ERROR(memory_.map(bytes_, 0, "tune", "products to measure"));
    // Numbers of about 0.01 in f32 and bf16, and of about 1 in f16.
    auto *at = static_cast<uint16_t *>(memory_.base());
    for (int64_t i = 0; i < bytes_ / 2; ++i)
      at[i] = uint16_t(0x3c00 + (uint64_t(i) * 2654435761u >> 20 & 0xff));
    return Status::okay();
  }
  void *next(int64_t size) {
    int64_t step = (size + 4095) / 4096 * 4096;
    if (at_ + size > bytes_)
      at_ = 0;
    void *out = static_cast<char *>(memory_.base()) + at_;
    at_ += step;
    return out;
  }

private:
  AnonymousMemory memory_;
  int64_t bytes_ = 0, at_ = 0;
};

GemmDesc descOf(const CpuProduct &p, GemmKernel kernel) {
  return {p.m, p.n, p.k, p.ta, p.tb, p.adds, p.ab, p.c, kernel};
}

/// A product, its kernels, and what they took.
struct Timed {
  CpuProduct product;
  GemmSet kernels; ///< ours, and the library's if it has one
  RoundLength length = {};
  std::vector<double> own = {}, library = {}; ///< microseconds, by round
};

/// Our kernel, and the library's where it has one that allocates nothing.
Status createKernels(const CpuProduct &p, GemmKernel ours, GemmSet &out) {
  int threads = static_cast<int>(p.threads);
  std::vector<GemmDesc> rows{descOf(p, ours)};
  if (GemmDesc row = descOf(p, GemmKernel::library);
      isPlannedByLibrary(row, threads))
    rows.push_back(row);
  return out.create(rows, threads);
}

class Bench {
public:
  Status open(const TuneRows &rows) {
    int64_t a = 0, b = 0, c = 0, scratch = 0;
    for (const auto &[p, ours] : rows) {
      Timed &each = timed_.emplace_back(Timed{p, {}, {}});
      MTC_RETURN_IF_ERROR(createKernels(p, ours, each.kernels));
      a = std::max(a, bytesOf(p.ab, p.m * p.k));
      b = std::max(b, bytesOf(p.ab, p.k * p.n));
      c = std::max(c, bytesOf(p.c, p.m * p.n));
      for (int64_t i = 0; i < each.kernels.size(); ++i)
        scratch = std::max(scratch, each.kernels.scratchBytes(i));
    }
    MTC_RETURN_IF_ERROR(a_.map(a));
    MTC_RETURN_IF_ERROR(b_.map(b));
    MTC_RETURN_IF_ERROR(c_.map(c));
    return scratch_.map(scratch, 0, "tune", "scratch of products");
  }

  std::vector<Timed> &products() { return timed_; }

  /// One round of one product, by each kernel.
  Status run(Timed &of) {
    if (of.own.empty())
      MTC_RETURN_IF_ERROR(warmUp(of));
    const int calls = of.length.calls();
    MTC_RETURN_IF_ERROR(time(of, 0, calls, of.own.emplace_back()));
    if (of.kernels.size() == 1)
      return Status::okay();
    return time(of, 1, calls, of.library.emplace_back());
  }

private:
  /// The first call of a kernel finds nothing in place.
  Status warmUp(Timed &of) {
    for (int64_t i = 0; i < of.kernels.size(); ++i) {
      double once = 0;
      MTC_RETURN_IF_ERROR(time(of, i, 1, once));
      MTC_RETURN_IF_ERROR(time(of, i, 1, once));
    }
    return Status::okay();
  }

  /// Of one call, in microseconds.
  Status time(Timed &of, int64_t kernel, int calls, double &out) {
    using Clock = std::chrono::steady_clock;
    const CpuProduct &p = of.product;
    auto start = Clock::now();
    for (int i = 0; i < calls; ++i)
      MTC_RETURN_IF_ERROR(of.kernels.execute(
          kernel, a_.next(bytesOf(p.ab, p.m * p.k)),
          b_.next(bytesOf(p.ab, p.k * p.n)), c_.next(bytesOf(p.c, p.m * p.n)),
          scratch_.base()));
    std::chrono::duration<double, std::micro> all = Clock::now() - start;
    out = std::max(all.count() / calls, 1e-3);
    of.length.add(size_t(kernel), out);
    return Status::okay();
  }

  std::vector<Timed> timed_;
  Operand a_, b_, c_;
  AnonymousMemory scratch_;
};

} // namespace

void addTuneRows(std::span<const GemmInfo> gemms, int64_t threads,
                 TuneRows &out) {
  auto isAdded = [&](const GemmInfo &row) {
    CpuProduct product = productOf(row, threads);
    product.adds = true;
    return std::ranges::any_of(gemms, [&](const GemmInfo &other) {
      return productOf(other, threads) == product;
    });
  };
  for (const GemmInfo &row : gemms) {
    // What the library stores and adds is a gradient of a weight, as which our
    // kernel would stream it.
    bool streams = row.kernel == GemmKernel::ownStreamed ||
                   (row.kernel == GemmKernel::library && !row.beta &&
                    row.c == MTC_F32 && isAdded(row));
    auto ours = streams ? GemmKernel::ownStreamed : GemmKernel::own;
    auto [at, isNew] = out.try_emplace(productOf(row, threads), ours);
    if (!isNew)
      at->second = std::min(at->second, ours);
  }
}

void RoundLength::add(size_t kernel, double microseconds) {
  if (kernel >= least.size())
    least.resize(kernel + 1, microseconds);
  least[kernel] = std::min(least[kernel], microseconds);
}

int RoundLength::calls() const {
  const double slowest = *std::ranges::max_element(least);
  return int(std::clamp(kRoundMicroseconds / slowest, 1.0, 1e4));
}

TunedProduct fastestKernel(const std::vector<double> &own,
                           const std::vector<double> &library) {
  TunedProduct out;
  out.ownMicroseconds = tenths(median(own));
  if (library.empty())
    return out;
  out.libraryMicroseconds = tenths(median(library));
  std::vector<double> ratios;
  for (size_t i = 0; i < own.size(); ++i)
    ratios.push_back(library[i] / own[i]);
  if (median(std::move(ratios)) < kClearlyFaster &&
      *out.libraryMicroseconds < kClearlyFaster * out.ownMicroseconds)
    out.kernel = GemmKernel::library;
  return out;
}

Status tuneCpuGemms(const TuneRows &rows, std::string_view isa, int rounds,
                    const TuneListener &told, CpuGemmTable &out) {
  MTC_RETURN_IF_ERROR(mtc_kernels_select_isa(isa));
  MTC_RETURN_IF_ERROR(gemmSelectIsa(isa));
  out = {processorName(),
         std::string(isa),
         gemmLibraryVersion(),
         kOwnGemmVersion,
         {}};
  Bench bench;
  MTC_RETURN_IF_ERROR(bench.open(rows));
  for (int round = 1; round <= rounds; ++round) {
    told.round(round);
    for (Timed &each : bench.products()) {
      MTC_RETURN_IF_ERROR(bench.run(each));
      if (round < rounds)
        continue;
      TunedProduct &tuned = out.rows[each.product];
      tuned = fastestKernel(each.own, each.library);
      told.product(each.product, tuned);
    }
  }
  return Status::okay();
}

} // namespace mtc::runtime
