// Causal attention of 4 samples of 12 heads, with keys and values of as many or
// of 4 (grouped queries), beside the loops that one would write first and the
// products of this processor: ms, GFLOP/s and percent of
// the peak of the type, forward and backward, the best of some repeats. Useful
// operations: 4·hd per visible pair forward, 10·hd backward.
//
// Arguments: threads (2), then what rows must contain, such as "bf16 256".
#include "naive_attention.h"

#include "mtc/runtime/abi.h"
#include "runtime/base/bf16.h"
#include "runtime/kernels/cpu/init.h"
#include "runtime/kernels/cpu/isa.h"
#include "runtime/profile/limits.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include <sys/mman.h>

using namespace mtc;

namespace {

constexpr int64_t kBatch = 4, kHeads = 12, kGroups = 4;

double bestSeconds(const std::function<void()> &body) {
  using Clock = std::chrono::steady_clock;
  double best = 1e30, total = 0;
  for (int i = 0; i < 3 || (total < 0.15 && i < 100); ++i) {
    Clock::time_point start = Clock::now();
    body();
    double took = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::min(best, took);
    total += took;
  }
  return best;
}

/// Memory in large pages, as a program's arenas have it: heads lie so that
/// every token is in a page of its own where pages are small.
template <typename T> struct LargePages {
  using value_type = T;
  LargePages() = default;
  template <typename U> LargePages(const LargePages<U> &) {}
  T *allocate(size_t n) {
    constexpr size_t kPage = size_t(2) << 20;
    size_t bytes = (n * sizeof(T) + kPage - 1) / kPage * kPage;
    void *p = std::aligned_alloc(kPage, bytes);
    if (!p)
      throw std::bad_alloc();
    (void)madvise(p, bytes, MADV_HUGEPAGE);
    return static_cast<T *>(p);
  }
  void deallocate(T *p, size_t) { std::free(p); }
  bool operator==(const LargePages &) const { return true; }
};
template <typename T> using Large = std::vector<T, LargePages<T>>;

/// Normals, in the bytes of a type.
struct Values {
  Large<float> f32;
  Large<uint16_t> bf16;
  Values(int64_t n, uint64_t id) : f32(size_t(n)) {
    std::vector<int64_t> shape = {n}, zero = {0};
    (void)runtime::initNormal(f32.data(), id, 1, 1.0, {shape, zero, shape});
    for (float x : f32)
      bf16.push_back(runtime::roundToBf16(x));
  }
  void *of(int32_t type) {
    return type == MTC_F32 ? (void *)f32.data() : bf16.data();
  }
};

struct Buffers {
  Values q, k, v, dout, out, dq, dk, dv;
  explicit Buffers(int64_t n)
      : q(n, 1), k(n, 2), v(n, 3), dout(n, 4), out(n, 5), dq(n, 6), dk(n, 7),
        dv(n, 8) {}
};

struct Row {
  const char *isa;
  int32_t type;
  int64_t seq, dim;
  double dropout;
  int64_t kvHeads = kHeads;
  std::string name() const {
    char text[80];
    std::snprintf(text, sizeof text, "%-14s %s %5ld %4ld p=%-3g kv=%-2ld", isa,
                  type == MTC_F32 ? " f32" : "bf16", long(seq), long(dim),
                  dropout, long(kvHeads));
    return text;
  }
};

void report(const Row &row, const std::string &name, double peak,
            double forward, double backward) {
  double pairs = kBatch * kHeads * double(row.seq) * double(row.seq + 1) / 2;
  double gf = pairs * double(row.dim) * 1e-9;
  auto print = [&](const char *what, double flops, double took) {
    std::printf("  %s %7.2f ms %6.1f GF/s %3.0f %%", what, took * 1e3,
                flops / took, 100e9 * flops / took / peak);
  };
  std::printf("%s", name.c_str());
  print("forward", 4 * gf, forward);
  print("backward", 10 * gf, backward);
  print("both", 14 * gf, forward + backward);
  std::printf("\n");
  std::fflush(stdout);
}

MtcAttention shapeOf(const Row &row) {
  MtcAttention d{};
  d.batch = kBatch;
  d.seq = d.keys = d.first = row.seq;
  d.heads = d.global_heads = kHeads;
  d.kv_heads = row.kvHeads;
  d.head_dim = row.dim;
  d.q_token_stride = d.o_token_stride = kHeads * row.dim;
  d.k_token_stride = d.v_token_stride = row.kvHeads * row.dim;
  d.q_head_stride = d.k_head_stride = d.v_head_stride = d.o_head_stride =
      row.dim;
  d.causal = d.layer = d.site = 1;
  d.scale = 0.125;
  d.dropout = row.dropout;
  d.dtype = row.type;
  return d;
}

void benchFlash(const Row &row, int threads, double peak) {
  if (!runtime::mtc_kernels_select_isa(row.isa).ok())
    return;
  MtcAttention d = shapeOf(row);
  Buffers x(kBatch * kHeads * row.seq * row.dim);
  Large<float> lse(size_t(kBatch * kHeads * row.seq));
  Large<std::byte> scratch(size_t(mtc_attention_scratch(&d, threads)));
  MtcContext ctx{};
  MtcStepState state{};
  ctx.arena[MTC_ARENA_STEP] = &state;
  ctx.threads = threads;
  auto of = [&](Values &values) { return values.of(row.type); };
  double forward = bestSeconds([&] {
    mtc_attention_forward(&ctx, &d, of(x.q), of(x.k), of(x.v), nullptr,
                          of(x.out), lse.data(), scratch.data(), 0, 0, 0,
                          row.seq);
  });
  double backward = bestSeconds([&] {
    mtc_attention_backward(&ctx, &d, of(x.dout), of(x.q), of(x.k), of(x.v),
                           nullptr, of(x.out), lse.data(), of(x.dq), of(x.dk),
                           of(x.dv), scratch.data(), 0, 0, 0, row.seq);
  });
  report(row, row.name(), peak, forward, backward);
}

void benchNaive(const Row &row, double peak) {
  Buffers x(kBatch * kHeads * row.seq * row.dim);
  Large<float> prob(size_t(kBatch * kHeads * row.seq * row.seq));
  auto of = [](Values &values) { return values.f32.data(); };
  double forward = bestSeconds([&] {
    bench::naiveForward(kBatch * kHeads, row.seq, row.dim, of(x.q), of(x.k),
                        of(x.v), of(x.out), prob.data());
  });
  double backward = bestSeconds([&] {
    bench::naiveBackward(kBatch * kHeads, row.seq, row.dim, of(x.dout), of(x.q),
                         of(x.k), of(x.v), prob.data(), of(x.dq), of(x.dk),
                         of(x.dv));
  });
  report(row, "naive, 1 thread" + row.name().substr(14), peak, forward,
         backward);
}

std::vector<Row> rowsOf(const char *isa, int32_t type) {
  std::vector<Row> rows;
  for (int64_t seq : {256, 1024, 2048})
    for (int64_t dim : {64, 96, 128}) {
      for (double dropout : {0.0, 0.1})
        rows.push_back({isa, type, seq, dim, dropout});
      rows.push_back({isa, type, seq, dim, 0.0, kGroups});
    }
  return rows;
}

} // namespace

int main(int argc, char **argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  runtime::MachineLimits limits = runtime::measureLimits(threads);
  std::printf("%d threads: %.0f GFLOP/s f32, %.0f bf16\n", threads,
              limits.f32 * 1e-9, limits.bf16 * 1e-9);
  auto isWanted = [&](const Row &row) {
    std::string name = row.name();
    return std::all_of(argv + std::min(argc, 2), argv + argc, [&](char *part) {
      return name.find(part) != std::string::npos;
    });
  };
  for (const char *isa :
       {"x86-64-v3", "x86-64-v4", "x86-64-v4-bf16", "x86-64-v4-amx"})
    for (int32_t type : {MTC_F32, MTC_BF16})
      for (const Row &row : rowsOf(isa, type))
        if (isWanted(row))
          benchFlash(row, threads,
                     type == MTC_F32 ? limits.f32 : limits.flops("bf16"));
  for (int64_t seq : {256, 1024})
    if (Row row{"", MTC_F32, seq, 64, 0.0}; isWanted(row))
      benchNaive(row, limits.f32);
}
