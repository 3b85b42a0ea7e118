/*===- hooks.h - operations of other stand-ins --------------------*- C -*-===*\
|*
|* How the stand-ins of cuBLASLt and NCCL put work into streams of this one.
|* They take the functions from the library that is loaded as libcuda.so.1:
|* dlsym(dlopen("libcuda.so.1", RTLD_NOW), "mtcStandinEnqueue").
|*
\*===----------------------------------------------------------------------===*/
#ifndef MTC_TEST_CUDA_DRIVER_HOOKS_H
#define MTC_TEST_CUDA_DRIVER_HOOKS_H

#include <cuda.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum MtcStandinPhase {
  /* In program order, as the operation enters a stream: in the call, or, what
     was captured, in each launch of the graph. */
  MTC_STANDIN_START,
  /* All is done that comes before. Called again if it was not done. */
  MTC_STANDIN_RUN
};

enum MtcStandinProgress { MTC_STANDIN_DONE, MTC_STANDIN_AGAIN };

/* Bytes that an operation reads or writes, or both. */
struct MtcStandinRange {
  CUdeviceptr address;
  size_t bytes;
  int reads, writes;
};

/* `arguments` is a copy that belongs to this run of the operation. Nothing of
   the driver API may be called but mtcStandinBytes and mtcStandinFail. */
typedef enum MtcStandinProgress MtcStandinStep(enum MtcStandinPhase phase,
                                               void *arguments);

/* Puts an operation into a stream, or into the graph that it captures. `name`
   is for messages. Before the first run the ranges are checked as those of a
   copy are: they have to be there, what is read has been written, and all that
   touched them is ordered. */
__attribute__((visibility("default"))) CUresult
mtcStandinEnqueue(CUstream stream, const char *name,
                  const struct MtcStandinRange *ranges, size_t count,
                  MtcStandinStep *step, const void *arguments,
                  size_t argumentBytes);

/* In a step that runs: the host's bytes of [address, address + bytes), which
   lies within a range of the operation. Null otherwise, and the operation
   fails. */
__attribute__((visibility("default"))) void *
mtcStandinBytes(CUdeviceptr address, size_t bytes);

/* In a step that runs: ends the context with CUDA_ERROR_LAUNCH_FAILED, as a
   fault of a kernel would. */
__attribute__((visibility("default"))) void
mtcStandinFail(const char *sentence);

/* Whether a stream captures; 0 as well if there is no such stream. */
__attribute__((visibility("default"))) int
mtcStandinIsCapturing(CUstream stream);

/* Whether all is done that the GPU of the current context was given, in
   whatever stream; 1 as well where nothing runs any more. A question runs some
   of it. */
__attribute__((visibility("default"))) int mtcStandinIsIdle(void);

/* "stream 2", or another name of a stream, for messages. */
__attribute__((visibility("default"))) const char *
mtcStandinStreamName(CUstream stream);

#ifdef __cplusplus
}
#endif
#endif /* MTC_TEST_CUDA_DRIVER_HOOKS_H */
