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

/// Of packing in a round: each byte of a weight is read and written, whatever
/// the product is, so it takes few calls to know.
constexpr double kPackMicroseconds = 2'500;
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

using Microseconds = std::vector<double>; ///< by round

GemmDesc descOf(const CpuProduct &p, GemmKernel kernel) {
  return {p.m, p.n, p.k, p.ta, p.tb, p.adds, p.ab, p.c, kernel};
}

PackedDesc packedOf(const CpuProduct &p) { return {p.n, p.k, p.tb, p.ab}; }

/// A product, its kernels, and what they took.
struct Timed {
  CpuProduct product;
  GemmSet kernels = {};                ///< of which ours is the first
  std::vector<GemmKernel> rows = {};   ///< what they are
  std::vector<Microseconds> took = {}; ///< by row
  RoundLength length = {};
  int64_t packedBytes = 0; ///< of op(b); 0 where it is no weight
  RoundLength packLength = RoundLength(kPackMicroseconds);
  Microseconds pack = {};

  /// Empty where there is no such row.
  Microseconds of(GemmKernel kernel) const {
    auto at = std::ranges::find(rows, kernel);
    return at == rows.end() ? Microseconds() : took[size_t(at - rows.begin())];
  }
};

/// Our kernel, those of oneDNN's that allocate nothing, and ours with a packed
/// op(b) where that may be a weight.
Status createKernels(GemmKernel ours, std::string_view isa, Timed &out) {
  const CpuProduct &p = out.product;
  int threads = static_cast<int>(p.threads);
  out.rows = {ours};
  for (GemmKernel other : {GemmKernel::library, GemmKernel::innerProduct})
    if (isPlannedByLibrary(descOf(p, other), threads))
      out.rows.push_back(other);
  if (mayMultiplyWeight(p)) {
    out.rows.push_back(GemmKernel::ownPacked);
    MTC_RETURN_IF_ERROR(gemmPackedBytes(packedOf(p), isa, &out.packedBytes));
  }
  out.took.resize(out.rows.size());
  std::vector<GemmDesc> descs;
  for (GemmKernel kernel : out.rows)
    descs.push_back(descOf(p, kernel));
  return out.kernels.create(descs, threads);
}

/// What a table has of it.
TunedProduct tunedOf(const Timed &timed) {
  TunedProduct out =
      fastestKernel(timed.took.front(), timed.of(GemmKernel::library),
                    timed.of(GemmKernel::innerProduct));
  if (timed.packedBytes > 0)
    out.packed = {tenths(median(timed.of(GemmKernel::ownPacked))),
                  tenths(median(timed.pack))};
  return out;
}

class Bench {
public:
  Status open(const TuneRows &rows, std::string_view isa) {
    int64_t a = 0, b = 0, c = 0, packed = 0, scratch = 0;
    for (const auto &[p, ours] : rows) {
      Timed &each = timed_.emplace_back(Timed{p});
      MTC_RETURN_IF_ERROR(createKernels(ours, isa, each));
      a = std::max(a, bytesOf(p.ab, p.m * p.k));
      b = std::max(b, bytesOf(p.ab, p.k * p.n));
      c = std::max(c, bytesOf(p.c, p.m * p.n));
      packed = std::max(packed, each.packedBytes);
      for (int64_t i = 0; i < each.kernels.size(); ++i)
        scratch = std::max(scratch, each.kernels.scratchBytes(i));
    }
    MTC_RETURN_IF_ERROR(a_.map(a));
    MTC_RETURN_IF_ERROR(b_.map(b));
    MTC_RETURN_IF_ERROR(c_.map(c));
    MTC_RETURN_IF_ERROR(packed_.map(packed));
    return scratch_.map(scratch, 0, "tune", "scratch of products");
  }

  std::vector<Timed> &products() { return timed_; }

  /// One round of one product, by each kernel.
  Status run(Timed &of) {
    if (of.took.front().empty())
      MTC_RETURN_IF_ERROR(warmUp(of));
    const int calls = of.length.calls();
    for (size_t row = 0; row < of.rows.size(); ++row)
      MTC_RETURN_IF_ERROR(time(of, row, calls, of.took[row].emplace_back()));
    if (of.packedBytes == 0)
      return Status::okay();
    return timePack(of, of.packLength.calls(), of.pack.emplace_back());
  }

private:
  /// The first call of a kernel finds nothing in place.
  Status warmUp(Timed &of) {
    double once = 0;
    for (size_t row = 0; row < of.rows.size(); ++row)
      for (int call = 0; call < 2; ++call)
        MTC_RETURN_IF_ERROR(time(of, row, 1, once));
    for (int call = 0; call < 2 && of.packedBytes > 0; ++call)
      MTC_RETURN_IF_ERROR(timePack(of, 1, once));
    return Status::okay();
  }

  /// Of one call, in microseconds.
  template <typename Call>
  static Status timeCalls(int calls, Call &&call, double &out) {
    using Clock = std::chrono::steady_clock;
    auto start = Clock::now();
    for (int i = 0; i < calls; ++i)
      MTC_RETURN_IF_ERROR(call());
    std::chrono::duration<double, std::micro> all = Clock::now() - start;
    out = std::max(all.count() / calls, 1e-3);
    return Status::okay();
  }

  Status time(Timed &of, size_t row, int calls, double &out) {
    const CpuProduct &p = of.product;
    const bool isPacked = of.rows[row] == GemmKernel::ownPacked;
    auto call = [&] {
      return of.kernels.execute(int64_t(row), a_.next(bytesOf(p.ab, p.m * p.k)),
                                isPacked ? packed_.next(of.packedBytes)
                                         : b_.next(bytesOf(p.ab, p.k * p.n)),
                                c_.next(bytesOf(p.c, p.m * p.n)),
                                scratch_.base());
    };
    MTC_RETURN_IF_ERROR(timeCalls(calls, call, out));
    of.length.add(row, out);
    return Status::okay();
  }

  Status timePack(Timed &of, int calls, double &out) {
    const CpuProduct &p = of.product;
    auto call = [&] {
      return gemmPack(packedOf(p), static_cast<int>(p.threads),
                      b_.next(bytesOf(p.ab, p.k * p.n)),
                      packed_.next(of.packedBytes));
    };
    MTC_RETURN_IF_ERROR(timeCalls(calls, call, out));
    of.packLength.add(0, out);
    return Status::okay();
  }

  std::vector<Timed> timed_;
  Operand a_, b_, c_, packed_;
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
    bool streams =
        row.kernel == GemmKernel::ownStreamed ||
        (!isOwn(row.kernel) && !row.beta && row.c == MTC_F32 && isAdded(row));
    auto ours = streams ? GemmKernel::ownStreamed : GemmKernel::own;
    auto [at, isNew] = out.try_emplace(productOf(row, threads), ours);
    if (!isNew)
      at->second = std::min(at->second, ours);
  }
}

bool mayMultiplyWeight(const CpuProduct &product) {
  return !product.adds && !product.ta;
}

void RoundLength::add(size_t kernel, double microseconds) {
  if (kernel >= least.size())
    least.resize(kernel + 1, microseconds);
  least[kernel] = std::min(least[kernel], microseconds);
}

int RoundLength::calls() const {
  const double slowest = *std::ranges::max_element(least);
  return int(std::clamp(most / slowest, 1.0, 1e4));
}

/// The median, as tables have it; none of no times.
static std::optional<double> medianOf(const Microseconds &times) {
  return times.empty() ? std::nullopt : std::optional(tenths(median(times)));
}

/// Of the medians and, round by round, of the times.
static bool isClearlyFaster(const Microseconds &other,
                            const Microseconds &own) {
  std::vector<double> ratios;
  for (size_t i = 0; i < own.size(); ++i)
    ratios.push_back(other[i] / own[i]);
  return median(std::move(ratios)) < kClearlyFaster &&
         *medianOf(other) < kClearlyFaster * *medianOf(own);
}

TunedProduct fastestKernel(const std::vector<double> &own,
                           const std::vector<double> &library,
                           const std::vector<double> &inner) {
  TunedProduct out;
  out.ownMicroseconds = *medianOf(own);
  out.libraryMicroseconds = medianOf(library);
  out.innerMicroseconds = medianOf(inner);
  const bool isInner =
      !inner.empty() &&
      (library.empty() || *out.innerMicroseconds < *out.libraryMicroseconds);
  const Microseconds &other = isInner ? inner : library;
  if (!other.empty() && isClearlyFaster(other, own))
    out.kernel = isInner ? GemmKernel::innerProduct : GemmKernel::library;
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
  MTC_RETURN_IF_ERROR(bench.open(rows, isa));
  for (int round = 1; round <= rounds; ++round) {
    told.round(round);
    for (Timed &each : bench.products()) {
      MTC_RETURN_IF_ERROR(bench.run(each));
      if (round < rounds)
        continue;
      TunedProduct &tuned = out.rows[each.product];
      tuned = tunedOf(each);
      told.product(each.product, tuned);
    }
  }
  return Status::okay();
}

} // namespace mtc::runtime
