//===- bench_comm.cpp - collectives of shm beside the machine's limit -----===//
//
// usage: bench_comm [--from BYTES] [RANKS...] (default 2 8)
//
// All-reduce, reduce-scatter, all-gather and a transfer to the next stage of
// fp32 buffers from 1 KB to 256 MB, one process per rank. A row is the median
// over repeats of the slowest rank's time. Beside it the limit: the time of a
// program that reads and writes the same bytes of the same pages in the same
// pattern, with as many processes (limit.h; the fastest of its forms), and
// which part of the call's time that is. Small calls have no limit of bytes:
// there the time itself counts. An all-reduce with the norm of what it makes,
// of which each rank counts a part behind it or as it is made, stands beside
// the limit of the all-reduce alone.
//
//===----------------------------------------------------------------------===//
#include "limit.h"
#include "runtime/comm/shm/shm_communicator.h"
#include "runtime/kernels/cpu/isa.h"
#include "runtime/kernels/cpu/norm_counter.h"

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
using mtc::bench::kForms;

namespace {

constexpr int64_t kLargest = int64_t{256} << 20;
constexpr int kRounds = 5;        // of ours and the forms of the limit, in turn
constexpr int kRepeats = 8;       // of each in a round
constexpr int kWays = 1 + kForms; // ours, and the forms of the limit
const char *const kNames[] = {"all-reduce", "reduce-scatter", "all-gather",
                              "transfer",   "then norm",      "counted"};
enum Kind {
  allReduce,
  reduceScatter,
  allGather,
  transfer,
  thenNorm,
  counted,
  kKinds
};

int64_t smallest = 1 << 10;

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
  return bytes >= (int64_t{64} << 20) ? 3 : kRepeats;
}

std::vector<int64_t> sizes() {
  std::vector<int64_t> all;
  for (int64_t bytes = smallest; bytes <= kLargest; bytes *= 4)
    all.push_back(bytes);
  return all;
}

/// Counts what it is told.
class Counting final : public SumReader {
public:
  explicit Counting(const float *buffer) : buffer(buffer) {}
  void made(int64_t first, int64_t count) override {
    counter.count(buffer + first, count);
  }
  void addTo(NormSum &sum) const { counter.addTo(sum); }

private:
  const float *buffer;
  NormCounter counter;
};

/// Where the times of a way of a row begin: one each repeat and rank.
double *timesOf(double *times, int64_t row, int way, int ranks) {
  return times + (row * kWays + way) * kRounds * kRepeats * ranks;
}

/// One rank: its communicator, and all ranks' buffers as it has them mapped.
class Rank {
public:
  Rank(const ShmSetup &setup, int rank, int ranks) : rank_(rank) {
    require(ShmCommunicator::attach(setup.controlFd(), rank, {}, comm_));
    comm::Control control = mapControl(setup.controlFd());
    for (int r = 0; r < ranks; ++r) {
      require(comm::Mapping::mapOf(0, control.rank(r).fd[MTC_ARENA_GRADS],
                                   kLargest, r, mappings_.emplace_back()));
      buffers_.push_back(static_cast<float *>(mappings_.back().base()));
    }
    own_ = static_cast<float *>(comm_->arenas()[MTC_ARENA_GRADS].base);
    std::memset(own_, 0, size_t(kLargest));
  }

  /// One round. `bytes` is the whole buffer. A repeat to warm up comes first.
  void measure(Kind kind, int way, int64_t bytes, double *times) {
    for (int i = -1; i < repeatsFor(bytes); ++i) {
      if (kind == thenNorm || kind == counted)
        fill(bytes / 4);
      require(comm_->barrier());
      double begin = seconds();
      if (way == 0)
        call(kind, bytes);
      else
        move(kind, way - 1, bytes);
      if (i >= 0)
        times[i * size() + rank_] = seconds() - begin;
    }
  }
  int size() const { return int(buffers_.size()); }
  void finish() { comm_->finish(); }

private:
  static void require(const Status &status) {
    if (status.ok())
      return;
    std::fprintf(stderr, "bench_comm: %s\n", status.message().c_str());
    std::_Exit(1);
  }

  comm::Control mapControl(int fd) {
    int64_t bytes = lseek(fd, 0, SEEK_END);
    require(comm::Mapping::map(fd, bytes, mappings_.emplace_back()));
    void *base = mappings_.back().base();
    return {base, static_cast<comm::ControlHeader *>(base)->mesh};
  }

  /// Even ranks send, odd ones receive; a last one without a peer does nothing.
  int peer() const {
    int other = rank_ ^ 1;
    return other < size() ? other : -1;
  }

  void call(Kind kind, int64_t bytes) {
    int64_t count = bytes / 4, part = count / size();
    if (kind == allReduce)
      require(comm_->allReduce(MTC_GROUP_ALL, MTC_SUM, MTC_F32, own_, count));
    if (kind == thenNorm || kind == counted)
      sumWithNorm(kind == counted, count);
    if (kind == reduceScatter)
      require(comm_->reduceScatter(MTC_GROUP_ALL, MTC_F32, own_, part));
    if (kind == allGather)
      require(comm_->allGather(MTC_GROUP_ALL, MTC_F32, own_, part));
    if (kind == transfer && peer() >= 0) {
      MtcTransfer row = {rank_ % 2 == 0, peer(), MTC_ARENA_GRADS, 0, 0, bytes};
      require(comm_->exchange({&row, 1}));
    }
  }

  /// With numbers of some sizes, as gradients are; sums of sums would not stay
  /// finite.
  void fill(int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      own_[i] = 1e-6F * float(1 + i % 4099);
  }

  void sumWithNorm(bool isCounted, int64_t count) {
    Counting reader(own_);
    require(comm_->collective(
        {CollectiveKind::allReduce, MTC_GROUP_ALL, MTC_SUM, MTC_F32, count},
        own_, isCounted ? &reader : nullptr));
    int64_t begin = count * rank_ / size(), end = count * (rank_ + 1) / size();
    if (isCounted)
      reader.addTo(norm_);
    else
      normAccumulate(norm_, own_ + begin, end - begin);
  }

  /// The same reads and writes; parts are rounded down to whole strips.
  void move(Kind kind, int form, int64_t bytes) {
    std::vector<const float *> all(buffers_.begin(), buffers_.end());
    int64_t count = bytes / 4, part = count / size() / 64 * 64;
    if (kind == allReduce || kind == thenNorm || kind == counted)
      mtc::bench::movePattern(form, all, buffers_, rank_ * part, part);
    if (kind == reduceScatter)
      mtc::bench::movePattern(form, all, {&own_, 1}, rank_ * part, part);
    if (kind == allGather)
      for (int m = 0; m < size(); ++m)
        if (m != rank_)
          mtc::bench::movePattern(form, {&all[size_t(m)], 1}, {&own_, 1},
                                  m * part, part);
    if (kind == transfer && rank_ % 2 == 1)
      mtc::bench::movePattern(form, {&all[size_t(peer())], 1}, {&own_, 1}, 0,
                              count);
  }

  int rank_;
  std::unique_ptr<ShmCommunicator> comm_;
  std::vector<comm::Mapping> mappings_;
  std::vector<float *> buffers_;
  float *own_ = nullptr;
  NormSum norm_;
};

/// Runs everything as one rank.
[[noreturn]] void child(const ShmSetup &setup, int index, int ranks,
                        double *times) {
  Rank rank(setup, index, ranks);
  int64_t row = 0;
  for (int kind = 0; kind < kKinds; ++kind)
    for (int64_t bytes : sizes()) {
      for (int round = 0; round < kRounds; ++round)
        for (int way = 0; way < kWays; ++way)
          rank.measure(Kind(kind), way, bytes,
                       timesOf(times, row, way, ranks) +
                           round * repeatsFor(bytes) * ranks);
      ++row;
    }
  rank.finish();
  std::_Exit(0);
}

double slowestMedian(const double *times, int ranks, int64_t bytes) {
  std::vector<double> slowest;
  for (int i = 0; i < kRounds * repeatsFor(bytes); ++i)
    slowest.push_back(
        *std::max_element(times + i * ranks, times + (i + 1) * ranks));
  return median(slowest);
}

void print(int ranks, double *times) {
  int64_t row = 0;
  for (const char *name : kNames)
    for (int64_t bytes : sizes()) {
      std::vector<double> ways;
      for (int way = 0; way < kWays; ++way)
        ways.push_back(
            slowestMedian(timesOf(times, row, way, ranks), ranks, bytes));
      ++row;
      double limit = *std::min_element(ways.begin() + 1, ways.end());
      std::printf("%-15s %d ranks %10lld KB %12.1f us %8.2f GB/s   limit "
                  "%10.1f us %5.0f %%\n",
                  name, ranks, static_cast<long long>(bytes >> 10),
                  ways[0] * 1e6, double(bytes) / ways[0] * 1e-9, limit * 1e6,
                  limit / ways[0] * 100);
      std::fflush(stdout);
    }
}

int bench(int ranks) {
  Mesh mesh;
  mesh[MTC_AXIS_PP] = ranks;
  ArenaSizes arenas{};
  arenas[MTC_ARENA_GRADS] = kLargest;
  std::unique_ptr<ShmSetup> setup;
  Status made = ShmSetup::create(
      mesh, std::vector<ArenaSizes>(size_t(ranks), arenas), 1, setup);
  if (!made.ok()) {
    std::fprintf(stderr, "bench_comm: %s\n", made.message().c_str());
    return 1;
  }
  size_t bytes = kKinds * sizes().size() * kWays * kRounds *
                 size_t(kRepeats * ranks) * sizeof(double);
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
  int failed = 0, first = 1;
  for (const char *isa : {"x86-64-v3", "x86-64-v4"}) // the best there is
    (void)mtc_kernels_select_isa(isa);
  if (argc > 2 && std::strcmp(argv[1], "--from") == 0) {
    smallest = std::clamp<int64_t>(std::atoll(argv[2]), 1 << 10, kLargest);
    first = 3;
  }
  if (argc == first)
    failed = bench(2) | bench(8);
  for (int i = first; i < argc; ++i)
    failed |= bench(std::max(2, std::atoi(argv[i])));
  return failed;
}
