// Attention at B4 H12 T1024 hd64 (argument: another T), GEMM, norm and
// initialisation on one thread; best of a few repeats. Useful operations of
// causal attention: 4·hd per visible pair forward, 10·hd backward.
#include "naive_attention.h"

#include "mtc/runtime/abi.h"
#include "runtime/kernels/cpu/gemm.h"
#include "runtime/kernels/cpu/init.h"
#include "runtime/kernels/cpu/isa.h"
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

struct Buffers {
  std::vector<float> q, k, v, dout, out, dq, dk, dv;
  explicit Buffers(int64_t n)
      : q(normals(n, 1)), k(normals(n, 2)), v(normals(n, 3)),
        dout(normals(n, 4)), out(q.size()), dq(q.size()), dk(q.size()),
        dv(q.size()) {}
};

void report(const char *name, double pairs, double forward, double backward) {
  double gf = pairs * 64 * 1e-9;
  std::printf("%-24s forward %7.1f ms %6.1f GF/s  backward %7.1f ms %6.1f GF/s"
              "  together %6.1f GF/s\n",
              name, forward * 1e3, 4 * gf / forward, backward * 1e3,
              10 * gf / backward, 14 * gf / (forward + backward));
}

void benchFlash(const char *isa, int64_t seq, double dropout) {
  if (!runtime::mtc_kernels_select_isa(isa).ok())
    return;
  MtcAttention d{};
  d.batch = 4;
  d.seq = d.keys = d.first = seq;
  d.heads = d.kv_heads = d.global_heads = 12;
  d.head_dim = 64;
  d.q_token_stride = d.k_token_stride = d.v_token_stride = d.o_token_stride =
      12 * 64;
  d.q_head_stride = d.k_head_stride = d.v_head_stride = d.o_head_stride = 64;
  d.causal = d.layer = d.site = 1;
  d.scale = 0.125;
  d.dropout = dropout;
  Buffers x(48 * seq * 64);
  std::vector<float> lse(size_t(48 * seq));
  std::vector<std::byte> scratch(size_t(mtc_attention_scratch(&d, 1)));
  MtcContext ctx{};
  MtcStepState state{};
  ctx.arena[MTC_ARENA_STEP] = &state;
  double forward = bestSeconds(5, [&] {
    mtc_attention_forward(&ctx, &d, x.q.data(), x.k.data(), x.v.data(), nullptr,
                          x.out.data(), lse.data(), scratch.data(), 0, 0, 0,
                          seq);
  });
  double backward = bestSeconds(5, [&] {
    mtc_attention_backward(&ctx, &d, x.dout.data(), x.q.data(), x.k.data(),
                           x.v.data(), nullptr, x.out.data(), lse.data(),
                           x.dq.data(), x.dk.data(), x.dv.data(),
                           scratch.data(), 0, 0, 0, seq);
  });
  char name[64];
  std::snprintf(name, sizeof name, "flash %s p=%g", isa, dropout);
  report(name, 24.0 * double(seq) * double(seq + 1), forward, backward);
}

void benchNaive(int64_t seq) {
  Buffers x(48 * seq * 64);
  std::vector<float> prob(size_t(48 * seq * seq));
  double forward = bestSeconds(2, [&] {
    bench::naiveForward(48, seq, 64, x.q.data(), x.k.data(), x.v.data(),
                        x.out.data(), prob.data());
  });
  double backward = bestSeconds(2, [&] {
    bench::naiveBackward(48, seq, 64, x.dout.data(), x.q.data(), x.k.data(),
                         x.v.data(), prob.data(), x.dq.data(), x.dk.data(),
                         x.dv.data());
  });
  report("naive loops", 24.0 * double(seq) * double(seq + 1), forward,
         backward);
}

void benchGemm() {
  runtime::GemmSet set;
  std::vector<runtime::GemmDesc> rows = {{1024, 1024, 1024, false, false, 0}};
  if (!set.create(rows, 1).ok())
    return;
  Buffers x(1024 * 1024);
  std::vector<std::byte> scratch(size_t(set.scratchBytes(0)) + 1);
  double took = bestSeconds(10, [&] {
    (void)set.execute(0, x.q.data(), x.k.data(), x.out.data(), scratch.data());
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

int main(int argc, char **argv) {
  int64_t seq = argc > 1 ? std::atoll(argv[1]) : 1024;
  for (const char *isa : {"x86-64-v3", "x86-64-v4"})
    for (double dropout : {0.0, 0.1})
      benchFlash(isa, seq, dropout);
  benchNaive(seq);
  benchGemm();
  benchStreams();
}
