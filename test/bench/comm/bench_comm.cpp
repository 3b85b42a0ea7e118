//===- bench_comm.cpp - collectives of shm beside memcpy ------------------===//
//
// usage: bench_comm [RANKS...] (default 2 8)
//
// All-reduce, reduce-scatter and all-gather of fp32 buffers from 1 KB to 256
// MB, one process per rank. A row is the median over repeats of the slowest
// rank's time. Beside it a copy of as many bytes by one process with memcpy,
// and how long the collective takes of that: what must move at least is of the
// same size, so the ratio says how far it is from moving memory.
//
//===----------------------------------------------------------------------===//
#include "runtime/comm/shm/shm_communicator.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace mtc::runtime;

namespace {

constexpr int64_t kLargest = int64_t{256} << 20;
constexpr int kRepeats = 31;
const char *const kNames[] = {"all-reduce", "reduce-scatter", "all-gather"};

double seconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2,
                   values.end());
  return values[values.size() / 2];
}

int repeatsFor(int64_t bytes) {
  return bytes >= (int64_t{64} << 20) ? 5 : kRepeats;
}

/// `bytes` is the whole buffer in all three.
Status call(ShmCommunicator &comm, int which, void *buffer, int64_t bytes,
            int ranks) {
  int64_t count = bytes / 4, part = count / ranks;
  if (which == 0)
    return comm.allReduce(MTC_GROUP_ALL, MTC_SUM, MTC_F32, buffer, count);
  if (which == 1)
    return comm.reduceScatter(MTC_GROUP_ALL, MTC_F32, buffer, part);
  return comm.allGather(MTC_GROUP_ALL, MTC_F32, buffer, part);
}

/// Times of one rank, `repeats` of them, into shared memory.
void runRank(ShmCommunicator &comm, int rank, int ranks, int which,
             int64_t bytes, double *times) {
  void *buffer = comm.arenas()[MTC_ARENA_GRADS].base;
  for (int i = -2; i < repeatsFor(bytes); ++i) { // two to warm up
    if (!comm.barrier().ok())
      std::_Exit(1);
    double begin = seconds();
    if (!call(comm, which, buffer, bytes, ranks).ok())
      std::_Exit(1);
    if (i >= 0)
      times[i * ranks + rank] = seconds() - begin;
  }
}

std::vector<int64_t> sizes() {
  std::vector<int64_t> all;
  for (int64_t bytes = 1 << 10; bytes <= kLargest; bytes *= 4)
    all.push_back(bytes);
  if (all.back() != kLargest)
    all.push_back(kLargest);
  return all;
}

/// Runs everything as one rank; the table of times is indexed by row.
[[noreturn]] void child(const ShmSetup &setup, int rank, int ranks,
                        double *times) {
  std::unique_ptr<ShmCommunicator> comm;
  if (!ShmCommunicator::attach(setup.controlFd(), rank, {}, comm).ok())
    std::_Exit(1);
  std::memset(comm->arenas()[MTC_ARENA_GRADS].base, 0, size_t(kLargest));
  int64_t row = 0;
  for (int which = 0; which < 3; ++which)
    for (int64_t bytes : sizes())
      runRank(*comm, rank, ranks, which, bytes,
              times + row++ * kRepeats * ranks);
  comm->finish();
  std::_Exit(0);
}

double memcpySeconds(int64_t bytes) {
  static std::vector<char> from(size_t(kLargest), 1), to(size_t(kLargest), 2);
  std::vector<double> times;
  for (int i = -2; i < repeatsFor(bytes); ++i) {
    double begin = seconds();
    std::memcpy(to.data(), from.data(), size_t(bytes));
    double spent = seconds() - begin;
    if (i >= 0)
      times.push_back(spent);
    if (to[size_t(bytes) / 2] != 1)
      std::abort();
  }
  return median(times);
}

void print(int ranks, const double *times) {
  int64_t row = 0;
  for (const char *name : kNames)
    for (int64_t bytes : sizes()) {
      const double *at = times + row++ * kRepeats * ranks;
      std::vector<double> slowest;
      for (int i = 0; i < repeatsFor(bytes); ++i)
        slowest.push_back(
            *std::max_element(at + i * ranks, at + (i + 1) * ranks));
      double spent = median(slowest), copy = memcpySeconds(bytes);
      std::printf(
          "%-15s %d ranks %10lld KB %12.1f us %8.2f GB/s   memcpy %10.1f us"
          "   ratio %7.2f\n",
          name, ranks, static_cast<long long>(bytes >> 10), spent * 1e6,
          double(bytes) / spent * 1e-9, copy * 1e6, spent / copy);
      std::fflush(stdout);
    }
}

int bench(int ranks) {
  Mesh mesh;
  mesh[MTC_AXIS_DP] = ranks;
  ArenaSizes arenas{};
  arenas[MTC_ARENA_GRADS] = kLargest;
  std::unique_ptr<ShmSetup> setup;
  Status made = ShmSetup::create(
      mesh, std::vector<ArenaSizes>(size_t(ranks), arenas), 1, setup);
  if (!made.ok()) {
    std::fprintf(stderr, "bench_comm: %s\n", made.message().c_str());
    return 1;
  }
  size_t bytes = 3 * sizes().size() * size_t(kRepeats * ranks) * sizeof(double);
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return 1;
  for (int rank = 0; rank < ranks; ++rank)
    if (fork() == 0)
      child(*setup, rank, ranks, static_cast<double *>(memory));
  int failed = 0;
  for (int rank = 0, status = 0; rank < ranks; ++rank)
    failed |=
        wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  if (!failed)
    print(ranks, static_cast<double *>(memory));
  munmap(memory, bytes);
  return failed;
}

} // namespace

int main(int argc, char **argv) {
  int failed = 0;
  if (argc == 1)
    failed = bench(2) | bench(8);
  for (int i = 1; i < argc; ++i)
    failed |= bench(std::max(2, std::atoi(argv[i])));
  return failed;
}
