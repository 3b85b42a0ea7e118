//===- call_times.cpp - how long the calls of fragments take --------------===//
//
// Preloaded (LD_PRELOAD) into `mtc run --comm threads` by step.py. A shared
// object of a bundle calls GEMMs, attention and collectives through
// its linkage table, and lists its fragments in mtc_fragments. When one is
// loaded, both tables are pointed at the wrappers below. A step ends with its
// mtc_norm_finish; the first $MTC_CALL_SKIP ends of a thread are warm-up, and
// $MTC_CALL_STEPS steps after them are counted. At exit the sums go to
// $MTC_CALL_TIMES as JSON: seconds, calls, and FLOPs or bytes where the call
// alone tells them; products by their row of the descriptor, which knows their
// sizes.
//
//===----------------------------------------------------------------------===//
#include "mtc/runtime/abi.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <numeric>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace {

struct Sum {
  std::atomic<int64_t> calls = 0, nanoseconds = 0, work = 0;
};

constexpr int kStages = 8, kRows = 512; ///< rows of a stage's table of products
Sum products[kStages][kRows], attention[2], collectives, norm, zero, fragments;
std::atomic<int64_t> steps = 0;
thread_local int64_t ends = 0;

int64_t number(const char *variable) {
  const char *text = std::getenv(variable);
  return text ? std::atoll(text) : 0;
}

bool counts() {
  static const int64_t skip = number("MTC_CALL_SKIP"),
                       count = number("MTC_CALL_STEPS");
  return ends >= skip && ends < skip + count;
}

/// Adds the time of its life to a sum.
class Timer {
public:
  Timer(Sum &sum, int64_t work) : sum(sum), work(work) {}
  ~Timer() {
    if (!counts())
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
  std::chrono::steady_clock::time_point begin =
      std::chrono::steady_clock::now();
};

/// The runtime's own function: the program exports it.
template <typename Function> Function real(const char *name, Function) {
  auto found = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  if (!found) {
    std::fprintf(stderr, "call_times: the runtime has no %s\n", name);
    std::abort();
  }
  return found;
}
#define REAL(name) static auto call = real(#name, &name)

/// Multiplications and additions of q·k or p·v for the visible pairs.
int64_t pairWork(const MtcAttention *d) {
  int64_t pairs = d->causal ? d->seq * (d->keys + 1) / 2 : d->seq * d->keys;
  return 2 * d->batch * d->heads * d->head_dim * pairs;
}

int64_t bytesOf(int32_t dtype, int64_t count) {
  return count * (dtype == MTC_BF16 ? 2 : 4);
}

void print(std::FILE *file, const char *name, const Sum &sum) {
  std::fprintf(
      file, "\"%s\": {\"calls\": %lld, \"seconds\": %.9f, \"work\": %lld},\n",
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
    print(file, "fragments", fragments);
    std::fprintf(file, "\"products\": {");
    bool first = true;
    for (int stage = 0; stage < kStages; ++stage)
      for (int i = 0; i < kRows; ++i) {
        const Sum &sum = products[stage][i];
        if (sum.calls == 0)
          continue;
        std::fprintf(file, "%s\"%d.%d\": {\"calls\": %lld, \"seconds\": %.9f}",
                     first ? "" : ", ", stage, i,
                     static_cast<long long>(sum.calls),
                     1e-9 * static_cast<double>(sum.nanoseconds));
        first = false;
      }
    std::fprintf(file, "}}\n");
    std::fclose(file);
  }
} writer;

} // namespace

namespace {

void timed_mtc_gemm(MtcContext *ctx, int32_t index, const void *a,
                    const void *b, void *c, void *scratch) {
  REAL(mtc_gemm);
  Timer timer(products[ctx->coord[MTC_AXIS_PP] % kStages][index % kRows], 0);
  call(ctx, index, a, b, c, scratch);
}

void timed_mtc_attention_forward(MtcContext *ctx, const MtcAttention *d,
                                 const void *q, const void *k, const void *v,
                                 const int32_t *documents, void *out, void *lse,
                                 void *scratch, int64_t sample, int64_t head,
                                 int64_t begin, int64_t begin2) {
  REAL(mtc_attention_forward);
  Timer timer(attention[0], 2 * pairWork(d));
  call(ctx, d, q, k, v, documents, out, lse, scratch, sample, head, begin,
       begin2);
}

void timed_mtc_attention_backward(MtcContext *ctx, const MtcAttention *d,
                                  const void *dout, const void *q,
                                  const void *k, const void *v,
                                  const int32_t *documents, const void *out,
                                  const void *lse, void *dq, void *dk, void *dv,
                                  void *scratch, int64_t sample, int64_t head,
                                  int64_t begin, int64_t begin2) {
  REAL(mtc_attention_backward);
  Timer timer(attention[1], 5 * pairWork(d)); // q·k again, dv, dp, dq, dk
  call(ctx, d, dout, q, k, v, documents, out, lse, dq, dk, dv, scratch, sample,
       head, begin, begin2);
}

void timed_mtc_all_reduce(MtcContext *ctx, int32_t stream, int32_t group,
                          int32_t op, int32_t dtype, void *buffer,
                          int64_t count) {
  REAL(mtc_all_reduce);
  Timer timer(collectives, bytesOf(dtype, count));
  call(ctx, stream, group, op, dtype, buffer, count);
}

void timed_mtc_reduce_scatter(MtcContext *ctx, int32_t stream, int32_t group,
                              int32_t dtype, void *buffer, int64_t count) {
  REAL(mtc_reduce_scatter);
  Timer timer(collectives, bytesOf(dtype, count));
  call(ctx, stream, group, dtype, buffer, count);
}

void timed_mtc_all_gather(MtcContext *ctx, int32_t stream, int32_t group,
                          int32_t dtype, void *buffer, int64_t count) {
  REAL(mtc_all_gather);
  Timer timer(collectives, bytesOf(dtype, count));
  call(ctx, stream, group, dtype, buffer, count);
}

void timed_mtc_norm_accumulate(MtcContext *ctx, int32_t dtype, const void *g,
                               int64_t count) {
  REAL(mtc_norm_accumulate);
  Timer timer(norm, bytesOf(dtype, count));
  call(ctx, dtype, g, count);
}

void timed_mtc_norm_check(MtcContext *ctx, const void *x, int64_t count) {
  REAL(mtc_norm_check);
  Timer timer(norm, 4 * count);
  call(ctx, x, count);
}

void timed_mtc_norm_finish(MtcContext *ctx) {
  REAL(mtc_norm_finish);
  call(ctx);
  if (counts() && std::accumulate(std::begin(ctx->coord), std::end(ctx->coord),
                                  int64_t{0}) == 0)
    ++steps;
  ++ends;
}

void timed_mtc_zero(MtcContext *ctx, void *p, int64_t bytes) {
  REAL(mtc_zero);
  Timer timer(zero, bytes);
  call(ctx, p, bytes);
}

void timed_mtc_zero_guarded(MtcContext *ctx, void *p, int64_t bytes) {
  REAL(mtc_zero_guarded);
  Timer timer(zero, bytes);
  call(ctx, p, bytes);
}

//===--- putting them in place --------------------------------------------===//

struct Wrapper {
  const char *name;
  void *function;
};
const Wrapper kWrappers[] = {
    {"mtc_gemm", reinterpret_cast<void *>(timed_mtc_gemm)},
    {"mtc_attention_forward",
     reinterpret_cast<void *>(timed_mtc_attention_forward)},
    {"mtc_attention_backward",
     reinterpret_cast<void *>(timed_mtc_attention_backward)},
    {"mtc_all_reduce", reinterpret_cast<void *>(timed_mtc_all_reduce)},
    {"mtc_reduce_scatter", reinterpret_cast<void *>(timed_mtc_reduce_scatter)},
    {"mtc_all_gather", reinterpret_cast<void *>(timed_mtc_all_gather)},
    {"mtc_norm_accumulate",
     reinterpret_cast<void *>(timed_mtc_norm_accumulate)},
    {"mtc_norm_check", reinterpret_cast<void *>(timed_mtc_norm_check)},
    {"mtc_norm_finish", reinterpret_cast<void *>(timed_mtc_norm_finish)},
    {"mtc_zero", reinterpret_cast<void *>(timed_mtc_zero)},
    {"mtc_zero_guarded", reinterpret_cast<void *>(timed_mtc_zero_guarded)}};

/// Tables of a loaded object are read-only by now.
void replace(void **slot, void *value) {
  auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto at = reinterpret_cast<uintptr_t>(slot) & ~(page - 1);
  mprotect(reinterpret_cast<void *>(at), 2 * page, PROT_READ | PROT_WRITE);
  *slot = value;
}

void wrapCalls(const link_map *object) {
  const Elf64_Sym *symbols = nullptr;
  const char *strings = nullptr;
  const Elf64_Rela *tables[2] = {};
  size_t sizes[2] = {};
  for (const Elf64_Dyn *d = object->l_ld; d->d_tag != DT_NULL; ++d) {
    auto at = d->d_un.d_ptr;
    if (d->d_tag == DT_SYMTAB)
      symbols = reinterpret_cast<const Elf64_Sym *>(at);
    else if (d->d_tag == DT_STRTAB)
      strings = reinterpret_cast<const char *>(at);
    else if (d->d_tag == DT_JMPREL)
      tables[0] = reinterpret_cast<const Elf64_Rela *>(at);
    else if (d->d_tag == DT_PLTRELSZ)
      sizes[0] = d->d_un.d_val;
    else if (d->d_tag == DT_RELA)
      tables[1] = reinterpret_cast<const Elf64_Rela *>(at);
    else if (d->d_tag == DT_RELASZ)
      sizes[1] = d->d_un.d_val;
  }
  for (int t = 0; t < 2; ++t)
    for (size_t i = 0; tables[t] && i < sizes[t] / sizeof(Elf64_Rela); ++i) {
      const Elf64_Rela &entry = tables[t][i];
      const char *name = strings + symbols[ELF64_R_SYM(entry.r_info)].st_name;
      for (const Wrapper &wrapper : kWrappers)
        if (ELF64_R_SYM(entry.r_info) != 0 &&
            std::strcmp(name, wrapper.name) == 0)
          replace(reinterpret_cast<void **>(object->l_addr + entry.r_offset),
                  wrapper.function);
    }
}

constexpr int kFragments = 512;
MtcFragment originals[kFragments];
int known = 0;

template <int index> void timedFragment(MtcContext *ctx, const MtcStep *row) {
  Timer timer(fragments, 0);
  originals[index](ctx, row);
}

template <int... index>
std::array<MtcFragment, kFragments>
allTimed(std::integer_sequence<int, index...>) {
  return {timedFragment<index>...};
}

/// The names between the brackets of "fragments" in the descriptor.
int countFragments(const char *descriptor) {
  const char *at = std::strstr(descriptor, "\"fragments\":[");
  int quotes = 0;
  for (at = at ? at + 13 : nullptr; at && *at && *at != ']'; ++at)
    quotes += *at == '"';
  return quotes / 2;
}

void wrapFragments(void *handle) {
  static const auto timed =
      allTimed(std::make_integer_sequence<int, kFragments>());
  auto table = static_cast<void **>(dlsym(handle, "mtc_fragments"));
  auto text = static_cast<const char *>(dlsym(handle, "mtc_descriptor"));
  int count = table && text ? countFragments(text) : 0;
  for (int i = 0; i < count && known < kFragments; ++i, ++known) {
    originals[known] = reinterpret_cast<MtcFragment>(table[i]);
    replace(table + i, reinterpret_cast<void *>(timed[size_t(known)]));
  }
}

} // namespace

/// Stands in front of the dynamic linker's.
extern "C" void *dlopen(const char *file, int flags) {
  static auto open = reinterpret_cast<void *(*)(const char *, int)>(
      dlsym(RTLD_NEXT, "dlopen"));
  void *handle = open(file, flags | RTLD_NOW);
  if (handle && dlsym(handle, "mtc_fragments")) {
    link_map *object = nullptr;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &object) == 0)
      wrapCalls(object);
    wrapFragments(handle);
  }
  return handle;
}
