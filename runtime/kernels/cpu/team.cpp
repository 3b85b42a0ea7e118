#include "runtime/kernels/cpu/team.h"

// Of the OpenMP runtime that oneDNN's threads belong to: what GCC makes of
// `#pragma omp parallel` (libgomp's manual, "Implementing PARALLEL construct").
// Other OpenMP runtimes have these functions, too.
extern "C" {
void GOMP_parallel(void (*function)(void *), void *data, unsigned threads,
                   unsigned flags);
void GOMP_barrier(void);
int omp_get_thread_num(void);
int omp_get_num_threads(void);
}

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace mtc::runtime {
namespace {

// The OpenMP runtime is not instrumented: what it orders the thread sanitizer
// has to be told. All that came before a `before` of an address precedes what
// follows an `after` of it.
#ifdef __SANITIZE_THREAD__
void before(void *address) { __tsan_release(address); }
void after(void *address) { __tsan_acquire(address); }
#else
void before(void *) {}
void after(void *) {}
#endif

struct Call {
  MtcPart work;
  void *argument;
};

void runPart(void *data) {
  after(data);
  const Call &call = *static_cast<const Call *>(data);
  call.work(call.argument, omp_get_thread_num(), omp_get_num_threads());
  before(data);
}

} // namespace

void onTeam(int64_t threads, MtcPart work, void *argument) {
  if (threads <= 1)
    return work(argument, 0, 1);
  Call call{work, argument};
  before(&call);
  GOMP_parallel(runPart, &call, static_cast<unsigned>(threads), 0);
  after(&call);
}

void teamMeets() {
  static char meeting;
  before(&meeting);
  GOMP_barrier();
  after(&meeting);
}

} // namespace mtc::runtime

void mtc_parallel(MtcContext *ctx, MtcPart work, void *argument) {
  if (ctx->status == 0)
    mtc::runtime::onTeam(ctx->threads, work, argument);
}

void mtc_parallel_meet(void) { mtc::runtime::teamMeets(); }
