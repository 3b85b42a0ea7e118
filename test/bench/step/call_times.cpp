//===- call_times.cpp - how long the calls of fragments take -----------------===//
//
// Preloaded (LD_PRELOAD) into `mtc run --comm threads` by step.py. The shared
// objects of a bundle call matrix products, attention and collectives through
// the linkage table, so these wrappers stand in front of the runtime's. A step
// ends with its mtc_norm_finish; the first $MTC_CALL_SKIP ends of a thread are
// warm-up. At exit the sums go to $MTC_CALL_TIMES as JSON: seconds, calls, and
// FLOPs or bytes where the call alone tells them; products by their row of the
// descriptor, which knows their sizes.
//
//===----------------------------------------------------------------------===//
#include "mtc/runtime/abi.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace {

struct Sum {
  std::atomic<int64_t> calls = 0, nanoseconds = 0, work = 0;
};

constexpr int kRows = 4096;
Sum products[kRows], attention[2], collectives, norm, zero;
std::atomic<int64_t> steps = 0;
thread_local int64_t ends = 0;

int64_t skipped() {
  static const int64_t count = [] {
    const char *text = std::getenv("MTC_CALL_SKIP");
    return text ? std::atoll(text) : 0;
  }();
  return count;
}

/// Adds the time of its life to a sum.
class Timer {
public:
  Timer(Sum &sum, int64_t work) : sum(sum), work(work) {}
  ~Timer() {
    if (ends < skipped())
      return;
    auto spent = std::chrono::steady_clock::now() - begin;
    sum.calls += 1;
    sum.work += work;
    sum.nanoseconds +=
        std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count();
  }

private:
  Sum &sum;
  int64_t work;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

template <typename Function> Function next(const char *name, Function) {
  auto found = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  if (!found) {
    std::fprintf(stderr, "call_times: the runtime has no %s\n", name);
    std::abort();
  }
  return found;
}
#define NEXT(name) static auto real = next(#name, &name)

/// Multiplications and additions of q·k or p·v for the visible pairs.
int64_t pairWork(const MtcAttention *d) {
  int64_t pairs = d->causal ? d->seq * (d->seq + 1) / 2 : d->seq * d->seq;
  return 2 * d->batch * d->heads * d->head_dim * pairs;
}

int64_t bytesOf(int32_t dtype, int64_t count) {
  return count * (dtype == MTC_BF16 ? 2 : 4);
}

void print(std::FILE *file, const char *name, const Sum &sum) {
  std::fprintf(file,
               "\"%s\": {\"calls\": %lld, \"seconds\": %.9f, \"work\": %lld},\n",
               name, static_cast<long long>(sum.calls),
               1e-9 * static_cast<double>(sum.nanoseconds),
               static_cast<long long>(sum.work));
}

/// Written when the process ends.
struct Writer {
  ~Writer() {
    const char *path = std::getenv("MTC_CALL_TIMES");
    std::FILE *file = path && steps > 0 ? std::fopen(path, "w") : nullptr;
    if (!file)
      return;
    std::fprintf(file, "{\"steps\": %lld,\n", static_cast<long long>(steps));
    print(file, "attention forward", attention[0]);
    print(file, "attention backward", attention[1]);
    print(file, "collectives", collectives);
    print(file, "norm", norm);
    print(file, "zero", zero);
    std::fprintf(file, "\"products\": {");
    bool first = true;
    for (int i = 0; i < kRows; ++i)
      if (products[i].calls > 0) {
        std::fprintf(file, "%s\"%d\": {\"calls\": %lld, \"seconds\": %.9f}",
                     first ? "" : ", ", i, static_cast<long long>(products[i].calls),
                     1e-9 * static_cast<double>(products[i].nanoseconds));
        first = false;
      }
    std::fprintf(file, "}}\n");
    std::fclose(file);
  }
} writer;

} // namespace

extern "C" {

void mtc_gemm(MtcContext *ctx, int32_t index, const void *a, const void *b, void *c,
              void *scratch) {
  NEXT(mtc_gemm);
  Timer timer(products[index < kRows ? index : kRows - 1], 0);
  real(ctx, index, a, b, c, scratch);
}

void mtc_attention_forward(MtcContext *ctx, const MtcAttention *d, const void *q,
                           const void *k, const void *v, void *out, void *lse,
                           void *scratch, int64_t sample, int64_t head) {
  NEXT(mtc_attention_forward);
  Timer timer(attention[0], 2 * pairWork(d));
  real(ctx, d, q, k, v, out, lse, scratch, sample, head);
}

void mtc_attention_backward(MtcContext *ctx, const MtcAttention *d, const void *dout,
                            const void *q, const void *k, const void *v,
                            const void *out, const void *lse, void *dq, void *dk,
                            void *dv, void *scratch, int64_t sample, int64_t head) {
  NEXT(mtc_attention_backward);
  Timer timer(attention[1], 5 * pairWork(d)); // q·k again, dv, dp, dq, dk
  real(ctx, d, dout, q, k, v, out, lse, dq, dk, dv, scratch, sample, head);
}

void mtc_all_reduce(MtcContext *ctx, int32_t group, int32_t op, int32_t dtype,
                    void *buffer, int64_t count) {
  NEXT(mtc_all_reduce);
  Timer timer(collectives, bytesOf(dtype, count));
  real(ctx, group, op, dtype, buffer, count);
}

void mtc_reduce_scatter(MtcContext *ctx, int32_t group, int32_t dtype, void *buffer,
                        int64_t count) {
  NEXT(mtc_reduce_scatter);
  Timer timer(collectives, bytesOf(dtype, count));
  real(ctx, group, dtype, buffer, count);
}

void mtc_all_gather(MtcContext *ctx, int32_t group, int32_t dtype, void *buffer,
                    int64_t count) {
  NEXT(mtc_all_gather);
  Timer timer(collectives, bytesOf(dtype, count));
  real(ctx, group, dtype, buffer, count);
}

void mtc_norm_accumulate(MtcContext *ctx, const void *g, int64_t count) {
  NEXT(mtc_norm_accumulate);
  Timer timer(norm, 4 * count);
  real(ctx, g, count);
}

void mtc_norm_finish(MtcContext *ctx) {
  NEXT(mtc_norm_finish);
  real(ctx);
  if (ends++ >= skipped() && ctx->coord[0] + ctx->coord[1] + ctx->coord[2] == 0)
    ++steps;
}

void mtc_zero(MtcContext *ctx, void *p, int64_t bytes) {
  NEXT(mtc_zero);
  Timer timer(zero, bytes);
  real(ctx, p, bytes);
}

} // extern "C"
