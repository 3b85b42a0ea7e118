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

namespace mtc::runtime {
namespace {

struct Call {
  MtcPart work;
  void *argument;
};

void runPart(void *data) {
  const Call &call = *static_cast<const Call *>(data);
  call.work(call.argument, omp_get_thread_num(), omp_get_num_threads());
}

} // namespace

void onTeam(int64_t threads, MtcPart work, void *argument) {
  if (threads <= 1)
    return work(argument, 0, 1);
  Call call{work, argument};
  GOMP_parallel(runPart, &call, static_cast<unsigned>(threads), 0);
}

void teamMeets() { GOMP_barrier(); }

} // namespace mtc::runtime

void mtc_parallel(MtcContext *ctx, MtcPart work, void *argument) {
  if (ctx->status == 0)
    mtc::runtime::onTeam(ctx->threads, work, argument);
}

void mtc_parallel_meet(void) { mtc::runtime::teamMeets(); }
