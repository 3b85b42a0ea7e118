//===- kernel_times.cpp - when each kernel of a process ran ---------------===//
//
//   CUDA_INJECTION64_PATH=libkernel_times.so KERNEL_TIMES=FILE COMMAND...
//
// The driver loads this library into every process that uses a GPU. It appends
// a line of JSON for each kernel, copy and fill to FILE.PID, from CUPTI's
// records: begin and end in nanoseconds, grid, block, name. Those inside a
// graph are there one by one, too.
//
//===----------------------------------------------------------------------===//
#include <cupti.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>

namespace {

/// Small, as CUPTI gives back what is full.
constexpr size_t kBufferBytes = 64 << 10;

std::FILE *gFile = nullptr;
std::mutex gMutex;

void give(uint8_t **buffer, size_t *size, size_t *mostRecords) {
  *buffer = static_cast<uint8_t *>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer ? kBufferBytes : 0;
  *mostRecords = 0;
}

void write(const CUpti_Activity *record) {
  if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    auto *k = reinterpret_cast<const CUpti_ActivityKernel10 *>(record);
    std::fprintf(gFile,
                 "{\"begin\": %llu, \"end\": %llu, \"grid\": [%d, %d, %d], "
                 "\"block\": [%d, %d, %d], \"name\": \"%s\"}\n",
                 (unsigned long long)k->start, (unsigned long long)k->end,
                 k->gridX, k->gridY, k->gridZ, k->blockX, k->blockY, k->blockZ,
                 k->name);
  } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    auto *k = reinterpret_cast<const CUpti_ActivityMemcpy6 *>(record);
    std::fprintf(gFile,
                 "{\"begin\": %llu, \"end\": %llu, \"name\": \"copy\"}\n",
                 (unsigned long long)k->start, (unsigned long long)k->end);
  } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
    auto *k = reinterpret_cast<const CUpti_ActivityMemset4 *>(record);
    std::fprintf(gFile,
                 "{\"begin\": %llu, \"end\": %llu, \"name\": \"fill\"}\n",
                 (unsigned long long)k->start, (unsigned long long)k->end);
  }
}

void take(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t bytes) {
  std::lock_guard lock(gMutex);
  CUpti_Activity *record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, bytes, &record) == CUPTI_SUCCESS)
    write(record);
  std::fflush(gFile);
  std::free(buffer);
}

} // namespace

extern "C" int InitializeInjection() {
  const char *file = std::getenv("KERNEL_TIMES");
  if (!file)
    return 1;
  gFile = std::fopen(
      (std::string(file) + "." + std::to_string(getpid())).c_str(), "w");
  if (!gFile)
    return 1;
  CUptiResult result = cuptiActivityRegisterCallbacks(give, take);
  for (CUpti_ActivityKind kind :
       {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
        CUPTI_ACTIVITY_KIND_MEMSET})
    if (result == CUPTI_SUCCESS)
      result = cuptiActivityEnable(kind);
  // As it runs: a rank may end in ways in which nothing is called any more.
  std::thread([] {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    }
  }).detach();
  if (result != CUPTI_SUCCESS)
    std::fprintf(stderr, "kernel_times: CUPTI says %d\n", int(result));
  return 1;
}
